"""A model in a form that other programs read: ONNX graphs of standard operators."""
