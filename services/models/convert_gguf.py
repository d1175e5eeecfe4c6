"""Turn a GGUF file into a folder that transformers and ms-swift can train.

Run in a process of its own, because it loads torch:
``python -P -m services.models.convert_gguf FILE.gguf TARGET_FOLDER``
"""

from __future__ import annotations

import sys
from pathlib import Path


def convert(gguf: Path, target: Path) -> None:
    """Write weights (bf16 safetensors), tokenizer and chat template of ``gguf`` into ``target``, a folder."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = str(gguf.parent)
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=gguf.name, local_files_only=True)
    model = AutoModelForCausalLM.from_pretrained(
        folder, gguf_file=gguf.name, local_files_only=True, dtype=torch.bfloat16
    )
    # The weights are plain numbers now, but save_pretrained still takes them for quantized ones.
    del model.config.quantization_config
    model.hf_quantizer = None
    model.is_quantized = False
    if not target.is_dir():  # whoever wanted it was killed, and a later attempt swept it up
        sys.exit(f"{target} is gone")
    model.save_pretrained(str(target))
    tokenizer.save_pretrained(str(target))


if __name__ == "__main__":
    convert(Path(sys.argv[1]), Path(sys.argv[2]))
