"""``python -m pinesy``: the command line."""

import sys

from pinesy.cli.loading import loading


def main() -> None:
    """Run the command line; Ctrl-C while it is loaded is one line too."""
    try:
        with loading():
            from pinesy.cli.app import run_pinesy
        run_pinesy()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
