"""Everything TuneDesk takes from its environment, read once. The only place that reads it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import platformdirs

PROJECT = Path(__file__).resolve().parents[1]
ASSETS = PROJECT / "assets"
PRESETS = PROJECT / "presets"


@dataclass(frozen=True)
class Hub:
    """Where a hub's models are, on the net and on this machine, as the hub's own tools read it."""

    endpoint: str
    token: str | None = field(default=None, repr=False)
    token_file: Path | None = None
    """Where a login has left one."""
    folders: tuple[Path, ...] = ()
    """Where its tools keep what was downloaded."""
    offline: bool = False


@dataclass(frozen=True)
class Settings:
    """The environment's part of the configuration; every path is absolute."""

    home: Path
    starter: Path
    roots: tuple[Path, ...]
    cpu_slots: int = 1
    lang: str = "en"
    window_lang: str | None = None
    """The language that was asked for; None: each browser's own."""
    vllm_python: str | None = None
    password: str | None = None
    visible_devices: tuple[str, ...] | None = None
    """The cards the server itself was limited to, by their physical numbers or UUIDs; None: all."""
    share_server: str | None = None
    """``host:port`` of an own share server; None: Gradio's."""
    has_display: bool = False
    over_ssh: bool = False
    ssh_addresses: tuple[str, str] | None = None
    """Of the SSH connection this process was started over: the other end's address and this end's."""

    hugging_face: Hub = Hub("https://huggingface.co")
    modelscope: Hub = Hub("https://modelscope.cn")

    @property
    def runs(self) -> Path:
        return self.home / "runs"

    @property
    def datasets(self) -> Path:
        return self.home / "datasets"

    @property
    def presets(self) -> Path:
        return self.home / "presets"

    @property
    def cache(self) -> Path:
        return self.home / "cache"


def read_settings(environ: Mapping[str, str] | None = None) -> Settings:
    """Read the settings from ``environ`` (default: this process's own environment)."""
    env = os.environ if environ is None else environ
    home = Path(env.get("TUNEDESK_HOME") or platformdirs.user_data_dir("tunedesk")).expanduser().resolve()
    starter = env.get("TUNEDESK_STARTER")
    roots = [Path.home(), home]
    with contextlib.suppress(FileNotFoundError):  # somebody deleted the folder the shell stands in
        roots.append(Path.cwd())
    roots += [Path(part).expanduser() for part in env.get("TUNEDESK_ROOTS", "").split(os.pathsep) if part]
    asked = env.get("TUNEDESK_LANG", "").lower()
    lang = "zh" if asked.startswith("zh") else "en" if asked.startswith("en") else None
    return Settings(
        home=home,
        starter=Path(starter).expanduser().resolve() if starter else home / "models" / "starter",
        roots=tuple(dict.fromkeys(root.resolve() for root in roots)),
        cpu_slots=_positive(env.get("TUNEDESK_CPU_SLOTS"), 1),
        lang=lang or "en",
        window_lang=lang,
        vllm_python=env.get("TUNEDESK_VLLM_PYTHON") or None,
        password=env.get("TUNEDESK_PASSWORD") or None,
        visible_devices=_devices(env.get("CUDA_VISIBLE_DEVICES", env.get("ASCEND_RT_VISIBLE_DEVICES"))),
        share_server=env.get("GRADIO_SHARE_SERVER_ADDRESS") or None,
        has_display=bool(env.get("DISPLAY") or env.get("WAYLAND_DISPLAY")),
        over_ssh=bool(env.get("SSH_CONNECTION")),
        ssh_addresses=_ssh_addresses(env.get("SSH_CONNECTION", "")),
        hugging_face=_hugging_face(env),
        modelscope=_modelscope(env),
    )


def _hugging_face(env: Mapping[str, str]) -> Hub:
    """As huggingface_hub reads it."""
    caches = Path(env.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    home = Path(env.get("HF_HOME") or caches / "huggingface").expanduser()
    return Hub(
        (env.get("HF_ENDPOINT") or "https://huggingface.co").rstrip("/"),
        env.get("HF_TOKEN") or env.get("HUGGING_FACE_HUB_TOKEN") or None,
        Path(env.get("HF_TOKEN_PATH") or home / "token").expanduser(),
        (Path(env.get("HF_HUB_CACHE") or env.get("HUGGINGFACE_HUB_CACHE") or home / "hub").expanduser(),),
        offline=any(_true(env.get(name)) for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")),
    )


def _modelscope(env: Mapping[str, str]) -> Hub:
    """As modelscope reads it; a bare domain is taken as an https address."""
    endpoint = (env.get("MODELSCOPE_ENDPOINT") or env.get("MODELSCOPE_DOMAIN") or "modelscope.cn").strip().rstrip("/")
    home = Path(env.get("MODELSCOPE_CACHE") or Path.home() / ".cache" / "modelscope").expanduser()
    return Hub(
        endpoint if endpoint.lower().startswith(("http://", "https://")) else f"https://{endpoint}",
        env.get("MODELSCOPE_API_TOKEN") or None,
        folders=(home / "models", home / "hub" / "models", home / "hub", home),
    )


def _true(text: str | None) -> bool:
    return (text or "").upper() in ("1", "ON", "YES", "TRUE")


def _positive(text: str | None, default: int) -> int:
    return int(text) if text and text.isdecimal() and int(text) > 0 else default


def _ssh_addresses(text: str) -> tuple[str, str] | None:
    """sshd writes: client address, client port, server address, server port."""
    words = text.split()
    return (words[0], words[2]) if len(words) == 4 else None


def _devices(text: str | None) -> tuple[str, ...] | None:
    if text is None:
        return None
    return tuple(part.strip() for part in text.split(",") if part.strip() not in ("", "-1"))
