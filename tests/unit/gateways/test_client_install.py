"""Emily in the settings of MCP clients: her entry alone is touched, and nothing is broken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from emily.cli.app import app
from emily.errors import InputError
from emily.gateways.mcp import install
from emily.gateways.mcp.install import CLIENTS, Installation


@pytest.fixture(autouse=True)
def owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "owner"
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / ".config"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    return folder


def installation(client: str = "cursor") -> Installation:
    return Installation(client, Path("/data/emily"))


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("client", CLIENTS)
def test_she_is_entered_and_taken_out_of_a_new_file(client: str, owner: Path) -> None:
    made = installation(client)
    assert made.path.is_relative_to(owner)
    plan = made.install()
    assert plan.changes
    assert made.carry_out(plan) is None
    entry = json.loads(made.path.read_text())[made.key]["emily"]
    assert entry["args"][-5:] == ["--home", "/data/emily", "mcp", "--client", client]
    assert Path(entry["command"]).is_absolute()
    assert not made.install().changes
    backup = made.carry_out(made.remove())
    assert backup is not None
    assert not made.path.exists(), "she made it, and nothing else was in it"
    assert not made.remove().changes


def test_the_rest_of_a_file_stays_as_it_is(owner: Path) -> None:
    text = (
        '{\n    "theme": "perché",\n    "mcpServers": {\n        "other": {\n'
        '            "command": "x"\n        }\n    },\n    "last": [\n        1.50\n    ]\n}\n'
    )
    made = installation()
    write(made.path, text).chmod(0o600)
    backup = made.carry_out(made.install())
    assert backup is not None
    assert backup.read_text() == text
    now = made.path.read_text()
    assert list(json.loads(now)) == ["theme", "mcpServers", "last"]
    assert '    "theme": "perché"' in now, "its indentation, its letters"
    assert list(json.loads(now)["mcpServers"]) == ["other", "emily"]
    assert made.path.stat().st_mode & 0o777 == 0o600
    made.carry_out(made.remove())
    assert json.loads(made.path.read_text()) == json.loads(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"mcpServers": {}, // mine\n}',
        '{"mcpServers": {"a": 1,}}',
        "[]",
        '{"mcpServers": []}',
        '{"mcpServers": null}',
        "not JSON",
        '{"a": 1, "a": 2}',
        "\ufeff{",
        "[" * 100_000,
    ],
)
def test_a_file_that_is_not_plain_is_left_alone(text: str) -> None:
    made = installation()
    write(made.path, text)
    for act in (made.install, made.remove):
        with pytest.raises(InputError, match="left as it is") as caught:
            act()
        assert '"--client"' in str(caught.value)
    assert made.path.read_text() == text
    assert list(made.path.parent.iterdir()) == [made.path]


def test_bytes_that_are_no_text_are_left_alone() -> None:
    made = installation()
    made.path.parent.mkdir(parents=True)
    made.path.write_bytes(b"\xff\xfe{}")
    with pytest.raises(InputError, match="left as it is"):
        made.install()


def test_an_entry_of_hers_is_shown_and_replaced() -> None:
    made = installation()
    write(made.path, '{"mcpServers": {"emily": {"command": "old"}, "b": {}}}')
    plan = made.install()
    assert plan.before == {"command": "old"}
    made.carry_out(plan)
    assert list(json.loads(made.path.read_text())["mcpServers"]) == ["emily", "b"]


def test_what_changed_meanwhile_is_not_overwritten() -> None:
    made = installation()
    plan = made.install()
    write(made.path, '{"mcpServers": {"new": {}}}')
    with pytest.raises(InputError, match="changed meanwhile"):
        made.carry_out(plan)
    assert "new" in made.path.read_text()


def test_a_link_is_followed(owner: Path) -> None:
    made = installation()
    real = write(owner / "dotfiles" / "mcp.json", "{}")
    made.path.parent.mkdir(parents=True)
    made.path.symlink_to(real)
    made.carry_out(made.install())
    assert made.path.is_symlink()
    assert "emily" in real.read_text()


def test_another_folder_of_claude_code(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    assert installation("claude-code").path == tmp_path / "claude" / ".claude.json"


def test_an_unknown_client_is_told_the_known_ones() -> None:
    with pytest.raises(InputError, match="claude-code, claude-desktop, cursor, vscode"):
        installation("emacs")


scalars = st.none() | st.booleans() | st.integers() | st.text()
documents = st.dictionaries(
    st.text(),
    st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)),
)


@given(before=documents, servers=st.dictionaries(st.text(), scalars))
def test_nothing_is_lost_whatever_the_file_holds(
    before: dict[str, Any], servers: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    servers.pop("emily", None)
    before = {**before, "mcpServers": servers}
    folder = tmp_path_factory.mktemp("client")
    made = installation()
    made.path = folder / "mcp.json"
    made.path.write_text(json.dumps(before), encoding="utf-8")
    made.carry_out(made.install())
    now = json.loads(made.path.read_text("utf-8"))
    assert now["mcpServers"].pop("emily") == made.entry()
    assert now == before


def test_the_command_shows_asks_and_undoes(owner: Path) -> None:
    def run(*arguments: str, typed: str | None = None) -> Any:
        return CliRunner().invoke(app, ["mcp", "install", *arguments], input=typed)

    refused = run("cursor")
    assert refused.exit_code == 1
    assert "--yes" in refused.stderr
    assert '"mcpServers"' in refused.stdout, "it is shown all the same"
    assert not (owner / ".cursor").exists()
    done = run("cursor", "--yes")
    assert done.exit_code == 0, done.output
    assert "Entered into" in done.stdout
    again = json.loads(run("cursor", "--yes", "--json").stdout)
    assert (again["changed"], again["before"] == again["after"]) == (False, True)
    undone = json.loads(run("cursor", "--undo", "--yes", "--json").stdout)
    assert (undone["changed"], undone["after"]) == (True, None)
    assert run("emacs").exit_code == 1


def test_the_program_is_the_one_that_runs() -> None:
    assert install.program()[0].endswith(("emily", "python", "python3", "python3.11"))
