# SPDX-License-Identifier: GPL-2.0-only
# The targets for people; `make help` lists them. All results go to build/.

BUILD ?= build
# KERNEL: a version or a series ("6.12"), installed or from make kernels; KDIR: headers anywhere else.
VERSION = $(eval VERSION := $$(if $$(KDIR),$$(KERNEL),$$(shell KERNEL=$$(KERNEL) tools/lab/kernel-version)))$(VERSION)
KBUILD_TREE = $(abspath $(BUILD))/kbuild/$(VERSION)
KBUILD = $(if $(KDIR),$(MAKE) --no-print-directory -C $(KDIR) M=$(KBUILD_TREE),KERNEL=$(KERNEL) tools/kernels/kbuild $(KBUILD_TREE))
JOBS := $(shell nproc)

.PHONY: help setup modules guest-programs demo test test-unit fuzz test-static test-lab test-debug test-hostile \
	bench bench-audit bench-compute bench-compute-gen9 bench-display bench-engine bench-gvtg bench-migrate bench-mm bench-mmio bench-multicall bench-passthrough bench-pocl bench-sched bench-sched-lab bench-switch bench-whole \
	compare sim sim-tables sim-traces tools install shell-host shell-guest clean

help:
	@echo 'Two commands on a fresh Debian 12 or 13:'
	@echo '  make demo          a guest with the stock i915 on a ghyvi vGPU, three policies, one table'
	@echo '                     DISPLAY=1: a desktop on the screen of a vGPU, by VNC on localhost'
	@echo '  make test          everything that CI runs; ends with "N passed, N failed[, N skipped]"'
	@echo
	@echo 'Build:'
	@echo '  make setup         the Debian packages that the tests need; tools/setup PART: those of one part'
	@echo '  make modules       ghyvi.ko, ghyvi-softgpu.ko, ghyvi-gen9.ko [KERNEL=6.12 KDIR=]'
	@echo '  make tools         ghyvictl, libghyvi, ghyvi-i915; make guest-programs: what runs in guests'
	@echo '  make deb           Debian packages; make doc: HTML; make install [DESTDIR= PREFIX=]; make clean'
	@echo 'Test:'
	@echo '  make test-unit     the core in user space under sanitizers [T=folder of kernel/, or program]'
	@echo '  make test-lab      in a host VM with guest VMs [T=name]'
	@echo '  make test-static   warnings, sparse, checkpatch, layers'
	@echo '  make test-docs     the documents, and their commands in the lab'
	@echo '  make test-native   i915, GVT-g and ghyvi-gen9 on an emulated Skylake; minutes each'
	@echo '  make fuzz          libFuzzer on each target [SECONDS=60 RUNS=n T=name]'
	@echo '  make mutate        plants faults, and scores the unit tests [MUTATE="--folder gtt"]'
	@echo 'Measure, compare:'
	@echo '  make bench         every shadowing policy on the same workloads [BENCH=--help]'
	@echo '  make sim           the policies on traces: build/sim/ghyvi-sim --help'
	@echo '  make compare       other systems and papers beside ours [COMPARE=--help]'
	@echo '  make shell-host    a prompt in the host VM (shell-guest: in a guest of it)'
	@echo '  make help ALL=1    all other targets: long tests, benchmarks, packages'
ifdef ALL
	@echo
	@echo 'More tests, none of them part of make test:'
	@echo '  make walk          the files that a submission goes through, and how often the file changes'
	@echo '                     [WALK=--events: its functions]'
	@echo '  make prove         proofs with CBMC, for all inputs within bounds [T=word]'
	@echo '  make test-smp      the lab tests for races, on a host VM with two CPUs'
	@echo '  make test-eu       execution units in user space under ASan and UBSan; make bench-eu: their speed'
	@echo '  make test-eu-judges  OpenCL programs on stock drivers and the GPU of ghyvi-i915, against the CPU'
	@echo '                     [JUDGES="piglit --every 1" JUDGES=--help]; make i915-shim builds that GPU'
	@echo '  make test-opencl   OpenCL in guests, and on the emulated Skylake: i915, ghyvi-gen9, GVT-g; minutes'
	@echo '  make test-long     lab tests that take minutes each, 1000 hostile trials, 2000 hostile kernels, 100'
	@echo '                     migrations, as many while kernels run, and 10 that fail in each way'
	@echo '                     [TRIALS=n DISPATCHES=n MOVES=n KILLS=n];'
	@echo '                     with make test-hostile-gen9: 2000 hostile trials on the emulated Skylake,'
	@echo '                     and make test-adversary-gen9: ghyvi-gen9 under five adversary seeds [SEEDS="1 2"]'
	@echo '  make test-scale    16 guests with i915 on one pGPU, all working at once; takes minutes'
	@echo '  make test-emulated-gpu  stock i915 in a VM on the QEMU of trixie-backports, with ghyvi-emulated-gpu'
	@echo "  make test-vfio-driver  the kernel's VFIO selftest, with a driver for the emulated GPU [LINUX=DIR]"
	@echo '  make test-silicon-stick  boots the stick with UEFI on the emulated Skylake, one step hangs'
	@echo "  make test-i915-live  i915's own live selftests on the emulated Skylake [T=group]; hours"
	@echo '                     KERNEL=6.12: of that kernel; GUEST=softgpu|gen9: in a guest on a vGPU'
	@echo '  make test-kernels  builds on every supported kernel (fetched into'
	@echo '                     build/kernels by make kernels), lab smoke tests'
	@echo '  make test-libvirt  libvirt, and moves of guests, with the libvirt and QEMU of trixie-backports [T=name]'
	@echo '  make test-iommufd  vGPUs by IOMMUFD, on a kernel whose VFIO is built with it'
	@echo '  make test-guests   lab smoke tests with guests that run kernels of Debian 11,'
	@echo '                     13 and its backports; policy/bar_remap on and off'
	@echo '  make test-igt IGT=DIR  i915 tests of igt-gpu-tools, built in DIR, in a guest: compares with'
	@echo '                     selftests/igt/expected.txt; goes on where it ended [ARGS=--help]'
	@echo '  make test-drivers  Mesa, VA drivers and Xorg in a guest: no command may be refused'
	@echo '                     [ROOT=DIR, a Debian system with them]'
	@echo '  make test-desktop  an X server, then make demo DISPLAY=1 until a browser shows its desktop;'
	@echo '                     makes build/desktop.png, the picture of README.md [ROOT=DIR]'
	@echo '  make test-debug    the lab tests on a debug kernel: KASAN, lockdep, kmemleak,'
	@echo '                     UBSAN [T=name]; T=guest_moves_many_times MOVES=n migrates n times'
	@echo '  make test-kcsan    the lab tests for races on a kernel with KCSAN, two CPUs: data races'
	@echo '                     of the modules [T=name TRIALS=n]'
	@echo '  make test-hostile  a guest without a driver attacks the host, TRIALS times'
	@echo '                     [TRIALS=100000 DEBUG=1]'
	@echo '  make fuzz-kernel   a vGPU of the running debug kernel, guided by what the modules execute'
	@echo "  make fuzz-i915     the ioctls of a guest's i915, guided by what i915 and the modules execute"
	@echo '                     [SECONDS=600 SEED=1 FUZZ="-runs=1 FILE"] PLANT=40: is a fault found?'
	@echo '                     RECORD=1: adds the run to Documentation/results/fuzzed.md'
	@echo '  make test-packages installs the packages of make deb in a clean system;'
	@echo '  make test-path     runs and times the guides from these packages to a guest on a vGPU'
	@echo
	@echo 'Benchmarks; each writes build/NAME.json [BENCH=--help]:'
	@echo '  make bench-mm      cost of a trap, a scan, a sync; bench-switch: from one vGPU to another'
	@echo '  make bench-audit   cost of auditing commands compared with copying them'
	@echo '  make bench-engine  copies of the software GPU compared with plain loops; fails below goals,'
	@echo '                     or below the fraction LEAST of them'
	@echo '  make bench-sched   the scheduling policies under a virtual clock'
	@echo '  make bench-sched-lab  guests with i915 share an engine; cost of idle neighbours'
	@echo '  make bench-migrate live migration: state, downtime, pages reported as written'
	@echo '  make bench-display a flipping screen and an idle one, beside bochs-display and virtio-gpu'
	@echo '  make bench-mmio    VM exits of register accesses, policy/bar_remap on against off'
	@echo '  make bench-multicall  VM exits of updates of page tables that a guest declares'
	@echo '  make bench-passthrough  a disk passed through, and all of the software pGPU'
	@echo '  make bench-pocl    API remoting by PoCL beside ghyvi'
	@echo "  make bench-compute  OpenCL in guests: all of the GPU, a part of it, several guests at once"
	@echo '  make bench-compute-gen9  the same kernels on ghyvi-gen9, GVT-g and, natively, i915'
	@echo '  make bench-gen9    make bench on the emulated Skylake'
	@echo '  make bench-gvtg    ghyvi-gen9 beside GVT-g on the emulated GPU: exits, accesses, copies'
	@echo '  make bench-isolation  what a guest must not do, tried on ghyvi-gen9 and GVT-g'
	@echo '  make bench-whole   a vGPU with all of the emulated GPU beside i915 on the host itself'
	@echo
	@echo 'Data and packages:'
	@echo '  make sim-tables    the tables of the simulator in Documentation/results;'
	@echo '                     make sim-traces: its traces, recorded from programs in a guest [T=name]'
	@echo '                     SANITIZE=1: build/sim-asan/ghyvi-sim, under ASan and UBSan'
	@echo '  make compare COMPARE="--measure pocl"  in the lab; tables in Documentation/results'
	@echo '  make pgpu-emu      the emulated Skylake; make migrating-qemu: QEMU 10.0 in build/qemu'
	@echo '  make silicon-stick  an image for a USB stick: tries ghyvi-gen9 on a machine with a real GPU'
	@echo '  make deb-modules   a package of the modules of make modules, for hosts without a compiler'
endif

setup:
	@tools/setup

# The sources are copied, because kbuild puts its objects beside them. Kbuild lists what is built.
modules:
	@$(if $(KDIR)$(KERNEL),,tools/setup --check modules)
	@test -n "$(VERSION)"
	@mkdir -p $(KBUILD_TREE) $(BUILD)/module
	@cp -ru Kbuild include kernel $(KBUILD_TREE)/
	@+$(KBUILD) --no-print-directory -j$(JOBS) W=1 CONFIG_DEBUG_INFO_BTF_MODULES= modules
	@cp -p $(KBUILD_TREE)/*.ko $(BUILD)/module/

guest-programs:
	@tools/setup --check guest-programs
	@$(MAKE) --no-print-directory -C userspace/guest BUILD=$(abspath $(BUILD))
	@$(MAKE) --no-print-directory -C selftests/guest BUILD=$(abspath $(BUILD))

# DISPLAY in the environment is that of an X server.
ifeq ($(origin DISPLAY),command line)
demo:
	@tools/setup demo tools kernels
	@$(MAKE) --no-print-directory modules guest-programs tools
	@tools/demo-display
else
demo: $(if $(filter gen9,$(GHYVI_PGPU)),pgpu-emu)
	@tools/setup demo
	@$(MAKE) --no-print-directory modules guest-programs
	@tools/demo
endif

test: setup
	@selftests/run

test-unit:
	@tools/setup --check unit
	@$(MAKE) --no-print-directory -C selftests/unit BUILD=$(abspath $(BUILD)) T=$(T) test

.PHONY: walk
walk:
	@tools/setup --check unit
	@$(MAKE) --no-print-directory -j$(JOBS) -C selftests/unit BUILD=$(abspath $(BUILD)) WALK="$(WALK)" walk

fuzz:
	@tools/setup fuzz
	@$(MAKE) --no-print-directory -C selftests/unit T=$(T) $(if $(RUNS),BUILD=$(abspath $(BUILD))/many \
		FUZZ_FLAGS=-fno-sanitize-coverage=trace-cmp,BUILD=$(abspath $(BUILD))) fuzzers
	@selftests/fuzz/run $(if $(RUNS),--runs $(RUNS),$(or $(SECONDS),60)) $(T)

# Not part of make test: the running kernel, for as long as one likes.
.PHONY: fuzz-kernel fuzz-i915
fuzz-i915: guest-programs
fuzz-kernel fuzz-i915:
	@tools/setup fuzz lab
	@SECONDS_OF_RUN=$(or $(SECONDS),600) SEED=$(or $(SEED),1) selftests/fuzz/kernel/run $(@:fuzz-%=%) $(FUZZ)

# Not part of make test: minutes for each folder.
.PHONY: mutate
mutate:
	@selftests/mutate/run $(MUTATE)

# Not part of make test: minutes of CPU.
.PHONY: prove
prove:
	@tools/setup --check kernels
	@selftests/prove/run $(T)

test-static: modules
	@tools/setup --check static
	@selftests/static/run

# Without it (no network, for example), the tests of migration are skipped.
.PHONY: migrating-qemu
migrating-qemu:
	@tools/lab/fetch-qemu >/dev/null || true

test-lab: modules guest-programs tools migrating-qemu
	@tools/setup --check lab operator
	@selftests/lab/run $(T)

# The emulated physical GPU: its unit tests, stock i915 on it, then kvmgt with a guest.
.PHONY: pgpu-emu test-native
pgpu-emu:
	@tools/setup --check native
	@$(MAKE) --no-print-directory -C tools/pgpu-emu BUILD=$(abspath $(BUILD))

# A VM on the QEMU of trixie-backports, which gets the GPU by vfio-user. Not part of make test: it fetches 150 MB.
.PHONY: test-emulated-gpu
test-emulated-gpu: pgpu-emu guest-programs
	@tools/setup --check lab kernels
	@$(MAKE) --no-print-directory -C selftests/native BUILD=$(abspath $(BUILD))
	@selftests/native/emulated-gpu $(abspath $(BUILD))/pgpu-emu/ghyvi-emulated-gpu

# vfio_pci_driver_test of the kernel with a driver for it. Not part of make test: it fetches 300 MB.
.PHONY: test-vfio-driver
test-vfio-driver: pgpu-emu
	@tools/setup --check lab kernels vfio-driver
	@$(MAKE) --no-print-directory -C selftests/native BUILD=$(abspath $(BUILD))
	@LINUX=$(LINUX) selftests/vfio/run

# i915's own selftests. Not part of make test: i915 is compiled, and they take hours.
.PHONY: test-i915-live
test-i915-live: pgpu-emu $(if $(GUEST),modules)
	@tools/setup --check lab
	@$(MAKE) --no-print-directory -C selftests/native BUILD=$(abspath $(BUILD))
	@selftests/native/live $(if $(GUEST),--guest $(GUEST)) $(T)

# For machines with a real GPU: Documentation/gen9.md. Its test is not part of make test: it takes a quarter of an hour.
.PHONY: silicon-stick test-silicon-stick
silicon-stick: modules guest-programs tools
	@tools/setup --check lab native silicon-stick
	@$(MAKE) --no-print-directory -C selftests/native BUILD=$(abspath $(BUILD))
	@$(MAKE) --no-print-directory -C tools/compare BUILD=$(abspath $(BUILD)) i915
	@tools/silicon-stick/mkstick

test-silicon-stick: silicon-stick pgpu-emu
	@selftests/silicon/run

test-native: pgpu-emu guest-programs modules
	@$(MAKE) --no-print-directory -C selftests/native BUILD=$(abspath $(BUILD))
	@$(MAKE) --no-print-directory -C tools/pgpu-emu BUILD=$(abspath $(BUILD)) check
	@$(MAKE) --no-print-directory -C selftests/native BUILD=$(abspath $(BUILD)) check
	@selftests/native/run $(T)
	@selftests/native/run --gvtg
	@selftests/native/run --gen9
	@selftests/native/run --oracle

# Execution units: `make -C selftests/eu table` updates Documentation/results/eu.md.
.PHONY: test-eu bench-eu
test-eu:
	@tools/setup --check eu
	@$(MAKE) --no-print-directory -C selftests/eu BUILD=$(abspath $(BUILD)) test

bench-eu:
	@tools/setup --check eu
	@$(MAKE) --no-print-directory -C selftests/eu BUILD=$(abspath $(BUILD)) bench

# A GPU in one process, and its judges. Not part of make test: they install 2 GB of packages.
.PHONY: i915-shim test-eu-judges
i915-shim:
	@tools/setup --check i915-shim
	@$(MAKE) --no-print-directory -C tools/i915-shim BUILD=$(abspath $(BUILD))

test-eu-judges: i915-shim
	@tools/setup --check eu-judges
	@$(MAKE) --no-print-directory -C selftests/eu/judges BUILD=$(abspath $(BUILD))
	@selftests/eu/judges/run --build $(BUILD) $(JUDGES)

# Not part of make test: it takes minutes. OTHERS=all: all of piglit's OpenCL programs, hours; the next run goes on where one ended.
# OTHERS=WORD: those of all whose names contain WORD. IGT=DIR: with those of igt-gpu-tools that compute, built in DIR.
.PHONY: test-opencl
test-opencl: modules guest-programs tools pgpu-emu migrating-qemu
	@tools/setup --check lab native opencl
	@$(MAKE) --no-print-directory -C selftests/native BUILD=$(abspath $(BUILD))
	@GHYVI_LAB_NAME=opencl selftests/lab/run opencl_programs_of_two_guests_compute a_guest_compiles_opencl \
		opencl_programs_of_others_pass an_opencl_program_moves
	@selftests/native/run opencl_programs_compute opencl_programs_of_others_pass blitter_copies
	@selftests/native/run --gen9 opencl_programs_of_a_guest_compute opencl_programs_of_others_pass guest_works_in_a_chosen_slot
	@selftests/native/run --gvtg kvmgt vgpu guest opencl_programs_of_a_guest_compute

# Not part of make test: with two CPUs the emulator loses VMs (tools/lab/README.md, Limits).
.PHONY: test-smp
test-smp: modules guest-programs tools
	@GHYVI_LAB_NAME=smp GHYVI_LAB_CPUS=2 selftests/lab/run two_guests hostile_guest

# Not part of make test: the tests that take minutes, 16 guests among them, and more hostile trials.
.PHONY: test-long
test-long: modules guest-programs tools migrating-qemu
	@GHYVI_LAB_NAME=long GHYVI_LAB_MEM_MB=8192 GHYVI_HOSTILE_TRIALS=$(or $(TRIALS),1000) GHYVI_MOVES=$(MOVES) \
		GHYVI_HOSTILE_DISPATCHES=$(DISPATCHES) GHYVI_KILLS=$(or $(KILLS),10) selftests/lab/run --long hostile_guest migrations_that_end_early
	@$(MAKE) --no-print-directory test-hostile-gen9 TRIALS=$(or $(TRIALS),2000)
	@$(MAKE) --no-print-directory test-adversary-gen9

# Not part of make test: each seed takes minutes.
.PHONY: test-adversary-gen9
test-adversary-gen9: modules guest-programs pgpu-emu
	@$(MAKE) --no-print-directory -C selftests/native BUILD=$(abspath $(BUILD)) SEEDS="$(or $(SEEDS),1 2 3 4 5)" all test-adversary

# Not part of make test: it takes a quarter of an hour.
.PHONY: test-hostile-gen9
test-hostile-gen9: modules guest-programs tools pgpu-emu
	@selftests/native/hostile $(or $(TRIALS),2000)

# Not part of make test: it takes minutes.
.PHONY: test-scale
test-scale: modules guest-programs tools
	@GHYVI_LAB_NAME=scale GHYVI_LAB_MEM_MB=8192 selftests/lab/run sixteen_guests_share_one_pgpu

.PHONY: kernels test-kernels
kernels: setup
	@tools/kernels/fetch

test-kernels: setup
	@$(MAKE) --no-print-directory guest-programs tools migrating-qemu
	@selftests/kernels/run

.PHONY: test-guests
test-guests: modules guest-programs tools
	@selftests/kernels/run --guests

# Not part of make test: no distribution packages these tests (CONTRIBUTING.md).
.PHONY: test-igt
test-igt: modules guest-programs
	@tools/setup --check lab debug-kernel
	@selftests/igt/run $(ARGS) $(or $(IGT),$(error IGT=DIR: a folder in which igt-gpu-tools was built)) $(T)

# Not part of make test: it fetches 700 MB of packages.
.PHONY: test-drivers
test-drivers: modules guest-programs
	@tools/setup --check drivers
	@selftests/drivers/run $(if $(ROOT),--root $(ROOT)) $(T)

# Not part of make test: it fetches 300 MB of packages.
.PHONY: test-desktop
test-desktop: modules guest-programs tools
	@tools/setup --check lab kernels
	@tools/demo-display --check $(if $(ROOT),--root $(ROOT))

test-debug: setup
	@$(MAKE) --no-print-directory guest-programs tools migrating-qemu
	@GHYVI_MOVES=$(MOVES) selftests/lab/run-debug $(T)

# Not part of make test: it fetches 150 MB.
.PHONY: test-libvirt
test-libvirt: modules guest-programs tools
	@tools/setup --check lab operator kernels
	@selftests/lab/run-libvirt $(T)

# Not part of make test: IOMMUFD is not in Debian's kernels, so modules of one are built again.
.PHONY: test-iommufd
test-iommufd: setup
	@$(MAKE) --no-print-directory guest-programs tools migrating-qemu
	@selftests/lab/run-iommufd $(T)

# Not part of make test, as test-smp.
.PHONY: test-kcsan
test-kcsan: setup
	@$(MAKE) --no-print-directory guest-programs tools
	@GHYVI_HOSTILE_TRIALS=$(or $(TRIALS),100) selftests/lab/run-debug --kcsan $(or $(T),two_guests hostile_guest)

bench: $(if $(filter gen9,$(GHYVI_PGPU)),pgpu-emu)
	@tools/setup demo bench
	@$(MAKE) --no-print-directory modules guest-programs
	@tools/bench/run $(BENCH)

.PHONY: bench-isolation
bench-isolation: pgpu-emu guest-programs modules
	@$(MAKE) --no-print-directory -C selftests/native BUILD=$(abspath $(BUILD))
	@tools/bench/isolation $(BENCH)

.PHONY: bench-gen9
bench-gen9:
	@GHYVI_PGPU=gen9 $(MAKE) --no-print-directory bench

bench-migrate: migrating-qemu
	@tools/setup bench
	@$(MAKE) --no-print-directory modules guest-programs
	@tools/bench/migrate $(BENCH)

bench-gvtg: pgpu-emu guest-programs modules
	@$(MAKE) --no-print-directory -C selftests/native BUILD=$(abspath $(BUILD))
	@$(MAKE) --no-print-directory -C tools/compare BUILD=$(abspath $(BUILD)) i915
	@tools/bench/gvtg $(BENCH)

bench-whole: pgpu-emu guest-programs modules
	@$(MAKE) --no-print-directory -C selftests/native BUILD=$(abspath $(BUILD))
	@$(MAKE) --no-print-directory -C tools/compare BUILD=$(abspath $(BUILD)) i915
	@tools/bench/gvtg --report bench-whole $(BENCH)

bench-mmio:
	@tools/setup bench
	@$(MAKE) --no-print-directory modules guest-programs
	@tools/bench/mmio $(BENCH)

bench-display:
	@tools/setup bench
	@$(MAKE) --no-print-directory modules guest-programs
	@tools/bench/display $(BENCH)

bench-compute:
	@tools/setup bench opencl pocl
	@$(MAKE) --no-print-directory modules guest-programs tools
	@tools/compare/build-pocl >/dev/null
	@paths=$$(selftests/lab/mkopencl) && GHYVI_OPENCL=$$paths tools/bench/compute $(BENCH)

bench-compute-gen9:
	@tools/setup bench native opencl
	@$(MAKE) --no-print-directory modules guest-programs tools pgpu-emu
	@$(MAKE) --no-print-directory -C selftests/native BUILD=$(abspath $(BUILD))
	@paths=$$(selftests/lab/mkopencl) && GHYVI_OPENCL=$$paths tools/bench/gvtg --report $@ $(BENCH)

bench-multicall:
	@tools/setup bench
	@$(MAKE) --no-print-directory modules guest-programs
	@tools/bench/multicall $(BENCH)

bench-passthrough:
	@tools/setup lab
	@$(MAKE) --no-print-directory modules guest-programs
	@$(MAKE) --no-print-directory -C tools/compare BUILD=$(abspath $(BUILD)) passthrough
	@tools/bench/passthrough $(BENCH)

bench-pocl:
	@tools/setup lab pocl
	@$(MAKE) --no-print-directory modules guest-programs
	@tools/compare/build-pocl >/dev/null
	@tools/bench/pocl $(BENCH)

bench-sched-lab:
	@tools/setup bench
	@$(MAKE) --no-print-directory modules guest-programs
	@$(MAKE) --no-print-directory -C selftests/unit BUILD=$(abspath $(BUILD)) bench-idle
	@tools/bench/sched $(BENCH)

sim:
	@tools/setup --check sim
	@$(MAKE) --no-print-directory -C tools/sim BUILD=$(abspath $(BUILD))

compare:
	@tools/compare/run $(COMPARE)

sim-tables: sim
	@tools/sim/sweep --sim $(BUILD)/sim/ghyvi-sim --update Documentation/results/policies.md

# As test-drivers, it fetches packages.
sim-traces: modules guest-programs
	@tools/setup --check drivers
	@tools/sim/record-traces --update $(if $(ROOT),--root $(ROOT)) $(T)

tools:
	@tools/setup --check tools
	@$(MAKE) --no-print-directory -C userspace/ghyvictl BUILD=$(abspath $(BUILD))
	@$(MAKE) --no-print-directory -C tools/i915-shim BUILD=$(abspath $(BUILD))
	@$(MAKE) --no-print-directory -C userspace/eud BUILD=$(abspath $(BUILD))

install: tools sim
	@for part in userspace/ghyvictl userspace/libghyvi userspace/mdevctl userspace/monitoring userspace/eud tools/sim tools/i915-shim tools/pgpu-emu; do \
		$(MAKE) --no-print-directory -C $$part BUILD=$(abspath $(BUILD)) install || exit 1; \
	done
	@$(MAKE) --no-print-directory -C qemu-glue install

.PHONY: doc deb deb-modules test-packages test-path
doc:
	@tools/setup --check doc
	@mkdir -p $(BUILD)/doc
	@sphinx-build -q -W --keep-going -d $(BUILD)/doc/trees Documentation $(BUILD)/doc/html
	@echo 'open $(BUILD)/doc/html/index.html'

.PHONY: test-docs
test-docs: guest-programs tools modules
	@selftests/docs/run

# In a copy, because debhelper works beside the sources.
deb:
	@tools/setup deb doc
	@tools/mkdeb

deb-modules: modules
	@tools/mkdeb-modules $(VERSION)

test-packages: deb
	@selftests/packages/run

test-path: guest-programs
	@$(MAKE) --no-print-directory deb
	@$(MAKE) --no-print-directory deb-modules
	@selftests/docs/path

bench-sched:
	@tools/setup --check sim
	@$(MAKE) --no-print-directory -C tools/sched-sim BUILD=$(abspath $(BUILD)) run

bench-audit bench-engine bench-mm bench-switch:
	@tools/setup --check unit
	@$(MAKE) --no-print-directory -C selftests/unit BUILD=$(abspath $(BUILD)) $@

test-hostile: modules guest-programs tools
	@GHYVI_HOSTILE_TRIALS=$(or $(TRIALS),100000) GHYVI_LAB_NAME=hostile \
		selftests/lab/run$(if $(DEBUG),-debug) hostile_guest \
		hostile_guest_with_two_vgpus_does_not_affect_other_guest

shell-host shell-guest: modules guest-programs
	@tools/setup --check lab
	@tools/lab/shell $(subst shell-,,$@)

clean:
	rm -rf $(BUILD)
