"""Whole scripts, of the shapes that people bring along, and what becomes of them."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from services.errors import Refused
from services.settings import Settings
from services.specs import MergeSpec, ServeSpec, TrainSpec, train_spec
from services.swift import catalogue
from services.swift.importer import Imported, import_file, import_text, old_flags
from services.text import LANGUAGES

COMMANDS = Path(__file__).parents[1] / "data" / "commands"
SCRIPTS = sorted(path for path in COMMANDS.iterdir() if path.suffix in (".sh", ".py"))


@pytest.fixture
def settings() -> Settings:
    return Settings(home=COMMANDS, starter=COMMANDS, roots=(COMMANDS,))


@pytest.fixture
def taken(settings: Settings) -> Any:
    return lambda name: import_file(COMMANDS / name, settings)


def training(found: Imported) -> TrainSpec:
    assert isinstance(found.spec, TrainSpec)
    return found.spec


def keys(found: Imported) -> set[str]:
    return {str(note.text).removeprefix("importing.") for note in found.notes}


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_every_script_is_understood_in_both_languages(path: Path, settings: Settings) -> None:
    found = import_file(path, settings)
    for lang in LANGUAGES:
        value = json.loads(json.dumps(found.as_json(lang)))
        assert {"spec", "argv", "env", "translated", "refused", "notes"} <= set(value)
    if isinstance(found.spec, TrainSpec):
        shown = found.as_json()["spec"]
        assert train_spec(shown).flat() == found.spec.flat()
        catalogue.check(found.spec.command, found.spec.args)


def test_two_cards_and_one_process_are_model_parallel(taken: Any) -> None:
    found = taken("two_cards_one_process.sh")
    spec = training(found)
    assert (spec.strategy, spec.processes, spec.devices) == ("device_map", 1, ("2", "3"))
    assert (spec.model_name, spec.model_author) == ("annie", "ann")
    assert spec.dataset == ("swift/self-cognition#50", "me/rows#7")
    assert (spec.args["gradient_accumulation_steps"], spec.args["save_steps"]) == (12, 50)
    assert spec.args["system"] == 'You are a "patient" helper.'
    assert spec.args["gradient_checkpointing_kwargs"] == {"use_reentrant": False}
    assert "device_map" in keys(found)
    assert [(one.old, one.new, one.version) for one in found.translated] == [
        ("--train_type lora", "--tuner_type lora", "3")
    ]
    assert found.env == {"CUDA_VISIBLE_DEVICES": "2,3", "NPROC_PER_NODE": "1"}
    assert found.argv[:4] == ("swift", "sft", "--model", "Qwen/Qwen3-0.6B")


def test_what_was_never_valid_is_refused_with_the_nearest_right_name(taken: Any) -> None:
    found = taken("torchrun_tutorial.sh")
    refused = {one.flag: one.instead for one in found.refused}
    assert refused == {
        "-m swift.cli.train": "-m swift.cli.sft",
        "--use_fast_tokenizer": "",
        "--quant_method": "--quant_method bnb --quant_bits 4 --tuner_type lora",
        "--quant_lora_ckpt_path": "--adapters",
    }
    spec = training(found)
    assert (spec.command, spec.strategy, spec.processes) == ("sft", "zero2", 2)
    assert spec.args["target_modules"] == ["q_proj", "v_proj"]
    assert {"not_preference", "quant_bits_alone", "rendezvous", "chosen_at_start", "nproc_ignored"} <= keys(found)


def test_names_and_values_of_version_2_become_todays(taken: Any) -> None:
    found = taken("version_2.sh")
    spec = training(found)
    assert spec.model == "Qwen/Qwen1.5-7B-Chat"
    assert spec.dataset == (
        "AI-ModelScope/alpaca-gpt4-data-zh", "AI-ModelScope/alpaca-gpt4-data-en", "extra.jsonl",
        "swift/self-cognition#100",
    )  # fmt: skip
    assert (spec.args["quant_method"], spec.args["quant_bits"], spec.args["temperature"]) == ("bnb", 4, 0)
    assert (spec.args["attn_impl"], spec.args["target_modules"]) == ("flash_attn", ["all-linear"])
    assert not {"template", "torch_dtype"} & set(spec.args)
    assert {one.flag for one in found.refused} == {"--check_dataset_strategy", "--test_oom_error"}
    assert all(one.version.startswith("2") for one in found.translated)


def test_names_of_megatron_3_become_todays(taken: Any) -> None:
    found = taken("megatron_3.sh")
    spec = training(found)
    assert (spec.command, spec.strategy, spec.processes) == ("megatron sft", "megatron", 4)
    wanted = {"mcore_model": "Qwen3-mcore", "num_train_epochs": 2, "output_dir": "out/mcore", "save_steps": 100,
              "dataloader_num_workers": 4, "apply_rope_fusion": False, "ddp_timeout": 300}  # fmt: skip
    assert {name: spec.args[name] for name in wanted} == wanted
    assert [one.flag for one in found.refused] == ["--hidden_size"]
    assert found.argv[:2] == ("megatron", "sft")


def test_machines_come_from_deepspeed_dlc_and_slurm(taken: Any) -> None:
    hosts = training(taken("deepspeed_hosts.sh")).flat()
    assert hosts["target"] == {"kind": "ssh", "nodes": ["worker-0 slots=2", "worker-1 slots=2"]}
    assert (hosts["strategy"], hosts["processes"], hosts["devices"]) == ("zero3", 2, ["0", "1"])
    dlc = training(taken("dlc.sh")).flat()
    assert dlc["target"] == {"kind": "dlc", "nodes": 2, "gpus": 8, "image": "registry/swift:4", "workspace": "77"}
    slurm = training(taken("slurm.sh")).flat()
    assert slurm["target"] == {"kind": "slurm", "partition": "gpu", "nodes": 2, "gpus": 4, "time": "1-00:00:00"}
    assert (slurm["command"], slurm["processes"]) == ("pt", 4)


def test_accelerates_own_file_says_processes_and_strategy(taken: Any) -> None:
    spec = training(taken("accelerate_config.sh"))
    assert (spec.strategy, spec.processes, spec.devices) == ("zero3_offload", 4, ("0", "1", "2", "3"))


def test_a_configuration_file_is_read_beside_the_script_and_flags_win_over_it(taken: Any) -> None:
    found = taken("by_config.sh")
    spec = training(found)
    assert spec.dataset == ("me/rows#100", "more.jsonl")
    assert (spec.processes, spec.devices) == (2, ("0", "1"))
    assert spec.args == {
        "tuner_type": "lora", "num_train_epochs": 2, "learning_rate": 1e-4, "packing": True,
        "lr_scheduler_kwargs": {"num_cycles": 2},
    }  # fmt: skip
    assert {"config_taken", "twice", "other_commands"} <= keys(found)


def test_a_configuration_file_alone_is_a_command(settings: Settings) -> None:
    spec = training(import_file(COMMANDS / "settings.yaml", settings))
    assert (spec.command, spec.model, spec.devices) == ("sft", "Qwen/Qwen3-4B", ("0", "1"))
    text = json.dumps({"rlhf_type": "dpo", "model": "a", "dataset": ["b"], "beta": 0.2})
    assert training(import_text(text, None, settings)).command == "rlhf"


def test_arrays_functions_branches_and_strings_of_flags_are_followed(taken: Any) -> None:
    found = taken("grown.sh")
    spec = training(found)
    assert spec.dataset == ("data Qwen3-8B.jsonl",)
    assert spec.args == {
        "tuner_type": "lora", "learning_rate": 1e-4, "lora_dropout": 0.1, "save_total_limit": 2, "logging_steps": 5,
    }  # fmt: skip
    assert (spec.strategy, spec.devices) == ("single", ("0",))
    skipped = [note for note in found.notes if note.text == "importing.branch_skipped"]
    assert skipped[0].flags == ("--quant_method", "--quant_bits")


def test_commands_for_other_arguments_of_the_script_are_kept_beside(settings: Settings) -> None:
    text = (
        'if [ "$1" = infer ]; then\n  swift infer --model a\nelif [ "$1" = full ]; then\n'
        "  swift sft --model a --dataset b --tuner_type full\nelse\n  swift sft --model a --dataset b --seed 3\nfi\n"
    )
    found = import_text(text, None, settings)
    assert (training(found).args, found.line) == ({"seed": 3}, 6)
    assert [one.command for one in found.others] == ["infer", "sft"]
    assert {"only_if"} <= keys(found.others[0]) & keys(found.others[1])


def test_docker_alone_is_said_with_all_its_options(taken: Any) -> None:
    found = taken("docker.sh")
    assert found.spec is None
    note = next(note for note in found.as_json()["notes"] if note.startswith("docker"))
    for option in ("-it", "--name tune", "--network host", "-v /data:/data", "--shm_size 8G", "/bin/bash"):
        assert option in note


def test_places_for_own_words_are_no_redirections(taken: Any) -> None:
    found = taken("placeholders.sh")
    assert isinstance(found.spec, ServeSpec)
    assert found.spec.model == "out/<version>/checkpoint-<n>"
    assert found.argv[found.argv.index("--val_dataset") + 1] == "<your data>"
    assert "--max_batch_size" in found.argv


def test_the_python_form_is_read_without_running_it(taken: Any) -> None:
    found = taken("python_form.py")
    spec = training(found)
    assert spec.dataset == ("me/rows#500", "swift/self-cognition#500")
    assert (spec.args["learning_rate"], spec.args["system"], spec.args["packing"]) == (2e-4, "You are Ann.", True)
    assert spec.args["gradient_checkpointing_kwargs"] == {"use_reentrant": False}
    assert (spec.strategy, spec.devices) == ("single", ("0",))
    missing = next(note for note in found.notes if note.text == "importing.value_missing")
    assert missing.flags == ("--num_train_epochs",)


def test_python_of_version_2_and_python_that_starts_a_command(settings: Settings) -> None:
    text = (
        "from swift.llm import DatasetName, ModelType, SftArguments, sft_main\n"
        "args = SftArguments(model_type=ModelType.qwen1half_7b_chat, dataset=[f'{DatasetName.alpaca_zh}#5'],\n"
        "                    sft_type='lora', learning_rate=1e-4 / 2)\nsft_main(args)\n"
    )
    spec = training(import_text(text, None, settings))
    assert (spec.model, spec.dataset) == ("Qwen/Qwen1.5-7B-Chat", ("AI-ModelScope/alpaca-gpt4-data-zh#5",))
    assert spec.args == {"tuner_type": "lora", "learning_rate": 5e-5}
    text = (
        "import os, subprocess\nenv = os.environ.copy()\nenv['NPROC_PER_NODE'] = '2'\n"
        "cmd = ['swift', 'sft', '--model', 'm',\n       '--dataset', 'a b']\nsubprocess.run(cmd, env=env, check=True)\n"
        "os.system('swift export --adapters x --merge_lora true')\n"
    )
    found = import_text(text, None, settings)
    assert (training(found).processes, training(found).dataset) == (2, ("a b",))
    assert found.others[0].spec == MergeSpec(adapter="x")


@pytest.mark.parametrize(
    "text",
    [
        "import subprocess\ncmd = ['swift', 'sft']\ncmd += ['--model', 'm']\ncmd.append('--seed'); cmd.append(str(3))\n"
        "cmd.extend(['--dataset', C['data']])\nsubprocess.run(cmd)\n",
        "import subprocess\ndef build(data):\n    cmd = ['swift', 'sft', '--model', 'm', '--seed', '3']\n"
        "    return cmd + ['--dataset', C.get('data')]\nsubprocess.run(build('x'), check=True)\n",
        "import os\ncmd = 'swift sft --model m '\ncmd += f'--dataset {C[\"data\"]} '\nos.system(cmd + '--seed 3')\n",
        "import os\nparts = ['swift', 'sft', '--model', 'm', '--seed', '3', '--dataset', C['data']]\n"
        "os.system(' '.join(parts))\n",
        "import subprocess, sys\nbase = [sys.executable, '-m', 'swift.cli.sft', '--model', 'm']\n"
        "subprocess.check_call([*base, '--seed', '3'] + ['--dataset', C['data']])\n",
    ],
)
def test_python_that_builds_a_command_up(text: str, settings: Settings) -> None:
    spec = training(import_text("C = {'data': 'd'}\n" + text, None, settings, name="a.py"))
    assert (spec.model, spec.dataset, spec.args) == ("m", ("d",), {"seed": 3})


def test_what_python_alone_knows_is_said_and_the_rest_is_read(settings: Settings) -> None:
    text = "import os, subprocess\nsubprocess.run(make(), shell=True)\nos.system(f'swift sft --model {args.model}')\n"
    found = import_text(text, None, settings, name="a.py")
    assert training(found).model == "${args_model}"
    assert {"python_open", "value_open"} <= keys(found)


def test_a_configuration_file_says_by_its_settings_which_command_it_is_for(settings: Settings) -> None:
    for text, command in (
        ("model: a\ndataset: b\nmicro_batch_size: 1\nlr: 1e-4\n", "megatron sft"),
        ("rlhf_type: grpo\nmodel: a\ndataset: b\nglobal_batch_size: 8\nlr: 1e-6\n", "megatron rlhf"),
        ("model: a\nsampler_engine: vllm\noutput_file: b\nprm_model: c\n", "sample"),
        ("model: a\ndataset: b\n", "sft"),
    ):
        assert import_text(text, None, settings, name="a.yaml").command == command


def test_short_model_names_of_2_6_become_hub_ids(settings: Settings) -> None:
    found = import_text("swift sft --model_type qwen2-vl-7b-instruct --dataset d", None, settings)
    assert training(found).model == "Qwen/Qwen2-VL-7B-Instruct"
    found = import_text("swift sft --model p --model_type qwen2_5-coder-1_5b --dataset d", None, settings)
    assert (training(found).model, found.refused) == ("p", ())


@pytest.mark.parametrize(
    ("flag", "instead"),
    [
        ("--lora_target q_proj", "--target_modules"),
        ("--max_seq_length 9", "--max_length"),
        ("--val_dataset_sample 9", "--val_dataset"),
        ("--learning_rat 1", ""),
        ("--reward_funcs_path x", "--reward_funcs"),
        ("--model_type llama3_1", "--model"),
        ("--ep_size 8", ""),
        ("--patch_size 8", ""),
    ],
)
def test_only_a_name_that_fits_is_offered_instead(flag: str, instead: str, settings: Settings) -> None:
    command = "rlhf --rlhf_type grpo" if "reward" in flag else "sft"
    found = import_text(f"swift {command} --model m --dataset d {flag}", None, settings)
    if flag.startswith("--learning_rat "):  # ms-swift's parser takes an unambiguous beginning of a name
        assert training(found).args == {"learning_rate": 1}
    else:
        assert [one.instead for one in found.refused] == [instead]


def test_weights_without_a_model_and_cached_data_are_not_filled_with_ours(settings: Settings) -> None:
    found = import_text("megatron pt --mcore_model w --cached_dataset c", None, settings)
    assert training(found).dataset == ()
    assert "mcore_model_alone" in keys(found)
    assert not {"no_model", "no_dataset"} & keys(found)
    assert train_spec(found.as_json()["spec"]).flat() == training(found).flat()


def test_a_switch_turned_off_by_its_short_form_is_said(settings: Settings) -> None:
    found = import_text("swift sft --model m --dataset d --no_gradient_checkpointing", None, settings)
    assert training(found).args == {"gradient_checkpointing": False}
    assert [(one.old, one.new) for one in found.translated] == [
        ("--no_gradient_checkpointing", "--gradient_checkpointing false")
    ]


def test_a_message_about_a_command_is_no_command(settings: Settings) -> None:
    found = import_text('swift sft --model m --dataset d || fail "swift sft exited $rc"', None, settings)
    assert not found.others


def test_a_row_count_of_version_1_stands_behind_the_data_set(settings: Settings) -> None:
    found = import_text("python llm_sft.py --model_type qwen-7b --dataset d/e --dataset_sample 20", None, settings)
    assert training(found).dataset == ("d/e#20",)


def test_stray_fences_of_a_page_are_no_commands(settings: Settings) -> None:
    found = import_text("swift sft --model m --dataset d \\\n```\n```\nswift rollout --model m\n", None, settings)
    assert (found.command, [one.command for one in found.others]) == ("sft", ["rollout"])


def test_of_several_commands_the_training_fills_the_form_and_the_others_are_kept(taken: Any) -> None:
    found = taken("several.sh")
    assert (training(found).command, found.line) == ("rlhf", 3)
    assert [one.command for one in found.others] == ["rollout", "export", "eval"]
    assert isinstance(found.others[1].spec, MergeSpec)
    assert found.others[2].argv == ("swift", "eval", "--model", "out/merged", "--eval_dataset", "gsm8k")
    assert "several" in keys(found)


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("swift export --ckpt_dir out/checkpoint-5 --merge_lora true", MergeSpec(adapter="out/checkpoint-5")),
        ("swift merge-lora --adapters a", MergeSpec(adapter="a")),
        ("swift infer --ckpt_dir out/v0-merged --infer_backend vllm --vllm_tensor_parallel_size 2",
         ServeSpec(model="out/v0-merged", engine="vllm", tensor_parallel=2)),
        ("swift deploy --adapters mine=out/checkpoint-5 --infer_backend vllm",
         ServeSpec(model="out/checkpoint-5", engine="vllm")),
        ("CUDA_VISIBLE_DEVICES=1 swift app --model m", ServeSpec(model="m", devices=("1",))),
    ],
)  # fmt: skip
def test_merging_and_serving_have_forms_of_their_own(text: str, spec: object, settings: Settings) -> None:
    assert import_text(text, None, settings).spec == spec


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ("", 1, "nothing"),
        ("# only\n\n# comments\n", 1, "no command"),
        ("ls -l\npip install x\n", 1, "none of its commands starts ms-swift (ls -l, pip install)"),
        ("echo a\nswift sft --model 'open\n --dataset b\n", 2, "cannot be read"),
        ("from swift import sft_main\nsft_main(\n", 2, "never closed"),
        ("a: [1\nb: 2\n", 2, "expected"),
    ],
)
def test_what_cannot_be_understood_says_which_line_and_why(text: str, line: int, word: str, settings: Settings) -> None:
    from services.text import explain

    name = "x.yaml" if text.startswith("a:") else ""
    with pytest.raises(Refused) as refusal:
        import_text(text, None, settings, name=name)
    assert (refusal.value.code, refusal.value.values["line"]) == ("import_line", line)
    assert word in explain(refusal.value, "en")


def test_secrets_are_named_and_not_kept(settings: Settings) -> None:
    text = "HF_TOKEN=hf_x WANDB_API_KEY=k TOKENIZERS_PARALLELISM=false swift sft --model a --dataset b --hub_token hf_y"
    found = import_text(text + " --lazy_tokenize true", None, settings)
    assert training(found).env == {"TOKENIZERS_PARALLELISM": "false"}
    assert training(found).args == {"lazy_tokenize": True}
    assert not {"hf_x", "hf_y"} & set(json.dumps(found.as_json()).split('"'))
    assert sum(note.text == "importing.secret" for note in found.notes) == 3


# Nothing vanishes


def values_of(argument: catalogue.Argument, dice: random.Random) -> list[str]:
    if argument.choices:
        return [str(dice.choice(argument.choices))]
    if argument.known and not argument.type.startswith("list"):
        return [dice.choice(argument.known)]
    made = {
        "int": [str(dice.randint(1, 90))],
        "float": [dice.choice(["0.5", "1e-4", "3"])],
        "bool": [dice.choice(["true", "false"])],
        "dict": ['{"a": 1}'],
    }
    kind = argument.type.removeprefix("list[").removesuffix("]")
    one = made.get(kind, [dice.choice(["word", "two words", "it's", "a#5", '$5 "q"', "ä/ö", "-"])])
    return one * dice.randint(1, 3) if argument.type.startswith("list") and not argument.known else one


def quoted(word: str, dice: random.Random) -> str:
    if word.isalnum() and dice.random() < 0.5:
        return word
    if "'" in word or dice.random() < 0.3:
        return '"' + word.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$") + '"'
    return f"'{word}'"


def made_up(dice: random.Random) -> tuple[str, set[str]]:
    """A script and the flags in it, of all versions and none."""
    command = dice.choice(["sft", "pt", "rlhf", "megatron sft", "export", "infer"])
    known = catalogue.arguments(command)
    usable = [name for name, one in known.items() if one.type != "unsettable" and name != "ignore_args_error"]
    flags: dict[str, list[str]] = {}
    for name in dice.sample(sorted(usable), dice.randint(1, 12)):
        flags[name] = values_of(known[name], dice)
    old = [*old_flags.RENAMED_IN_3, *old_flags.RENAMED_IN_4, "gpu_memory_fraction", "quantization_bit", "do_sample"]
    for name in dice.sample(sorted(set(old)), dice.randint(0, 6)):
        flags.setdefault(name, [dice.choice(["4", "true", "lora", "x/y"])])
    for name in dice.sample(["never_was", "lrate_x", "max_seq_length", "quantum_bits"], dice.randint(0, 2)):
        flags[name] = ["1"]
    lines = []
    for name, values in dice.sample(sorted(flags.items()), len(flags)):
        if len(values) == 1 and (dice.random() < 0.2 or values[0].startswith("-")):
            lines.append(f"--{name}={quoted(values[0], dice)}")
        else:
            spaced = dice.choice([" ", "   "])
            lines.append(f"--{name}" + "".join(spaced + quoted(value, dice) for value in values))
    program = command if command.startswith("megatron") else f"swift {command}"
    style = dice.randrange(4)
    if style == 0:
        text = "A=1 \\\n" + " \\\n    ".join([program, *lines])
    elif style == 1:
        text = (
            "args=(\n" + "\n".join(f"  {line}  # said" for line in lines) + f'\n)\n{program} "${{args[@]}}" | tee log'
        )
    elif style == 2:
        text = f"run() {{ {program} " + " ".join(lines) + ' "$@"; }\nif [ -d x ]; then\n  run\nfi'
    else:
        text = f"for i in 1 2; do\n  nohup {program} " + " \\\n".join(lines) + " > log 2>&1 &\ndone"
    return text, {f"--{name}" for name in flags}


@pytest.mark.parametrize("seed", range(150))
def test_every_flag_of_a_script_is_in_exactly_one_place(seed: int, settings: Settings) -> None:
    text, flags = made_up(random.Random(seed))
    found = import_text(text, None, settings)
    said = {flag for note in found.notes for flag in note.flags}
    for flag in flags:
        kept = any(word == flag or word.startswith(flag + "=") for word in found.argv)
        translated = any(one.old.split()[0] == flag for one in found.translated)
        refused = any(one.flag == flag for one in found.refused)
        assert kept or translated or refused or flag in said, (flag, text)
        assert not (refused and (kept or translated)), (flag, text)


def test_a_shell_would_make_the_same_words(settings: Settings) -> None:
    import shlex

    for seed in range(100):
        dice = random.Random(seed)
        words = [
            dice.choice(["a b", "it's", 'x"y', "$v", "\\", "ü#", "*", "-1", "`d`", "{a,b}", "~"]) for _ in range(4)
        ]
        text = "swift eval --eval_dataset " + " ".join(shlex.quote(word) for word in words)
        assert list(import_text(text, None, settings).argv[3:]) == words


def test_values_that_a_plugin_brings_are_its_own_affair(settings: Settings) -> None:
    text = "swift rlhf --rlhf_type grpo --model a --dataset b --reward_funcs mine"
    assert [one.flag for one in import_text(text, None, settings).refused] == ["--reward_funcs"]
    found = import_text(text + " --external_plugins plugin.py", None, settings)
    assert training(found).args["reward_funcs"] == ["mine"]
