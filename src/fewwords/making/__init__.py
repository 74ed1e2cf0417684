"""From text to a model in one call: prepare, vectors, codes, train, evaluate, with settings chosen from the text."""
