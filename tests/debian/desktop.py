# SPDX-License-Identifier: GPL-2.0-only
"""desktop - an old desktop: a hard disk that Debian boots from by itself, and an NVMe module.

The disk answers as one with 512-byte sectors does, on SATA, with throttled requests a second;
firmware and GRUB read it as they would any. What it is to do comes by a folder that it mounts
(tests/debian/agent), what it says by the report port.
"""

import random
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "vm"))
import vm       # noqa: E402  what guests have in common

HERE = vm.ROOT / "tests" / "debian"
HOME = vm.BUILD / "debian"


def image(series, table, kind="disk"):
    """The path of a disk to copy; made if it is not there or is old."""
    done = subprocess.run([HERE / kind, series, table])
    if done.returncode:
        raise vm.Refused(f"no Debian with kernel {series} on a disk of kind {table}")
    return HOME / series / (f"{table}.img" if kind == "disk" else f"{table}-{kind}.img")


def packages(name):
    """Paths of packages of that set, for a guest to install."""
    if subprocess.run([HERE / "debs", name]).returncode:
        raise vm.Refused(f"no packages for the guest: {name}")
    return sorted((HOME / "debs" / name).glob("*.deb"))


class Desktop(vm.Guest):
    """One boot. The disks are slow.img and fast.img of its folder; without a fast.img, or if
    fast is made False, there is no NVMe module in the machine."""

    def __init__(self, series, job, folder, environment=None, files=()):
        super().__init__(folder)
        self.series = series
        self.wants = vm.wants(job)
        self.direct = False         # not through GRUB
        self.extra = list(filter(None, self.wants.get("extra", "").split(",")))
        for n, size in enumerate(self.extra):
            vm.disk(folder / f"extra{n}.img", size)
        self.fast = (folder / "fast.img").exists()
        self.keyboard = folder / "keyboard"
        self.started = self.login = self.cut = None
        self.share = folder / "share"
        shutil.rmtree(self.share, ignore_errors=True)
        self.share.mkdir()
        shutil.copy(job, self.share / "job.sh")
        for path in (vm.HERE / "jobs" / "lib.sh", HERE / "desktop.sh", *(HERE / "jobs").glob("*.sh")):
            shutil.copy(path, self.share)
        for path in files:
            shutil.copy(path, self.share)
        (self.share / "environment").write_text(
            "".join(f"export {key}={value}\n" for key, value in (environment or {}).items()))

    def command(self):
        iops = self.wants.get("slow-iops")
        # For a machine that cannot have a second processor QEMU 7.2 leaves out the barriers of the first,
        # but the disks are threads of their own: a doorbell of the NVMe is lost now and then, and
        # Linux 6.1 loses each after the reset that follows.
        speed = ["-accel", "kvm", "-cpu", "host"] if vm.accelerator() == "kvm" else \
                ["-accel", "tcg,thread=multi", "-smp", "1,maxcpus=2", "-cpu", vm.CPU]
        command = [
            "qemu-system-x86_64", "-M", "q35", "-display", "none", "-monitor", "none",
            "-no-reboot", "-nic", "none", "-m", self.wants.get("memory", "1G"), *speed,
            *self.talk(),
            "-virtfs", f"local,path={self.share},mount_tag=job,security_model=none,readonly=on",
            *self.drive("slow", "ide-hd,bus=ide.0,serial=slow0,wwn=0x5000c500a1b2c3d4,bootindex=1",
                        f",throttling.iops-total={iops}" if iops else ""),
        ]
        if self.fast:
            command += self.drive("fast", "nvme,serial=fast0")
        for n, _ in enumerate(self.extra):
            command += self.drive(f"extra{n}", f"ide-hd,bus=ide.{n + 1},serial=extra{n},wwn={0x5000c500a1b2c400 + n}")
        return command + (self.past_grub() if self.direct else [])

    def talk(self):
        return ["-chardev", f"socket,id=console,path={self.keyboard},server=on,wait=off,"
                            f"logfile={self.console}",
                "-serial", "chardev:console", *super().talk()[2:]]

    def type(self, line):
        """One line on the console. What it says to that is in the log."""
        with socket.socket(socket.AF_UNIX) as console:
            console.connect(str(self.keyboard))
            console.settimeout(60)
            for byte in line.encode() + b"\n":     # no faster than a serial line
                console.sendall(bytes([byte]))
                time.sleep(0.02)
            echo = b""
            while b"\n" not in echo:       # what is not taken yet is lost when the connection ends
                echo += console.recv(4096) or b"\n"

    def start(self):
        self.console.unlink(missing_ok=True)
        self.started, self.login, self.cut = time.monotonic(), None, None
        super().start()

    def report(self):
        """CUT SECONDS is a power cut at some moment in that time: then CUT is the last line."""
        now = time.monotonic()
        if self.login is None and "login:" in self.said():
            self.login = now - self.started
        lines = super().report()
        for line in lines:
            if line.startswith("CUT "):
                self.cut = now + random.uniform(0, float(line.split()[1]))
        return lines + (["CUT"] if self.cut and now >= self.cut else [])

    def drive(self, name, device, options=""):
        # unsafe: as in vm.py, the host's page cache outlives a killed machine.
        return ["-drive", f"file={self.folder / name}.img,if=none,id={name},format=raw,"
                          f"cache=unsafe,discard=unmap{options}",
                "-device", f"{device},drive={name}"]

    def past_grub(self):
        boot = HOME / self.series / "boot"
        kver = vm.release(self.series)
        return ["-kernel", boot / f"vmlinuz-{kver}", "-initrd", boot / f"initrd.img-{kver}",
                "-append", "root=LABEL=system ro console=ttyS0 mitigations=off no_timer_check "
                           "noreplace-smp norandmaps loglevel=5"]

    def said(self):
        """The console, without what colours it."""
        text = self.console.read_text(errors="replace") if self.console.exists() else ""
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
