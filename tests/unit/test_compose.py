"""The optional compose.yaml: what it promises, read by a YAML parser. It needs no Docker."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

_FILE = Path(__file__).parents[2] / "compose.yaml"


@pytest.fixture
def services() -> dict[str, Any]:
    found = yaml.safe_load(_FILE.read_text("utf-8"))
    assert set(found) <= {"name", "services", "volumes"}
    return dict(found["services"])


def test_there_are_a_database_and_ollama_and_each_is_pinned(services: dict[str, Any]) -> None:
    assert set(services) == {"database", "ollama"}
    # timescaledb-ha holds pgvector and pgvectorscale; its tag names both versions.
    assert re.fullmatch(
        r"timescale/timescaledb-ha:pg\d+\.\d+-ts\d+\.\d+\.\d+", services["database"]["image"]
    )
    assert re.fullmatch(r"ollama/ollama:\d+\.\d+\.\d+", services["ollama"]["image"])


def test_nothing_is_published_and_each_listens_on_loopback_alone(services: dict[str, Any]) -> None:
    for name, service in services.items():
        assert not {"ports", "expose", "privileged", "cap_add", "devices"} & set(service), name
        assert service["network_mode"] == "host", name
    assert "listen_addresses=127.0.0.1" in services["database"]["command"]
    assert services["ollama"]["environment"]["OLLAMA_HOST"] == "127.0.0.1:11434"
    assert all("0.0.0.0" not in str(service) for service in services.values())


def test_no_password_is_written_and_none_may_be_left_out(services: dict[str, Any]) -> None:
    assert services["database"]["environment"]["POSTGRES_PASSWORD"].startswith(
        "${EMILY_DB_PASSWORD:?"
    )


def test_its_volumes_exist(services: dict[str, Any]) -> None:
    volumes = yaml.safe_load(_FILE.read_text("utf-8"))["volumes"]
    for service in services.values():
        assert {given.partition(":")[0] for given in service["volumes"]} <= set(volumes)


def test_the_address_that_it_tells_is_that_of_the_database(services: dict[str, Any]) -> None:
    text = _FILE.read_text("utf-8")
    (port,) = re.findall(r"EMILY_DATABASE_URL=postgresql://emily:[^@]+@127\.0\.0\.1:(\d+)/", text)
    assert f"port={port}" in services["database"]["command"]
    assert services["database"]["environment"]["POSTGRES_USER"] == "emily"
    for name in re.findall(r"(EMILY_[A-Z_]+)=", text):
        from emily.settings import Settings

        known = {f"EMILY_{field.upper()}" for field in Settings.model_fields}
        assert name in known | {"EMILY_DB_PASSWORD"}, name
