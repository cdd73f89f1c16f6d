"""`python -m stream` is `espalier`."""

from stream.cli.main import main

main()
