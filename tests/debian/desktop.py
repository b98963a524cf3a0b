# SPDX-License-Identifier: GPL-2.0-only
"""desktop - an old desktop: a hard disk that Debian boots from by itself, and an NVMe module.

The disk answers as one with 512-byte sectors does, on SATA, with throttled requests a second;
firmware and GRUB read it as they would any. What it is to do comes by a folder that it mounts
(tests/debian/agent), what it says by the report port.
"""

import re
import shutil
import subprocess
import sys
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


class Desktop(vm.Guest):
    """One boot. The disks are slow.img and fast.img of its folder; without a fast.img there
    is no NVMe module in the machine."""

    def __init__(self, series, job, folder, environment=None, files=()):
        super().__init__(folder)
        self.series = series
        self.wants = vm.wants(job)
        self.direct = False         # not through GRUB
        self.share = folder / "share"
        shutil.rmtree(self.share, ignore_errors=True)
        self.share.mkdir()
        shutil.copy(job, self.share / "job.sh")
        shutil.copy(vm.HERE / "jobs" / "lib.sh", self.share)
        for path in files:
            shutil.copy(path, self.share)
        (self.share / "environment").write_text(
            "".join(f"export {key}={value}\n" for key, value in (environment or {}).items()))

    def command(self):
        iops = self.wants.get("slow-iops")
        speed = ["-accel", "kvm", "-cpu", "host"] if vm.accelerator() == "kvm" else \
                ["-accel", "tcg,thread=single", "-cpu", "max"]
        command = [
            "qemu-system-x86_64", "-M", "q35", "-display", "none", "-monitor", "none",
            "-no-reboot", "-nic", "none", "-m", self.wants.get("memory", "1G"), *speed,
            *self.talk(),
            "-virtfs", f"local,path={self.share},mount_tag=job,security_model=none,readonly=on",
            *self.drive("slow", "ide-hd,bus=ide.0,serial=slow0,wwn=0x5000c500a1b2c3d4,bootindex=1",
                        f",throttling.iops-total={iops}" if iops else ""),
        ]
        if (self.folder / "fast.img").exists():
            command += self.drive("fast", "nvme,serial=fast0")
        return command + (self.past_grub() if self.direct else [])

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
                           "noreplace-smp loglevel=5"]

    def said(self):
        """The console, without what colours it."""
        text = self.console.read_text(errors="replace") if self.console.exists() else ""
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
