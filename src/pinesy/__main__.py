"""``python -m pinesy``: the command line."""

import sys


def main() -> None:
    """Run the command line; Ctrl-C while it is loaded is one line too."""
    try:
        from pinesy.cli.app import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
