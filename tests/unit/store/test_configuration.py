"""The configuration of the embedded server."""

from __future__ import annotations

from pathlib import Path

from emily.store.configuration import configuration


def _read(folder: str = "/home/ada/run", **options: str) -> dict[str, str]:
    lines = configuration(Path(folder), options).decode().splitlines()
    return dict(line.split(" = ", 1) for line in lines if not line.startswith("#"))


def test_no_network_and_a_private_socket() -> None:
    found = _read()
    assert found["listen_addresses"] == "''"
    assert found["unix_socket_permissions"] == "'0700'"
    assert found["unix_socket_directories"] == "'\"/home/ada/run\"'"


def test_what_is_acknowledged_is_on_the_disk() -> None:
    found = _read()
    assert found["fsync"] == found["synchronous_commit"] == found["full_page_writes"] == "'on'"


def test_quotes_in_a_path_stay_inside_their_value() -> None:
    found = _read("/home/a\"d'a\\/run")
    assert found["unix_socket_directories"] == "'\"/home/a\"\"d''a\\\\/run\"'"


def test_options_replace_settings_but_not_the_socket() -> None:
    found = _read(fsync="off", unix_socket_directories="/tmp")
    assert found["fsync"] == "'off'"
    assert found["unix_socket_directories"] == "'\"/home/ada/run\"'"
