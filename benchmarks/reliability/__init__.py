"""What `fuzz.py` and `faults.py` are made of: samples of every file, mutations, limits, commands, kills.

Both fork processes from one that has imported everything. Threads do not survive a fork, so numpy, torch and numba are
told to start none, before anything imports them.
"""

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_variable] = "1"
