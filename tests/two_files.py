"""Writes the older format of codes and vectors, which is only read today: NAME.safetensors, and NAME.json beside it."""

import json
from pathlib import Path
from typing import Any

from safetensors.numpy import save_file

from fewwords.codes import SparseCodes
from fewwords.store.files import sha256_of
from fewwords.vectors import WordVectors


def write_old_codes(codes: SparseCodes, path: Path, **changes: Any) -> None:
    """Write codes as "fewwords codes 1", with changes to the facts."""
    arrays = {"offsets": codes.offsets, "indices": codes.indices, "values": codes.values}
    save_file(arrays, path, metadata={"format": "fewwords codes 1", "base_size": str(codes.num_base)})
    facts = {
        "format": "fewwords codes 1",
        "base_size": codes.num_base,
        "num_words": codes.num_words,
        "num_nonzeros": len(codes.values),
        "sha256": sha256_of(path),
        "made_from": codes.made_from,
    }
    path.with_suffix(".json").write_text(json.dumps(facts | changes))


def write_old_vectors(vectors: WordVectors, path: Path, **changes: Any) -> None:
    """Write vectors as "fewwords vectors 1", with changes to the facts."""
    path.parent.mkdir(exist_ok=True)
    arrays = {"values": vectors.values, "has_vector": vectors.has_vector}
    save_file(arrays, path, metadata={"format": "fewwords vectors 1"})
    facts = {
        "format": "fewwords vectors 1",
        "words": len(vectors),
        "dimensions": vectors.size,
        "words_without_vector": vectors.num_without_vector,
        "vocabulary": vectors.vocabulary_fingerprint,
        "sha256": sha256_of(path),
        "made_from": vectors.made_from,
    }
    path.with_suffix(".json").write_text(json.dumps(facts | changes))
