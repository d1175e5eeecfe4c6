"""How the ranks talk to each other: the fields of ``network`` as the variables that NCCL, gloo and torch read."""

from __future__ import annotations

from typing import Literal

from services.target_specs import Network

Kind = Literal["text", "switch", "number", "choice"]
FIELDS: dict[str, Kind] = {
    "interface": "text", "infiniband": "switch", "infiniband_adapters": "text", "infiniband_gid_index": "number",
    "p2p": "switch", "shared_memory": "switch", "nvlink_sharp": "switch", "timeout_s": "number", "debug": "choice",
}  # fmt: skip
"""The fields a form shows; ``targets.network.<field>`` is the label, ``targets.network.<field>.help`` its help."""
DEBUG_LEVELS = ("", "VERSION", "WARN", "INFO", "TRACE")
_DISABLES = {"infiniband": "NCCL_IB_DISABLE", "p2p": "NCCL_P2P_DISABLE", "shared_memory": "NCCL_SHM_DISABLE"}
_TORCH_DEBUG = {"INFO": "INFO", "TRACE": "DETAIL"}


def environment(network: Network, interface: str = "") -> dict[str, str]:
    """The variables, by the names of NCCL 2.2x and torch 2.x; ``interface`` where the network names none.

    ``timeout_s`` goes to ms-swift as ``--ddp_timeout``. Here it also bounds how long NCCL's watchdog waits for a
    rank that hangs; without it torch would end such a rank after 8 minutes at the earliest.
    """
    device = network.interface or interface
    env: dict[str, str] = {}
    if device:
        env |= {"GLOO_SOCKET_IFNAME": device.lstrip("^="), "NCCL_SOCKET_IFNAME": device}
    if device.startswith("^"):  # gloo knows no exclusion
        del env["GLOO_SOCKET_IFNAME"]
    for field, name in _DISABLES.items():
        if (wanted := getattr(network, field)) is not None:
            env[name] = "0" if wanted else "1"
    if network.infiniband_adapters:
        env["NCCL_IB_HCA"] = network.infiniband_adapters
    if network.infiniband_gid_index is not None:
        env["NCCL_IB_GID_INDEX"] = str(network.infiniband_gid_index)
    if network.nvlink_sharp is not None:
        env["NCCL_NVLS_ENABLE"] = "1" if network.nvlink_sharp else "0"
    if network.timeout_s is not None:
        env["TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC"] = str(network.timeout_s)
    if network.debug:
        env["NCCL_DEBUG"] = network.debug
    if network.debug in _TORCH_DEBUG:
        env["TORCH_DISTRIBUTED_DEBUG"] = _TORCH_DEBUG[network.debug]
    return env
