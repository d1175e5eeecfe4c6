"""ms-swift's own programs: ``swift``, ``megatron``, its modules and files, and Python that may hold it."""

from __future__ import annotations

import itertools
import posixpath
from collections.abc import Collection

from services.errors import Key
from services.swift.importer.launch import TRAININGS, Launch
from services.swift.importer.text import Text, Word

COMMANDS = (*TRAININGS, "infer", "deploy", "export", "eval", "sample", "rollout", "app", "web-ui", "merge-lora")
OLD_COMMANDS = {"app-ui": "app", "dpo": "rlhf", "orpo": "rlhf", "simpo": "rlhf", "train": "sft", "webui": "web-ui",
                "merge": "export", "pretrain": "pt"}  # fmt: skip
OLD_FILES = {"llm_sft": "sft", "llm_infer": "infer", "llm_dpo": "dpo", "llm_export": "export", "llm_rlhf": "rlhf"}


def _command(found: Launch, name: str, megatron: bool = False) -> None:
    """``name`` and what follows it are a command of ms-swift."""
    known = name.replace("_", "-")
    if known in OLD_COMMANDS or known not in COMMANDS:
        found.written = known
    if known in ("dpo", "orpo", "simpo"):
        found.words = [Word(Text("--rlhf_type"), found.call.line), Word(Text(known), found.call.line), *found.words]
    if known in ("merge-lora", "merge"):
        found.written = known
        found.words = [Word(Text("--merge_lora"), found.call.line), Word(Text("true"), found.call.line), *found.words]
        known = "export"
    known = OLD_COMMANDS.get(known, known)
    found.command = f"megatron {known}" if megatron else known


def swift(found: Launch, name: str) -> bool:
    if not found.words:
        return False
    word = found.words.pop(0)
    _command(found, word.value, name == "megatron")
    return False


def is_command(text: str) -> bool:
    return text.replace("_", "-") in (*COMMANDS, *OLD_COMMANDS)


def somewhere(found: Launch, launchers: Collection[str]) -> bool:
    """Takes off what stands before ms-swift, or before a launcher of it, in a command whose first word is not known."""
    names = [posixpath.basename(word.value) for word in found.words]
    for at in range(1, len(names)):
        following = names[at + 1] if at + 1 < len(names) else ""
        if (names[at] in ("swift", "megatron") and is_command(following)) or own_module(found.words[at].value):
            start = next((number for number in range(1, at) if names[number] in launchers), at)
            skipped = [word.value for word in found.words[:start]]
            flags = tuple(word for word in skipped if word.startswith("-"))
            found.say(Key("importing.wrapper", text=" ".join(skipped)[:400], line=found.call.line), *flags)
            found.words = found.words[start:]
            return True
    return False


def inside(found: Launch) -> None:
    """A command line of ms-swift as one word of another command: ``tmux new -d "swift sft …"``."""
    for at, word in enumerate(found.words):
        words = word.value.split()
        pairs = itertools.pairwise(words)
        starts = any(posixpath.basename(one) in ("swift", "megatron") and is_command(two) for one, two in pairs)
        given = any(one.startswith("-") or one.endswith((".yaml", ".yml", ".json")) for one in words)
        if given and (starts or any(own_module(one) for one in words)):
            rest = [one.value for number, one in enumerate(found.words) if number != at]
            flags = tuple(one for one in rest if one.startswith("-"))
            found.say(Key("importing.wrapper", text=" ".join(rest)[:300], line=found.call.line), *flags)
            found.script = word.value
            return


def own_module(text: str) -> tuple[str, bool] | None:
    """(command, whether of Megatron) for ``swift.cli.sft``, ``…/swift/cli/sft.py`` and the like."""
    parts = text.removesuffix(".py").replace("/", ".").replace("\\", ".").strip(".").split(".")
    if not parts or not (text.endswith(".py") or text.startswith("swift.")):
        return None
    name = parts[-1].replace("_", "-")
    if parts[-1] in OLD_FILES:
        return OLD_FILES[parts[-1]], False
    megatron = "_megatron" in parts or "megatron" in parts[:-1]
    if name == "main" and "cli" in parts:
        return "", megatron
    if "cli" in parts or text.endswith(".py"):
        return (name, megatron) if is_command(name) and (name != "train" or "cli" in parts) else None
    return None


def module_file(found: Launch, *, by_module: bool = False) -> bool:
    """A file or module of ms-swift as the first word."""
    word = found.words[0]
    own = own_module(word.value)
    if own is None:
        return False
    name, megatron = own
    found.words.pop(0)
    if name == "train":
        found.module = f"-m {word.value}" if by_module else word.value
    if name == "":
        swift(found, "megatron" if megatron else "swift")
    else:
        _command(found, name, megatron)
    return True


def python(found: Launch, _: str) -> bool:
    """``python [-u …] file.py | -m module | -c code | <<EOF``."""
    while found.words:
        text = found.words[0].value
        if text == "-m" and len(found.words) > 1:
            found.words.pop(0)
            return module(found)
        if text == "-c" and len(found.words) > 1:
            found.python = found.words[1].value
            return False
        if text == "-" or not text.startswith("-"):
            break
        found.words.pop(0)
        if text in ("-W", "-X") and found.words:
            found.words.pop(0)
    if (not found.words or found.words[0].value == "-") and found.call.stdin is not None:
        found.python = found.call.stdin.value
    elif found.words and not module_file(found):
        name = posixpath.basename(found.words[0].value)
        if name in ("torchrun", "accelerate", "deepspeed", "swift", "megatron"):
            return True
        found.python_file = found.words[0].value
    return False


def module(found: Launch) -> bool:
    name = found.words[0].value
    if name in ("torch.distributed.run", "torch.distributed.launch"):
        found.words[0] = Word(Text("torchrun"), found.words[0].line)
        return True
    if name.startswith(("accelerate.commands", "accelerate")):
        found.words[0] = Word(Text("accelerate"), found.words[0].line)
        if name.endswith("launch"):
            found.words.insert(1, Word(Text("launch"), found.words[0].line))
        return True
    if name.startswith("deepspeed"):
        found.words[0] = Word(Text("deepspeed"), found.words[0].line)
        return True
    if not module_file(found, by_module=True):
        found.python_file = name
    return False
