"""Where a run is to run, and over which network, on the form ⇄ the spec's ``target``, ``network``, ``max_restarts``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gradio as gr
import yaml

from gui.words import t
from services.errors import Refused
from services.specs import TrainSpec, as_yaml
from services.target_specs import HERE, WRITTEN
from services.targets.network import DEBUG_LEVELS, FIELDS
from services.text import WORDS

KINDS = ("here", "ssh", "slurm", *WRITTEN)
OF_KIND: Mapping[str, tuple[str, ...]] = {
    "here": (),
    "ssh": ("nodes", "node_timeout_s"),
    "slurm": ("nodes", "partition", "gpus", "time", "memory", "cpus_per_task", "account", "qos"),
    **{kind: ("nodes", "gpus") for kind in WRITTEN},
}
"""The fields of a target that have a widget; the rest stands as YAML in ``target_more``."""
HOSTS = "target_hosts"
DETAILS = ("partition", "gpus", "time", "memory", "cpus_per_task", "account", "qos")
NETWORK = tuple(f"network_{name}" for name in FIELDS)
TARGET_FIELDS = ("target", HOSTS, "target_nodes", "target_node_timeout_s", *(f"target_{name}" for name in DETAILS),
                 "target_more", "max_restarts", *NETWORK)  # fmt: skip


def target_widgets() -> dict[str, Any]:
    """A widget for each of ``TARGET_FIELDS``."""
    made: dict[str, Any] = {}
    made["target"] = gr.Dropdown([(t(f"targets.{kind}"), kind) for kind in KINDS], value="here", filterable=False,
                                 label=t("targets.target"), elem_id="train-target")  # fmt: skip
    made[HOSTS] = gr.Textbox("", lines=3, label=t("targets.nodes"), info=t("targets.nodes.help"), visible=False,
                             placeholder="me@10.0.0.1\nme@10.0.0.2", elem_id="train-target-hosts")  # fmt: skip
    with gr.Row(elem_classes="td-fields"):
        made["target_nodes"] = _text("target_nodes", "targets.slurm.nodes", "1")
        for name in DETAILS:
            made[f"target_{name}"] = _text(f"target_{name}", f"targets.slurm.{name}", "")
        made["target_node_timeout_s"] = gr.Textbox(
            "", label=t("targets.node_timeout_s"), info=t("targets.node_timeout_s.help"), placeholder="60",
            visible=False, elem_id="train-target-node-timeout-s",
        )  # fmt: skip
    made["target_more"] = gr.Textbox("", lines=2, label=t("field.target_more"), info=t("field.info.target_more"),
                                     visible=False, elem_id="train-target-more")  # fmt: skip
    with gr.Row(elem_classes="td-fields"):
        made["max_restarts"] = gr.Textbox("", label=t("targets.max_restarts"), info=t("targets.max_restarts.help"),
                                          placeholder="0", elem_id="train-max-restarts")  # fmt: skip
        for name, kind in FIELDS.items():
            made[f"network_{name}"] = _network(name, kind)
    return made


def _text(name: str, label: str, placeholder: str) -> gr.Textbox:
    return gr.Textbox("", label=t(label), placeholder=placeholder, visible=False,
                      elem_id=f"train-{name.replace('_', '-')}")  # fmt: skip


def _network(name: str, kind: str) -> Any:
    help_ = f"targets.network.{name}.help"
    common: dict[str, Any] = {
        "label": t(f"targets.network.{name}"), "info": t(help_) if help_ in WORDS else None,
        "elem_id": f"train-network-{name.replace('_', '-')}",
    }  # fmt: skip
    if kind == "switch":
        return gr.Dropdown([(t("field.default"), ""), (t("field.on"), "true"), (t("field.off"), "false")], value="",
                           **common)  # fmt: skip
    if kind == "choice":
        return gr.Dropdown([(level or "–", level) for level in DEBUG_LEVELS], value="", **common)
    return gr.Textbox("", **common)


def target_visibility(values: Mapping[str, Any]) -> dict[str, bool]:
    """Name -> whether the field has a meaning for the chosen kind of target."""
    kind = str(values.get("target") or "here")
    fields = OF_KIND[kind]
    shown = {f"target_{name}": name in fields for name in ("nodes", "node_timeout_s", *DETAILS)}
    return {**shown, HOSTS: kind == "ssh", "target_nodes": kind not in ("here", "ssh"), "target_more": kind != "here"}


def target_part(values: Mapping[str, Any]) -> dict[str, Any]:
    """The spec's ``target``, ``network`` and ``max_restarts``. Raises Refused("target_more")."""
    kind = str(values.get("target") or "here")
    found: dict[str, Any] = {}
    if kind != "here":
        found["target"] = _target(kind, values)
    network = {name: text for name in FIELDS if (text := str(values.get(f"network_{name}") or "").strip())}
    if network:
        found["network"] = network
    if restarts := str(values.get("max_restarts") or "").strip():
        found["max_restarts"] = restarts
    return found


def _target(kind: str, values: Mapping[str, Any]) -> dict[str, Any]:
    target: dict[str, Any] = {"kind": kind}
    for name in OF_KIND[kind]:
        text = str(values.get(HOSTS if (kind, name) == ("ssh", "nodes") else f"target_{name}") or "").strip()
        if text:
            target[name] = text
    if kind == "ssh" and "nodes" in target:
        lines = target["nodes"].splitlines()
        target["nodes"] = lines[0] if len(lines) == 1 and "/" in lines[0] and "@" not in lines[0] else lines
    more = str(values.get("target_more") or "")
    try:
        further = yaml.safe_load(more) or {}
    except yaml.YAMLError as error:
        raise Refused("target_more", text=more[:80]) from error
    if not isinstance(further, dict):
        raise Refused("target_more", text=more[:80])
    return {**target, **further}


def target_values(spec: TrainSpec) -> dict[str, Any]:
    """The widgets' values for a spec."""
    values: dict[str, Any] = dict.fromkeys(TARGET_FIELDS, "")
    values["target"] = spec.target.kind
    if spec.target != HERE:
        given = spec.target.model_dump(mode="json", exclude_defaults=True, exclude={"kind"})
        for name in OF_KIND[spec.target.kind]:
            value = given.pop(name, None)
            if (spec.target.kind, name) == ("ssh", "nodes"):
                values[HOSTS] = value if isinstance(value, str) else "\n".join(value or ())
            elif value is not None:
                values[f"target_{name}"] = f"{value:g}" if isinstance(value, float) else str(value)
        values["target_more"] = as_yaml(given) if given else ""
    for name, value in spec.network.model_dump(exclude_defaults=True).items():
        values[f"network_{name}"] = str(value).lower() if isinstance(value, bool) else str(value)
    values["max_restarts"] = str(spec.max_restarts or "")
    return values
