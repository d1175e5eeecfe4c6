"""ms-swift behind whatever starts it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from services.settings import Settings
from services.specs import TrainSpec
from services.swift.importer import Imported, import_text

REST = "--model m --dataset d --lora_rank 3"
CARDS = "CUDA_VISIBLE_DEVICES=0,1 "


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path, starter=tmp_path, roots=(tmp_path,))


def taken(text: str, settings: Settings) -> tuple[Imported, dict[str, Any]]:
    found = import_text(text, None, settings)
    assert isinstance(found.spec, TrainSpec)
    assert (found.spec.model, found.spec.dataset, found.spec.args["lora_rank"]) == ("m", ("d",), 3)
    assert not found.refused
    return found, {"command": found.spec.command, **found.spec.flat()}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (f"swift sft {REST}", {"command": "sft"}),
        (f"/opt/bin/swift pt {REST}", {"command": "pt"}),
        (f"swift rlhf --rlhf_type kto {REST}", {"command": "rlhf", "rlhf_type": "kto"}),
        (f"swift dpo {REST}", {"command": "rlhf", "rlhf_type": "dpo"}),
        (f"python -u -m swift.cli.sft {REST}", {"command": "sft"}),
        (f"python3.11 -P -m swift.cli.main rlhf {REST}", {"command": "rlhf"}),
        (f"python swift/cli/pt.py {REST}", {"command": "pt"}),
        (f"python llm_sft.py {REST}", {"command": "sft"}),
        (f"NPROC_PER_NODE=2 {CARDS} megatron sft {REST}", {"command": "megatron sft", "strategy": "megatron"}),
        (f"python -m swift.cli._megatron.main pt {REST}", {"command": "megatron pt"}),
        (f"{CARDS} swift sft {REST}", {"strategy": "device_map", "processes": 1, "devices": ["0", "1"]}),
        (f"NPROC_PER_NODE=2 {CARDS} swift sft {REST}", {"strategy": "ddp", "processes": 2}),
        (f"NPROC_PER_NODE=1 {CARDS} swift sft {REST} --deepspeed zero3", {"strategy": "zero3", "processes": 1}),
        (f"ASCEND_RT_VISIBLE_DEVICES=3 swift sft {REST}", {"strategy": "single", "devices": ["3"]}),
        (f"{CARDS} torchrun --nproc_per_node=2 --nnodes 1 swift/cli/sft.py {REST}", {"strategy": "ddp"}),
        (f"{CARDS} torchrun --nproc-per-node 2 -m swift.cli.sft {REST}", {"strategy": "ddp", "processes": 2}),
        (f"python -m torch.distributed.run --nproc_per_node 2 /x/bin/swift sft {REST}", {"processes": 2}),
        (f"deepspeed --num_gpus=2 --master_port 1 swift/cli/sft.py {REST} --deepspeed zero2",
         {"strategy": "zero2", "processes": 2}),
        (f"deepspeed --include localhost:1,3 --module swift.cli.sft {REST}", {"processes": 2, "devices": ["1", "3"]}),
        (f"deepspeed -H ./hosts.txt swift/cli/sft.py {REST}", {"target": {"kind": "ssh", "nodes": "./hosts.txt"}}),
        (f"accelerate launch --num_processes 4 --multi_gpu --mixed_precision bf16 swift/cli/sft.py {REST}",
         {"processes": 4, "strategy": "ddp"}),
        (f"python -m accelerate.commands.launch --num_processes 2 -m swift.cli.sft {REST}", {"processes": 2}),
        (f"nohup env A=1 sudo -u me time swift sft {REST} > log 2>&1 &", {"env": {"A": "1"}}),
        (f"uv run --python 3.11 swift sft {REST}", {"command": "sft"}),
        (f"conda run -n x --no-capture-output swift sft {REST}", {"command": "sft"}),
        (f"srun -N 2 --gres=gpu:4 swift sft {REST}", {"command": "sft"}),
        (f"sbatch --wrap 'NPROC_PER_NODE=3 swift sft {REST}'", {"processes": 3}),
        (f"ray job submit --address http://h:8265 --no-wait -- swift sft {REST}",
         {"target": {"kind": "ray", "address": "http://h:8265"}}),
        (f"docker run --rm --gpus '\"device=2,3\"' -e NPROC_PER_NODE=2 img bash -lc 'cd /w && swift sft {REST}'",
         {"devices": ["2", "3"], "processes": 2, "strategy": "ddp"}),
        (f"apptainer exec --nv --env B=2 x.sif swift sft {REST}", {"env": {"B": "2"}}),
        (f"ssh -p 22 host \"cd /w; {CARDS} swift sft {REST}\"", {"devices": ["0", "1"]}),
        (f"bash -c 'export NPROC_PER_NODE=2; swift sft {REST}'", {"processes": 2}),
        (f"bash <<E\nswift sft {REST}\nE", {"command": "sft"}),
        (f"cat > r.sh <<E\nswift sft {REST}\nE\nsh r.sh", {"command": "sft"}),
        (f"eval \"swift sft {REST}\"", {"command": "sft"}),
        (f"tmux new -d -s t 'swift sft {REST}'", {"command": "sft"}),
        (f"proxychains4 -q torchrun --nproc_per_node 2 swift/cli/sft.py {REST}", {"processes": 2}),
        (f"\"$SWIFT\" sft {REST}", {"command": "sft"}),
        (f"$PY -m swift.cli.sft {REST}", {"command": "sft"}),
        (f"$ swift sft {REST}", {"command": "sft"}),
        (f"!swift sft {REST}", {"command": "sft"}),
        (f"export A=1 \\\nswift sft {REST}", {"command": "sft"}),
        (f"NPROC_PER_NODE=2 $ENV/bin/megatron sft {REST}", {"command": "megatron sft", "processes": 2}),
        (f"swift pretrain {REST}", {"command": "pt"}),
        (f"deepspeed --num_gpus=2 $(which swift) sft {REST}", {"command": "sft", "processes": 2}),
        (f"{CARDS} accelerate launch swift/cli/sft.py {REST}", {"strategy": "ddp", "processes": 2}),
        (f"j=r_$(date).sh\ncat > $j <<E\n#SBATCH -N 2 --gres=gpu:${{n}}\nswift sft {REST}\nE\nsbatch $j",
         {"target": {"kind": "slurm", "nodes": 2}}),
        (f"if ! swift sft {REST}; then exit 1; fi", {"command": "sft"}),
        (f"until swift sft {REST}; do sleep 5; done", {"command": "sft"}),
        (f"swift sft --help | grep x; swift sft {REST}", {"command": "sft"}),
        (f"x='--nproc_per_node 2'; L=\"torchrun $x\"; $L swift/cli/sft.py {REST}", {"processes": 2}),
    ],
)  # fmt: skip
def test_what_a_launcher_says_is_in_the_spec(text: str, wanted: dict[str, Any], settings: Settings) -> None:
    _, spec = taken(text, settings)
    assert {name: spec.get(name) for name in wanted} == wanted


@pytest.mark.parametrize(
    ("text", "note", "words"),
    [
        (f"NPROC_PER_NODE=4 swift sft {REST}", "nproc_all_cards", "4"),
        (f"NPROC_PER_NODE=4 {CARDS} swift sft {REST}", "too_few_cards", "2"),
        (f"NPROC_PER_NODE=2\n{CARDS} swift sft {REST}", "not_exported", "NPROC_PER_NODE"),
        (f"CUDA_VISIBLE_DEVICES=0,1,2,3 NPROC_PER_NODE=2 swift sft {REST}", "device_map_groups", "2 cards"),
        (f"{CARDS} swift sft {REST} --deepspeed zero2", "parallel_fails", "zero2"),
        (f"CUDA_VISIBLE_DEVICES= swift sft {REST}", "no_cards", "CPU"),
        (f"NNODES=2 NODE_RANK=0 MASTER_PORT=5 NPROC_PER_NODE=2 swift sft {REST}", "nodes", "2 machines"),
        (f"MASTER_PORT=5 swift sft {REST}", "chosen_at_start", "MASTER_PORT"),
        (f"swift sft {REST} --train_kind x", "tuner_default", "lora"),
        (f"swift sft {REST} $EXTRA", "flags_open", "$EXTRA"),
        (f"swift sft {REST} \"${{MORE[@]}}\"", "flags_open", "${MORE[@]}"),
        (f"a=($EXTRA); swift sft {REST} \"${{a[@]}}\"", "flags_open", "$EXTRA"),
        (f"swift sft \"$CONFIG\" {REST}", "flags_open", "$CONFIG"),
        (f"python3 x.py --out y; swift sft {REST}", "other_commands", "python3 x.py --out (1)"),
        (f"dlc create job --command 'swift sft {REST}'", "launcher_taken", "--command"),
        (f"if [ -d x ]; then swift sft {REST}; fi", "only_if", "if [ -d x ]"),
        (f"cd /a/b; swift sft {REST}", "folder", "/a/b"),
        (f"A=$(date +%s) B=1 swift sft {REST}", "env_open", "$(date +%s)"),
        (f"swift sft {REST} --output_dir o_$(date +%s)", "value_open", "$(date +%s)"),
        (f"swift sft {REST} --save_steps $(wc -l f)", "value_missing", "$(wc -l f)"),
        (f"swift sft {REST} --ignore_args_error false", "same_as_default", "--ignore_args_error"),
    ],
)  # fmt: skip
def test_what_the_command_would_really_do_is_said(text: str, note: str, words: str, settings: Settings) -> None:
    found = import_text(text, None, settings)
    pairs = zip(found.as_json()["notes"], found.notes, strict=True)
    said = [one for one, key in pairs if key.text == f"importing.{note}"]
    assert any(words in one for one in said), found.as_json()["notes"]


def test_a_variable_that_is_no_word_of_ms_swift_is_left_out_with_a_word(settings: Settings) -> None:
    found, spec = taken(f"A=$(date) B=1 swift sft {REST}", settings)
    assert spec["env"] == {"B": "1"}
    assert [one.flags for one in found.notes if one.text == "importing.env_open"] == [("A",)]
