# SPDX-License-Identifier: GPL-2.0-only
"""vm - a virtual machine with a stock kernel, an NVMe disk and a SCSI disk.

A machine runs one job, a shell script, and reports by lines on a port of its
own: PASS name, FAIL name: why, NOTE text, and at its end END status. Its disks
are sparse files that outlive it, so that the next machine finds what the last
one left. Everything is kept in one folder a run, under build/vm/.
"""

import contextlib
import fcntl
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests"))
BUILD = ROOT / "build"
HERE = ROOT / "tests" / "vm"

# What must never be in a kernel's log.
ALARM = re.compile(
    r"BUG:|BUG at|WARNING:|Oops|KFENCE|KASAN|UBSAN|general protection|"
    r"blocked for more than|soft lockup|hard LOCKUP|detected stall|"
    r"bad page|Poison overwritten|Redzone|Object already free|unreferenced object|"
    r"Kernel panic|refcount_t|INFO: task|Call Trace")

# What lockdep tells, from its first line to the end of the calls. None of it is about the module if neither the
# module nor device mapper is in it: the kernel's own drivers have such cycles (an NVMe and a SCSI disk that is removed),
# and leave a lock to another worker (an NVMe disk that is suspended).
LOCKS = re.compile(r"^[^\n]*(?:WARNING: possible circular locking dependency detected|"
                   r"BUG: workqueue leaked atomic, lock or RCU)(?:(?!BUG:|WARNING:|KASAN|Oops).)*?</TASK>[^\n]*$",
                   re.DOTALL | re.MULTILINE)   # and of no other report
OURS = re.compile(r"xpcache|dm[_-]|\bdm\b")
LOCKDEP_OFF = "BUG: lockdep has turned itself off"  # tests/vm/watchers says so at the end

# Debugging that kernels have built in and leave off. Of slub_debug not U: it finds nothing, it notes the stack of
# each allocation, and a machine boots a quarter longer.
WATCHFUL = {"6.12": "kfence.sample_interval=5 slub_debug=FZP page_poison=1",
            "debug": "kmemleak=on"}

# The clock of an emulated machine is the host's, and goes on while a busy host runs something else: what has not
# come forward for so long, 120 and 100 s, is stuck all the same.
PATIENT = "watchdog_thresh=60 rcupdate.rcu_cpu_stall_timeout=100 "

# What a kernel does while it boots that no job asks for, and takes an emulated one seconds: its ciphers' tests
# of themselves, a jittering clock as a source of randomness, and what BPF may replace of TCP.
UNASKED = "cryptomgr.notests initcall_blacklist=jent_mod_init,crypto_kdf108_init,bpf_dummy_struct_ops_init,bpf_tcp_ca_kfunc_init "

# The emulator moves strings byte by byte: the kernel is not told that this is fast, or it clears
# each page so, and where instructions are counted each byte is one.
CPU = "max,-erms,-fsrm"
# Pointers are signed by a cheaper sum than the architecture's, or that is most of what is emulated.
ARM_CPU = "max,pauth-impdef=on"

# What a kernel under sanitizers needs: times as long as a stock one.
SANITIZERS = ("debug", "kcsan")
SLOWER = {"debug": 4, "kcsan": 4, "arm64": 2, "arm64-16k": 2}

# Guests with another CPU than ours. What they run is built in build/ARCH/ (tests/cross).
FOREIGN = {"arm64": "arm64", "arm64-16k": "arm64"}

SLOW_DEVICE = "scsi-hd,bus=scsi.0,dpofua=on,serial=slow0,wwn=0x5000c500a1b2c3d4"


# Where memory that is to be persistent begins: above what a kernel is loaded into.
ABOVE = 4 << 30
LABELS = 128 << 10      # of an NVDIMM: where it keeps the list of its namespaces


# What unpacks a kernel, by how it begins.
UNPACKERS = {b"\x28\xb5\x2f\xfd": "zstd", b"\xfd7zX": "xz"}
# Of a kernel that can be entered unpacked: the head of a note, XEN_ELFNOTE_PHYS32_ENTRY.
PVH_NOTE = b"\x04\0\0\0\x08\0\0\0\x12\0\0\0Xen\0"


class Refused(Exception):
    """Something is missing on the host; the message says what to do."""


@contextlib.contextmanager
def locked(path, how=fcntl.LOCK_EX):
    """Nobody else holds the file meanwhile, in this program or another. Raises BlockingIOError if it is not to wait."""
    with open(path, "w") as file:
        fcntl.flock(file, how)
        yield


# How many machines run at once: each has two processors, of which one is idle most of the time, and now and then both.
PARALLEL = (os.cpu_count() or 2) // 2 + 2


@contextlib.contextmanager
def turn(places):
    """For one machine: so many run at once, whichever programs of this tree have started them."""
    (BUILD / "vm").mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as held:
        n = 0
        while True:
            try:
                held.enter_context(locked(BUILD / "vm" / f"place-{n}", fcntl.LOCK_EX | fcntl.LOCK_NB))
                break
            except BlockingIOError:
                n = (n + 1) % places
                time.sleep(0 if n else 0.1)
        yield


def kernels():
    """The series of tests/vm/kernels that `make test` boots, the oldest first."""
    rows = [line.split() for line in (HERE / "kernels").read_text().splitlines() if not line.startswith("#")]
    return [row[0] for row in rows if row[2:] == ["test"]]


def named(series):
    """A series; "newest" is the last of them."""
    return kernels()[-1] if series == "newest" else series


def release(series):
    """The full version of the kernel of a series, unpacked if it was not."""
    done = subprocess.run([HERE / "kernel", series], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise Refused(f"no kernel {series}")
    return done.stdout.strip()


def base_initramfs(series):
    release(series)     # is unpacked by that
    out = BUILD / "vm" / series / "base.cpio"
    out.parent.mkdir(parents=True, exist_ok=True)
    newest = max(path.stat().st_mtime for path in (HERE / "initramfs", HERE / "hollow", HERE / "init", HERE / "watchers",
                                                   BUILD / "kernel" / series / "version"))
    with locked(out.with_suffix(".lock")):
        if not out.exists() or out.stat().st_mtime < newest:
            subprocess.run([HERE / "initramfs", series, out], check=True)
    return out


def base_list(series):
    """The file that names the libraries in it."""
    return base_initramfs(series).with_suffix(".list")


def packed_kernel(series):
    return BUILD / "kernel" / series / "root/boot" / f"vmlinuz-{release(series)}"


def unpacked_kernel(series):
    """The kernel as it is in memory, which a machine enters at once (PVH): an emulated one unpacks it for
    seconds, at each boot. The packed one where that is not to be had."""
    packed = packed_kernel(series)
    out = BUILD / "vm" / series / "vmlinux"
    if not out.exists() or out.stat().st_mtime < (BUILD / "kernel" / series / "version").stat().st_mtime:
        image = packed.read_bytes()
        # Its header (Documentation/arch/x86/boot.rst of Linux): setup_sects, payload_offset and payload_length.
        offset, length = struct.unpack_from("<II", image, 0x248)
        begin = (image[0x1f1] + 1) * 512 + offset
        payload = image[begin:begin + length - 4]   # without the size that follows
        program = UNPACKERS.get(payload[:4])
        if not program:     # of a kernel that we built
            return packed
        kernel = subprocess.run([program, "-dc"], input=payload, stdout=subprocess.PIPE, check=True).stdout
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=out.parent, delete=False) as new:
            new.write(kernel)
        os.replace(new.name, out)
    return out if PVH_NOTE in out.read_bytes() else packed


def build(series):
    """Where the programs of a guest are built."""
    return BUILD / FOREIGN[series] / "build" if series in FOREIGN else BUILD


def libraries(program, series):
    """What it needs, and what it loads late: lib/kmod.h."""
    usr = BUILD / FOREIGN[series] / "root/usr" if series in FOREIGN else Path("/usr")
    late = sorted(usr.glob("lib*/**/libkmod.so.2"))[:1]
    if series in FOREIGN:
        listed = subprocess.run([ROOT / "tests/cross/libraries", FOREIGN[series], program, *late],
                                stdout=subprocess.PIPE, text=True, check=True).stdout
        return listed.split() + late
    listed = subprocess.run(["ldd", program, *late], capture_output=True, text=True).stdout
    return re.findall(r"(/[^ ):]+)(?= \()", listed) + late


def list_modules(series, stage):
    """Puts the lists there that modprobe reads, of the base's modules and those in `stage`: an emulated machine
    would make them for a second, at each boot."""
    kver = release(series)
    folder = stage / "usr/lib/modules" / kver
    subprocess.run(["cp", "-rlT", BUILD / "vm" / series / "modules", folder], check=True)
    (stage / "lib").symlink_to("usr/lib")
    subprocess.run(["depmod", "-b", stage, kver], check=True,
                   env={**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"})
    (stage / "lib").unlink()
    shutil.rmtree(folder / "kernel")


def payload(series, job, environment, folder):
    """Packs what is under test: module, tool, job."""
    kver = release(series)
    stage = folder / "payload"
    shutil.rmtree(stage, ignore_errors=True)

    def put(source, target):
        target = stage / target.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)

    def put_libraries(program):
        for library in libraries(program, series):
            if "usr" + str(library).removeprefix("/usr") not in there:
                put(library, "/usr/lib/" + os.path.basename(library))

    def strip(folder):
        """What only debuggers read is most of them."""
        programs = [path for path in folder.iterdir() if path.read_bytes()[:4] == b"\x7fELF"]
        if series not in FOREIGN:
            subprocess.run(["strip", "--strip-debug", *programs], check=True)

    there = set(base_list(series).read_text().splitlines())
    for script in (HERE / "jobs").glob("*.sh"):
        put(script, f"/job/{script.name}")
    for program in (build(series) / "vm" / "bin").glob("*"):
        put(program, f"/usr/bin/{program.name}")
    tools = [build(series) / "xpcache", build(series) / "xpcache-bench", build(series) / "tests" / "forge"]
    module = BUILD / f"module-{kver}" / "dm-xpcache.ko"
    for needed in (*tools, module):
        if not needed.exists():
            raise Refused(f"{needed} is not built: run make {'vm-arm64' if series in FOREIGN else 'vm-build'}")
    for tool in tools:
        put(tool, f"/usr/bin/{tool.name}")
        put_libraries(tool)
    put(module, f"/usr/lib/modules/{kver}/extra/dm-xpcache.ko")
    strip(stage / "usr/bin")
    strip(stage / f"usr/lib/modules/{kver}/extra")
    list_modules(series, stage)
    want = wants(job)
    if "script" in want:
        put(HERE.parent / want["script"], f"/job/{want['script']}")
    for name in filter(None, want.get("with", "").split(",")):
        put(build(series) / "vm" / name, f"/usr/bin/{name}")
        if want.get("usr") != "host":
            put_libraries(build(series) / "vm" / name)
    if want.get("usr") == "host":
        (stage / "job" / "usr").touch()
    (stage / "job" / "name").write_text(Path(job).name)
    (stage / "job" / "environment").write_text(
        "".join(f"{key}={value}\n" for key, value in environment.items()))

    initrd = folder / "initrd"
    shutil.copy(base_initramfs(series), initrd)
    with open(initrd, "ab") as file:
        names = subprocess.run(["find", "."], cwd=stage, stdout=subprocess.PIPE, check=True)
        subprocess.run(["cpio", "-o", "-H", "newc", "-R", "0:0", "--quiet"], cwd=stage,
                       input=names.stdout, stdout=file, check=True)
    return initrd


def wants(job):
    """What a job's `# vm:` lines ask for: fast=64M slow=1G timeout=600 ...
    usr=host: the host's /usr, read-only, below the guest's; with=NAME: build/vm/NAME, with its libraries;
    script=NAME: tests/NAME, beside the job; clock=instructions: a nanosecond is an instruction; watch=no: no kernel option that
    looks for bugs and takes time; pmem=512M: memory that the kernel takes for persistent
    (see persistent_memory in lib.sh), gone with the machine; nvdimm=512M: an NVDIMM, whose
    file the next machine finds. One of the two. virtio-pmem=64M, beside an NVDIMM: memory whose host
    must be asked to make it durable."""
    words = " ".join(re.findall(r"^# vm:(.*)$", Path(job).read_text(), re.M)).split()
    return dict(word.split("=", 1) for word in words)


def in_bytes(size):
    """512M as a number."""
    return int(size[:-1]) << {"K": 10, "M": 20, "G": 30}[size[-1]]


def disk(path, size):
    """A sparse file; one that is there is kept, with what is in it."""
    if not path.exists():
        subprocess.run(["truncate", "-s", str(size), path], check=True)
    return path


def accelerator(series="6.12"):
    """kvm if a guest really starts under it (nested it may hang), else tcg."""
    if series in FOREIGN:
        return "tcg"
    note = BUILD / "vm" / "accelerator"
    if not note.exists():
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text("kvm" if kvm_works() else "tcg")
    return note.read_text()


def kvm_works():
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return False
    command = ["qemu-system-x86_64", "-M", "q35", "-cpu", "host", "-accel", "kvm", "-m", "1G",
               "-smp", "2", "-nographic", "-no-reboot", "-nic", "none", "-kernel", packed_kernel("6.12"),
               "-append", "console=ttyS0 panic=-1"]
    try:
        # Without a root file system a kernel that gets so far panics, and leaves.
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=20)
    except subprocess.TimeoutExpired:
        return False
    return b"Unable to mount root" in done.stdout


class Guest:
    """One boot of a machine whose command() a subclass knows. start(), then look at report()
    until it has ended or kill(); or run() it all."""

    def __init__(self, folder):
        self.folder = folder
        self.console = folder / "console.log"
        self.reports = folder / "report.log"
        self.process = None
        self.seen = 0
        self.started = self.starved = self.spent = 0
        folder.mkdir(parents=True, exist_ok=True)

    def talk(self):
        """The devices of console and report. Without ioeventfd a report is in its file before the
        guest's write of it returns; else the emulator's other thread does that later, and a store
        to memory, which needs no thread of the emulator's, could be there before its announcement."""
        return ["-serial", f"file:{self.console}", "-device", "virtio-serial-pci,ioeventfd=off",
                "-chardev", f"file,id=report,path={self.reports}",
                "-device", "virtserialport,chardev=report,name=report"]

    def start(self):
        self.reports.write_text("")
        self.seen = 0
        with open(self.folder / "qemu.log", "wb") as log:
            self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log)
        self.started, self.starved, self.spent = time.monotonic(), 0, 0

    def age(self):
        """Seconds since its start, without those in which it was ready to run and the host had no
        processor for it. Limits are of these: on a busy host a job gets as much as on an idle one."""
        for path in Path(f"/proc/{self.process.pid}/task").glob("*/schedstat"):
            try:
                ran, waited, slices = map(int, path.read_text().split())
            except (OSError, ValueError):   # the thread has ended
                continue
            self.starved = max(self.starved, waited / 1e9)
        self.account()
        return time.monotonic() - self.started - self.starved

    def account(self):
        """Notes in `spent` the seconds of processors that it has taken, while it can be asked."""
        try:
            words = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:     # it has ended
            return
        self.spent = max(self.spent, (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK"))

    def report(self):
        """The whole lines that are new since the last call."""
        with open(self.reports, "rb") as file:
            file.seek(self.seen)
            data = file.read()
        end = data.rfind(b"\n") + 1
        self.seen += end
        return data[:end].decode(errors="replace").splitlines()

    def running(self):
        return self.process.poll() is None

    def kill(self):
        """The power goes: nothing in the guest gets to say a word."""
        self.account()
        self.process.kill()
        self.process.wait()

    def run(self, timeout, on_line=lambda line: None):
        """To the end, or until the job wants its power cut: then its last line is CUT.
        Returns (exit status of the job or None, all lines)."""
        self.start()
        return self.follow(timeout, on_line)

    def follow(self, timeout, on_line=lambda line: None):
        """The same of one that has started."""
        deadline = self.age() + timeout
        lines = []
        while True:
            alive = self.running()
            for line in self.report():
                lines.append(line)
                on_line(line)
            if lines[-1:] == ["CUT"]:
                self.kill()
                break
            if not alive:
                break
            if self.age() > deadline:
                self.kill()
                break
            time.sleep(0.1)
        ends = [line.split()[1] for line in lines if line.startswith("END ")]
        return (int(ends[-1]) if ends else None), lines

    def alarms(self):
        """Lines of the kernel's log that must not be there."""
        text = LOCKS.sub(lambda told: told[0] if OURS.search(told[0]) else "", self.log_text())
        told = [line.strip() for line in text.splitlines() if ALARM.search(line)]
        return [line for line in told if line != LOCKDEP_OFF] if self.notes() else told

    def notes(self):
        """What the log has that is not about the module, and hides what comes after it."""
        others = [told for told in LOCKS.findall(self.log_text()) if not OURS.search(told)]
        return ["lockdep told of locks that are not ours, and is off since"] if others else []

    def log_text(self):
        return "".join(log.read_text(errors="replace") for log in self.logs() if log.exists())

    def logs(self):
        return [self.console]

    def keep_logs(self, boot):
        """Of that boot, beside those of the last."""
        for log in self.logs():
            if log.exists():
                shutil.copy(log, log.with_name(f"{log.stem}-boot{boot}.log"))


class Machine(Guest):
    """A kernel and an initramfs with one job; the disks are the job's."""

    def __init__(self, series, job, folder, environment=None, watchful=True, served=None):
        super().__init__(folder)
        self.dmesg = folder / "dmesg.log"   # the kernel's log at the end: on the serial port each letter is an exit
        self.series = series
        self.foreign = series in FOREIGN
        self.served = served        # by whom the disks are, if not files of ours
        self.wants = wants(job)
        self.watchful = watchful and self.wants.get("watch") != "no"
        self.environment = dict(environment or {})
        self.initrd = payload(series, job, self.environment, folder)

    def logs(self):
        return [self.console, self.dmesg]

    def command(self):
        want = self.wants
        accel = accelerator(self.series)
        # One processor until init: the emulator's may run code that another has just
        # patched, and a kernel patches most of its code while it boots.
        # And no look whether the timer ticks: on a loaded host an emulated one is late.
        # Code is at the same address in each process, or the emulator translates twice as much:
        # pages with many translations are cleared so slowly that the kernel sees a lockup.
        append = f"console={'ttyAMA0' if self.foreign else 'ttyS0'} panic=-1 oops=panic loglevel=5 " \
                 "mitigations=off maxcpus=1 norandmaps "
        if not self.foreign:
            append += "no_timer_check noreplace-smp "
        if accel == "tcg":
            append += PATIENT + UNASKED
        if self.watchful:
            append += WATCHFUL.get(self.series, "")
        if want.get("clock") == "instructions":
            # One instruction is one nanosecond, an idle machine is at its next timer at
            # once: figures are the same whatever else the host does.
            speed = ["-smp", "1", "-accel", "tcg,thread=single", "-cpu", CPU,
                     "-icount", "shift=0,sleep=off"]
        elif accel == "kvm":
            speed = ["-smp", want.get("cpus", "2"), "-accel", "kvm", "-cpu", "host"]
        else:
            speed = ["-smp", want.get("cpus", "2"), "-accel", "tcg,thread=multi", "-cpu",
                     ARM_CPU if self.foreign else CPU]
        memory, words = self.memory()
        command = [
            "qemu-system-aarch64" if self.foreign else "qemu-system-x86_64", *memory, "-display", "none", "-monitor", "none",
            "-no-reboot", "-nic", "none", *speed,
            "-kernel", str(self.kernel(accel)),
            "-initrd", str(self.initrd), "-append", append + words,
            *self.talk(), "-chardev", f"file,id=dmesg,path={self.dmesg}", "-device", "virtserialport,chardev=dmesg,name=dmesg",
            "-device", "virtio-scsi-pci,id=scsi", *self.asked_memory(),
        ]
        if want.get("usr") == "host":
            command += ["-virtfs", "local,path=/usr,mount_tag=usr,security_model=none,"
                                   "readonly=on,multidevs=remap"]
        if self.served:
            return command + self.served_drives()
        sector = want.get("fast-sector", "512")
        command += self.drive("fast", want.get("fast", "256M"),
                              f"nvme,serial=fast0,logical_block_size={sector},physical_block_size={sector}")
        throttle = f",throttling.iops-total={want['slow-iops']}" if "slow-iops" in want else ""
        command += self.drive("slow", want.get("slow", "1G"),
                              SLOW_DEVICE, throttle)
        # On virtio: a second SCSI disk may be found first, and take the name sda.
        for n, size in enumerate(filter(None, want.get("extra", "").split(","))):
            command += self.drive(f"extra{n}", size, f"virtio-blk-pci,serial=extra{n}")
        return command

    def kernel(self, accel):
        # Where instructions are counted, figures are of the kernel as it lies in memory after its own start.
        quick = accel == "tcg" and not self.foreign and self.wants.get("clock") != "instructions"
        return unpacked_kernel(self.series) if quick else packed_kernel(self.series)

    def memory(self):
        """The emulator's options for what memory there is, and the kernel's."""
        size = in_bytes(self.wants.get("memory", "1G"))
        if self.foreign:
            asked = {"pmem", "nvdimm", "usr", "clock"} & self.wants.keys()
            if asked:
                raise Refused(f"a machine of {self.series} has no {', '.join(asked)}: run the job on 6.12")
            return ["-M", "virt", "-m", f"{size >> 20}M"], ""
        if "pmem" in self.wants:
            more = in_bytes(self.wants["pmem"])
            return (["-M", f"q35,max-ram-below-4g={min(size, 2 << 30)}", "-m", f"{size + more >> 20}M"],
                    f" memmap={more:#x}!{ABOVE:#x}")
        if "nvdimm" in self.wants:
            more = in_bytes(self.wants["nvdimm"])
            path = disk(self.folder / "nvdimm.img", more + LABELS)
            return (["-M", "q35,nvdimm=on", "-m", f"{size >> 20}M,slots=1,maxmem={size + 4 * more >> 20}M",
                     "-object", f"memory-backend-file,id=nvdimm,share=on,mem-path={path},size={more + LABELS}",
                     "-device", f"nvdimm,memdev=nvdimm,label-size={LABELS}"], "")
        return ["-M", "q35", "-m", f"{size >> 20}M"], ""

    def asked_memory(self):
        if "virtio-pmem" not in self.wants:
            return []
        size = in_bytes(self.wants["virtio-pmem"])
        path = disk(self.folder / "virtio-pmem.img", size)
        return ["-object", f"memory-backend-file,id=asked,share=on,mem-path={path},size={size}",
                "-device", "virtio-pmem-pci,memdev=asked"]

    def drive(self, name, size, device, options=""):
        # unsafe: the host's page cache outlives a killed machine, so nothing is
        # gained by syncing it at each of the guest's flushes.
        path = disk(self.folder / f"{name}.img", size)
        return ["-drive", f"file={path},if=none,id={name},format=raw,cache=unsafe,"
                          f"discard=unmap{options}",
                "-device", f"{device},drive={name}"]

    def served_drives(self):
        """A recorder's: /dev/vda is the fast disk, /dev/vdb the diary. (An emulated NVMe
        disk says that it heeds FUA, and does not.)"""
        command = []
        for name, device in (("fast", f"virtio-blk-pci,serial=fast0,write-cache={self.served.fast_cache}"),
                             ("slow", SLOW_DEVICE), ("diary", "virtio-blk-pci,serial=diary")):
            command += ["-drive", f"file=nbd+unix:///{name}?socket={self.served.socket},if=none,"
                                  f"id={name},format=raw,cache=none,discard=unmap",
                        "-device", f"{device},drive={name}"]
        return command

    def forget(self):
        """The big files; logs stay."""
        for path in [self.initrd, *self.folder.glob("*.img")]:
            path.unlink(missing_ok=True)
        shutil.rmtree(self.folder / "payload", ignore_errors=True)
