"""One ms-swift command, found in a script, as a spec with all that is to be said of it."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from services.errors import Key, Refused
from services.specs import MergeSpec, ServeSpec, TrainSpec
from services.swift import catalogue
from services.swift.importer import facts as facts_room
from services.swift.importer import own_script
from services.swift.importer.as_spec import spec_of, training
from services.swift.importer.files import Files, as_words
from services.swift.importer.flags import Flag, Flags, read_flags
from services.swift.importer.imported import Imported
from services.swift.importer.launchers import Launch
from services.swift.importer.remarks import remarks
from services.swift.importer.text import Said, Text
from services.swift.importer.translate import translate
from services.swift.importer.translation import Rejected, Translation, takes_many

CONFIG = (".yaml", ".yml", ".json")


def assemble(found: Launch, files: Files, mark: own_script.Mark | None = None) -> Imported:
    """``found`` for TuneDesk's form. ``mark``: it stands in a script that TuneDesk wrote."""
    said = list(found.said)
    flags = _flags(found, files, said)
    command = _settled_command(found, flags, said)
    if mark is not None and command == mark.command:
        return _own(found, files, flags, mark)
    translation = translate(command, flags.flags)
    settings = _open(_typed(translation) | _written(translation, files, said), said)
    _never_there(found, translation)
    facts = facts_room.facts_of(found, files)
    facts_room.really(facts, found, settings)
    _strays(flags, translation)
    spec = spec_of(command, settings, facts, translation)
    said += [*translation.said, *facts.said, *remarks(command, settings), *_place(found)]
    return _result(found, command, spec, _argv(command, settings, translation), translation, said)


def _result(
    found: Launch,
    command: str,
    spec: TrainSpec | MergeSpec | ServeSpec | None,
    argv: tuple[str, ...],
    translation: Translation,
    said: list[Said],
) -> Imported:
    return Imported(
        command=command,
        spec=spec,
        argv=argv,
        env={name: value.value for name, value in found.env.items() if _shown(name, value)},
        translated=tuple(translation.translated),
        refused=tuple(translation.refused),
        notes=tuple(said),
        line=found.call.line,
    )


def _own(found: Launch, files: Files, flags: Flags, mark: own_script.Mark) -> Imported:
    """A command that TuneDesk wrote: only what somebody has changed in it is read anew."""
    translation = translate(found.command, own_script.changed(flags, mark).flags)
    settings = _typed(translation)
    facts = facts_room.facts_of(found, files)
    _strays(flags, translation)
    parsed = training(found.command, settings, facts, translation)
    spec = own_script.restored(parsed, mark, flags, found.env) if parsed is not None else None
    unsaid = ("importing.no_model", "importing.no_dataset", "importing.mcore_model_alone")
    said = [*own_script.added(flags, mark), *(one for one in translation.said if one.text not in unsaid)]
    program = found.command.split() if found.command.startswith("megatron") else ["swift", found.command]
    words = [word for flag in flags.flags for word in _as_written(flag, mark)]
    return _result(found, found.command, spec, (*program, *words), translation, said)


def _as_written(flag: Flag, mark: own_script.Mark) -> list[str]:
    texts = mark.written[flag.name] if own_script.unchanged(flag, mark) else [value.value for value in flag.values]
    dashed = len(texts) == 1 and texts[0].startswith("-")
    return [f"--{flag.name}={texts[0]}"] if dashed else [f"--{flag.name}", *texts]


def _never_there(found: Launch, translation: Translation) -> None:
    if found.module:
        why = Key("importing.no_module", module=found.module, command=found.command)
        instead = found.module.replace("train", found.command)
        translation.refused.append(Rejected(found.module, "", why, instead))


def _place(found: Launch) -> list[Said]:
    said = []
    if found.around:
        around = " · ".join(found.around)[:300]
        said.append(Said(Key("importing.only_if", line=found.call.line, conditions=around)))
    if found.call.folder:
        said.append(Said(Key("importing.folder", folder=found.call.folder)))
    return said


def _shown(name: str, value: Text) -> bool:
    return value.known and not facts_room.SECRET.fullmatch(name)


def _flags(found: Launch, files: Files, said: list[Said]) -> Flags:
    """The command's flags; those of a configuration file first, which is named first or by ``--config``."""
    words = list(found.words)
    from_file: list[Flag] = []
    if words and words[0].value.endswith(CONFIG) and not words[0].value.startswith("-"):
        from_file = _config(found, files, words.pop(0).text, said)
    flags = read_flags(words, takes_many(found.command))
    configs = [flag for flag in flags.flags if flag.name == "config" and flag.values]
    for flag in configs:
        from_file += _config(found, files, flag.values[0], said)
    rest = tuple(flag for flag in flags.flags if flag not in configs)
    return replace(flags, flags=(*from_file, *rest))


def _config(found: Launch, files: Files, path: Text, said: list[Said]) -> list[Flag]:
    name = path.value
    if not path.known:
        said.append(Said(Key("importing.config_open", text=name[:200]), (name, "--config")))
        return []
    try:
        config = files.mapping(name, found.call.folder)
    except Refused as refusal:
        why = Key(f"error.{refusal.code}", **refusal.values)
        said.append(Said(Key("importing.config_missing", file=name, why=why), (name, "--config")))
        return []
    said.append(Said(Key("importing.config_taken", file=name), (name, "--config")))
    return config_flags(config, found, said)


def config_flags(config: Mapping[str, Any], found: Launch, said: list[Said]) -> list[Flag]:
    """The flags that ms-swift makes of a configuration file; its ``ENV`` are variables that are not set yet."""
    env = config.get("ENV")
    for name, value in env.items() if isinstance(env, dict) else ():
        found.env.setdefault(str(name), Text(as_words(value)[0] if as_words(value) else ""))
    flags = []
    for name, value in config.items():
        if name == "ENV":
            continue
        written, equals, text = name.partition("=")
        values = tuple(Text(word) for word in as_words(value))
        if equals:
            values = (Text(text), *values)
        if not values:
            said.append(Said(Key("importing.python_none", flag=name), (f"--{name}",)))
            continue
        flags.append(Flag(written.replace("-", "_"), values, 1, f"--{written}"))
    return flags


def _settled_command(found: Launch, flags: Flags, said: list[Said]) -> str:
    """The command, where its name is an old one or none of ms-swift's."""
    names = {flag.name for flag in flags.flags}
    command = found.command
    if found.module:
        command = "rlhf" if "rlhf_type" in names else "sft"
        found.command = command
    elif found.written and found.written not in (command, "merge-lora"):
        said.append(Said(Key("importing.old_command", old=found.written, new=command)))
    if command == "sft" and "rlhf_type" in names:
        said.append(Said(Key("importing.rlhf_in_sft")))
    return command


def _strays(flags: Flags, translation: Translation) -> None:
    for word in flags.strays:
        translation.refused.append(Rejected(word.value[:200], "", Key("importing.why_stray", line=word.line)))
    for word in flags.unknown:
        said = Key("importing.flags_open", text=word.value[:100], line=word.line)
        translation.said.append(Said(said, (word.value,)))


def _typed(translation: Translation) -> dict[str, Any]:
    """The settings as values of their types; of a command that the catalogue does not know, as words."""
    found: dict[str, Any] = {}
    for name, values in translation.settings.items():
        words = [value.value for value in values]
        argument = translation.known.get(name)
        many = argument.type.startswith("list[") if argument is not None else len(words) > 1
        value: Any = words if many else words[0] if words else True
        if not translation.known:
            found[name] = value
            continue
        checked = translation.checked(name, value)
        if not checked:
            key = Key("importing.same_as_default", flag=f"--{name}", value=" ".join(words)[:100])
            translation.said.append(Said(key, (f"--{name}",)))
        found |= checked
    return found


def _open(settings: dict[str, Any], said: list[Said]) -> dict[str, Any]:
    """``settings`` without secrets, which no spec keeps."""
    secrets = [name for name in settings if facts_room.SECRET.fullmatch(name)]
    said += [Said(Key("importing.secret", name=f"--{name}"), (f"--{name}",)) for name in secrets]
    return {name: value for name, value in settings.items() if name not in secrets}


def _written(translation: Translation, files: Files, said: list[Said]) -> dict[str, Any]:
    """DeepSpeed's and FSDP's configuration, where the script itself writes the file: its content."""
    found = {}
    for name in ("deepspeed", "fsdp"):
        path = "".join(value.value for value in translation.settings.get(name, []))
        if posixpath.normpath(path or "-") in files.written and path.endswith(CONFIG):
            try:
                found[name] = files.mapping(path)
            except Refused:
                continue
            said.append(Said(Key("importing.file_in_script", file=path, flag=f"--{name}"), (f"--{name}",)))
    return found


def _argv(command: str, settings: Mapping[str, Any], translation: Translation) -> tuple[str, ...]:
    program = command.split() if command.startswith("megatron") else ["swift", command]
    words: list[str] = []
    for name, value in settings.items():
        try:
            words += catalogue.to_argv({name: value})
        except Refused as refusal:
            why = Key(f"error.{refusal.code}", **refusal.values)
            translation.refused.append(Rejected(f"--{name}", "", why))
    return (*program, *words)
