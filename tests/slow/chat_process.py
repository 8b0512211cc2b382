"""A chat model's server as a process of its own, which can be killed and told to misbehave.

It answers as it is asked, over real HTTP, in the language that the prompt names. A file says how
it behaves: ``well``, ``500``, ``nonsense``, ``hangs``.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from pathlib import Path

from tests.contract.chat import ChatServer, Reply

_ROOT = Path(__file__).parents[2]
_SAID = {
    "Italian": "Il documento parla della casa, del contratto e della caldaia con l'acqua calda.",
    "English": "The document is about the house, the contract and the boiler with hot water.",
}


def answer(mode: str, prompt: str, number: int) -> Reply | str:
    """The answer to one prompt."""
    if mode == "500":
        return Reply("out of memory", status=500)
    if mode == "nonsense":
        return Reply(raw="<html>It works!</html>" if number % 2 else "[1]")
    if mode == "hangs":
        return Reply(wait=3600)
    said = next((text for name, text in _SAID.items() if f"in {name}" in prompt), _SAID["English"])
    if '{"description"' in prompt:
        said = json.dumps({"description": said})
    return Reply(said, wait=0.03)


def start(port: int, told: Path) -> subprocess.Popen[bytes]:
    """Start it and wait until it answers; ``told`` is the file that says how it behaves."""
    made = subprocess.Popen(
        [sys.executable, "-m", "tests.slow.chat_process", str(port), str(told)], cwd=_ROOT
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return made
        except OSError:
            assert made.poll() is None
            time.sleep(0.02)
    raise AssertionError("the chat server did not start")


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


if __name__ == "__main__":
    mode = Path(sys.argv[2])
    with ChatServer(
        lambda _, prompt, number: answer(mode.read_text(), prompt, number), int(sys.argv[1])
    ).running():
        time.sleep(86_400)
