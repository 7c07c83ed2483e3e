#!/usr/bin/env python3
"""Says where a version differs from that of the project: versions.py REPOSITORY VERSION. Exit code 1 then."""

import pathlib
import re
import sys

FILES = {
    "clients/python/pyproject.toml": r'^version = "(.+)"$',
    "clients/python/gorgo/__init__.py": r'^__version__ = "(.+)"$',
    "clients/cpp/examples/CMakeLists.txt": r"^find_package\(gorgo ([0-9.]+) ",
    "clients/js/package.json": r'"version": "(.+)"',
    "web/package.json": r'"version": "(.+)"',
    "web/package-lock.json": r'"version": "(.+)"',
    "docs/editors/vscode/package.json": r'"version": "(.+)"',
    "CHANGELOG.md": r"^## \[([0-9.]+)\]",
}


def main():
    repository, version = pathlib.Path(sys.argv[1]), sys.argv[2]
    wrong = 0
    for name, pattern in FILES.items():
        found = re.search(pattern, (repository / name).read_text(encoding="utf-8"), re.M)
        if found is None or found.group(1) != version:
            print(f"{name} has version {found.group(1) if found else 'none'}, CMakeLists.txt has {version}")
            wrong = 1
    return wrong


if __name__ == "__main__":
    sys.exit(main())
