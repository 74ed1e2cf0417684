"""What `fuzz.py` and `faults.py` are made of: samples of every file, mutations, limits, commands, kills."""
