"""Downloads of hub data sets: each is a run, with progress, that can be stopped and gone on with."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import yaml

from services.datasets.hub import Downloaded, HubId, Subset, all_downloaded, downloaded, list_subsets, parse_hub_id
from services.errors import Failed, Refused
from services.paths import printable
from services.plan import Plan
from services.runs.folder import Record
from services.runs.lifecycle import Runs
from services.settings import Settings
from services.specs import DownloadSpec, as_yaml


@dataclass(frozen=True)
class Downloads:
    """Plans, starts and finds downloads."""

    settings: Settings
    runs: Runs
    python: str

    def prepare(self, spec: DownloadSpec) -> tuple[Plan, HubId]:
        """What ``spec`` comes to. Raises Refused("hub_id")."""
        source = parse_hub_id(spec.dataset)
        if source is None:
            raise Refused("hub_id", text=printable(spec.dataset))
        argv = [
            self.python, "-P", "-m", "services.datasets.download",
            "--hub", source.hub, "--id", source.id, "--split", source.split,
            *(("--subset", source.subset) if source.subset else ()),
            *(("--revision", spec.revision) if spec.revision else ()),
            "--folder", str(source.folder(self.settings)),
        ]  # fmt: skip
        return Plan("download", tuple(argv), output_dir=str(source.folder(self.settings)), needs="nothing"), source

    def start(self, spec: DownloadSpec, *, request_id: str = "") -> Record:
        """Start it, or return the one that fetches the same just now. What was there of a torn one is kept."""
        plan, source = self.prepare(spec)
        under_way = self.under_way(source)
        if under_way is not None:
            return under_way
        return self.runs.start(
            plan,
            name=spec.name.strip() or source.id.rpartition("/")[2],
            spec=as_yaml(spec.model_dump(exclude_none=True)),
            request_id=request_id,
            about={"dataset": str(source)},
        )

    def resume(self, run_id: str) -> Record:
        """Go on with a download that was stopped or failed. Raises Refused("still_running")."""
        value = yaml.safe_load(self.runs.folder(run_id).spec.read_text(encoding="utf-8"))
        return self.runs.resume(run_id, self.prepare(DownloadSpec(**value))[0])

    def under_way(self, source: HubId) -> Record | None:
        """The run that fetches ``source`` now."""
        folder = str(source.folder(self.settings))
        found = (run for run in self.runs.list() if run.kind == "download" and run.output_dir == folder)
        return next((run for run in found if not run.state.final), None)

    def find(self, text: str) -> Downloaded | None:
        """The copy of the data set that ``text`` names, whole or not; None where there is none."""
        source = parse_hub_id(text)
        return None if source is None else downloaded(source, self.settings)

    def find_folder(self, text: str) -> Path:
        """Where the copy of the data set that ``text`` names lies, or will. Raises Refused("hub_id")."""
        return self.prepare(DownloadSpec(dataset=text))[1].folder(self.settings)

    def all(self) -> list[Downloaded]:
        """All copies, incomplete ones too."""
        return all_downloaded(self.settings)

    def subsets(self, text: str) -> list[Subset]:
        """What a data set holds, asked of its hub. Raises Refused: hub_id, hub_unreachable, hub_not_found."""
        source = parse_hub_id(text)
        if source is None:
            raise Refused("hub_id", text=printable(text))
        return list_subsets(source, self.settings)

    def delete(self, one: Downloaded) -> int:
        """Delete a copy and return the bytes that freed. Raises Refused("still_running"), Failed("cannot_write")."""
        run = self.under_way(one.source)
        if run is not None:
            raise Refused("still_running", name=run.name)
        try:
            shutil.rmtree(one.folder)
        except OSError as error:
            raise Failed("cannot_write", what=str(one.folder), details=str(error)) from error
        for parent in list(Path(one.folder).parents)[:3]:
            if any(parent.iterdir()):
                break
            parent.rmdir()
        return one.bytes_here
