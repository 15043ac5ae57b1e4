# SPDX-License-Identifier: GPL-2.0-only
"""policy/multicall: stores to page tables that a guest's driver declares."""

import errno

import fixture
import hostlib
from hostile import Attacker
from hostlib import read, require, write
from ktap import say, test

ROUNDS, STORES, BATCH = 8, 256, 64
TRIALS = 200


@test
def multicall_is_offered_applied_and_ignored_by_i915():
    with fixture.vgpus("gen9_8") as (vgpu,):
        attribute = f"{vgpu.path}/policy/multicall"
        require(read(attribute) == "[off] on", f"default: {read(attribute)}")
        for value in ("", "1", "maybe"):
            error = write(attribute, value)
            require(error and error.errno == errno.EINVAL, f"'{value}' gives {error}")
        vgpu.set("policy/self_check", 1)
        vgpu.set("policy/mode", "strict")
        guest = Attacker("multicall", vgpu, mem=640)  # sets it on
        try:
            error = write(attribute, "off")
            require(error and error.errno == errno.EBUSY, f"a change while open gives {error}")
            guest.must_run(f"tablestores --rounds {ROUNDS} --stores {STORES} --batch {BATCH}")
            now = vgpu.stats()
            require(now["multicall_entries"] == ROUNDS * STORES, f"{now['multicall_entries']} entries")
            require(now["multicalls"] == ROUNDS * STORES // BATCH, f"{now['multicalls']} calls")
            require(now["table_write_traps"] < ROUNDS * STORES // 8, f"{now['table_write_traps']} traps")
            classes = guest.attack(TRIALS, 1, "multicall")
            require(vgpu.stat("multicall_entries") > now["multicall_entries"], "no attack declared a valid store")
            vgpu.set("policy/mode", "adaptive")  # under strict, i915 clears the GGTT with a trap for each entry
            _, trouble = guest.load_driver()
            require(not trouble, "\n".join(trouble))
            guest.must_run("blitcheck --rounds 2")
            now = vgpu.stats()
            require(not now["check_differences"], f"check_differences {now['check_differences']}: {vgpu.last_error()}")
            say(f"{classes}; {now['checks']} checks, {now['multicalls']} calls, {now['multicall_entries']} entries")
        finally:
            guest.stop()
        vgpu.settle()
        defects = hostlib.log_defects(hostlib.take_host_log())
        require(not defects, defects)
