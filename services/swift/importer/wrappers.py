"""What is started before ms-swift: torchrun, deepspeed, accelerate, Slurm, docker, shells and the like."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable

from services.errors import Key
from services.swift.importer.grammar import option_value
from services.swift.importer.launch import Launch, left, number, options, options_once, taken
from services.swift.importer.programs import module, module_file, python, swift
from services.swift.importer.text import Text

SHELLS = ("bash", "sh", "zsh", "dash")


def _torchrun(found: Launch, _: str) -> bool:
    got = options(found, ("standalone", "no_python", "run_path", "m", "module", "-m", "use_env"))
    found.launcher = "torchrun"
    taken(found, "torchrun", got, "nproc_per_node", "nnodes")
    found.processes = got.pop("nproc_per_node", None) or found.processes
    found.nodes = got.pop("nnodes", None) or found.nodes
    return _program(found, got, "torchrun")


def _program(found: Launch, got: dict[str, str], launcher: str) -> bool:
    """The program behind a launcher's options: a module where ``-m`` was given, else a file."""
    by_module = "-m" in got or "module" in got
    plain = "no_python" in got
    for name in ("-m", "module", "no_python"):
        got.pop(name, None)
    ports = {name: got.pop(name) for name in ("master_addr", "master_port", "main_process_ip", "main_process_port",
                                             "rdzv_endpoint") if name in got}  # fmt: skip
    if ports:
        text = ", ".join(f"--{name} {value}" for name, value in ports.items())
        found.say(Key("importing.rendezvous", options=text), *(f"--{name}" for name in ports))
    left(found, launcher, got)
    if not found.words or plain:
        return plain
    if by_module:
        return module(found)
    if not module_file(found):
        if posixpath.basename(found.words[0].value) == "swift":
            return True
        found.python_file = found.words[0].value
    return False


def _deepspeed(found: Launch, _: str) -> bool:
    flags = ("module", "no_python", "no_local_rank", "no_ssh", "no_ssh_check", "force_multi", "save_pid",
             "enable_each_rank_log", "elastic_training", "bind_cores_to_rank", "m")  # fmt: skip
    got = options(found, flags, short=("-H", "-i", "-e"))
    found.launcher = "deepspeed"
    taken(found, "deepspeed", got, "num_gpus", "num_nodes")
    found.processes = got.pop("num_gpus", None) or found.processes
    found.nodes = got.pop("num_nodes", None) or found.nodes
    include = got.pop("include", got.pop("-i", None))
    hostfile = got.pop("hostfile", got.pop("-H", None))
    if include is not None:
        _include(found, include)
    if hostfile is not None:
        found.hosts = hostfile
        found.say(Key("importing.hostfile", file=hostfile), "--hostfile")
    return _program(found, got, "deepspeed")


def _include(found: Launch, include: str) -> None:
    """``host:0,1@other:2,3``: which cards of which machines."""
    parts = [part.partition(":") for part in include.split("@") if part]
    local = len(parts) == 1 and parts[0][0] in ("localhost", "127.0.0.1", "")
    found.gpus = parts[0][2] or None if parts else None
    if found.gpus:
        found.processes = found.processes or str(len(found.gpus.split(",")))
    if not local:
        found.nodes = found.nodes or str(len(parts))
        found.hosts = ", ".join(host for host, _, _ in parts)
    found.say(Key("importing.include", include=include), "--include")


def _accelerate(found: Launch, _: str) -> bool:
    if not found.words or found.words[0].value != "launch":
        return False
    found.words.pop(0)
    flags = ("cpu", "multi_gpu", "tpu", "ipex", "use_deepspeed", "use_fsdp", "use_megatron_lm", "same_network", "debug",
             "-m", "module", "no_python", "quiet", "-q", "use_xpu", "use_mps_device", "standalone")  # fmt: skip
    got = options(found, flags)
    found.launcher = "accelerate"
    taken(found, "accelerate", got, "num_processes", "num_machines", "gpu_ids")
    found.processes = got.pop("num_processes", None) or found.processes
    found.nodes = got.pop("num_machines", None) or found.nodes
    found.gpus = got.pop("gpu_ids", None) or found.gpus
    found.config_file = got.pop("config_file", None)
    found.mixed_precision = got.pop("mixed_precision", None)
    if found.mixed_precision:
        found.say(Key("importing.mixed_precision", value=found.mixed_precision), "--mixed_precision")
    return _program(found, got, "accelerate launch")


def _dlc(found: Launch, name: str) -> bool:
    """PAI DLC: ``dlc submit pytorchjob --command "…" …`` and ``dlc create job``."""
    while found.words and not found.words[0].value.startswith("-"):
        found.words.pop(0)
    got = options(found, ("interactive", "success_policy"))
    found.nodes = got.get("workers", got.get("worker_count")) or found.nodes
    found.launcher = "dlc"
    taken(found, "dlc", got, "command", "user_command")
    found.script = got.pop("command", got.pop("user_command", None)) or None
    asked = {"nodes": found.nodes, "gpus": got.get("worker_gpu"), "image": got.get("worker_image")}
    asked["workspace"] = got.get("workspace_id")
    found.target = {"kind": "dlc", **{name: number(value) for name, value in asked.items() if value}}
    if asked["workspace"]:
        found.target["workspace"] = asked["workspace"]
    left(found, "dlc", got)
    return False


def _srun(found: Launch, name: str) -> bool:
    short = ("-N", "-n", "-p", "-J", "-c", "-w", "-o", "-e", "-t", "-G", "-A", "-q", "-C")
    flags = ("exclusive", "unbuffered", "pty", "overlap", "label", "export_none", "no_requeue", "wait_all_nodes")
    got = options(found, flags, short=short)
    found.launcher = name
    found.nodes = got.get("nodes", got.get("-N")) or found.nodes
    if name == "sbatch" and "wrap" in got:
        found.script = got.pop("wrap")
    left(found, name, got)
    if name == "sbatch" and found.script is None:
        found.script = found.call.stdin.value if found.call.stdin is not None and not found.words else None
        found.script_file = posixpath.normpath(found.words[0].value) if found.words else ""
        return False
    return found.script is None


def _docker(found: Launch, name: str) -> bool:
    """``docker run [options] image command …``."""
    if not found.words or found.words[0].value not in ("run", "exec"):
        return False
    found.words.pop(0)
    flags = ("rm", "privileged", "init", "detach", "interactive", "tty", "read_only", "no_healthcheck",
             "nv", "rocm", "cleanenv", "contain", "containall", "no_home", "writable_tmpfs", "fakeroot")  # fmt: skip
    short = ("-v", "-e", "-w", "-p", "-u", "-h", "-m", "-l", "-c", "-B")
    got: dict[str, str] = {}
    many: list[tuple[str, str]] = []
    while found.words and found.words[0].value.startswith("-"):
        one = options_once(found, flags, short)
        many.append(one)
        got[one[0]] = one[1]
        if one[0] in ("-e", "env") and "=" in one[1]:
            key, _, value = one[1].partition("=")
            found.env[key] = Text(value, (value,) if "$" in value else ())
    image = found.words.pop(0).value if found.words else ""
    text = " ".join(f"{key if key.startswith('-') else '--' + key} {value}".strip() for key, value in many)
    names = tuple(dict.fromkeys(key if key.startswith("-") else f"--{key.replace('_', '-')}" for key, _ in many))
    inside = " ".join(word.value for word in found.words) or "–"
    found.say(Key("importing.docker", launcher=name, image=image, options=text, inside=inside[:200]), *names)
    devices = re.sub(r'[\'"]|device=', "", got.get("gpus", ""))
    if "device=" in got.get("gpus", "") and re.fullmatch(r"[0-9,]+", devices):
        found.gpus = devices
    found.launcher = name
    return True


def _env(found: Launch, _: str) -> bool:
    options(found, ("ignore_environment",), short=("-u", "-C"))
    while found.words and re.fullmatch(r"[A-Za-z_]\w*=.*", found.words[0].value, re.DOTALL):
        word = found.words.pop(0)
        name, _, value = word.value.partition("=")
        found.env[name] = Text(value, word.text.unknown)
    return True


def _shell(found: Launch, _: str) -> bool:
    """``bash -c "…"``, or a here-document."""
    while found.words and found.words[0].value.startswith("-"):
        flag = found.words.pop(0).value
        if not flag.startswith("--") and flag.endswith("c") and found.words:
            found.script = found.words[0].value
            return False
    if found.call.stdin is not None:
        found.script = found.call.stdin.value
    elif found.words:
        found.script_file = posixpath.normpath(posixpath.join(found.call.folder, found.words[0].value))
    return False


def _ssh(found: Launch, name: str) -> bool:
    options(found, (), short=("-p", "-i", "-l", "-o", "-F", "-J", "-L", "-R", "-D", "-E", "-b", "-c", "-m", "-w"))
    if not found.words:
        return False
    host = found.words.pop(0).value
    found.around = (*found.around, f"{name} {host}")
    found.say(Key("importing.on_host", host=host, line=found.call.line))
    script = " ".join(word.value for word in found.words)
    found.script = script or (found.call.stdin.value if found.call.stdin else None)
    return False


def _eval(found: Launch, _: str) -> bool:
    found.script = " ".join(word.value for word in found.words)
    return False


def _skip(*with_value: str, words: int = 0) -> Callable[[Launch, str], bool]:
    """A wrapper whose options change nothing that a spec says; ``words`` of its own follow them."""

    def peel(found: Launch, name: str) -> bool:
        got: dict[str, str] = {}
        while found.words and found.words[0].value.startswith("-") and found.words[0].value != "-":
            flag, value = options_once(found, (), with_value, long_takes_value=False)
            got[flag] = value
        del found.words[:words]
        left(found, name, got)
        return True

    return peel


def _runner(*with_value: str) -> Callable[[Launch, str], bool]:
    """``uv run …``, ``conda run -n env …``: a command in an environment."""

    def peel(found: Launch, name: str) -> bool:
        if not found.words or found.words[0].value != "run":
            return False
        found.words.pop(0)
        got: dict[str, str] = {}
        while found.words and found.words[0].value.startswith("-"):
            flag = found.words.pop(0).value
            got[flag] = found.words.pop(0).value if flag in with_value and found.words else ""
        left(found, f"{name} run", got)
        return True

    return peel


def _ray(found: Launch, name: str) -> bool:
    """``ray job submit … -- command``."""
    if [word.value for word in found.words[:2]] != ["job", "submit"]:
        return False
    at = next((number for number, word in enumerate(found.words) if word.value == "--"), None)
    if at is None:
        return False
    skipped = found.words[2:at]
    flags = tuple(word.value for word in skipped if word.value.startswith("-"))
    text = " ".join(word.value for word in skipped)
    found.say(Key("importing.launcher_options", launcher="ray job submit", options=text), *flags)
    found.words, found.launcher = found.words[at + 1 :], "ray"
    address = option_value([word.value for word in skipped], ("--address",))
    found.target = {"kind": "ray", **({"address": address} if address else {})}
    return True


PROGRAMS: dict[str, Callable[[Launch, str], bool]] = {
    "swift": swift,
    "megatron": swift,
    "python": python,
    "torchrun": _torchrun,
    "deepspeed": _deepspeed,
    "accelerate": _accelerate,
    "dlc": _dlc,
    "srun": _srun,
    "sbatch": _srun,
    "docker": _docker,
    "podman": _docker,
    "nvidia-docker": _docker,
    "apptainer": _docker,
    "singularity": _docker,
    "env": _env,
    "ssh": _ssh,
    "eval": _eval,
    "ray": _ray,
    **{name: _shell for name in SHELLS},
    **{name: _skip() for name in ("nohup", "exec", "command", "setsid", "unbuffer", "builtin", "caffeinate")},
    "time": _skip("-f", "-o"),
    "sudo": _skip("-u", "-g", "-C"),
    "nice": _skip("-n"),
    "ionice": _skip("-c", "-n"),
    "stdbuf": _skip("-o", "-e", "-i"),
    "numactl": _skip("-N", "-m", "-C", "-i"),
    "taskset": _skip(words=1),
    "timeout": _skip("-s", "-k", words=1),
    "uv": _runner("--python", "-p", "--with", "--project", "--extra", "--group", "--directory"),
    "poetry": _runner("-C"),
    "conda": _runner("-n", "--name", "-p", "--prefix", "--cwd"),
    "mamba": _runner("-n", "--name", "-p", "--prefix"),
    "mpirun": _skip("-np", "-n", "-H", "-x", "-hostfile"),
}
