#!/usr/bin/env python3
"""Runs the commands of a page as its reader would: commands.py REPOSITORY GORGO PAGE.

These are its ```bash blocks, one after the other in one shell, in a folder with rules/fire.tesla, the same as fire.tesla, and
events.ndjson. A ```text block that begins with `$ COMMAND` is what this command must print. The ```toml blocks are gorgo.toml there,
state/ stands for /var/lib/gorgo, and build/release for the folder of GORGO. The network is one of its own, so that ports are free.
What never ends, such as `gorgo serve`, goes on beside what follows and is there when that begins. `./run build` is left out, since
GORGO is built.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

from blocks import FENCED, runs

PRELUDE = "set -eu\nip link set lo up\n"
SERVER = "gorgo serve --rules fire.tesla"  # for pages that do not say how to start one
NEVER_ENDS = re.compile(r"gorgo sub (?!.*--count)|curl -s?N(?!.*--max-time)|gorgo test .*--watch")
WHEN_IT_LISTENS = "until grep -q '^http on' listening; do kill -0 $served; sleep 0.05; done"


def step(line: str) -> list[str]:
    if line == "./run build":
        return []
    if line.startswith("gorgo serve") and "&" not in line and " -t " not in line:
        return [f"{line} > listening & served=$!", WHEN_IT_LISTENS]
    if NEVER_ENDS.match(line):
        return [f"timeout --signal INT 1 {line} || test $? = 124 -o $? = 130"]
    return [line]


def printing(block: str) -> str:
    """A command whose output is the rest of the block."""
    command, output = block.removeprefix("$ ").split("\n", 1)
    return f"{command} > printed || true\ndiff printed - <<'END_OF_BLOCK'\n{output}END_OF_BLOCK"


def script_of(page: str) -> str:
    """The commands of a page, with those that never end in the background."""
    script = []
    for _, language, body in FENCED.findall(page):
        if not runs(language, body):
            continue
        body = textwrap.dedent(body).replace("/var/lib/gorgo", "state")
        if language == "text":
            script.append(printing(body))
            continue
        for line in body.replace("\\\n", " ").splitlines():
            script += step(line)
    if "gorgo serve" not in "".join(script):
        script[:0] = step(SERVER)
    return "\n".join(script) + "\n"


def furnish(folder: Path, repository: Path, page: str) -> None:
    """What the commands of a page find in their folder."""
    (folder / "rules").mkdir()
    shutil.copy(repository / "rules/fire.tesla", folder / "rules")
    shutil.copy(repository / "rules/fire.tesla", folder)
    shutil.copy(repository / "rules/fire.events.ndjson", folder / "events.ndjson")
    (folder / "docs").symlink_to(repository.resolve() / "docs")
    settings = [body for _, language, body in FENCED.findall(page) if language == "toml" and "[[" not in body]
    (folder / "gorgo.toml").write_text("\n".join(settings))


def main() -> int:
    repository, gorgo, name = Path(sys.argv[1]), Path(sys.argv[2]).resolve(), sys.argv[3]
    page = (repository / name).read_text()
    with tempfile.TemporaryDirectory() as folder:
        furnish(Path(folder), repository, page)
        (Path(folder) / "build").mkdir()
        (Path(folder) / "build/release").symlink_to(gorgo.parent)
        environment = os.environ | {
            "PATH": f"{gorgo.parent}:/usr/sbin:{os.environ['PATH']}",
            "GORGO__HTTP__LISTEN": "127.0.0.1:8080",
            "GORGO": "http://127.0.0.1:8080",
            "HOME": folder,
            # LeakSanitizer looks for itself in /proc, which has the processes of another namespace.
            "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0",
        }
        # With its own processes, too: whatever goes on ends with the shell.
        command = ["unshare", "--net", "--pid", "--fork", "--kill-child", "bash", "-c", PRELUDE + script_of(page)]
        if os.geteuid() != 0:
            command[1:1] = ["--map-root-user"]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=100)
        if done.returncode != 0:
            print(script_of(page), done.stdout, done.stderr, sep="\n---\n")
        return done.returncode


if __name__ == "__main__":
    sys.exit(main())
