"""The real converter on a tiny GGUF file, in the process it runs in for the starter model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest

from services.models import convert_gguf, starter
from services.runs import process

WIDTH, INNER, LAYERS, HEADS = 64, 128, 2, 2
TEMPLATE = "{% for m in messages %}<|im_start|>{{ m['content'] }}<|im_end|>{% endfor %}"
LOAD = """
import json, sys
from transformers import AutoModelForCausalLM, AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
model, report = AutoModelForCausalLM.from_pretrained(sys.argv[1], output_loading_info=True)
text = tokenizer.apply_chat_template([{"role": "user", "content": "hi there"}], tokenize=False)
words = tokenizer(text, return_tensors="pt")
ended = model.generate(**words, max_new_tokens=2, do_sample=False)
print("FOUND", json.dumps({
    "dtype": str(model.dtype), "missing": sorted(report["missing_keys"]), "text": text,
    "ids": words["input_ids"][0].tolist(), "back": tokenizer.decode(words["input_ids"][0]), "length": ended.shape[1],
}))
"""


def vocabulary() -> list[str]:
    """Three special tokens, the 256 letters of a byte-level tokenizer as GPT-2 spells bytes, and one merge."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    spelled = {byte: chr(byte) for byte in plain} | {byte: chr(256 + i) for i, byte in enumerate(others)}
    return ["<|endoftext|>", "<|im_start|>", "<|im_end|>", *(spelled[byte] for byte in range(256)), "th"]


def write_gguf(path: Path) -> np.ndarray[Any, Any]:
    """A random Llama in Q4_1, as the starter model's file is; returns one of its matrices, dequantized."""
    kind = gguf.GGMLQuantizationType.Q4_1
    random = np.random.default_rng(0)
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(LAYERS)
    writer.add_context_length(128)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10000.0)
    tokens = vocabulary()
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens)
    writer.add_token_types([gguf.TokenType.CONTROL] * 3 + [gguf.TokenType.NORMAL] * 257)
    writer.add_token_merges(["t h"])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_chat_template(TEMPLATE)

    def matrix(name: str, rows: int, columns: int) -> np.ndarray[Any, Any]:
        packed = gguf.quantize(random.normal(size=(rows, columns)).astype(np.float32), kind)
        writer.add_tensor(name, packed, raw_dtype=kind)
        return np.asarray(gguf.dequantize(packed, kind))

    matrix("token_embd.weight", len(tokens), WIDTH)
    writer.add_tensor("output_norm.weight", np.ones(WIDTH, np.float32))
    for block in (f"blk.{layer}" for layer in range(LAYERS)):
        for norm in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"{block}.{norm}.weight", np.ones(WIDTH, np.float32))
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            matrix(f"{block}.{name}.weight", WIDTH, WIDTH)
        matrix(f"{block}.ffn_gate.weight", INNER, WIDTH)
        matrix(f"{block}.ffn_up.weight", INNER, WIDTH)
        last = matrix(f"{block}.ffn_down.weight", WIDTH, INNER)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return last


def read_bf16(path: Path, name: str) -> np.ndarray[Any, Any]:
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    entry = json.loads(data[8:start])[name]
    assert entry["dtype"] == "BF16"
    begin, end = entry["data_offsets"]
    halves = np.frombuffer(data[start + begin : start + end], np.uint16).astype(np.uint32)
    return (halves << 16).view(np.float32).reshape(entry["shape"])


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, np.ndarray[Any, Any]]:
    folder = tmp_path_factory.mktemp("a folder 夹")
    expected = write_gguf(folder / "tiny.gguf")
    (folder / "model").mkdir()
    argv = [process.python(), "-P", str(convert_gguf.__file__), str(folder / "tiny.gguf"), str(folder / "model")]
    result = process.run(argv, cwd=folder, env={"HF_HUB_OFFLINE": "1"}, timeout_s=240)
    assert result.returncode == 0, result.output
    return folder / "model", expected


def test_the_folder_is_a_whole_model_and_not_a_quantized_one(converted: tuple[Path, Any]) -> None:
    folder, _ = converted
    assert starter.is_model(folder)
    config = json.loads((folder / "config.json").read_text())
    assert config["model_type"] == "llama"
    assert "quantization_config" not in config


def test_the_weights_are_those_of_the_file_in_bf16(converted: tuple[Path, np.ndarray[Any, Any]]) -> None:
    folder, expected = converted
    found = read_bf16(folder / "model.safetensors", f"model.layers.{LAYERS - 1}.mlp.down_proj.weight")
    np.testing.assert_allclose(found, expected, rtol=1 / 128)


def test_it_loads_without_the_file_and_has_tokenizer_and_chat_template(converted: tuple[Path, Any]) -> None:
    folder, _ = converted
    argv = [process.python(), "-P", "-c", LOAD, str(folder)]
    result = process.run(argv, cwd=folder.parent, env={"HF_HUB_OFFLINE": "1"}, timeout_s=240)
    assert result.returncode == 0, result.output
    found = json.loads(next(line[6:] for line in result.output.splitlines() if line.startswith("FOUND ")))
    assert found["missing"] == []
    assert found["dtype"] == "torch.bfloat16"
    assert found["text"] == found["back"] == "<|im_start|>hi there<|im_end|>"
    assert (found["ids"][0], found["ids"][-1]) == (1, 2)
    assert found["length"] > len(found["ids"])


def test_a_file_that_is_no_gguf_fails(tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf").write_bytes(b"not one")
    argv = [process.python(), "-P", str(convert_gguf.__file__), str(tmp_path / "tiny.gguf"), str(tmp_path / "model")]
    assert process.run(argv, cwd=tmp_path, env={"HF_HUB_OFFLINE": "1"}, timeout_s=240).returncode == 1
