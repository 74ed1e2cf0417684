"""`export_onnx`: a neural model as a folder of `step.onnx`, `sentence.onnx` and `words.txt`, the words by id, one per line."""

from pathlib import Path

from fewwords.errors import InputError
from fewwords.models.load import load
from fewwords.models.model import Model
from fewwords.models.neural.model import NeuralModel
from fewwords.models.packed.in_pytorch import in_pytorch
from fewwords.models.packed.model import PackedModel
from fewwords.progress import say
from fewwords.store.folders import is_unfinished, merged_folder

_FILES = ("step.onnx", "sentence.onnx", "words.txt")
_MOST_BYTES = 2**31 - 1  # of a protobuf message


def export_onnx(
    model: Model | str | Path, output: str | Path, *, bits: int = 32, force: bool = False
) -> dict[str, int]:
    """Write the two graphs and the words of a model, a model folder or a packed file; returns the bytes of each file.

    Raises InputError for a model without a form in ONNX, and where `output` has an export already, unless `force` is given.
    """
    from fewwords.export.onnx_graphs import sentence_graph, step_graph

    folder = Path(output)
    found = load(model) if isinstance(model, (str, Path)) else model
    if isinstance(found, PackedModel):
        found = in_pytorch(found)
    if not isinstance(found, NeuralModel):
        raise InputError(
            f"{found.variant}: only neural models (LSTM, GRU, log-bilinear) have a form in ONNX; "
            "Kneser-Ney models can be written with fewwords arpa, and the neural parts of a mixture one by one"
        )
    if bits not in (8, 32):
        raise InputError(f"`bits` {bits}: choose 8 or 32")
    if bits // 8 * found.num_numbers > _MOST_BYTES:
        raise InputError(f"{found.variant}: more than the 2 GB of an ONNX file; choose `bits` 8 or a smaller model")
    there = [folder / name for name in _FILES if (folder / name).exists()]
    if folder.is_file() or (there and not force and not is_unfinished(folder)):
        raise InputError(f"{(there or [folder])[0]}: is there already; choose another `output`, or use `force`")
    with merged_folder(folder, "words.txt") as building:
        for name, make in (("step.onnx", step_graph), ("sentence.onnx", sentence_graph)):
            (building / name).write_bytes(make(found, bits).SerializeToString())
        text = "".join(f"{word}\n" for word in found.vocabulary.words)
        (building / "words.txt").write_text(text, encoding="utf-8", newline="\n")
        sizes = {name: (building / name).stat().st_size for name in _FILES}
    told = ", ".join(f"{name} {size / 1e6:.1f} MB" for name, size in sizes.items())
    say(f"{folder}: {found.variant}, {found.num_words:,} words, {bits} bits: {told}")
    return sizes
