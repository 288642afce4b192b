"""Let ``python -m invertgate`` be the command."""

from invertgate.cli import main

if __name__ == "__main__":
    main()
