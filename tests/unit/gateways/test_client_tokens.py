"""Tokens that let clients in: secret, one for each, taken away at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from emily.cli.app import app
from emily.errors import InputError, SettingError
from emily.gateways.tokens import Tokens


def test_each_client_has_its_own_in_a_file_of_the_owners_alone(home: Path) -> None:
    tokens = Tokens(home)
    assert tokens.all() == {}
    one, two = tokens.of("desktop"), tokens.of("phone.1")
    assert one != two
    assert len(one) > 40
    assert tokens.of("desktop") == one
    assert tokens.path.stat().st_mode & 0o777 == 0o600
    assert (tokens.client_of(one), tokens.client_of(two)) == ("desktop", "phone.1")
    for wrong in ("", one[:-1], one + "x", "é", "\ud800"):
        assert tokens.client_of(wrong) is None
    new = tokens.of("desktop", new=True)
    assert tokens.client_of(one) is None
    tokens.revoke("desktop")
    assert tokens.client_of(new) is None
    with pytest.raises(InputError, match=r"Clients with a token: phone\.1"):
        tokens.revoke("desktop")
    for name in ("", "a b", "-x", "x" * 65, "a\n"):
        with pytest.raises(InputError, match="must be 1 to 64"):
            tokens.of(name)
    assert [path.name for path in home.iterdir()] == ["tokens.json"]


@pytest.mark.parametrize("text", ["", "[]", '{"a": 1}', '{"a": "short"}', b"\xff\xfe"])
def test_a_file_that_is_none_is_said(home: Path, text: str | bytes) -> None:
    home.mkdir()
    path = Tokens(home).path
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    path.chmod(0o600)
    with pytest.raises(SettingError, match=r"tokens\.json"):
        Tokens(home).all()


def test_a_file_that_others_can_read_lets_nobody_in(home: Path) -> None:
    tokens = Tokens(home)
    token = tokens.of("a")
    tokens.path.chmod(0o640)
    with pytest.raises(SettingError, match="chmod 600"):
        tokens.client_of(token)


def test_the_command_shows_and_takes_away() -> None:
    def run(*arguments: str) -> str:
        done = CliRunner().invoke(app, ["mcp", "token", *arguments])
        assert done.exit_code == 0, done.output
        return done.stdout

    assert "No client has a token" in run("--list")
    token = run().strip()
    assert run().strip() == token
    assert run("--new").strip() != token
    shown = json.loads(run("--client", "phone", "--json"))
    assert shown["clients"] == ["default", "phone"]
    assert run("--list").split() == ["default", "phone"]
    assert "lets nobody in" in run("--client", "phone", "--revoke")
    assert json.loads(run("--list", "--json"))["token"] is None
