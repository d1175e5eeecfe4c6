"""Flags of any ms-swift, 2 to 4, as the installed one takes them. Nothing is left out without a word: each flag ends
as a setting, as translated, as refused, or as said.
"""

from __future__ import annotations

import difflib

from services.errors import Key, Refused
from services.swift import catalogue
from services.swift.argument import TRUE, Argument
from services.swift.importer import old_flags
from services.swift.importer.flags import Flag
from services.swift.importer.old_meanings import ALSO_TODAY, LAST, MEGATRON_SPECIAL, SPECIAL
from services.swift.importer.text import Said, Text
from services.swift.importer.translation import LISTED, Rejected, Translated, Translation


def translate(command: str, flags: tuple[Flag, ...]) -> Translation:
    """What ``flags`` come to for ``command``."""
    found = Translation(command)
    if not found.known:
        for flag in flags:
            found.set(flag, flag.name, flag.values)
        return found
    later = [flag for flag in flags if flag.name in LAST]
    for flag in [*(one for one in flags if one.name not in LAST), *later]:
        _translate(found, flag)
    _values(found)
    _check(found)
    return found


def _translate(found: Translation, flag: Flag) -> None:
    name = flag.name
    megatron = MEGATRON_SPECIAL if found.command.startswith("megatron") else {}
    special = megatron.get(name) or SPECIAL.get(name)
    if special is not None and (name not in found.known or name in ALSO_TODAY):
        special(found, flag)
        return
    if name in found.known:
        found.set(flag, name, flag.values)
        return
    new, version = _renamed(found, name)
    if new:
        found.move(flag, version, "importing.why_renamed", (new, flag.values))
        return
    whole = [one for one in found.known if one.startswith(name)]
    if len(whole) == 1 and not old_flags.gone_since(name):
        found.translated.append(
            Translated(flag.shown, f"--{whole[0]}", catalogue.version(), Key("importing.why_short", new=whole[0]))
        )
        found.set(flag, whole[0], flag.values)
        return
    if name.startswith("no_") and name[3:] in found.known:
        _switched_off(found, flag)
        return
    _gone(found, flag)


def _switched_off(found: Translation, flag: Flag) -> None:
    """``--no_packing``, as ms-swift offers it for switches that are on."""
    switch = flag.name[3:]
    if found.known[switch].default is not True or (flag.values and flag.values[0].value.lower() not in TRUE):
        found.set(flag, flag.name, flag.values or (Text("true"),))
        return
    why = Key("importing.why_switch")
    found.translated.append(Translated(flag.shown, f"--{switch} false", catalogue.version(), why))
    found.set(flag, switch, (Text("false"),))


def _renamed(found: Translation, name: str) -> tuple[str, str]:
    """Today's name and the version that had the old one, or ("", "")."""
    tables = [(old_flags.RENAMED_IN_4, "3"), (old_flags.RENAMED_IN_3, "2")]
    if found.command.startswith("megatron"):
        tables.insert(0, (old_flags.MEGATRON_3, "3"))
    for table, version in tables:
        new = table.get(name, "")
        if new in found.known:
            return new, version
    return "", ""


def _gone(found: Translation, flag: Flag) -> None:
    """A name that the installed ms-swift does not have for this command."""
    version = old_flags.gone_since(flag.name)
    if old_flags.is_shape(flag.name) and found.command.startswith("megatron"):
        found.reject(flag, Key("importing.why_shape", version=version or "3"))
        return
    if version:
        near = old_flags.NEAREST.get(flag.name)
        instead = f"--{near}" if near in found.known else ""
        found.reject(flag, Key("importing.why_gone", version=version), instead)
        return
    try:
        catalogue.check(found.command, {flag.name: "1"})
    except Refused as refusal:
        near = old_flags.NEAREST.get(flag.name)
        instead = _instead(refusal, flag.name) if near is None else f"--{near}" if near in found.known else ""
        found.reject(flag, Key(f"error.{refusal.code}", **refusal.values), instead)


def _instead(refusal: Refused, name: str = "") -> str:
    """The nearest that ms-swift takes; of the names that are only spelled alike, one that is nearly the same."""
    values = refusal.values
    alike = [one for one in str(values.get("close") or "").split(", ") if _alike(name, one.lstrip("-"))]
    return str(values.get("new") or (alike[0] if alike else "") or values.get("others") or "").split(", ")[0]


def _alike(name: str, other: str) -> bool:
    """Whether ``name`` may be a slip of the pen for ``other``, or says more or less than it."""
    shorter, longer = sorted((name, other), key=len)
    said_shorter = len(shorter) > 4 and f"_{shorter}_" in f"_{longer}_" and len(longer) < 2 * len(shorter)
    return said_shorter or difflib.SequenceMatcher(None, name, other).ratio() > 0.85


def _values(found: Translation) -> None:
    """Values that have other names today."""
    for name, values in list(found.settings.items()):
        new: list[Text] = []
        for value in values:
            change = old_flags.VALUES.get((name, value.value))
            if change is None:
                new.append(value)
                continue
            text, version = change
            why = "importing.why_value" if text else "importing.why_default"
            written = f"--{name} {text}" if text else ""
            found.replaced(f"--{name} {value.value}", written, version, Key(why, version=version))
            new += [Text(text)] if text else []
        found.settings[name] = new
        if values and not new:
            del found.settings[name]
    for name in ("target_modules", "modules_to_save"):
        _commas(found, name)
    if "template" in found.settings:
        _template(found)
    for name in ("dataset", "val_dataset"):
        if name in found.settings:
            found.settings[name] = _datasets(found, name, found.settings[name])
            _stars(found, name)


def _commas(found: Translation, name: str) -> None:
    """``q_proj,v_proj`` was taken apart by ms-swift 2; today it would name one module of that name."""
    for value in found.settings.get(name, []):
        if "," in value.value and len(found.settings[name]) == 1:
            new = [Text(part.strip(), value.unknown) for part in value.value.split(",") if part.strip()]
            written = f"--{name} {' '.join(one.value for one in new)}"
            why = Key("importing.why_commas", version="2")
            found.replaced(f"--{name} {value.value}"[:300], written[:300], "2", why)
            found.settings[name] = new


def _template(found: Translation) -> None:
    """Templates of ms-swift 2 had dashes in their names."""
    known = found.known["template"].known
    for value in found.settings["template"]:
        if value.value.endswith("-generation") and "use_chat_template" in found.known:
            why = Key("importing.why_value", version="2")
            found.replaced(f"--template {value.value}", "--use_chat_template false", "2", why)
            found.settings.setdefault("use_chat_template", [Text("false")])
            del found.settings["template"]
            return
        new = value.value.replace("-", "_")
        if known and value.value not in known and new in known:
            why = Key("importing.why_value", version="2")
            found.replaced(f"--template {value.value}", f"--template {new}", "2", why)
            found.settings["template"] = [Text(new)]


def _datasets(found: Translation, name: str, values: list[Text]) -> list[Text]:
    """Short names of ms-swift 2, also several with commas between them, as hub ids."""
    parts = [part for value in values for part in _listed(value)]
    new = []
    for part in parts:
        today = old_flags.old_dataset(part.value) if part.known else ""
        new.append(Text(today) if today else part)
        if today:
            why = Key("importing.why_dataset", version="2")
            found.replaced(f"--{name} {part.value}", f"--{name} {today}", "2", why)
    return new


def _stars(found: Translation, name: str) -> None:
    for value in found.settings[name]:
        if "*" in value.value and value.known:
            said = Key("importing.stars", flag=f"--{name}", value=value.value[:100])
            found.said.append(Said(said, (f"--{name}",)))


def _listed(value: Text) -> list[Text]:
    pieces = value.value.split(",")
    if len(pieces) > 1 and all(old_flags.old_dataset(piece) or "/" in piece for piece in pieces) and value.known:
        return [Text(piece) for piece in pieces]
    return [value]


def _check(found: Translation) -> None:
    """Each value by the catalogue's rules; what it refuses is taken out, and what nobody knows is said."""
    for name, values in list(found.settings.items()):
        argument = found.known.get(name)
        text = argument is not None and argument.choices is None and argument.type in ("str", "list[str]", "dict")
        unknown = [part for value in values for part in value.unknown]
        if unknown and text:
            text = not _is_refused(found, name, argument, values)
        if unknown:
            where = "importing.value_open" if text else "importing.value_missing"
            said = Key(where, flag=f"--{name}", parts=", ".join(unknown)[:200])
            found.said.append(Said(said, (f"--{name}",)))
            if not text:
                del found.settings[name]
                continue
        given: object = [value.value for value in values]
        if argument is None or not argument.type.startswith(LISTED):
            given = values[0].value if values else True
        try:
            found.checked(name, given)
        except Refused as refusal:
            value = " ".join(one.value for one in values)
            why = Key(f"error.{refusal.code}", **refusal.values)
            instead = "--model" if name == "model_type" else _instead(refusal, name)
            found.refused.append(Rejected(f"--{name}", value[:300], why, instead))
            del found.settings[name]


def _is_refused(found: Translation, name: str, argument: Argument | None, values: list[Text]) -> bool:
    words = [value.value for value in values]
    many = argument is not None and argument.type.startswith(LISTED)
    try:
        found.checked(name, words if many else words[0])
    except Refused:
        return True
    return False
