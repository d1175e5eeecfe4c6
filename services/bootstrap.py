"""The one place where the real parts are chosen and put together."""

from __future__ import annotations

from dataclasses import dataclass

from services.audits import Audits
from services.chat.server import ChatServers
from services.downloads import Downloads
from services.hardware.machine import Machine, read_machine
from services.models.hub import fetch_facts
from services.models.merge import Merges
from services.models.reference import Models
from services.runs import process
from services.runs.folder import Record
from services.runs.lifecycle import Runs
from services.settings import Settings
from services.training import Trainings


@dataclass(frozen=True)
class Services:
    """What the window and the command line can do."""

    settings: Settings
    runs: Runs
    models: Models
    trainings: Trainings
    merges: Merges
    chats: ChatServers
    audits: Audits
    downloads: Downloads

    def machine(self) -> Machine:
        """The machine as it is now."""
        return read_machine(self.settings)

    def resume(self, run_id: str) -> Record:
        """Go on with a training or a download where it stopped. Raises Refused as their own ``resume`` does."""
        kind = self.runs.record(run_id).kind
        return self.downloads.resume(run_id) if kind == "download" else self.trainings.resume(run_id)


def build(settings: Settings) -> Services:
    """The services over the data folder that ``settings`` names."""

    def machine() -> Machine:
        return read_machine(settings)

    python = process.python()
    runs = Runs(settings.runs)
    models = Models(settings, runs)
    return Services(
        settings,
        runs,
        models,
        Trainings(settings, runs, models, machine, python, fetch_facts),
        Merges(settings, runs, models, machine, python),
        ChatServers(settings, runs, models, machine, python),
        Audits(settings, runs, models, machine, python),
        Downloads(settings, runs, python),
    )
