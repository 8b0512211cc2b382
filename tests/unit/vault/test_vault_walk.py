"""The files of a vault: what is read, what is left out and why; git is the judge of ignoring."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emily.vault.ignoring import is_ignored, read_rules
from emily.vault.walk import LARGEST, read_bytes, walk


def _write(folder: Path, *paths: str) -> None:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(path, "utf-8")


def test_hidden_and_ignored_files_are_left_out(tmp_path: Path) -> None:
    _write(
        tmp_path,
        "a.md",
        "b/c.md",
        "b/pic.png",
        ".obsidian/x.md",
        ".trash/y.md",
        ".git/z.md",
        ".hidden.md",
        "drafts/d.md",
        "b/secret.md",
        "b/kept.secret.md",
        "build/out.md",
    )
    (tmp_path / ".gitignore").write_text("build/\n*.secret.md\n!kept.secret.md\n", "utf-8")
    (tmp_path / ".emilyignore").write_text("/drafts\n", "utf-8")
    (tmp_path / "b" / ".gitignore").write_text("secret.md\n", "utf-8")
    found = walk(tmp_path)
    assert [(file.path, file.kind) for file in found.files] == [
        ("a.md", "markdown"), ("b/c.md", "markdown"), ("b/kept.secret.md", "markdown"),
        ("b/pic.png", "attachment"),
    ]  # fmt: skip
    assert [(each.path, each.state) for each in found.left_out] == [
        ("b/secret.md", "ignored"), ("build", "ignored"), ("drafts", "ignored")
    ]  # fmt: skip
    assert read_bytes(tmp_path, "b/c.md") == b"b/c.md"


def test_symlinks_lead_nowhere_out_of_the_vault(tmp_path: Path) -> None:
    vault, outside = tmp_path / "vault", tmp_path / "outside"
    _write(tmp_path, "vault/a.md", "vault/sub/b.md", "outside/secret.md")
    (vault / "out").symlink_to(outside)
    (vault / "secret.md").symlink_to(outside / "secret.md")
    (vault / "loop").symlink_to(vault)
    (vault / "again.md").symlink_to(vault / "a.md")
    (vault / "gone.md").symlink_to(vault / "nothing.md")
    (vault / "prefix").symlink_to(tmp_path / "vault-not")
    found = walk(vault)
    assert [file.path for file in found.files] == ["a.md", "sub/b.md"]
    assert {each.path: each.reason for each in found.left_out} == {
        "again.md": "a symlink to a file of the vault, which stands there already",
        "gone.md": "a symlink that leads nowhere",
        "loop": "a symlink to a folder of the vault, whose files stand there already",
        "out": "a symlink out of the folder is not followed",
        "prefix": "a symlink out of the folder is not followed",
        "secret.md": "a symlink out of the folder is not followed",
    }
    (tmp_path / "way").symlink_to(vault)
    assert [file.path for file in walk(tmp_path / "way").files] == ["a.md", "sub/b.md"]


def test_what_is_no_note_is_reported(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    with (tmp_path / "huge.md").open("wb") as file:
        file.truncate(LARGEST + 1)
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff.md")).write_text("x", "utf-8")
    found = walk(tmp_path)
    assert [(file.path, file.kind) for file in found.files] == [("huge.md", "attachment")]
    assert {each.path: each.reason for each in found.left_out} == {
        "bad?.md": "its name is not valid text",
        "huge.md": "it is too large to be read: 64 MB, the most is 64 MB",
        "pipe.md": "it is not a file",
    }


@pytest.mark.skipif(os.geteuid() == 0, reason="root may list every folder")
def test_a_folder_that_cannot_be_listed_is_reported(tmp_path: Path) -> None:
    _write(tmp_path, "a.md", "shut/b.md")
    (tmp_path / "shut").chmod(0)
    found = walk(tmp_path)
    (tmp_path / "shut").chmod(0o700)
    assert [each.path for each in found.left_out] == ["shut"]


def test_the_folder_itself_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        walk(tmp_path / "nothing")


_PATTERNS = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "*.md",
                "a",
                "/a",
                "a/",
                "b/a",
                "**/a",
                "a/**",
                "a/**/b",
                "!a",
                "!/a/b.md",
                "[ab].md",
                "[!a].md",
                "[a-c]*",
                "?.md",
                "\\!a",
                "#x",
                "\\#x",
                "a b",
                "a\\ ",
                "a ",
                "*",
                "!*/",
                "b/*",
                "/*/a",
                "**",
                "a**b",
                "[",
                "[]a]",
                "*.m?",
                "b//a",
                "!b/",
                "[[:alpha:]].md",
                "/",
                "a\\",
            ]
        ),
        st.text(alphabet="ab*?/![]-. \\", max_size=6),
    ),
    max_size=5,
)
_FILES = (
    "a",
    "b",
    "a.md",
    "b.md",
    "c.md",
    "#x",
    "!a",
    "a b",
    "d/a",
    "d/b.md",
    "b1/a",
    "b1/c/a.md",
    "b1/c/b.md",
    "x/b/a",
    "x/y/z.md",
    "ab",
    "a1/b.md",
    "a1/c/b",
    "-.md",
)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@settings(max_examples=40, deadline=None)
@given(patterns=_PATTERNS, within=_PATTERNS)
def test_what_git_ignores_is_ignored(
    tmp_path_factory: pytest.TempPathFactory, patterns: list[str], within: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("vault")
    _write(folder, *_FILES)
    (folder / ".gitignore").write_text("\n".join(patterns) + "\n", "utf-8")
    (folder / "b1" / ".gitignore").write_text("\n".join(within) + "\n", "utf-8")
    clean = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", "init", "-q", "."], cwd=folder, env=clean, check=True)
    command = ["git", "ls-files", "--others", "--exclude-standard", "-z"]
    done = subprocess.run(command, cwd=folder, env=clean, capture_output=True, check=True)
    kept = {name for name in done.stdout.decode().split("\0") if not _is_hidden(name)}
    assert {file.path for file in walk(folder).files} == kept


def _is_hidden(path: str) -> bool:
    return not path or any(part.startswith(".") for part in path.split("/"))


def test_the_last_rule_decides() -> None:
    rules = [*read_rules(["*.md", "!a.md"]), *read_rules(["a.md"], "sub/")]
    assert is_ignored(rules, "b.md", folder=False)
    assert not is_ignored(rules, "a.md", folder=False)
    assert is_ignored(rules, "sub/a.md", folder=False)
