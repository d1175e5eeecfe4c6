"""What a node has: the facts it is checked by, read on the node itself."""

from __future__ import annotations

import errno
import socket
import sys
import time
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import psutil

from services.hardware.cards import read_cards
from services.hardware.machine import read_machine
from services.settings import Settings

PACKAGES = ("tunedesk", "ms-swift", "torch")


def presence(request: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """The facts that ``request`` (``paths``, ``token``, ``port``) asks for."""
    machine = read_machine(settings)
    port = request.get("port")
    return {
        "python": f"{sys.version_info.major}.{sys.version_info.minor}",
        **{name: _version(name) for name in PACKAGES},
        "missing": [path for path in request.get("paths", ()) if not Path(path).exists()],
        "shared": Path(request.get("token", "\0") or "/").is_file() if request.get("token") else None,
        "port_free": None if port is None else _is_free(int(port)),
        "time": time.time(),
        "cores": machine.cores,
        "memory": machine.memory_total,
        "cards": [card.name for card in read_cards(settings.visible_devices)],
        **addresses(settings),
    }


def addresses(settings: Settings) -> dict[str, Any]:
    """Where this node was reached, from where, and which network devices have which addresses."""
    devices = {
        name: [one.address for one in items if one.family in (socket.AF_INET, socket.AF_INET6)]
        for name, items in psutil.net_if_addrs().items()
    }
    client, server = settings.ssh_addresses or ("", "")
    return {"address": server, "came_from": client, "devices": devices}


def device_with(address: str, devices: Mapping[str, list[str]]) -> str:
    """The network device that has ``address``; "" for none."""
    plain = address.removeprefix("::ffff:")
    return next((name for name, own in devices.items() if plain in [one.partition("%")[0] for one in own]), "")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
        except OSError as error:
            return error.errno != errno.EADDRINUSE
    return True
