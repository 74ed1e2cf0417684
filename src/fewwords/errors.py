"""The one exception for what a user can mend: bad input, a wrong setting, a missing file.

Its message is a single line that names the file, the place and the remedy. The command line prints it
and exits with code 2; from Python it is an ordinary exception.
"""


class InputError(ValueError):
    """Something the user gave cannot be used; the message says what, where and what to do."""
