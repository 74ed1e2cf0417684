"""Every path of a work folder, spelled out once more."""

from pathlib import Path

from fewwords import work_folder

WORK = Path("w")


def test_paths() -> None:
    assert work_folder.corpus_folder("w") == WORK / "corpus"
    assert work_folder.vectors_path("w") == WORK / "vectors/vectors.safetensors"
    assert work_folder.codes_path("w", 50_000, 8_000) == WORK / "codes/v50000-b8000.safetensors"
    assert work_folder.codes_path("w", 50_000, 8_000, "-n4") == WORK / "codes/v50000-b8000-n4.safetensors"
    assert work_folder.model_folder("w", "lstm-z-w", 50_000) == WORK / "models/lstm-z-w-v50000"
    assert work_folder.cell_record_path("w", "kn3-v10000") == WORK / "paper/cells/kn3-v10000.json"
    assert work_folder.cell_model_folder("w", "kn3-v10000") == WORK / "paper/models/kn3-v10000"
    assert work_folder.cell_log_path("w", "kn3-v10000") == WORK / "paper/logs/kn3-v10000.log"
    assert work_folder.report_folder("w") == WORK / "report"
