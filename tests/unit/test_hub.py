"""A model on a hub: read over its API, from this machine's copy, from the last look, or not at all."""

from __future__ import annotations

import json
import struct
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from services.models import hub
from services.models.hub import downloaded, fetch_facts
from services.settings import Hub, Settings, read_settings

CONFIG = {"model_type": "llama", "hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2,
          "num_key_value_heads": 1, "intermediate_size": 16, "vocab_size": 32, "torch_dtype": "bfloat16"}  # fmt: skip


def safetensors(names: Mapping[str, tuple[int, ...]], padding: int = 0) -> bytes:
    """A file of bfloat16 zeros whose header is ``padding`` bytes longer than it need be."""
    header: dict[str, Any] = {}
    end = 0
    for name, shape in names.items():
        size = 2 * shape[0] * shape[1]
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [end, end + size]}
        end += size
    text = json.dumps(header).encode() + b" " * padding
    return struct.pack("<Q", len(text)) + text + bytes(end)


@dataclass
class StandIn:
    """A hub with one model, owner/name."""

    files: dict[str, bytes] = field(default_factory=dict)
    has_ranges: bool = True
    token: str | None = None
    asked: list[str] = field(default_factory=list)
    sent: int = 0
    address: str = ""

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        name = name_in(request.path)
        self.asked.append(name or request.path)
        words = (request.headers.get("Authorization", ""), request.headers.get("Cookie", ""))
        allowed = self.token is None or any(self.token in word for word in words)
        data = self.files.get(name or "")
        status = 404 if data is None else 200 if allowed else 401
        data = data if data is not None and allowed else b"no"
        if status == 200 and self.has_ranges and (wanted := request.headers.get("Range")):
            first, last = map(int, wanted.removeprefix("bytes=").split("-"))
            status, data = 206, data[first : last + 1]
        request.send_response(status)
        request.send_header("Content-Length", str(len(data)))
        request.end_headers()
        self.sent += len(data)
        request.wfile.write(data)


def name_in(path: str) -> str | None:
    """The file that Hugging Face's or ModelScope's kind of address means."""
    parts = urlsplit(path)
    if parts.path.startswith("/owner/name/resolve/main/"):
        return parts.path.rpartition("/")[2]
    if parts.path == "/api/v1/models/owner/name/repo":
        return parse_qs(parts.query)["FilePath"][0]
    return None


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    site = StandIn()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.answer(self)

        def log_message(self, format: str, *args: object) -> None:
            pass

    monkeypatch.setattr(hub, "_failures", {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield site
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def settings(stand_in: StandIn, tmp_path: Path) -> Settings:
    place = Hub(stand_in.address)
    return Settings(tmp_path / "home", tmp_path / "starter", (tmp_path,), hugging_face=place, modelscope=place)


def publish(site: StandIn, files: int = 2) -> None:
    """A model of 2 x 32 x 8 + 8 x 8 parameters in one or several files."""
    tensors = {"model.embed_tokens.weight": (32, 8), "lm_head.weight": (32, 8),
               "model.layers.0.self_attn.q_proj.weight": (8, 8)}  # fmt: skip
    site.files["config.json"] = json.dumps(CONFIG).encode()
    if files == 1:
        site.files["model.safetensors"] = safetensors(tensors)
        return
    names = {name: f"model-{number}.safetensors" for number, name in enumerate(tensors)}
    site.files[hub.INDEX] = json.dumps({"weight_map": names}).encode()
    site.files |= {names[name]: safetensors({name: shape}) for name, shape in tensors.items()}


@pytest.mark.parametrize("use_hf", [True, False])
@pytest.mark.parametrize("files", [1, 2])
def test_the_headers_on_a_hub_give_exact_counts(
    stand_in: StandIn, settings: Settings, files: int, use_hf: bool
) -> None:
    publish(stand_in, files)
    facts = fetch_facts("owner/name", settings, use_hf)
    assert facts is not None and facts.exact
    assert (facts.parameters, facts.bytes, facts.layers) == (576, 1152, 2)


def test_only_the_headers_are_fetched(stand_in: StandIn, settings: Settings) -> None:
    large = safetensors({"model.layers.0.mlp.up_proj.weight": (2000, 1000)})
    stand_in.files = {"config.json": json.dumps(CONFIG).encode(), "model.safetensors": large}
    assert fetch_facts("owner/name", settings) is not None
    assert stand_in.sent < 2 * hub.FIRST_BYTES


@pytest.mark.parametrize("has_ranges", [True, False])
def test_a_long_header_is_read_whole(stand_in: StandIn, settings: Settings, has_ranges: bool) -> None:
    long = safetensors({"model.layers.0.mlp.up_proj.weight": (4, 8)}, padding=3 * hub.FIRST_BYTES)
    stand_in.files = {"config.json": json.dumps(CONFIG).encode(), "model.safetensors": long}
    stand_in.has_ranges = has_ranges
    facts = fetch_facts("owner/name", settings)
    assert facts is not None and (facts.exact, facts.parameters) == (True, 32)


def test_a_second_look_asks_nobody(stand_in: StandIn, settings: Settings) -> None:
    publish(stand_in)
    first = fetch_facts("owner/name", settings)
    stand_in.asked.clear()
    assert fetch_facts("owner/name", settings) == first
    assert not stand_in.asked


@pytest.mark.parametrize("file", [None, b"", b"\0" * 4, struct.pack("<Q", 2) + b"[]", struct.pack("<Q", 1 << 60)])
def test_a_model_without_readable_weights_has_computed_facts(
    stand_in: StandIn, settings: Settings, file: bytes | None
) -> None:
    publish(stand_in, files=1)
    if file is None:
        del stand_in.files["model.safetensors"]
    else:
        stand_in.files["model.safetensors"] = file
    facts = fetch_facts("owner/name", settings)
    assert facts is not None and not facts.exact
    assert facts.parameters == 2 * 32 * 8 + 2 * (2 * 8 * 8 + 2 * 4 * 8 + 3 * 8 * 16 + 2 * 8) + 8


def test_a_hub_that_is_not_there_gives_none_and_is_not_asked_again_at_once(
    stand_in: StandIn, settings: Settings
) -> None:
    assert fetch_facts("owner/name", settings) is None
    publish(stand_in)
    assert fetch_facts("owner/name", settings) is None
    assert stand_in.asked == ["config.json"]


@pytest.mark.parametrize("address", ["http://127.0.0.1:9", "http://no.such.host.invalid", "nonsense"])
def test_no_network_is_no_error(settings: Settings, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "_failures", {})
    assert fetch_facts("owner/name", replace(settings, modelscope=Hub(address))) is None


def test_a_hub_that_is_switched_off_is_not_asked(stand_in: StandIn, settings: Settings) -> None:
    publish(stand_in)
    away = replace(settings, hugging_face=Hub(stand_in.address, offline=True))
    assert fetch_facts("owner/name", away, use_hf=True) is None
    assert not stand_in.asked


@pytest.mark.parametrize("use_hf", [True, False])
@pytest.mark.parametrize("in_file", [True, False])
def test_a_token_opens_a_closed_model(
    stand_in: StandIn, settings: Settings, tmp_path: Path, in_file: bool, use_hf: bool
) -> None:
    publish(stand_in)
    stand_in.token = "opens-it"
    (tmp_path / "token").write_text("opens-it\n")
    place = Hub(stand_in.address, None if in_file else "opens-it", tmp_path / "token")
    assert fetch_facts("owner/name", replace(settings, hugging_face=place, modelscope=place), use_hf) is not None


def test_a_closed_model_without_a_token_gives_none(stand_in: StandIn, settings: Settings) -> None:
    publish(stand_in)
    stand_in.token = "opens-it"
    assert fetch_facts("owner/name", settings, use_hf=True) is None


@pytest.mark.parametrize("place", ["models--owner--name/snapshots/abc", "owner/name", "owner--name/snapshots/master"])
def test_a_model_on_this_machine_is_read_there(
    stand_in: StandIn, settings: Settings, tiny_model: Path, tmp_path: Path, place: str
) -> None:
    folder = tmp_path / "cache" / place
    folder.parent.mkdir(parents=True)
    tiny_model.rename(folder)
    here = Hub(stand_in.address, folders=(tmp_path / "cache",))
    facts = fetch_facts("owner/name", replace(settings, modelscope=here))
    assert facts is not None and facts.parameters == 76
    assert not stand_in.asked
    assert downloaded("owner/other", here) is None


def test_settings_read_the_hubs_own_variables(tmp_path: Path) -> None:
    settings = read_settings(
        {"TUNEDESK_HOME": str(tmp_path), "HF_ENDPOINT": "https://mirror.example/", "HF_TOKEN": "secret-a",
         "HF_HOME": "/hf", "MODELSCOPE_DOMAIN": "www.mirror.example", "MODELSCOPE_API_TOKEN": "secret-b",
         "MODELSCOPE_CACHE": "/ms", "HF_HUB_OFFLINE": "1"}
    )  # fmt: skip
    assert settings.hugging_face == Hub(
        "https://mirror.example", "secret-a", Path("/hf/token"), (Path("/hf/hub"),), offline=True
    )
    assert settings.modelscope.endpoint == "https://www.mirror.example"
    assert settings.modelscope.token == "secret-b" and Path("/ms/models") in settings.modelscope.folders
    assert "secret" not in repr(settings)
