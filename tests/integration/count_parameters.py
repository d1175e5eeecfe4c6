"""``python count_parameters.py < CONFIGS.json``: what transformers itself makes of each config.json, without weights.

Reads a list of configs, writes a list of {"parameters", "linears", "bytes"…}; imports transformers once for all.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM


def count(config: dict[str, Any]) -> dict[str, Any]:
    """Parameters of the model that a config.json describes, and the shapes of its linear layers."""
    known = AutoConfig.for_model(**config)
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(known)
    model.tie_weights()
    output = model.get_output_embeddings()
    linears = [
        list(one.weight.shape) for one in model.modules() if isinstance(one, torch.nn.Linear) and one is not output
    ]
    return {"parameters": sum(one.numel() for one in model.parameters()), "linears": sorted(linears)}


if __name__ == "__main__":
    json.dump([count(config) for config in json.load(sys.stdin)], sys.stdout)
