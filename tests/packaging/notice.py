#!/usr/bin/env python3
"""Compares NOTICE with what the program links and what the page contains.

    notice.py REPOSITORY BUILD

Exit code 1 when a library on the program's link line or a package in the page has no row in the table,
or when a row about a library names one that is not linked any more.
"""

import json
import pathlib
import re
import subprocess
import sys


def rows_of(notice):
    """How each work is contained, by its name."""
    rows = re.findall(r"^\| ([^|]+?) \| (static|shared|header|page)[^|]* \| [^|]+ \| [^|]+ \|$", notice, re.M)
    return dict(rows)


def linked(build):
    """The names of libraries of others on the link line of the program."""
    commands = subprocess.run(
        ["ninja", "-C", build, "-t", "commands", "gorgo"], capture_output=True, text=True, check=True
    ).stdout
    line = [command for command in commands.splitlines() if " -o gorgo " in command][-1]
    files = re.findall(r"/lib([^/\s]+?)\.(?:a|so)(?:\.[0-9.]+)?(?=\s|$)", line)
    flags = re.findall(r"\s-l([A-Za-z0-9_+-]+)", line)
    return {name for name in files + flags if not name.startswith("gorgo")} - {"pthread", "dl", "rt"}


def in_page(repository):
    """The packages of npm that the page is made of, with those that they need."""
    lock = json.loads((repository / "web/package-lock.json").read_text(encoding="utf-8"))
    return {
        path.split("node_modules/")[-1]
        for path, package in lock["packages"].items()
        if path and not package.get("dev")
    }


def main():
    repository, build = pathlib.Path(sys.argv[1]), sys.argv[2]
    rows = rows_of((repository / "NOTICE").read_text(encoding="utf-8"))
    libraries = linked(build)
    problems = [f"{name} is linked, and has no row in NOTICE" for name in sorted(libraries - rows.keys())]
    problems += [
        f"{name} is in the page, and has no row in NOTICE"
        for name in sorted(in_page(repository))
        if rows.get(name) != "page" and rows.get(name.split("/")[0]) != "page"
    ]
    problems += [
        f"NOTICE says that {name} is linked, and it is not"
        for name, how in rows.items()
        if how in ("static", "shared") and name not in libraries and name not in ("cudadevrt", "cudart_static")
    ]
    print("\n".join(problems) or f"{len(rows)} rows, {len(libraries)} libraries: as it is linked")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
