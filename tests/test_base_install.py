"""What a base install promises, where the packages of the extras cannot be imported."""

import subprocess
import sys
from pathlib import Path

import pytest

from fewwords.extras import EXTRAS, missing_extra
from fewwords.models.neural.folder import save_neural
from packed_models import make_neural

_WITHOUT_EXTRAS = f"""
import sys


class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {sorted(package for packages in EXTRAS.values() for package in packages)!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)


sys.meta_path.insert(0, Refuse())
"""


def run(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", _WITHOUT_EXTRAS + code]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_text_can_be_prepared_and_codes_read(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("The cat sat on the mat. A dog sat there too.\n" * 40)
    code = """
import fewwords
import numpy as np

corpus = fewwords.prepare(["text.txt"], "work", dev_words=40, test_words=40)
vocabulary = corpus.vocabulary()
codes = fewwords.SparseCodes(
    np.arange(len(vocabulary) - 7 + 1), np.full(len(vocabulary) - 7, 5, np.uint16), np.ones(len(vocabulary) - 7, np.float32), 7
)
print(fewwords.explain(vocabulary.words[-1], codes, vocabulary))
"""
    done = run(code, tmp_path)
    assert done.returncode == 0, done.stderr
    assert " = 1.00 " in done.stdout


def test_neural_models_are_used_and_packed(tmp_path: Path) -> None:
    save_neural(tmp_path / "model", make_neural("lstm-z-w"), "")
    (tmp_path / "text.txt").write_text("waé0 wbé1. waé7 wcé2!\n" * 20)
    (tmp_path / "nbest.txt").write_text("a-1 waé0 wbé1\na-2 waé7 wcé2\n")
    code = """
import fewwords
import fewwords.runtime
from fewwords.cli import main

fewwords.pack("model", "model.few", bits=4, texts=["text.txt"])
for path in ("model", "model.few"):
    model = fewwords.load(path)
    print(len(model.suggest("waé0 ")), model.score("waé0 wbé1."), model.sample("waé0", seed=1), model.explain("wgé55"))
    print(model.perplexity("waé0 wbé1."), fewwords.evaluate(path, ["text.txt"]).total.perplexity.value)
    assert isinstance(model.model, fewwords.runtime.PackedModel)
fewwords.make_page("model.few", "page.html")
for arguments in (["suggest", "model.few", "waé0 "], ["rescore", "model.few", "nbest.txt"]):
    try:
        main(arguments)
    except SystemExit as stop:
        assert not stop.code, arguments
"""
    done = run(code, tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("5 -")
    assert sorted(lines[-2:]) == ["a-1 waé0 wbé1", "a-2 waé7 wcé2"]
    assert (tmp_path / "page.html").stat().st_size > (tmp_path / "model.few").stat().st_size


@pytest.mark.parametrize("arguments", [["--help"], ["train", "--help"], ["evaluate", "--help"], ["paper", "--help"]])
def test_help_needs_no_extra(arguments: list[str], tmp_path: Path) -> None:
    done = run(f"from fewwords.cli import main\nmain({arguments!r})", tmp_path)
    assert done.returncode == 0, done.stderr


def test_a_command_says_which_extra_it_needs(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("The cat sat on the mat. A dog sat there too.\n" * 40)
    prepared = run("from fewwords.cli import main\nmain(['prepare', 'text.txt', '--work', 'work'])", tmp_path)
    assert prepared.returncode == 0, prepared.stderr
    command = ["train", "--work", "work", "--vocab-size", "9", "--model", "lstm-z"]
    done = run(f"from fewwords.cli import main\nmain({command!r})", tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == (
        'fewwords: error: this needs torch, which is not installed; run: pip install "fewwords[train]"'
    )


def test_serving_has_an_extra_of_its_own(tmp_path: Path) -> None:
    done = run("from fewwords.cli import main\nmain(['serve', 'nowhere'])", tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].endswith('uvicorn, which is not installed; run: pip install "fewwords[serve]"')


def test_every_extra_is_that_of_the_package() -> None:
    text = (Path(__file__).parent.parent / "pyproject.toml").read_text()
    for extra, packages in EXTRAS.items():
        line = text.partition(f"\n{extra} = [")[2].partition("]\n")[0]
        assert all(f'"{package}>=' in line for package in packages), extra
    assert missing_extra("torch.nn") is not None
    assert missing_extra("nothing") is None


def test_importing_fewwords_is_quick_and_imports_nothing_heavy() -> None:
    code = "import sys, fewwords; print([name for name in sys.modules if name.partition('.')[0] in ('numpy', 'torch', 'rich')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
