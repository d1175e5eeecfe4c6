"""A Slurm cluster of one node on this machine: munged, slurmctld and slurmd with files of their own.

Needs root, Linux, slurm-wlm and munge. Whatever configuration the machine has is left alone.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import psutil

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scontrol")


def why_not() -> str:
    """Why there can be no Slurm here; empty when there can."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "A Slurm of its own needs root on Linux. Run: sudo make test-cluster"
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    return f"{', '.join(missing)} missing. Install them: apt install slurm-wlm munge" if missing else ""


@contextmanager
def slurm_here(folder: Path) -> Iterator[dict[str, str]]:
    """Start the daemons; yield the variables with which Slurm's programs find them; end them."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    conf = folder / "slurm.conf"
    conf.write_text(_configuration(folder))
    variables = {"SLURM_CONF": str(conf)}
    env = {**os.environ, **variables}
    (folder / "munge.key").write_bytes(os.urandom(128))
    (folder / "munge.key").chmod(0o400)
    munged = ["munged", "--foreground", "--force", f"--key-file={folder}/munge.key", f"--socket={folder}/munge.socket",
              f"--pid-file={folder}/munged.pid", f"--log-file={folder}/munged.log",
              f"--seed-file={folder}/munged.seed"]  # fmt: skip
    with ExitStack() as stack:
        stack.callback(_end_rest, conf)
        for words, ready in (
            (munged, folder / "munge.socket"),
            (["slurmctld", "-D", "-f", str(conf)], None),
            (["slurmd", "-D", "-f", str(conf)], None),
        ):
            log = stack.enter_context((folder / f"{words[0]}.out").open("wb"))
            daemon = subprocess.Popen(words, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            stack.callback(_end, daemon)
            _wait(lambda ready=ready: ready is None or ready.exists(), daemon, folder)
        _wait(lambda: _idle(env), daemon, folder)
        stack.callback(_end_jobs, env)
        yield variables


def _configuration(folder: Path) -> str:
    host = socket.gethostname().split(".")[0]
    return "\n".join([
        "ClusterName=tunedesk", f"SlurmctldHost={host}(127.0.0.1)", "SlurmUser=root", "SlurmdUser=root",
        "AuthType=auth/munge", f"AuthInfo=socket={folder}/munge.socket", "CredType=cred/munge",
        f"SlurmctldPort={_port()}", f"SlurmdPort={_port()}",
        f"StateSaveLocation={folder}/state", f"SlurmdSpoolDir={folder}/spool",
        f"SlurmctldPidFile={folder}/slurmctld.pid", f"SlurmdPidFile={folder}/slurmd.pid",
        f"SlurmctldLogFile={folder}/slurmctld.log", f"SlurmdLogFile={folder}/slurmd.log",
        "ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none", "MpiDefault=none", "ReturnToService=2",
        "SelectType=select/cons_tres", "SelectTypeParameters=CR_Core", "SwitchType=switch/none", "KillWait=5",
        f"NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN",
        f"PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP", "",
    ])  # fmt: skip


def _end_jobs(env: dict[str, str]) -> None:
    """Cancel what a failed test has left, and wait until it is gone."""
    deadline = time.monotonic() + 20
    while subprocess.run(["squeue", "-h"], env=env, capture_output=True, timeout=30, check=False).stdout.strip():
        subprocess.run(["scancel", "--quiet", "--user", "root"], env=env, timeout=30, check=False)
        if time.monotonic() > deadline:
            return
        time.sleep(0.5)


def _end_rest(conf: Path) -> None:
    """Whatever still knows of this Slurm by its environment: keepers, srun, ranks."""
    for one in psutil.process_iter():
        with suppress(psutil.Error):
            if one.pid != os.getpid() and one.environ().get("SLURM_CONF") == str(conf):
                one.kill()


def _port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _idle(env: dict[str, str]) -> bool:
    done = subprocess.run(["sinfo", "-h", "-o", "%T"], env=env, text=True, capture_output=True, timeout=30, check=False)
    return done.stdout.strip() == "idle"


def _wait(what: object, daemon: subprocess.Popen[bytes], folder: Path, within_s: float = 45) -> None:
    deadline = time.monotonic() + within_s
    while not what():  # type: ignore[operator]
        if daemon.poll() is not None or time.monotonic() > deadline:
            logs = [path.read_text(errors="replace")[-1500:] for path in sorted(folder.glob("*.log"))]
            logs += [path.read_text(errors="replace")[-500:] for path in sorted(folder.glob("*.out"))]
            raise RuntimeError("Slurm did not start:\n" + "\n".join(logs))
        time.sleep(0.2)


def _end(daemon: subprocess.Popen[bytes]) -> None:
    daemon.terminate()
    try:
        daemon.wait(timeout=10)
    except subprocess.TimeoutExpired:
        daemon.kill()
        daemon.wait()
