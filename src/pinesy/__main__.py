"""``python -m pinesy``: the command line."""

from pinesy.cli.app import main

if __name__ == "__main__":
    main()
