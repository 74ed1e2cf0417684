"""`python -m fewwords` is the `fewwords` command."""

from fewwords.cli import main

main()
