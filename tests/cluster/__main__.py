"""``python -m tests.cluster``: says what will be started on this machine, then runs these tests.

They need root on Linux, so ``make test`` leaves them out.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from tests.cluster import hosts, slurm_here

WHAT = """\
These tests start, on this machine, and end and take away again:
  · two network namespaces joined by a veth pair, with an sshd in each (addresses 10.77.0.1 and 10.77.0.2, port 2222)
  · a munged, a slurmctld and a slurmd, with a configuration of their own in a temporary folder
They change no file outside temporary folders, besides making /run/sshd where it is missing.
"""
PACKAGES = {
    "/usr/sbin/sshd": "openssh-server", "ssh": "openssh-client", "ip": "iproute2", "slurmctld": "slurm-wlm",
    "munged": "munge",
}  # fmt: skip
INSTALL_S = 600


def main(options: list[str]) -> int:
    print(WHAT, flush=True)
    install()
    reasons = [reason for reason in (hosts.why_not(), slurm_here.why_not()) if reason]
    if reasons:
        print("\n".join(reasons), file=sys.stderr)
        return 2
    argv = [sys.executable, "-m", "pytest", "tests/cluster", "--durations=8", "--durations-min=5", *options]
    return subprocess.run(argv, check=False).returncode


def install() -> None:
    """What is missing, from Debian's packages where we may; their own daemons are not started."""
    missing = [package for program, package in PACKAGES.items() if shutil.which(program) is None]
    if not missing or not hasattr(os, "geteuid") or os.geteuid() != 0 or shutil.which("apt-get") is None:
        return
    print(f"Installing: {' '.join(missing)}", flush=True)
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    for words in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", *missing]):
        subprocess.run(["apt-get", *words], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       timeout=INSTALL_S, check=True)  # fmt: skip


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
