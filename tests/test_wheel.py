"""The built wheel with the base dependencies alone: a small environment in which a packed model answers."""

import subprocess
import sys
from pathlib import Path

import pytest

from packed_models import make_neural, packed_model

ROOT = Path(__file__).parent.parent
MOST_BYTES = 120_000_000


@pytest.mark.slow
def test_the_base_install_is_small_and_uses_a_packed_model(tmp_path: Path) -> None:
    """Needs the package index, to build the wheel and to install numpy, rich, safetensors and typer.

    The model that comes with fewwords is in the wheel.
    """
    packed_model(make_neural("lstm-z-w"), tmp_path, 4)
    environment = tmp_path / "environment"
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", tmp_path, ROOT], check=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    (wheel,) = tmp_path.glob("fewwords-*.whl")
    python = environment / "bin" / "python"
    constraints = ["-c", str(ROOT / "constraints.txt")]
    subprocess.run([*pip, "--python", str(python), "install", *constraints, str(wheel)], check=True)
    for model, text in ((tmp_path / "model.few", "waé0 "), ("english", "The history of the ")):
        command = [environment / "bin" / "fewwords", "suggest", model, text]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env={})
        assert done.returncode == 0, done.stderr
        assert len(done.stdout.split("\t")) == 5
    size = sum(path.stat().st_size for path in environment.rglob("*") if path.is_file() and not path.is_symlink())
    assert size < MOST_BYTES, f"{size:,} bytes"
