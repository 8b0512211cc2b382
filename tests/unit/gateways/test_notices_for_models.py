"""A model is told what is wrong, and not which command would change it."""

from __future__ import annotations

import pytest

from emily.assistant.sheets import for_model

OWNERS = "What helps is for the owner to do."


@pytest.mark.parametrize(
    ("notice", "told"),
    [
        ("Searched by words alone.", "Searched by words alone."),
        ("No word of 'emily rossi' is in the archive.", None),
        ("The archive is empty. Add files with: emily add PATH", f"The archive is empty. {OWNERS}"),
        ("Set it with: emily config set threshold 0", OWNERS),
        (
            "The model is another one. Change it with: emily models use x. Results miss some.",
            f"The model is another one. Results miss some. {OWNERS}",
        ),
        ("It is missing; install it with: pip install 'emily[x]'", f"It is missing; {OWNERS}"),
    ],
)
def test_commands_stay_with_the_owner(notice: str, told: str | None) -> None:
    assert for_model(notice) == (notice if told is None else told)
