"""What the README shows is what happens."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
AFTER_A_RUN = ("attribute", "collapse", "sparsity")
ROW = '{"id": "%s", "language": "en", "context": "Orders were $4,512 in Q3 2021.", "question": "When were orders $4,512?", "answer": "Q3 2021"}\n'


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_python_examples_print_what_their_comments_say() -> None:
    examples = blocks("python")
    assert len(examples) == 4
    for code in examples:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "README.md", "exec"), {})
        expected = [line[2:] for line in code.splitlines() if line.startswith("# ")]
        assert printed.getvalue().splitlines() == expected


@pytest.mark.timeout(900)
def test_every_diag_command_works(tmp_path: Path) -> None:
    for name in ("data", "train", "test"):
        (tmp_path / f"{name}.jsonl").write_text(ROW % name.replace("test", "other").replace("train", "one"))
    (tmp_path / "test.jsonl").write_text(ROW.replace("4,512", "3,310") % "t")
    (tmp_path / "data.csv").write_text("passage,question,label\nOrders were $4 in Q3 2021.,When?,Q3 2021\n")
    commands = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("diag ")]
    assert len(commands) >= 4
    for command in commands:
        if command.split()[1] not in AFTER_A_RUN:
            shutil.rmtree(tmp_path / "runs", ignore_errors=True)
        elif not (tmp_path / "runs" / "qa-data").exists():
            subprocess.run([sys.executable, "-m", "diag", "qa", "data.jsonl"], cwd=tmp_path, check=True)
        arguments = shlex.split(command.split(" > ")[0])[1:]
        done = subprocess.run(
            [sys.executable, "-m", "diag", *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (command, done.stderr)


def test_every_check_is_explained() -> None:
    from diag.checks import CHECKS

    for name in CHECKS:
        assert f"`{name}`" in README, name


def test_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"make (\w+)", README + (ROOT / "CONTRIBUTING.md").read_text()):
        assert f"\n{target}:" in makefile, target


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_lead_somewhere(name: str) -> None:
    for link in re.findall(r"\]\(\s*([^)#\s]+)\s*\)", (ROOT / name).read_text(encoding="utf-8")):
        assert (ROOT / link).exists(), link
