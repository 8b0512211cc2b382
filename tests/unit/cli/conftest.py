"""The command line in this process, over a fake brain."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import structlog
from tests.unit.cli.fake_brain import FakeBrain
from typer.testing import CliRunner

from emily.cli.app import app
from emily.cli.session import Session

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typer.testing import Result


class Terminal:
    """Runs commands; ``answers`` is what is typed where they ask, ``None`` off a terminal."""

    def __init__(self) -> None:
        self.brain = FakeBrain()
        self.server_runs = True
        self.answers: str | None = None

    def run(self, *arguments: str) -> Result:
        session = Session(
            open_brain=self.brain.open,
            diagnose=self.brain.diagnose,
            stop_server=lambda _: self.server_runs,
            interactive=lambda: self.answers is not None,
            read_file=self.brain.inspect,
            open_registry=self.brain.open_registry,
            put_back=self.brain.put_back,
        )
        return CliRunner().invoke(app, arguments, input=self.answers, obj=session)

    def json(self, *arguments: str, exit_code: int = 0) -> Any:
        """What a command with ``--json`` prints; stdout must hold nothing else."""
        result = self.run(*arguments, "--json")
        assert result.exit_code == exit_code, result.output
        return json.loads(result.stdout)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "COLUMNS"):  # they make a pipe a terminal
        monkeypatch.delenv(name, raising=False)
    yield Terminal()
    structlog.reset_defaults()  # its stream is that of this run
