"""Everything TuneDesk takes from its environment, read once. The only place that reads it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import platformdirs

PROJECT = Path(__file__).resolve().parents[1]
ASSETS = PROJECT / "assets"
PRESETS = PROJECT / "presets"


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
    )


def _positive(text: str | None, default: int) -> int:
    return int(text) if text and text.isdigit() and int(text) > 0 else default


def _devices(text: str | None) -> tuple[str, ...] | None:
    if text is None:
        return None
    return tuple(part.strip() for part in text.split(",") if part.strip() not in ("", "-1"))
