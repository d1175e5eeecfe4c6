"""Which flags ms-swift needs to load a model that it cannot recognise by itself."""

from __future__ import annotations

from pathlib import Path

from services.swift.checkpoints import read_json

KEPT = ("system", "agent_template", "response_prefix")


def loading_flags(folder: Path) -> dict[str, str]:
    """``model_type`` and ``template`` for a local folder, empty where ms-swift finds them out.

    Many ms-swift model types share the architecture of Llama, so it refuses such a folder without a
    type. A chat template in ChatML decides between them.
    """
    saved = read_json(folder / "args.json")
    if saved and saved.get("model_type") and saved.get("template"):
        return {"model_type": str(saved["model_type"]), "template": str(saved["template"])}
    config = read_json(folder / "config.json") or {}
    if "LlamaForCausalLM" in (config.get("architectures") or []) and "<|im_start|>" in _chat_template(folder):
        return {"model_type": "llama", "template": "chatml"}
    return {}


def kept_flags(folder: Path) -> dict[str, str]:
    """What ms-swift itself takes from the args.json beside an adapter (BaseArguments.load_args_from_ckpt) and changes
    the answers: needed where the adapter is loaded from another folder."""
    saved = read_json(folder / "args.json") or {}
    return {name: saved[name] for name in KEPT if isinstance(saved.get(name), str) and saved[name]}


def _chat_template(folder: Path) -> str:
    try:
        return (folder / "chat_template.jinja").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return str((read_json(folder / "tokenizer_config.json") or {}).get("chat_template") or "")
