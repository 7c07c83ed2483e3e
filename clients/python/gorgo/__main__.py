"""`python3 -m gorgo types --python`: dataclasses of the server's types."""

from __future__ import annotations

import argparse
import sys

from .connect import connect
from .errors import Error
from .typed import dataclasses_of


def main() -> int:
    parser = argparse.ArgumentParser(prog="python3 -m gorgo", description="The command line of Gorgo's Python client")
    commands = parser.add_subparsers(dest="command", required=True)
    types = commands.add_parser("types", help="the types that the server's rules know")
    types.add_argument("--to", metavar="ADDRESS", help="gorgo://HOST:PORT; else GORGO_SERVER")
    types.add_argument("--python", action="store_true", help="as dataclasses, for `import`")
    arguments = parser.parse_args()
    try:
        with connect(arguments.to) as client:
            if arguments.python:
                print(dataclasses_of(client.types(), client.rules()), end="")
            else:
                for of in client.types():
                    if of.name:
                        print(f"{of.name}({', '.join(f'{name}: {kind}' for name, kind in of.attributes.items())})")
    except Error as error:
        print(f"gorgo: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
