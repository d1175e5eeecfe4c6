"""A stand-in for the interpreter that has ms-swift: it takes the same words, and behaves as a test asks.

Called like Python itself: ``-P -m swift.cli.main sft|pt|rlhf|export|deploy …`` or ``-P -m services.models.verify …``.
As the real one does, ``swift`` blocks around a child; with NPROC_PER_NODE set that is a torchrun that gives each
rank a session of its own. Standard library only, and light: every layer is a new interpreter.

The variable STAND_IN holds a JSON object; every entry has a default:
    steps (3), step_s (0.02), log_every (1); launch_s (0): before there is a rank; load_s (0): before it can save
    error: text printed to stderr before exit code 1; error_at: the step (default 0: before anything)
    once: that error only comes the first time
    exit_code: of a rank, after all its steps (0); linger_s: between the closing summary and the exit (0)
    deaf: every layer ignores TERM, and the trainer the request that it listens for
    save_s: what writing a checkpoint takes (0)
    noise_mb: megabytes of stderr before the first step; strays: processes left behind, each in its own session
    metrics: further entries of each log line, a text put in as it is (NaN …)
    longest: for deploy, the characters of a conversation; a longer one ends the answer without a word
    answer_s: for deploy, what an answer takes (0)
    hidden: for deploy, do not answer under the name that was asked for
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ASKED = json.loads(os.environ.get("STAND_IN", "{}"))
HERE = Path(__file__).resolve()
PYTHON = [sys.executable, "-I", "-S"]


def main(words: list[str]) -> int:
    if ASKED.get("deaf"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if words[:2] == ["-m", "torch.distributed.run"]:
        return torchrun(words[2:])
    if words[:1] == ["-P"]:
        module, rest = words[2], words[3:]
        return verify(rest) if module == "services.models.verify" else swift(rest)
    return {"export": export, "deploy": deploy}.get(HERE.stem, train)(words)


def swift(words: list[str]) -> int:
    """``python -m swift.cli.main``: blocks in subprocess.run, and passes no signal on."""
    command_file = installed(words[0])
    ranks = os.environ.get("NPROC_PER_NODE")
    argv = [*PYTHON, str(command_file), *words[1:]]
    if ranks and words[0] not in ("export", "deploy"):
        argv = [
            *PYTHON,
            str(HERE),
            "-m",
            "torch.distributed.run",
            "--nproc_per_node",
            ranks,
            str(command_file),
            *words[1:],
        ]
    time.sleep(ASKED.get("launch_s", 0))
    print("run sh: `" + " ".join(argv) + "`", flush=True)
    return subprocess.run(argv, check=False).returncode


def installed(command: str) -> Path:
    """This file under the name that ms-swift's command file has."""
    path = Path.cwd() / "site" / "swift" / "cli" / f"{command}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        shutil.copy(HERE, path)
    return path


def torchrun(words: list[str]) -> int:
    """One session a rank; a TERM is passed on, and the first failure ends the others."""
    count, argv = int(words[1]), [*PYTHON, *words[2:]]
    ranks = [
        subprocess.Popen(argv, env={**os.environ, "RANK": str(rank), "WORLD_SIZE": str(count)}, start_new_session=True)
        for rank in range(count)
    ]
    if not ASKED.get("deaf"):
        signal.signal(signal.SIGTERM, lambda *_: end(ranks))
    while True:
        codes = [rank.poll() for rank in ranks]
        failed = next((code for code in codes if code), None)
        if failed is not None:
            for rank in ranks:
                rank.terminate()
                rank.wait()
            print("torch.distributed.elastic.multiprocessing.errors.ChildFailedError:", file=sys.stderr)
            return 1
        if None not in codes:
            return 0
        time.sleep(0.02)


def end(ranks: list[subprocess.Popen[bytes]]) -> None:
    for rank in ranks:
        rank.terminate()


class Trainer:
    """One rank: ms-swift's log lines, progress bar, checkpoints, and its saving when it is asked to stop."""

    def __init__(self, words: list[str]) -> None:
        self.options = options(words)
        self.rank = int(os.environ.get("RANK", "0"))
        self.steps = int(ASKED.get("steps", 3))
        self.step = 0
        self.request: Path | None = None
        self.output = self.version() if self.rank == 0 else Path()

    def version(self) -> Path:
        parent = Path(self.options["output_dir"])
        number = len(list(parent.glob("v*-*"))) if parent.exists() else 0
        output = parent / f"v{number}-{time.strftime('%Y%m%d-%H%M%S')}"
        output.mkdir(parents=True)
        return output

    def say(self, text: str) -> None:
        if self.rank == 0:
            print(text, flush=True)

    def train(self) -> int:
        self.say("[INFO:swift] rank: -1, local_rank: -1, world_size: 1")
        self.say(f"[INFO:swift] output_dir: {self.output}")
        fail_at(0)
        request = os.environ.get("TUNEDESK_STOP")
        if request and "save_on_stop" in self.options.get("callbacks", ""):
            self.request = None if ASKED.get("deaf") else Path(request)
            Path(f"{request}.listening").touch()
        resumed = self.options.get("resume_from_checkpoint", "")
        self.step = int(resumed.rpartition("-")[2] or 0) if resumed else 0
        self.say(f"[INFO:swift] The logging file will be saved in: {self.output}/logging.jsonl")
        try:
            self.loop()
        finally:  # so does ms-swift, whatever ended the loop
            self.log({"last_model_checkpoint": "…", "global_step": self.step, "log_history": []})
        time.sleep(ASKED.get("linger_s", 0))
        return int(ASKED.get("exit_code", 0))

    def loop(self) -> None:
        while self.step < self.steps:
            time.sleep(ASKED.get("step_s", 0.02))
            if self.request is not None and self.request.exists():
                self.save()
                return
            self.step += 1
            fail_at(self.step)
            self.bar()
            if self.step % int(ASKED.get("log_every", 1)) == 0:
                self.log({"loss": 4 / self.step, "learning_rate": 1e-4, "global_step/max_steps": self.progress()})
            if self.step % int(self.options.get("save_steps", 500)) == 0 or self.step == self.steps:
                self.save()

    def progress(self) -> str:
        return f"{self.step}/{self.steps}"

    def bar(self) -> None:
        if self.rank == 0:
            share = 100 * self.step // self.steps
            sys.stderr.write(f"\rTrain: {share:3d}%|███   | {self.progress()} [00:36<00:00,  1.50s/it]")
            sys.stderr.flush()

    def log(self, entry: dict[str, object]) -> None:
        if self.rank == 0:
            line = json.dumps(entry)
            if "metrics" in ASKED and "loss" in entry:
                line = line[:-1] + ", " + ASKED["metrics"] + "}"
            with (self.output / "logging.jsonl").open("a", encoding="utf-8") as file:
                file.write(line + "\n")

    def save(self) -> None:
        if self.rank == 0:
            folder = self.output / f"checkpoint-{self.step}"
            folder.mkdir(exist_ok=True)
            (folder / "checkpoint-is-incomplete.txt").write_text("saving", encoding="utf-8")
            for name in ("adapter_model.safetensors", "optimizer.pt"):
                (folder / name).write_bytes(b"weights")
            adapter = {"peft_type": "LORA", "base_model_name_or_path": self.options["model"]}
            (folder / "adapter_config.json").write_text(json.dumps(adapter), encoding="utf-8")
            (folder / "args.json").write_text(json.dumps({"model": self.options["model"]}), encoding="utf-8")
            time.sleep(ASKED.get("save_s", 0))
            (folder / "trainer_state.json").write_text(json.dumps({"global_step": self.step}), encoding="utf-8")
            (folder / "checkpoint-is-incomplete.txt").unlink()


def train(words: list[str]) -> int:
    rank = os.environ.get("RANK", "0")
    dump = {"argv": words, "env": dict(os.environ), "cwd": str(Path.cwd())}
    Path(f"rank-{rank}.json").write_text(json.dumps(dump), encoding="utf-8")
    for number in range(int(ASKED.get("strays", 0))):
        leave_a_stray(number)
    for _ in range(int(ASKED.get("noise_mb", 0))):
        sys.stderr.write(("x" * 1023 + "\n") * 1024)
    time.sleep(ASKED.get("load_s", 0))
    return Trainer(words).train()


def leave_a_stray(number: int) -> None:
    """A process in a session of its own, that ignores TERM and outlives its parent."""
    code = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); open({!r}, 'w').close(); time.sleep(600)"
    )
    subprocess.Popen([*PYTHON, "-c", code.format(f"stray-{number}")], start_new_session=True)
    while not Path(f"stray-{number}").exists():
        time.sleep(0.01)


def fail_at(step: int) -> None:
    if "error" in ASKED and ASKED.get("error_at", 0) == step and not (ASKED.get("once") and Path("failed").exists()):
        Path("failed").touch()
        sys.stderr.write("Traceback (most recent call last):\n" + ASKED["error"] + "\n")
        sys.exit(1)


def export(words: list[str]) -> int:
    fail_at(0)
    given = options(words)
    output = Path(given["output_dir"])
    output.mkdir(parents=True)
    (output / "config.json").write_text(json.dumps({"merged_from": given["adapters"]}), encoding="utf-8")
    (output / "model.safetensors").write_bytes(b"x")
    return 0


def verify(words: list[str]) -> int:
    given = options(words)
    Path(given["merged"]).rename(given["final"])
    return 0


def deploy(words: list[str]) -> int:
    """An OpenAI-compatible server that answers with the last message, backwards."""
    given = options(words)
    time.sleep(ASKED.get("load_s", 0))
    fail_at(0)
    name = "somebody-else" if ASKED.get("hidden") else given["served_model_name"]

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.reply({"object": "list", "data": [{"id": name, "object": "model"}]})

        def do_POST(self) -> None:
            question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            length = sum(len(message["content"]) for message in question["messages"])
            if length > ASKED.get("longest", length):
                return self.end_without_a_word(length)
            time.sleep(ASKED.get("answer_s", 0))
            text = question["messages"][-1]["content"][::-1]
            message = {"role": "assistant", "content": text}
            self.reply({"model": name, "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})

        def end_without_a_word(self, length: int) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            why = f"Current length of row({length}) is larger than the max_length({ASKED['longest']})."
            print(f"swift.template.base.MaxLengthError: {why}", file=sys.stderr, flush=True)

        def reply(self, value: dict[str, object]) -> None:
            body = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer((given["host"], int(given["port"])), Answers)
    if not ASKED.get("deaf"):
        signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
    server.serve_forever()
    return 0


def options(words: list[str]) -> dict[str, str]:
    """``--name value …`` as ms-swift would read it; of several values the first."""
    found: dict[str, str] = {}
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            found[name] = value if equals else following
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
