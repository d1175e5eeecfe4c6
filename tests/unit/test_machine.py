from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from services.hardware import cards, cgroup, machine
from services.hardware.cards import parse_npu_smi
from services.hardware.machine import read_machine
from services.runs.process import Result
from services.settings import Settings

GIB = 1024**3


@pytest.fixture(autouse=True)
def fresh_facts() -> Iterator[None]:
    """Nothing remembered from another test, and nothing left for one."""

    def forget() -> None:
        for fact in (machine._usable_cpus, machine._cores, machine._has_bf16, machine._memory_limit):
            fact.cache_clear()
        cards._gpu_handles.cache_clear()
        cards._npu_last = (float("-inf"), ())

    forget()
    yield
    forget()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "not" / "made yet", starter=tmp_path, roots=())


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty tree of control groups this process seems to be in."""
    monkeypatch.setattr(cgroup, "MOUNT", tmp_path / "cgroup")
    monkeypatch.setattr(cgroup, "MEMBERSHIP", tmp_path / "membership")
    return tmp_path


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def with_nvml(monkeypatch: pytest.MonkeyPatch, count: int = 4, **changed: object) -> None:
    class NVMLError(Exception):
        pass

    def refuse(_handle: int) -> None:
        raise NVMLError

    functions: dict[str, object] = {
        "NVMLError": NVMLError,
        "nvmlInit": lambda: None,
        "nvmlDeviceGetCount": lambda: count,
        "nvmlDeviceGetHandleByIndex": lambda n: n,
        "nvmlDeviceGetUUID": lambda n: f"GPU-{n}abc-def",
        "nvmlDeviceGetName": lambda n: "NVIDIA H200",
        "nvmlDeviceGetUtilizationRates": lambda n: SimpleNamespace(gpu=10 * n),
        "nvmlDeviceGetMemoryInfo": lambda n: SimpleNamespace(used=n * GIB, total=139 * GIB),
    }
    functions |= {name: refuse if value == "refuse" else value for name, value in changed.items()}
    monkeypatch.setitem(sys.modules, "pynvml", SimpleNamespace(**functions))


def test_this_machine_is_read_within_its_real_limits(settings: Settings) -> None:
    found = read_machine(settings)
    assert 1 <= found.cores <= (os.cpu_count() or 1)
    assert 0 <= found.cpu_percent <= 100
    assert 0 < found.memory_used <= found.memory_total
    assert 0 < found.disk_free <= found.disk_total


def test_a_reading_takes_less_than_five_milliseconds(settings: Settings) -> None:
    read_machine(settings)
    times = []
    for _ in range(20):
        start = time.perf_counter()
        read_machine(settings)
        times.append(time.perf_counter() - start)
    assert sorted(times)[10] < 0.005


def test_cpu_use_is_one_number_for_all_threads_and_follows_the_load(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = iter([(0.0, 0.0), (30.0, 40.0), (30.0, 80.0)])
    now = [100.0]
    monkeypatch.setattr(machine, "_cpu_seconds", lambda: next(looks))
    monkeypatch.setattr(machine, "_load_percent", lambda: 12.5)
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    use = machine._CpuUse()
    assert use.percent() == 12.5  # no second look yet: the load
    now[0] += 1
    assert use.percent() == 75.0
    now[0] += 0.1
    assert use.percent() == 75.0  # another reader, too soon for a mean worth showing
    now[0] += 1
    assert use.percent() == 0.0


def test_hyperthreads_of_one_core_count_once(tmp_path: Path, groups: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for cpu, siblings in enumerate(("0,2", "1,3", "0,2", "1,3")):
        write(tmp_path / f"cpu{cpu}" / "topology" / "thread_siblings_list", siblings)
    monkeypatch.setattr(machine, "TOPOLOGY", tmp_path)
    monkeypatch.setattr(machine, "_usable_cpus", lambda: (0, 1, 2, 3))
    assert machine._cores.__wrapped__() == 2


@pytest.mark.parametrize(
    ("file", "text", "cores"),
    [
        ("cgroup/pod/cpu.max", "250000 100000", 2),
        ("cgroup/pod/cpu.max", "max 100000", 8),
        ("cgroup/pod/cpu.max", "50000 100000", 1),
        ("cgroup/cpu.max", "300000 100000", 3),
    ],
)
def test_the_groups_cpu_share_limits_the_cores(
    file: str, text: str, cores: int, groups: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(groups / "membership", "0::/pod/inner\n")
    write(groups / file, text)
    monkeypatch.setattr(machine, "_usable_cpus", lambda: tuple(range(8)))
    monkeypatch.setattr(machine, "TOPOLOGY", groups)
    assert machine._cores.__wrapped__() == cores


def test_a_version_1_group_limits_cores_and_memory(groups: Path) -> None:
    write(groups / "membership", "4:memory:/docker/abc\n3:cpuacct,cpu:/docker/abc\n0::/\n")
    write(groups / "cgroup/cpu/cpu.cfs_quota_us", "150000")
    write(groups / "cgroup/cpu/cpu.cfs_period_us", "100000")
    write(groups / "cgroup/memory/memory.limit_in_bytes", str(4 * GIB))
    write(groups / "cgroup/memory/memory.usage_in_bytes", str(3 * GIB))
    write(groups / "cgroup/memory/memory.stat", f"cache 1\ntotal_inactive_file {GIB}\n")
    assert cgroup.cpu_limit() == 1.5
    limit = cgroup.memory_limit()
    assert limit is not None
    assert (limit.limit, limit.used()) == (4 * GIB, 2 * GIB)


def test_a_groups_memory_limit_is_the_total_when_it_is_lower(groups: Path, settings: Settings) -> None:
    write(groups / "membership", "0::/pod\n")
    write(groups / "cgroup/pod/memory.max", str(64 * 1024**2))
    write(groups / "cgroup/pod/memory.current", str(32 * 1024**2))
    write(groups / "cgroup/pod/memory.stat", "anon 5\ninactive_file 1048576\n")
    found = read_machine(settings)
    assert (found.memory_total, found.memory_used) == (64 * 1024**2, 31 * 1024**2)


def test_a_memory_limit_above_the_machines_memory_is_none(groups: Path, settings: Settings) -> None:
    write(groups / "membership", "4:memory:/\n")
    write(groups / "cgroup/memory/memory.limit_in_bytes", "9223372036854771712")
    write(groups / "cgroup/memory/memory.usage_in_bytes", "4096")
    assert read_machine(settings).memory_total < 2**60


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("model name: x\nflags\t\t: fpu avx2 avx512_bf16\n", True),
        ("flags\t\t: fpu amx_bf16\n", True),
        ("Features\t: fp asimd bf16\n", True),
        ("flags\t\t: fpu avx2\n", False),
        (None, False),
    ],
)
def test_bf16_is_read_from_the_cpus_flags(
    text: str | None, expected: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if text is not None:
        write(tmp_path / "cpuinfo", text)
    monkeypatch.setattr(machine, "CPUINFO", tmp_path / "cpuinfo")
    assert machine._has_bf16() is expected


def test_a_compiler_installed_meanwhile_is_seen(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not read_machine(settings).has_cxx_compiler
    write(tmp_path / "clang++", "")
    (tmp_path / "clang++").chmod(0o755)
    assert read_machine(settings).has_cxx_compiler


def test_without_a_driver_there_are_no_cards(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with_nvml(monkeypatch, nvmlInit=lambda: 1 / 0)
    assert read_machine(settings).cards == ()


def test_all_gpus_are_read_with_use_and_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    with_nvml(monkeypatch)
    found = cards.read_cards(None)
    assert [card.index for card in found] == [0, 1, 2, 3]
    assert found[3] == cards.Card(3, "NVIDIA H200", "gpu", 30.0, 3 * GIB, 139 * GIB)


@pytest.mark.parametrize(
    ("visible", "expected"),
    [(("2", "3"), [2, 3]), (("GPU-1abc",), [1]), (("3", "0"), [0, 3]), ((), []), (("9", "junk"), [])],
)
def test_only_the_cards_the_server_was_given_are_read(
    visible: tuple[str, ...], expected: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    with_nvml(monkeypatch)
    assert [card.index for card in cards.read_cards(visible)] == expected


def test_a_gpu_that_tells_no_use_and_has_no_memory_of_its_own_is_still_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with_nvml(monkeypatch, 1, nvmlDeviceGetUtilizationRates="refuse", nvmlDeviceGetMemoryInfo="refuse")
    (card,) = cards.read_cards(None)
    assert card.used_percent is None
    assert 0 < card.memory_used <= card.memory_total


def test_a_gpu_that_fell_off_the_bus_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    with_nvml(monkeypatch, nvmlDeviceGetName="refuse")
    assert cards.read_cards(None) == ()


NPU_TABLE = """\
+------------------------------------------------------------------------------------------------+
| npu-smi 24.1.0                   Version: 24.1.0                                               |
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 0     910B3               | OK            | 92.9        48                0    / 0             |
| 0                         | 0000:C1:00.0  | 37          0    / 0          3345 / 65536         |
+===========================+===============+====================================================+
| 1     910B3               | Warning       | 90.0        46                0    / 0             |
| 0                         | 0000:01:00.0  | 0           0    / 0          3300 / 65536         |
+===========================+===============+====================================================+
+---------------------------+---------------+----------------------------------------------------+
| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |
+===========================+===============+====================================================+
| 0       0                 | 3214          | python                   | 2200                    |
| No running processes found in NPU 1                                                            |
+===========================+===============+====================================================+
"""

DUO_TABLE = """\
| NPU     Name              | Health          | Power(W)     Temp(C)           Hugepages-Usage(page) |
| Chip    Device            | Bus-Id          | AICore(%)    Memory-Usage(MB)                        |
| 1       310P3             | OK              | NA           40                0     / 0             |
| 0       0                 | 0000:01:00.0    | 5            1704 / 21527                            |
| 1       310P3             | OK              | NA           41                0     / 0             |
| 1       1                 | 0000:01:00.0    | 0            1500 / 21527                            |
"""


def test_npus_are_read_from_the_table_of_npu_smi() -> None:
    first, second = parse_npu_smi(NPU_TABLE)
    assert first == cards.Card(0, "Ascend 910B3", "npu", 37.0, 3345 * 1024**2, 65536 * 1024**2)
    assert (second.index, second.used_percent) == (1, 0.0)


def test_two_chips_on_one_npu_card_are_two_cards() -> None:
    assert [(card.index, card.used_percent, card.memory_used) for card in parse_npu_smi(DUO_TABLE)] == [
        (0, 5.0, 1704 * 1024**2),
        (1, 0.0, 1500 * 1024**2),
    ]


@pytest.mark.parametrize("text", ["", "dcmi module initialize failed. ret is -8005", "|||\n| 0 |\n| a | b | c |"])
def test_anything_else_that_npu_smi_says_means_no_npus(text: str) -> None:
    assert parse_npu_smi(text) == ()


def test_npu_smi_is_not_run_at_every_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[list[str]] = []

    def run(argv: list[str], **_options: object) -> Result:
        calls.append(argv)
        return Result(0, NPU_TABLE)

    monkeypatch.setattr(cards.shutil, "which", lambda name: f"/usr/local/bin/{name}")
    monkeypatch.setattr(cards.process, "run", run)
    with_nvml(monkeypatch, 0)
    assert len(cards.read_cards(None)) == len(cards.read_cards(None)) == 2
    assert [card.index for card in cards.read_cards(("1",))] == [1]
    assert calls == [["/usr/local/bin/npu-smi", "info"]]
