"""How a script is read: as a shell would, and with nothing run."""

from __future__ import annotations

import contextlib
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from services.errors import Refused
from services.settings import Settings
from services.swift.importer import import_text, shell
from services.swift.importer.arithmetic import NotANumber, expr
from services.swift.importer.text import Text

COMMANDS = Path(__file__).parents[1] / "data" / "commands"
STARTS = (
    "subprocess.Popen",
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.fork",
    "os.forkpty",
    "os.spawn",
    "pty.spawn",
)
SEEN: list[str] = []


def watch(event: str, arguments: tuple[Any, ...]) -> None:
    if event in STARTS or event == "exec":
        SEEN.append(event)
    if event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+"):
        SEEN.append(f"open {arguments[0]} {arguments[1]}")


sys.addaudithook(watch)


@pytest.fixture
def nothing_runs(settings: Settings) -> Iterator[None]:
    """Fails where a process is started, code is run or a file is opened for writing."""
    import_text("swift sft --unknown 1 --model a; ls", None, settings)  # what is imported late runs its own code once
    SEEN.clear()
    yield
    assert SEEN == []


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path, starter=tmp_path, roots=(tmp_path,))


def words(text: str) -> list[list[str]]:
    return [[word.value for word in call.words] for call in shell.read(text).calls]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("x=1; c $x ${x} \"$x\" '$x' a${x}b", ["c", "1", "1", "1", "$x", "a1b"]),
        ("c ${x:-d e} \"${x:-d e}\" ${y:+z}", ["c", "d", "e", "d e"]),
        ("x='a  b'; c $x \"$x\"", ["c", "a", "b", "a  b"]),
        ("x=a.tar.gz; c ${x%.gz} ${x%%.*} ${x#*.} ${x##*.} ${x/tar/zip} ${x:0:1} ${#x} ${x^^}",
         ["c", "a.tar", "a", "tar.gz", "gz", "a.zip.gz", "a", "8", "A.TAR.GZ"]),
        ("a=(1 'b c'); a+=(d); c \"${a[@]}\" ${#a[@]} ${a[1]}", ["c", "1", "b c", "d", "3", "b", "c"]),
        ("n=4; c $((2 ** 3 / n)) $(expr 16 / $n \\* 2) `expr 7 % 4` $((n>3?1:0))", ["c", "2", "8", "3", "1"]),
        ("d=0,1,2; c $(echo $d | tr ',' '\\n' | wc -l) $(echo $d | awk -F, '{print NF}')", ["c", "3", "3"]),
        ("d=0,1,2; IFS=',' read -ra g <<< \"$d\"; c ${#g[@]} $(echo \"16 / 3\" | bc) ${g[1]}", ["c", "3", "5", "1"]),
        (": \"${x:=7}\"; local y=2; c $x $y $[x * y]", ["c", "7", "2", "14"]),
        ("c $(date) $HOME/x $(unknown | wc -l)", ["c", "$(date)", "~/x", "$(unknown | wc -l)"]),
        ("c \\\n  a \\\n  b", ["c", "a", "b"]),
        ("c --a 1 \\\n # --b 2 \\\n --d 3\n", ["c", "--a", "1", "--d", "3"]),
        ("c --a 1\n  --d 3\n", ["c", "--a", "1", "--d", "3"]),
        ("c \\ --a 1 \\ --b", ["c", "--a", "1", "--b"]),
        ("c > log --a 1 2>&1", ["c", "--a", "1"]),
        ("c $'a\\tb' \"a\\\"b\" a\\ b", ["c", "a\tb", 'a"b', "a b"]),
        ("f() { c $1 \"$2\"; }; f x 'y z'", ["c", "x", "y z"]),
        ("v=x; u=v; c ${!u} ${w:=9} $w", ["c", "x", "9", "9"]),
        ('a=m b=n; c "${a} ${b}" "$a  $b" " ${a}" "${z} $b"', ["c", "m n", "m  n", " m", "${z} n"]),
        ('a=m; f="--x 1"; t="--m ${a} \\\n ${f} \\\n --o y"; c $t', ["c", "--m", "m", "--x", "1", "--o", "y"]),
        ("IFS=xX read -r kind n rest <<< L40x4; c $kind $n \"$rest\"", ["c", "L40", "4", ""]),
        ("read -r a b <<< '1 2 3'; c \"$a\" \"$b\"", ["c", "1", "2 3"]),
        ("n=4; c $(seq -s, 0 $((n - 1))) $(seq 2 3 | paste -sd, -) $(which swift) $(command -v x 2>/dev/null)",
         ["c", "0,1,2,3", "2,3", "swift", "x"]),
        ('a=(1 2); e=(); c "${a[@]+"${a[@]}"}" ${e[@]+"${e[@]}"} "${z[@]+"${z[@]}"}"', ["c", "1", "2"]),
        ('set -- --a 1 b; c "$@"', ["c", "--a", "1", "b"]),
        ('set -- "$@" --a 1; c "$@"', ["c", "$@", "--a", "1"]),
        ('f() { n=$1; shift; c "$@" $n; }; f x --a 1', ["c", "--a", "1", "x"]),
        ("g=0,1,2; c $(awk -F, '{print NF}' <<< \"$g\")", ["c", "3"]),
    ],
)  # fmt: skip
def test_words_are_a_shells(text: str, wanted: list[str]) -> None:
    assert words(text)[0] == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('if [ -z "$x" ]; then c 1; else c 2; fi', [["c", "1"], ["c", "2"]]),
        ("x=5; if [[ $x -gt 4 && $x != 6 ]]; then c 1; elif true; then c 2; fi", [["c", "1"]]),
        ('if [ "$1" = a ]; then c 1; elif [ "$1" = b ]; then c 2; fi', [["c", "1"], ["c", "2"]]),
        ("m=a; if [ $m = b ]; then c 1; else c 2; fi", [["c", "2"]]),
        ("if [ -f y ]; then c 1; else c 2; fi", [["c", "1"], ["c", "2"]]),
        ("if ! [ $# -ge 1 ]; then c 1; fi", [["c", "1"]]),
        ("m=qwen; case $m in q*) c 1;; *) c 2;; esac", [["c", "1"]]),
        ("case $(who) in a) c 1;; *) c 2;; esac", [["c", "1"], ["c", "2"]]),
        ("for i in a b; do c $i; done", [["c", "a"]]),
        ("(x=1; c $x); c ${x:-0}", [["c", "1"], ["c", "0"]]),
        ("a && b || c", [["a"], ["b"], ["c"]]),
        ('[ -n "$x" ] && y=1; c ${y:-0}', [["c", "0"]]),
        ('x=2; [ "$x" = 2 ] && y=1; [[ $x == 3 ]] || z=1; c $y $z', [["c", "1", "1"]]),
        ("s=$(w -l); [[ $s -le 0 ]] && s=1; c $s", [["c", "$(w -l)"]]),
        ("[ -f x ] && y=1; c ${y:-0}", [["c", "1"]]),
        ('a=(1); [ -n "$more" ] && a+=(2); c "${a[@]}"', [["c", "1"]]),
        ("if c 1 | d; then e; fi", [["c", "1"], ["d"], ["e"]]),
        ("if ! c 1; then c 2; fi", [["c", "1"], ["c", "2"]]),
        ("until c; do d; done", [["c"], ["d"]]),
        ('case "$1" in a) c 1;; b) c 2;; *) exit 1;; esac', [["c", "1"], ["c", "2"]]),
        ("if command -v nvidia-smi > /dev/null; then c; fi", [["c"]]),
    ],
)
def test_branches_and_loops_are_walked(text: str, wanted: list[list[str]]) -> None:
    assert words(text) == wanted


def test_the_environment_is_what_is_exported_or_stands_before_the_command() -> None:
    call = shell.read("A=1; export A B=2; C=3\nD=$A$C c\nunset B").calls[0]
    assert {name: value.value for name, value in call.env.items()} == {"A": "1", "B": "2", "D": "13"}
    assert call.shell_only == {"C"}


def test_a_place_says_under_which_condition_and_in_which_folder() -> None:
    call = shell.read("cd /a\nif [ -d x ]; then\n cd b; for i in 1 2; do c; done; fi").calls[0]
    assert call.conditions == ("if [ -d x ]", "for i in 1 2")
    assert (call.folder, call.line) == ("/a/b", 3)


def test_here_documents_are_files_of_the_script() -> None:
    script = shell.read("n=2\ncat > a.json <<EOF\n{\"x\": $n}\nEOF\ntee b <<'E' >/dev/null\n$n\nE\n")
    assert {name: text.value for name, text in script.written.items() if "dev" not in name} == {
        "a.json": '{"x": 2}\n', "b": "$n\n",
    }  # fmt: skip


def test_a_file_with_an_unknown_name_is_found_by_the_same_words() -> None:
    script = shell.read('job=run_$(date +%s).sh\ncat > "$job" <<E\nswift sft\nE\nsbatch "$job"\n')
    assert script.written == {"run_$(date +%s).sh": Text("swift sft\n")}


def test_of_a_loop_the_values_that_are_not_taken_are_said() -> None:
    script = shell.read("for more in '--seed 1' '--lora_rank 2'; do c $more; done\nfor i in 1 2; do sleep $i; done")
    assert [word.value for word in script.calls[0].words] == ["c", "--seed", "1"]
    assert [(one.text, one.flags) for one in script.said] == [("importing.loop_first", ("--lora_rank",))]


@pytest.mark.parametrize("quote", ["'", '"'])
def test_flags_in_a_branch_that_is_not_taken_are_said(quote: str) -> None:
    script = shell.read(f"n=1; if [ $n -gt 1 ]; then l={quote}--nnodes=$n --seed 3{quote}; fi; c $l")
    assert [(one.text, one.flags) for one in script.said] == [("importing.branch_skipped", ("--nnodes", "--seed"))]


def test_flags_of_a_command_inside_a_variable_are_not_taken_for_lost_ones() -> None:
    assert shell.read("a=$(srun --nodes=1 hostname)\nb='--seed 3'\nc").said[0].flags == ("--seed",)


@pytest.mark.parametrize(
    ("words_of_expr", "result"), [(["16", "/", "3"], 5), (["(", "1", "+", "2", ")", "*", "3"], 9), (["5", ">", "3"], 1)]
)
def test_expr_counts_whole_numbers(words_of_expr: list[str], result: int) -> None:
    assert expr(words_of_expr) == result


@pytest.mark.parametrize("text", ["1 / 0", "a + 1", "1 +", "", "9" * 30])
def test_expr_refuses_what_is_no_number(text: str) -> None:
    with pytest.raises(NotANumber):
        expr(text.split())


NASTY = [
    "swift sft --model $(touch {x})",
    "swift sft --model `touch {x}`",
    "swift sft --model a; touch {x}; rm -rf {x}",
    "swift sft --dataset <(touch {x}) >(touch {x}) --model a",
    "eval 'touch {x}'; eval \"swift sft --model a\"",
    "alias swift='touch {x}'; swift sft --model a",
    'swift() {{ touch {x}; command swift "$@"; }}\nswift sft --model a',
    "trap 'touch {x}' EXIT; swift sft --model a",
    "PROMPT_COMMAND='touch {x}' bash -c 'touch {x}; swift sft --model a'",
    "swift sft --model ${{y:-$(touch {x})}} $((a[$(touch {x})]))",
    "cat <<E > {x}\n$(touch {x})\nE\nswift sft --model a",
    "source {x}; . {x}; exec 3>{x}; swift sft --model a > {x}",
    "python -c \"import os; os.system('touch {x}')\"; swift sft --model a",
    "printf -v y '%s' a; mapfile -t z < <(touch {x}); swift sft --model \"$y\"",
    "coproc touch {x}; swift sft --model a",
]


@pytest.mark.parametrize("text", NASTY)
@pytest.mark.usefixtures("nothing_runs")
def test_nothing_is_executed(text: str, tmp_path: Path, settings: Settings) -> None:
    target = tmp_path / "touched"
    try:
        import_text(text.format(x=target), tmp_path, settings)
    except Refused as refusal:
        assert refusal.code == "import_line"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("nothing_runs")
def test_python_is_not_executed(tmp_path: Path, settings: Settings) -> None:
    text = (
        f"import os\nos.system('touch {tmp_path}/a')\nopen('{tmp_path}/b', 'w')\n"
        "from swift import *\nsft_main(SftArguments(model=__import__('os').popen('id').read(), dataset=['b']))\n"
    )
    found = import_text(text, tmp_path, settings)
    assert found.spec is not None
    assert "value_open" in {str(note.text).removeprefix("importing.") for note in found.notes}
    assert list(tmp_path.iterdir()) == []


def test_only_files_within_the_folders_allowed_are_read(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    (outside / "c.yaml").write_text("model: secret\n")
    (inside / "link.yaml").symlink_to(outside / "c.yaml")
    settings = Settings(home=inside, starter=inside, roots=(inside,))
    for name in ("../out/c.yaml", str(outside / "c.yaml"), "link.yaml"):
        found = import_text(f"swift sft {name} --dataset b", inside, settings)
        assert "secret" not in str(found.as_json())
        assert "config_missing" in {str(note.text).removeprefix("importing.") for note in found.notes}


@pytest.mark.parametrize(
    "text",
    [
        "x=aaaaaaaaaaaaaaaa\n" + "x=$x$x\n" * 60 + "swift sft --model $x",
        "swift sft --model " + "$(" * 3000 + "a" + ")" * 3000,
        "swift sft --model " + "((" * 4000,
        "f() { f; f; }; f; swift sft",
        "if true; then " * 2000 + "swift sft",
        "swift sft\n" * 900,
        "a" * (1 << 19),
        "swift sft --model $((9**9**9**9))",
        'x=(' + "a " * 50_000 + ")\n" + 'y=("${x[@]}" "${x[@]}")\n' * 10 + 'swift sft "${y[@]}"',
        "[" * 50_000,
        "bash -c '" * 30 + "swift sft",
        "from swift import sft_main\n" + "x = y + y\ny = x + x\n" * 2 + "sft_main(['--model', x])",
        "import os\nx = 'a'\n" + "x = x + x\n" * 60 + "os.system('swift sft --model ' + x)",
    ],
)  # fmt: skip
def test_what_would_not_end_is_refused_or_read_in_a_moment(text: str, settings: Settings) -> None:
    import time

    start = time.monotonic()
    with contextlib.suppress(Refused):
        import_text(text, None, settings)
    assert time.monotonic() - start < 5


def test_whatever_is_pasted_only_ever_refuses(settings: Settings) -> None:
    dice = random.Random(7)
    texts = [path.read_text("utf-8") for path in sorted(COMMANDS.iterdir())]
    pieces = [*"(`\"'}|&;(=#é\0\n", "$(", "${", "if ", "fi", "\\\n", "<<E", "E\n", "swift sft ", "--a ", "$x", "((",
              "))", "[[", "]]", "case ", "esac", "<a>", "python -c "]  # fmt: skip
    for _ in range(400):
        kind = dice.randrange(4)
        text = dice.choice(texts)
        if kind == 0:
            text = bytes(dice.randrange(256) for _ in range(dice.randrange(300))).decode("utf-8", "replace")
        elif kind == 1:
            text = text[: dice.randrange(len(text))]
        elif kind == 2:
            at = dice.randrange(len(text))
            text = text[:at] + "".join(dice.choices(pieces, k=3)) + text[at + dice.randrange(9) :]
        else:
            text = "".join(dice.choices(pieces, k=dice.randrange(60)))
        try:
            import_text(text, None, settings, name=dice.choice(["", "", "a.sh", "a.py", "a.yaml", "a.json"])).as_json(
                "zh"
            )
        except Refused as refusal:
            assert refusal.code in ("import_line", "import_too_large")
