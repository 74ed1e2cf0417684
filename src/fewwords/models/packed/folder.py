"""An ordinary neural model folder without PyTorch: its float32 weights in a network of numpy."""

from pathlib import Path

import numpy as np

from fewwords.codes.sparse_codes import SparseCodes
from fewwords.errors import InputError
from fewwords.models.neural.folder import open_neural, unfit
from fewwords.models.neural.variants import ModelSettings
from fewwords.models.neural.weights import check_weights
from fewwords.models.packed.codes import CodeRows
from fewwords.models.packed.encoders import ENCODERS
from fewwords.models.packed.file import encoder_shapes
from fewwords.models.packed.matrix import FloatMatrix
from fewwords.models.packed.model import PackedModel
from fewwords.models.packed.network import Network
from fewwords.store.arrays import array_shapes, load_arrays

TABLE_WEIGHTS = {"dense": "weight", "coded": "base"}  # what the weight of an embedding or output is called
_NORMALISER = "normaliser."


def load_folder(folder: Path) -> PackedModel:
    """Read a folder; raises InputError if it is incomplete, was changed, or does not fit together."""
    from safetensors import SafetensorError

    facts, vocabulary, codes = open_neural(folder)
    path = folder / "model.safetensors"
    stored = array_shapes(path, "copy the model folder again", "F32")  # raises for other types
    if facts.settings.num_layers > len(stored):  # before something is made for each layer
        raise unfit(path, f"{len(stored):,} arrays for {facts.settings.num_layers:,} layers")
    try:
        tensors = load_arrays(path)
        check_weights(tensors)
        network = make_network(facts.settings, len(vocabulary), tensors, codes)
    except (SafetensorError, InputError) as error:
        raise unfit(path, str(error)) from None
    num_normaliser = sum(array.size for name, array in tensors.items() if name.startswith(_NORMALISER))
    return PackedModel(network, vocabulary, facts.rules, facts.made_from, num_normaliser)


def make_network(
    settings: ModelSettings, num_words: int, tensors: dict[str, np.ndarray], codes: SparseCodes | None
) -> Network:
    """The network of tensors that have the names of a model folder; raises InputError for missing or unknown ones."""
    if settings.is_coded and (codes is None or codes.num_words != num_words):
        raise InputError("the codes are missing, or those of another vocabulary")
    encoder = {f"encoder.{name}": shape for name, shape in encoder_shapes(settings).items()}
    num_base = num_words if codes is None else codes.num_base
    rows = {"dense": num_words, "coded": num_base}
    shapes: dict[str, tuple[int, ...]] = {
        f"embedding.{TABLE_WEIGHTS[settings.embedding]}": (rows[settings.embedding], settings.embedding_size),
        f"output.{TABLE_WEIGHTS[settings.output]}": (rows[settings.output], settings.hidden_size),
        "output.bias": (num_base if settings.coded_bias else num_words,),
    }
    embedding, output, bias = shapes
    if settings.tied:
        del shapes[output]
        output = embedding
    for name, shape in {**shapes, **encoder}.items():
        if name not in tensors or tensors[name].shape != shape:
            raise InputError(f"{name} is missing, or has not the shape {list(shape)}")
    if extra := [name for name in tensors if name not in shapes | encoder and not name.startswith(_NORMALISER)]:
        raise InputError(f"{extra[0]} is not one of its weights")
    table = FloatMatrix(tensors[embedding])
    return Network(
        settings,
        num_words,
        table,
        ENCODERS[settings.encoder](settings, {name.removeprefix("encoder."): tensors[name] for name in encoder}),
        table if settings.tied else FloatMatrix(tensors[output]),
        tensors[bias],
        CodeRows.from_codes(codes) if codes is not None else None,
    )
