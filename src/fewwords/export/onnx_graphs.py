"""The two ONNX graphs of a neural model: one step, for suggestions, and whole sentences, for scores.

Step: `word` int64 [N], the last word read, the state, and `k` int64 [1], give `log_probs` [N, V], the state after that word, and
`top_words` and `top_log_probs` [N, k], the most probable next words without the three special ones. A state of zeros is that before
a sentence (what the model has learned for it is added within the graph), and the first word is `first_word` of the metadata:
`<s>`, or -1, which reads nothing, for a model that predicts the first word from its own start (the boundary "paper").

Sentence: `words` int64 [N, T] without boundaries give `log_probs` of their targets: [N, T + 1] with `</s>`, or [N, T] for a
model that does not predict it. Contexts are scored one time step after another (Scan), so memory does not grow with T.
"""

import json
from collections.abc import Callable

from onnx import ModelProto, TensorProto

from fewwords.export.encoders import graph_encoder
from fewwords.export.graph import Graph
from fewwords.export.layers import Words
from fewwords.models.neural.boundaries import first_input
from fewwords.models.neural.model import NeuralModel
from fewwords.vocabulary import END_ID, NUM_SPECIAL, START_ID

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
NO_WORD = -1


def step_graph(model: NeuralModel, bits: int = 32) -> ModelProto:
    """One word in, log-probabilities of the next out."""
    network, graph = model.network, Graph(bits)
    words, encoder = Words(network), graph_encoder(network)
    ids = graph.put_in("word", INT64, ["N"])
    names = [
        (f"state_{name}", ["N" if place == 1 else size for place, size in enumerate(start.shape)])
        for name, start in zip(encoder.state_names, encoder.starts)
    ]
    state = [graph.put_in(name, FLOAT, shape) for name, shape in names]
    k = graph.put_in("k", INT64, [1])
    for place, start in enumerate(encoder.starts):
        if start.any():
            state[place] = graph.add("Add", state[place], encoder.start(graph, place))
    vectors = graph.add("Unsqueeze", words.embed(graph, ids), graph.ints([0]))
    _, after = encoder.forward(graph, vectors, state)
    if first_input(network.settings.boundary) is None:
        reads = graph.add("Unsqueeze", graph.add("Less", ids, graph.ints(0)), graph.ints([0, 2]))
        after = [graph.add("Where", reads, old, new) for old, new in zip(state, after)]
    log_probs = words.log_probs(graph, encoder.context(graph, after))
    ordinary = graph.add("Slice", log_probs, graph.ints([NUM_SPECIAL]), graph.ints([model.num_words]), graph.ints([1]))
    best, places = graph.add_many("TopK", [ordinary, k], 2)
    graph.put_out(log_probs, "log_probs", FLOAT, ["N", model.num_words])
    graph.put_out(graph.add("Add", places, graph.ints(NUM_SPECIAL)), "top_words", INT64, ["N", "k"])
    graph.put_out(best, "top_log_probs", FLOAT, ["N", "k"])
    for place, (name, shape) in enumerate(names):
        if encoder.starts[place].any():
            after[place] = graph.add("Sub", after[place], encoder.start(graph, place))
        graph.put_out(after[place], f"new_{name}", FLOAT, shape)
    return graph.model("fewwords step", _metadata(model, bits))


def sentence_graph(model: NeuralModel, bits: int = 32) -> ModelProto:
    """Sentences in, log-probabilities of their words out."""
    network, graph = model.network, Graph(bits)
    words, encoder = Words(network), graph_encoder(network)
    given = graph.put_in("words", INT64, ["N", "T"])
    num_sentences = graph.add("Slice", graph.add("Shape", given), graph.ints([0]), graph.ints([1]))
    targets = inputs = graph.add("Transpose", given, perm=[1, 0])
    if model.predicts_end:
        row = graph.add("Concat", graph.ints([1]), num_sentences, axis=0)
        start, end = (graph.add("Expand", graph.ints([[word]]), row) for word in (START_ID, END_ID))
        inputs, targets = graph.add("Concat", start, inputs, axis=0), graph.add("Concat", targets, end, axis=0)
    flat = words.embed(graph, graph.add("Reshape", inputs, graph.ints([-1])))
    size = network.settings.embedding_size
    shape = graph.add("Concat", graph.ints([-1]), num_sentences, graph.ints([size]), axis=0)
    state = encoder.start_state(graph, num_sentences)
    contexts, _ = encoder.forward(graph, graph.add("Reshape", flat, shape), state)
    if first_input(network.settings.boundary) is None:
        # The first word is predicted from the start, and nothing is predicted from the last.
        first = graph.add("Unsqueeze", encoder.context(graph, state), graph.ints([0]))
        read = graph.add("Slice", contexts, graph.ints([0]), graph.ints([-1]))
        contexts = graph.add("Concat", first, read, axis=0)
    found = _for_each_step(graph, contexts, targets, network.settings.hidden_size, words.log_probs)
    num_targets = "T + 1" if model.predicts_end else "T"
    graph.put_out(graph.add("Transpose", found, perm=[1, 0]), "log_probs", FLOAT, ["N", num_targets])
    return graph.model("fewwords sentence", _metadata(model, bits))


def _for_each_step(graph: Graph, contexts: str, targets: str, size: int, log_probs: Callable[[Graph, str], str]) -> str:
    """ln p of the targets [T, N] after contexts [T, N, size]."""
    body = graph.body()
    context = body.put_in("context", FLOAT, ["N", size])
    target = body.put_in("target", INT64, ["N"])
    place = body.add("Unsqueeze", target, body.ints([1]))
    found = body.add("GatherElements", log_probs(body, context), place, axis=1)
    body.put_out(body.add("Squeeze", found, body.ints([1])), "target_log_prob", FLOAT, ["N"])
    return graph.add("Scan", contexts, targets, body=body.finish("time step"), num_scan_inputs=2)


def _metadata(model: NeuralModel, bits: int) -> dict[str, str]:
    first = first_input(model.network.settings.boundary)
    return {
        "model": model.variant,
        "bits": str(bits),
        "words_file": "words.txt",
        "vocabulary_sha256": model.vocabulary.fingerprint,
        "text": json.dumps(model.rules.to_json()),
        "first_word": str(NO_WORD if first is None else first),
        "predicts_end": json.dumps(model.predicts_end),
    }
