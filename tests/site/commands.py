#!/usr/bin/env python3
"""Runs the commands of a page as its reader would: commands.py REPOSITORY GORGO PAGE.

These are its ```bash blocks, one after the other in one shell, in a folder with rules/fire.tesla, the same as fire.tesla, and
events.ndjson; state/ there stands for /var/lib/gorgo. The network is one of its own, so that ports are free. What never ends, such
as `gorgo serve`, goes on beside what follows and is there when that begins. `./run build` is left out, since GORGO is built.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

BLOCK = re.compile(r"^```bash\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# A block that is indented, or of no language, and calls a program: a test would not see it.
HIDDEN = re.compile(r"^    (?:gorgo|curl|\./run) .*$|^```\n(?:gorgo|curl|\./run) .*$", re.MULTILINE)
PRELUDE = "set -eu\nip link set lo up\n"
SERVER = "gorgo serve --rules fire.tesla"  # for pages that do not say how to start one
WHEN_IT_ANSWERS = "until gorgo ping --count 1 >/dev/null 2>&1; do kill -0 $served; sleep 0.05; done"


def script_of(page: str) -> str:
    """The commands of a page, with those that never end in the background."""
    text = "".join(BLOCK.findall(page)).replace("\\\n", " ").replace("/var/lib/gorgo", "state")
    lines = ([] if "gorgo serve" in text else [SERVER]) + text.splitlines()
    script = []
    for line in lines:
        if line == "./run build":
            continue
        if line.startswith("gorgo serve") and "&" not in line:
            script += [f"{line} & served=$!", WHEN_IT_ANSWERS]
        elif re.match(r"gorgo sub (?!.*--count)|curl -s?N", line):
            script.append(f"timeout --signal INT 2 {line} || test $? = 124 -o $? = 130")
        else:
            script.append(line)
    return "\n".join(script) + "\n"


def main() -> int:
    repository, gorgo, name = Path(sys.argv[1]), Path(sys.argv[2]).resolve(), sys.argv[3]
    page = (repository / name).read_text()
    hidden = [line for line in HIDDEN.findall(page) if "./run" not in line]
    if hidden or not BLOCK.search(page):
        print(f"{name} has commands that are no bash blocks: {hidden}" if hidden else f"{name} has no commands")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "rules").mkdir()
        shutil.copy(repository / "rules/fire.tesla", Path(folder, "rules"))
        shutil.copy(repository / "rules/fire.tesla", folder)
        shutil.copy(repository / "rules/fire.events.ndjson", Path(folder, "events.ndjson"))
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
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=240)
        if done.returncode != 0:
            print(script_of(page), done.stdout, done.stderr, sep="\n---\n")
        return done.returncode


if __name__ == "__main__":
    sys.exit(main())
