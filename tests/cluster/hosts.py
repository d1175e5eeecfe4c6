"""Two hosts on one machine: network namespaces joined by a veth pair, an sshd in each.

The second has processes and a run folder of its own, as another machine would; models and data lie at the same paths.
Needs root, Linux and openssh-server. What is made here is taken away again, also after a failure.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
SSHD = "/usr/sbin/sshd"
PORT = 2222


def run(*words: str, check: bool = True) -> str:
    """A command's output; raises with that output where it failed."""
    done = subprocess.run(words, text=True, capture_output=True, timeout=60, check=False)
    if check and done.returncode:
        raise RuntimeError(f"{' '.join(words)}: {done.stdout}{done.stderr}")
    return done.stdout


@dataclass
class Host:
    """One of the two."""

    letter: str
    folder: Path
    address: str
    sshd: subprocess.Popen[bytes] | None = None

    @property
    def namespace(self) -> str:
        return f"td{os.getpid()}{self.letter}"

    @property
    def device(self) -> str:
        return f"v{os.getpid()}{self.letter}"

    def inside(self, *words: str) -> list[str]:
        return ["ip", "netns", "exec", self.namespace, *words]

    def processes(self) -> list[str]:
        """The commands of all Python processes on this host: nothing else of a run is ever there."""
        found = []
        for pid in run("ip", "netns", "pids", self.namespace, check=False).split():
            try:
                words = Path("/proc", pid, "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                state = Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if "python" in words and state != "Z":
                found.append(f"{pid} {words[:200]}")
        return found


@dataclass
class Hosts:
    """Both, with the ssh configuration that reaches them and the TUNEDESK_HOME of the first."""

    folder: Path
    a: Host
    b: Host
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def ssh_config(self) -> Path:
        return self.folder / "ssh_config"

    @property
    def home(self) -> Path:
        return self.folder / "home 家 it's"

    def tunedesk(self, *words: str, within_s: float = 120, check: bool = True) -> str:
        """TuneDesk's command line on the first host."""
        argv = self.a.inside(sys.executable, "-P", "-m", "services.cli", *words)
        env = {**os.environ, **self.variables, "TUNEDESK_HOME": str(self.home)}
        done = subprocess.run(argv, env=env, text=True, capture_output=True, timeout=within_s, check=False)
        if check and done.returncode:
            raise RuntimeError(f"tunedesk {' '.join(words)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout + ("" if check else done.stderr)

    def cut(self) -> None:
        run("ip", "-n", self.a.namespace, "link", "set", self.a.device, "down")

    def mend(self) -> None:
        run("ip", "-n", self.a.namespace, "link", "set", self.a.device, "up")

    def processes(self) -> list[str]:
        return [*self.a.processes(), *self.b.processes()]

    def expect_empty(self, within_s: float) -> None:
        """No process of a run is left on either host after so long."""
        deadline = time.monotonic() + within_s
        while left := self.processes():
            assert time.monotonic() < deadline, "\n".join(left)
            time.sleep(0.2)


def why_not() -> str:
    """Why two hosts cannot be made here; empty when they can."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "Two hosts on one machine need root on Linux. Run: sudo make test-cluster"
    for program, package in ((SSHD, "openssh-server"), ("ssh", "openssh-client"), ("ip", "iproute2")):
        if shutil.which(program) is None:
            return f"{program} is missing. Install it: apt install {package}"
    name = f"td{os.getpid()}try"
    try:
        run("ip", "netns", "add", name)
        run("ip", "netns", "del", name)
    except RuntimeError as error:
        return f"This machine permits no network namespaces ({error}). Try it in a virtual machine."
    return ""


@contextmanager
def two_hosts(folder: Path) -> Iterator[Hosts]:
    """Make them; take them away in the end."""
    hosts = Hosts(folder, Host("a", folder / "a", "10.77.0.1"), Host("b", folder / "b", "10.77.0.2"))
    hosts.home.mkdir(parents=True)
    with ExitStack() as stack:
        for host in (hosts.a, hosts.b):
            run("ip", "netns", "add", host.namespace)
            stack.callback(run, "ip", "netns", "del", host.namespace, check=False)
        stack.callback(_end_all, hosts)
        a, b = hosts.a, hosts.b
        run("ip", "link", "add", a.device, "netns", a.namespace, "type", "veth",
            "peer", "name", b.device, "netns", b.namespace)  # fmt: skip
        for host in (a, b):
            run("ip", "-n", host.namespace, "addr", "add", f"{host.address}/24", "dev", host.device)
            run("ip", "-n", host.namespace, "link", "set", host.device, "up")
            run("ip", "-n", host.namespace, "link", "set", "lo", "up")
        _write_keys(hosts)
        _start_sshd(a, [])
        own = f"mount -t tmpfs tmpfs {shlex.quote(str(hosts.home))} && exec \"$@\""
        _start_sshd(b, ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", own, "sh"])
        _wait_for_sshd(hosts)
        yield hosts


def _write_keys(hosts: Hosts) -> None:
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(hosts.folder / "key"))
    authorized = hosts.folder / "authorized_keys"
    shutil.copy(hosts.folder / "key.pub", authorized)
    known = []
    for host in (hosts.a, hosts.b):
        host.folder.mkdir()
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(host.folder / "host_key"))
        public = (host.folder / "host_key.pub").read_text().split()
        known.append(f"[{host.address}]:{PORT} {public[0]} {public[1]}\n")
        (host.folder / "sshd_config").write_text(
            f"Port {PORT}\nListenAddress {host.address}\nHostKey {host.folder}/host_key\nPidFile none\nUsePAM no\n"
            f"AuthorizedKeysFile {authorized}\nStrictModes no\nPermitRootLogin prohibit-password\n"
            "PasswordAuthentication no\nUseDNS no\n"
        )
    (hosts.folder / "known_hosts").write_text("".join(known))
    hosts.ssh_config.write_text(
        f"Host *\n  IdentityFile {hosts.folder}/key\n  IdentitiesOnly yes\n"
        f"  UserKnownHostsFile {hosts.folder}/known_hosts\n"
    )


def _start_sshd(host: Host, around: list[str]) -> None:
    Path("/run/sshd").mkdir(exist_ok=True)
    words = [SSHD, "-D", "-f", f"{host.folder}/sshd_config", "-E", f"{host.folder}/sshd.log"]
    host.sshd = subprocess.Popen(host.inside(*around, *words), stdin=subprocess.DEVNULL, start_new_session=True)


def _wait_for_sshd(hosts: Hosts) -> None:
    for host in (hosts.a, hosts.b):
        words = hosts.a.inside("ssh", "-F", str(hosts.ssh_config), "-p", str(PORT), "-o", "BatchMode=yes", host.address)
        deadline = time.monotonic() + 20
        while True:
            done = subprocess.run([*words, "true"], capture_output=True, text=True, timeout=20, check=False)
            if done.returncode == 0:
                break
            assert time.monotonic() < deadline, done.stderr + (host.folder / "sshd.log").read_text()
            time.sleep(0.3)


def _end_all(hosts: Hosts) -> None:
    """Every process in the namespaces, the daemons too."""
    for host in (hosts.a, hosts.b):
        for pid in run("ip", "netns", "pids", host.namespace, check=False).split():
            try:
                os.kill(int(pid), signal.SIGKILL)
            except ProcessLookupError:
                continue
        if host.sshd is not None:
            host.sshd.wait(timeout=10)
