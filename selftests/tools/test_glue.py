# SPDX-License-Identifier: GPL-2.0-only
"""Tests of qemu-glue/ that need no real vGPUs. The others are in selftests/lab/test_libvirt.py."""

import configparser
import glob
import json
import os
import re
import shutil
import subprocess
import time
import tomllib

import patience
from ktap import Skip, test
from toolslib import environment, require, tree
from tree import DRIVER, PARENT, UUIDS

GLUE = f"{os.path.dirname(os.path.abspath(__file__))}/../../qemu-glue"
UUID = UUIDS[1]
NOBODY = 65534
TYPE = re.compile(rf"ghyvi-gen[89]_[1248]|{DRIVER}-gen[89]_[1248]")


def documents(name):
    try:
        import yaml
    except ImportError as error:
        raise Skip("no python3-yaml: tools/setup") from error
    with open(f"{GLUE}/kubevirt/{name}") as file:
        return list(yaml.safe_load_all(file))


def run(made, *command, stdin="", user=None, **more):
    done = patience.run(command, 20, env=environment(made, **more), cwd=made.top, input=stdin, capture_output=True, text=True,
                        user=user)
    return done.returncode, done.stdout, done.stderr


@test
def examples_conform_to_libvirts_schema():
    if not shutil.which("virt-xml-validate"):
        raise Skip("no virt-xml-validate: tools/setup")
    with tree() as made:
        for name, schema in (("domain", "domain"), ("node-device", "nodedev")):
            status, out, err = run(made, "virt-xml-validate", f"{GLUE}/libvirt/{name}.xml", schema)
            require(status == 0, out + err)
        # libvirt has no schema for a hostdev alone, so the domain includes it.
        with open(f"{GLUE}/libvirt/domain.xml") as domain, open(f"{GLUE}/libvirt/hostdev.xml") as hostdev:
            text = domain.read().replace("</devices>", hostdev.read() + "</devices>")
        made.write("both.xml", text)
        status, out, err = run(made, "virt-xml-validate", "both.xml", "domain")
        require(status == 0, out + err)
        made.write("both.xml", text.replace("type='mdev'", "type='medv'"))
        require(run(made, "virt-xml-validate", "both.xml", "domain")[0], "an invalid domain passed")


@test
def kubevirt_and_nova_examples_name_existing_types():
    kubevirt = documents("kubevirt.yaml")[0]["spec"]["configuration"]
    made = kubevirt["mediatedDevicesConfiguration"]["mediatedDeviceTypes"]
    handed_out = kubevirt["permittedHostDevices"]["mediatedDevices"]
    machine = documents("machine.yaml")[0]["spec"]["domain"]["devices"]["gpus"][0]
    require(machine["deviceName"] in [each["resourceName"] for each in handed_out],
            f"kubevirt.yaml does not permit {machine}")
    # KubeVirt selects devices by the type's name and creates vGPUs by its id.
    require([each["mdevNameSelector"].split("-")[1] for each in handed_out] == [each.split("-")[1] for each in made], f"{made}")
    nova = configparser.ConfigParser()
    nova.read(f"{GLUE}/nova/nova.conf")
    enabled = nova["devices"]["enabled_mdev_types"].split(",")
    require(nova[f"mdev_{enabled[0]}"]["device_addresses"] == PARENT, "Nova's section")
    for name in (*made, *enabled, *(each["mdevNameSelector"] for each in handed_out)):
        require(TYPE.fullmatch(name), f"{name} is not a type")


@test
def ci_recipes_use_the_examples():
    with open(f"{GLUE}/ci/kubevirtci") as file:
        script = file.read()
    settings = dict(re.findall(r"^(\w+)=(\S+)$", script, re.M))
    handed_out = documents("kubevirt.yaml")[0]["spec"]["configuration"]["permittedHostDevices"]["mediatedDevices"][0]
    require(settings["resource"] == handed_out["resourceName"], f"{settings}")
    require(settings["machine"] == documents("machine.yaml")[0]["metadata"]["name"], f"{settings}")
    with open(f"{GLUE}/ci/cyborg/pyproject.toml", "rb") as file:
        project = tomllib.load(file)
    (driver, place), = project["project"]["entry-points"]["cyborg.accelerator.driver"].items()
    require(place == "ghyvi_cyborg:GhyviDriver" and project["tool"]["setuptools"]["py-modules"] == ["ghyvi_cyborg"], place)
    with open(f"{GLUE}/ci/cyborg/local.conf") as file:
        require(f"CYBORG_ENABLED_DRIVERS={driver}\n" in file.read(), "local.conf does not enable the driver")


@test
def recipes_for_other_projects_say_first_whether_they_were_executed():
    paths = [path for folder in ("ci", "kubevirt", "nova") for path in glob.glob(f"{GLUE}/{folder}/**", recursive=True)
             if os.path.isfile(path) and not path.endswith(".pyc")]
    require(len(paths) >= 7, f"{paths}")
    for path in paths:
        with open(path) as file:
            first = next(line for line in file if not re.match("#!|# SPDX-", line))
        require(re.match("# (Executed by|Not executed yet: )", first), f"{path}: {first}")


# Stands in for OpenStack Cyborg, which Debian 12 does not have: objects are dictionaries.
FAKE_CYBORG = """
import json, sys, types
for name in ("accelerator", "accelerator.common", "accelerator.drivers", "accelerator.drivers.driver", "common", "conf", "objects",
             "objects.driver_objects", *(f"objects.driver_objects.driver_{each}" for each in
             ("attach_handle", "attribute", "controlpath_id", "deployable", "device"))):
    sys.modules[f"cyborg.{name}"] = types.ModuleType(name)
fake = lambda name: sys.modules[f"cyborg.{name}"]
fake("accelerator.common").utils = types.SimpleNamespace(pci_str_to_json=str, mdev_str_to_json=lambda *words: list(words))
fake("accelerator.drivers.driver").GenericDriver = object
fake("common").constants = types.SimpleNamespace(DEVICE_GPU="GPU", OWNER_CYBORG="OWNER", AH_TYPE_MDEV="MDEV", RESOURCES={"VGPU": "VGPU"})
fake("conf").CONF = types.SimpleNamespace(host="here")
for each, kind in (("attach_handle", "AttachHandle"), ("attribute", "Attribute"), ("controlpath_id", "ControlPathID"),
                   ("deployable", "Deployable"), ("device", "Device")):
    setattr(fake(f"objects.driver_objects.driver_{each}"), f"Driver{kind}", dict)
import ghyvi_cyborg
ghyvi_cyborg.PARENTS = "sys/class/mdev_bus"
print(json.dumps(ghyvi_cyborg.GhyviDriver().discover()))
"""


@test
def cyborg_driver_reports_the_vgpus_of_one_type():
    with tree() as made:
        made.write(f"{made.parent_path()}/vendor", "0x6779\n")
        made.write(f"{made.parent_path()}/device", "0x0001\n")
        for kind in ("gen9_4", "gen9_8", "gen8_4"):
            made.write(f"{made.type_path(kind)}/devices/{UUID}/uevent", "")
        status, out, err = run(made, "python3", "-B", "-c", FAKE_CYBORG, PYTHONPATH=f"{GLUE}/ci/cyborg")
        require(status == 0, err)
        device, = json.loads(out)
        deployable, = device["deployable_list"]
        require(device["vendor"] == "6779" and device["controlpath_id"]["cpid_info"] == PARENT, f"{device}")
        # The tree has room for four, and one that is there.
        handles = [handle["attach_info"] for handle in deployable["attach_handle_list"]]
        require(deployable["num_accelerators"] == 5 and handles == [[PARENT, f"{DRIVER}-gen9_4", f"{DRIVER}-gen9_4_{index}"]
                                                                    for index in range(5)], f"{deployable}")
        require("CUSTOM_GHYVI_GEN9_4" in [each["value"] for each in deployable["attribute_list"]], f"{deployable}")


def launcher(made):
    """Writes fake QEMU and ghyvictl programs, which save their arguments to files."""
    made.write("qemu", "#!/bin/sh\necho \"$@\" >qemu.log\nulimit -l >limit.log\nexit 7\n", 0o755)
    made.write("ctl", f"#!/bin/sh\necho \"$@\" >>ctl.log\n[ $1 = create ] && echo {UUID}\nexit 0\n", 0o755)
    return {"QEMU": f"{made.top}/qemu", "GHYVICTL": f"{made.top}/ctl"}


@test
def launcher_runs_qemu_with_the_vgpu():
    with tree() as made:
        made.add_vgpu(UUID)
        env = launcher(made)
        status, out, err = run(made, f"{GLUE}/ghyvi-qemu", UUID.upper(), "-m", "1G", **env)
        require(status == 7, f"not QEMU's status, but {status}: {out}{err}")
        words = made.read("qemu.log").split()
        require(words[-3:] == [f"vfio-pci,sysfsdev=/sys/bus/mdev/devices/{UUID},bus=ghyvi-port", "-m", "1G"], f"{words}")
        # A root port allows hot-unplug.
        require(any(word.startswith("pcie-root-port,id=ghyvi-port,") for word in words), f"{words}")
        require(not os.path.exists(f"{made.top}/ctl.log"), "ghyvictl was called for a vGPU")
        require(run(made, f"{GLUE}/ghyvi-qemu", "gen9_4", **env)[0] == 7, "with a type")
        require(made.read("ctl.log") == f"create gen9_4\nremove {UUID}\n", made.read("ctl.log"))
        status, _, err = run(made, f"{GLUE}/ghyvi-qemu", UUIDS[0], **env)
        require(status == 1 and "mdevctl start" in err, f"an unknown UUID: {status} {err}")
        require("usage" in run(made, f"{GLUE}/ghyvi-qemu", **env)[2], "no usage")
        made.write("ctl", "#!/bin/sh\necho no room >&2\nexit 4\n", 0o755)
        os.remove(f"{made.top}/qemu.log")
        status, _, err = run(made, f"{GLUE}/ghyvi-qemu", "gen9_4", **env)
        require(status == 1 and err == "no room\n", f"nothing was created: {status} {err}")
        require(not os.path.exists(f"{made.top}/qemu.log"), "QEMU was started")


@test
def launcher_that_is_terminated_ends_qemu_before_it_removes_the_vgpu():
    with tree() as made:
        made.add_vgpu(UUID)
        made.write("ctl.log", "")
        env = launcher(made)
        # Like QEMU, it ends some time after the signal.
        made.write("qemu", "#!/bin/bash\ntrap 'sleep 0.5; echo qemu ended >>ctl.log; exit 7' TERM\n"
                           "read -r line; echo $line >>ctl.log\nfor i in {1..200}; do sleep 0.05; done\n", 0o755)
        with subprocess.Popen((f"{GLUE}/ghyvi-qemu", "gen9_4"), env=environment(made, **env), cwd=made.top, stdin=subprocess.PIPE,
                              text=True) as process:
            process.stdin.write("input\n")
            process.stdin.flush()
            end = time.monotonic() + 20
            while not made.read("ctl.log").endswith("input\n") and time.monotonic() < end:
                time.sleep(0.05)
            process.terminate()
            status = process.wait(20)
        require(status == 7, f"not QEMU's status, but {status}")
        require(made.read("ctl.log") == f"create gen9_4\ninput\nqemu ended\nremove {UUID}\n", made.read("ctl.log"))


@test
def launcher_refuses_a_too_low_memlock_limit():
    if os.getuid():
        raise Skip("only root can become another user")
    with tree() as made:
        made.add_vgpu(UUID)
        os.chmod(made.top, 0o777)
        env = launcher(made)
        as_nobody = f"exec setpriv --reuid {NOBODY} --clear-groups --regid {NOBODY} {GLUE}/ghyvi-qemu {UUID}"
        for memory, needed in (("", 1152), ("-m 512", 1536), ("-m 1G", 2048), ("-m size=2G,slots=2", 3072), ("-smp 2 -m 64m", 1088),
                               ("-m 1.5G", 2560), ("-m 0.5k", 1025), ("-m 0x200", 1536), ("-m slots=2,size=1G,maxmem=4G", 2048),
                               ("-m 2T", 2098176), ("-m 1048576b", 1025), ("-m 512 -m 1G", 2048), ("-m lots", 1024), ("-m", 1024)):
            status, _, err = run(made, "bash", "-c", f"ulimit -l 1024; {as_nobody} {memory}", **env)
            require(status == 1 and f"needs {needed}:" in err and "limits.conf" in err, f"{memory}: status {status}: {err}")
            require(err.count("\n") == 1, f"{memory}: {err}")
        # A hard limit of exactly the needed size suffices, and the launcher raises the soft limit
        # to it. Checked only if this process may set such a limit.
        if run(made, "bash", "-c", "ulimit -H -l 2097152")[0] == 0:
            status, _, err = run(made, "bash", "-c", f"ulimit -H -l 2097152; ulimit -S -l 64; {as_nobody} -m 1G", **env)
            require(status == 7 and made.read("limit.log") == "2097152\n", f"status {status}: {err}")
            command = f"ulimit -l 2097152; {as_nobody} -m 1025"
            require(run(made, "bash", "-c", command, **env)[0] == 1, "1025 MiB passed")


@test
def latency_script_ignores_preempted_completions():
    with open(f"{GLUE}/../include/ghyvi/pgpu.h") as file:
        statuses = re.findall(r"GHYVI_JOB_(\w+)", re.search(r"enum ghyvi_job_status \{(.*?)\};", file.read(), re.S).group(1))
    with open(f"{GLUE}/../tools/bpf/latency.bt") as file:
        left_out = re.search(r"ghyvi_complete\n/args->status != (\d+)/", file.read())
    require(left_out and int(left_out.group(1)) == statuses.index("PREEMPTED"), f"{left_out} in {statuses}")


# Stands in for mdevctl and the kernel. "hang": a removal that does not finish; "faster": another program starts the vGPU
# at the same time; "broken": nothing can be started.
MDEVCTL = """#!/bin/sh
verb=$1
[ $verb = list ] || echo "$@" >>mdevctl.log
vgpu=$UMOCKDEV_DIR/sys/bus/mdev/devices/$(cut -d " " -f 1 defined)
case $verb in
list)
	[ ! -e $vgpu ] || active=" (active)"
	[ ! -s defined ] || echo "$(cat defined)$active" ;;
start)
	[ ! -e broken ] && mkdir $vgpu && echo created >$vgpu/state && [ ! -e faster ] ;;
stop)
	while [ -e hang ]; do sleep 0.1; done
	rm -r $vgpu ;;
esac
"""


class Host:
    """A libvirt host whose domains have domain.xml's vGPU."""

    def __init__(self, made, start="manual"):
        self.made = made
        with open(f"{GLUE}/libvirt/domain.xml") as file:
            self.xml = file.read()
        self.uuid = re.search(r"address uuid='(.+)'", self.xml).group(1)
        self.vgpu = f"sys/bus/mdev/devices/{self.uuid}"
        made.write("defined", f"{self.uuid} {PARENT} {DRIVER}-gen9_4 {start}\n")
        made.write("bin/mdevctl", MDEVCTL, 0o755)
        self.environment = {"PATH": f"{made.top}/bin:/usr/bin:/bin", "GHYVI_RUN": f"{made.top}/run"}

    def hook(self, domain, operation, status=0):
        """Returns the verbs that mdevctl was called with."""
        self.made.write("mdevctl.log", "")
        got, out, err = run(self.made, f"{GLUE}/libvirt/qemu-hook", domain, *operation.split(), "-", stdin=self.xml, **self.environment)
        require(got == status and not out, f"{domain} {operation}: status {got}: {out} {err}")
        return [line.split()[0] for line in self.made.read("mdevctl.log").splitlines()]

    def exists(self):
        return os.path.exists(f"{self.made.top}/{self.vgpu}")

    def set_state(self, state):
        self.made.write(f"{self.vgpu}/state", f"{state}\n")


@test
def hook_starts_a_defined_vgpu_and_stops_it():
    for start, does in (("manual", ["stop"]), ("auto", [])):
        with tree() as made:
            host = Host(made, start)
            require(host.hook("guest", "start begin") == [] and host.hook("guest", "release end") == [], "without prepare")
            require(host.hook("guest", "prepare begin") == ["start"], "the vGPU was not started")
            require(host.hook("guest", "release end") == does and host.exists() == (start == "auto"), f"{start}: not {does}")
            require(host.hook("guest", "release end") == [], "twice")
    with tree() as made:
        host = Host(made)
        made.write("broken", "")
        require(host.hook("guest", "prepare begin", status=1) == ["start"], "the domain starts without its vGPU")
        made.write("defined", "")
        require(host.hook("guest", "prepare begin") == [], "a vGPU without definition was started")


@test
def hook_stops_only_what_it_has_started():
    with tree() as made:
        host = Host(made)
        run(made, "bin/mdevctl", "start", "--uuid", host.uuid)
        require(host.hook("guest", "prepare begin") == [], "an active vGPU was started")
        require(host.hook("guest", "release end") == [], "a vGPU that another program started was stopped")
        # Of the same UUID, but not the one that the hook started.
        run(made, "bin/mdevctl", "stop", "--uuid", host.uuid)
        require(host.hook("guest", "prepare begin") == ["start"], "not started")
        os.rename(f"{made.top}/{host.vgpu}", f"{made.top}/removed")
        run(made, "bin/mdevctl", "start", "--uuid", host.uuid)
        require(host.hook("guest", "release end") == [], "a vGPU that was created later was stopped")


@test
def hook_leaves_a_vgpu_to_the_domain_that_uses_it():
    with tree() as made:
        host = Host(made)
        host.hook("first", "prepare begin")
        host.set_state("open")
        # libvirt refuses to start the second domain, and ends it as one that has run.
        require(host.hook("second one", "prepare begin") + host.hook("second one", "release end") == [], "the second domain")
        require(host.hook("fir.t", "release end") == [], "of another domain")
        host.set_state("created")
        require(host.hook("first", "release end") == ["stop"] and not host.exists(), "not stopped after the first domain")
    with tree() as made:
        host = Host(made)
        host.hook("first", "prepare begin")
        # The second domain has begun when the first one ends.
        host.hook("second", "prepare begin")
        require(host.hook("first", "release end") == [], "stopped while the second domain starts")
        require(host.hook("second", "release end") == ["stop"], "not stopped after the second domain")


@test
def hook_never_stops_an_open_vgpu_and_never_waits_for_a_removal():
    with tree() as made:
        host = Host(made)
        host.hook("guest", "prepare begin")
        host.set_state("open")
        begun = patience.now()
        require(host.hook("guest", "release end") == [] and host.exists(), "stopped while it is open")
        run(made, "flock", f"run/{host.uuid}.lock", "true")  # until the hook has given up
        require(made.read("mdevctl.log") == "", "stopped later")
        host.set_state("created")
        require(host.hook("guest", "release end") == [], "stopped in the end")
        run(made, "bin/mdevctl", "stop", "--uuid", host.uuid)
        host.hook("guest", "prepare begin")
        made.write("hang", "")
        require(host.hook("guest", "release end") == ["stop"], "not stopped")
        require(host.exists() and patience.now() - begun < 40, "the hook waits for the removal")
        os.remove(f"{made.top}/hang")
        # A domain that starts meanwhile waits for the end of the removal, and starts the vGPU again.
        require(host.hook("guest", "prepare begin") == ["start"] and host.exists(), "not started again")


@test
def vgpu_that_another_program_starts_first_is_started():
    with tree() as made:
        host = Host(made, "auto")
        made.write("faster", "")
        require(host.hook("guest", "prepare begin") == ["start"] and host.exists(), "the hook")
        require(host.hook("guest", "release end") == [], "it is the other program's")
        run(made, "bin/mdevctl", "stop", "--uuid", host.uuid)
        restore = f"{GLUE}/../userspace/mdevctl/restore"
        status, out, err = run(made, restore, PARENT, **host.environment)
        require(status == 0 and host.exists(), f"restore: status {status}: {out} {err}")
        run(made, "bin/mdevctl", "stop", "--uuid", host.uuid)
        made.write("broken", "")
        require(run(made, restore, PARENT, **host.environment)[0] == 1, "restore succeeds although the start failed")


# Programs that installed files run, with their packages.
RUN_BY_TOOLS = (("ghyvictl/program.c", '"mdevctl"', "mdevctl"), ("ghyvictl/ghyvi-report", '"gnuplot"', "gnuplot-nox"),
                ("ghyvictl/ghyvi-report", "import jinja2", "python3-jinja2"),
                ("../tools/sim/ghyvi-record", "python3", "python3:any"), ("../qemu-glue/ghyvi-qemu", "qemu-system-x86_64", "qemu-system-x86"),
                ("../tools/bpf/exits.bt", "bpftrace", "bpftrace"))


@test
def package_of_the_tools_names_the_programs_that_they_run():
    tree_top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    with open(f"{tree_top}/debian/control") as file:
        stanza = re.search(r"^Package: ghyvi-tools\n(.*?)\n\n", file.read(), re.M | re.S).group(1)
    named = set(re.split(r"[\s,]+", " ".join(re.findall(r"^(?:Depends|Recommends|Suggests): (.*(?:\n .*)*)", stanza.partition("Description:")[0], re.M))))
    for path, word, package in RUN_BY_TOOLS:
        with open(f"{tree_top}/userspace/{path}") as file:
            require(word in file.read(), f"{path} does not run {word}")
        require(package in named, f"{path} runs {word}: {package} is not in {sorted(named)}")
