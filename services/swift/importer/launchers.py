"""Finds ms-swift in a command: behind ``nohup``, ``torchrun``, ``deepspeed``, ``accelerate launch``, ``srun``,
``docker run`` and the like, and keeps what each of them says about processes and machines.
"""

from __future__ import annotations

import posixpath
import re

from services.errors import Key
from services.swift.importer.launch import TRAININGS, Launch
from services.swift.importer.programs import COMMANDS, inside, is_command, module_file, own_module, somewhere
from services.swift.importer.text import Call, Text, Word
from services.swift.importer.wrappers import PROGRAMS

__all__ = ["COMMANDS", "TRAININGS", "Launch", "launch"]


def launch(call: Call) -> Launch:
    """What ``call`` starts, as far as it is ms-swift."""
    found = Launch(call, list(call.words), dict(call.env), around=call.conditions)
    for _ in range(12):
        while found.words and found.words[0].value in ("$", "!"):  # a prompt, a notebook
            found.words.pop(0)
        _without_unknown(found)
        if not found.words or found.command or found.script is not None:
            break
        name = posixpath.basename(found.words[0].value.removeprefix("!"))
        peel = PROGRAMS.get("python" if re.fullmatch(r"python[0-9.]*", name) else name)
        if peel is None:
            if module_file(found):
                break
            if somewhere(found, PROGRAMS):
                continue
            inside(found)
            break
        found.words.pop(0)
        if peel(found, name) is False:
            break
    return found


def _without_unknown(found: Launch) -> None:
    """Takes off a first word that nobody knows (``$PREFIX``, ``"$PYTHON"``), where a command of ms-swift follows."""
    while found.words and not found.words[0].text.known:
        following = found.words[1].value if len(found.words) > 1 else ""
        if posixpath.basename(found.words[0].value) in PROGRAMS:  # $ENV/bin/megatron
            break
        if not (found.words[0].bare or is_command(following) or following == "-m" or own_module(following)):
            break
        found.say(Key("importing.prefix_unknown", text=found.words[0].value, line=found.call.line))
        found.words.pop(0)
        if is_command(following):
            found.words.insert(0, Word(Text("swift"), found.call.line))
        elif following == "-m":
            found.words.insert(0, Word(Text("python"), found.call.line))
