"""Alerts on the real database: one a name, counted, acknowledged, resolved."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

from emily.errors import InputError
from emily.store.alerts import Alerts

if TYPE_CHECKING:
    from emily.store import Database


async def test_an_alert_is_open_once_and_counts_on(database: Database) -> None:
    alerts = Alerts(database)
    first = await alerts.raise_alert("reranker", "warning", "It is slow.")
    again = await alerts.raise_alert("reranker", "warning", "It is very slow.")
    await alerts.raise_alert("latency", "warning", "Searches take long.")
    found = {alert.name: alert for alert in await alerts.open()}
    assert found.keys() == {"reranker", "latency"}
    assert found["reranker"] == again
    assert (again.count, again.text) == (2, "It is very slow.")
    assert again.first_at == first.first_at < again.last_at


async def test_a_resolved_alert_opens_anew(database: Database) -> None:
    alerts = Alerts(database)
    await alerts.raise_alert("arms", "warning", "The lexical arm is empty.")
    assert await alerts.resolve("arms")
    assert not await alerts.resolve("arms")
    assert not await alerts.open()
    (over,) = await alerts.resolved()
    assert over.name == "arms"
    assert over.resolved_at is not None
    assert (await alerts.raise_alert("arms", "warning", "Again.")).count == 1


async def test_critical_alerts_come_first_and_undo_an_acknowledgement(database: Database) -> None:
    alerts = Alerts(database)
    await alerts.raise_alert("latency", "warning", "Slow.")
    await alerts.raise_alert("reranker", "warning", "Slow.")
    assert await alerts.acknowledge("reranker")
    assert not await alerts.acknowledge("reranker")
    seen = await alerts.raise_alert("reranker", "warning", "Still slow.")
    assert seen.acknowledged_at is not None
    worse = await alerts.raise_alert("reranker", "critical", "It cannot be loaded.")
    assert worse.acknowledged_at is None
    assert [alert.name for alert in await alerts.open()] == ["reranker", "latency"]


async def test_what_is_not_open_cannot_be_acknowledged(database: Database) -> None:
    alerts = Alerts(database)
    await alerts.raise_alert("arms", "warning", "Empty.")
    with pytest.raises(InputError, match=r"No alert 'reranker' is open. Open alerts: arms"):
        await alerts.acknowledge("reranker")


@pytest.mark.parametrize(
    ("name", "level", "text", "message"),
    [
        (" ", "warning", "It is.", "needs a name"),
        ("arms", "warning", "", "needs a name and a text"),
        ("arms", "fatal", "It is.", r"is 'fatal'. Levels: warning, critical"),
    ],
)
async def test_a_wrong_alert_is_refused(
    database: Database, name: str, level: str, text: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        await Alerts(database).raise_alert(name, level, text)  # type: ignore[arg-type]


async def test_a_text_that_the_database_refuses_is_cleaned(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    alert = await Alerts(database).raise_alert("pin", "warning", "lost\0 \udce9 file")
    assert alert.text == "lost  ? file"
    assert "lost  ? file" in caplog.text  # and no log fails on it


async def test_an_alert_is_logged_loudly_once(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "emily.alerts")
    for _ in range(2):
        await Alerts(database).raise_alert("reranker", "critical", "It cannot be loaded.")
    assert [record.levelname for record in caplog.records] == ["ERROR", "INFO"]
    assert "It cannot be loaded." in caplog.text
