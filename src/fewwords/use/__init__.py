"""Using a model on text: suggestions, completion, scores, samples, explanations, for a model of any kind."""
