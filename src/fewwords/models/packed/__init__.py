"""Neural models with numpy alone: from a packed file (`.few`), or from an ordinary model folder without PyTorch."""
