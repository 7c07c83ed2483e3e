#!/usr/bin/env python3
"""Every command block of the documentation runs in a test: blocks.py REPOSITORY.

Those are the ```bash blocks of the pages in pages.txt, which commands.py runs, and the texts there that begin with `$ COMMAND`, which
it compares with what the command prints. Every other block with a command must stand in elsewhere.txt, with the test that runs it or
the reason why none does.
"""
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent.parent / "site"))
from build import PAGES  # noqa: E402

FENCED = re.compile(r"^( *)```([^\n]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?<=\n\n)(?: {4,}\S[^\n]*\n|\n(?= {4}))+")
PROGRAM = r"gorgo|cd|curl|openssl|podman|docker|npm|npx|node|python3?|pip|cmake|apt|apt-get|systemctl|tail|tmux|\./run|(?:build|examples|tests|site|bench)/\S+"
COMMAND = re.compile(rf"^\s*(?:\$ )?(?:[A-Z_]+=\S+ )*(?:{PROGRAM})(?: |$)", re.MULTILINE)


def blocks_of(text: str) -> list[tuple[str, str]]:
    """The language and the lines of each block."""
    found = [(language.strip(), body) for _, language, body in FENCED.findall(text)]
    return found + [("indented", body) for body in INDENTED.findall(FENCED.sub("", text))]


def has_command(language: str, body: str) -> bool:
    return language in {"bash", "sh", "sh walk", "console"} or COMMAND.search(body) is not None


def runs(language: str, body: str) -> bool:
    return language == "bash" or (language == "text" and body.startswith("$ "))


def entries() -> list[tuple[str, str, str]]:
    """Page (or the beginning of its name), a line of the block (or its beginning), and reason."""
    lines = (HERE / "elsewhere.txt").read_text().splitlines()
    parts = [tuple(part.strip() for part in line.split(" | ")) for line in lines if line and not line.startswith("#")]
    wrong = [part for part in parts if len(part) != 3]
    if wrong:
        sys.exit(f"elsewhere.txt: not PAGE | LINE | REASON: {wrong}")
    return parts


def main() -> int:
    repository = Path(sys.argv[1])
    run_here = set((HERE / "pages.txt").read_text().split())
    known, used, unknown, count = entries(), set(), [], 0
    for page in sorted({page for pattern in PAGES for page in repository.glob(pattern)}):
        name = str(page.relative_to(repository).with_suffix(""))
        for language, body in blocks_of(page.read_text()):
            if not has_command(language, body):
                continue
            count += 1
            lines = [line.strip().removeprefix("$ ") for line in body.splitlines()]
            of = [entry for entry in known if name.startswith(entry[0]) and any(line.startswith(entry[1]) for line in lines)]
            used.update(of)
            if not of and not (name in run_here and runs(language, body)):
                unknown.append(f"{name}, {language}: {body.strip().splitlines()[0]}")
    left = [" | ".join(entry) for entry in known if entry not in used]
    for name in run_here:
        if not (repository / f"{name}.md").is_file():
            left.append(f"pages.txt: {name}")
    for line in [f"no test runs it: {block}" for block in unknown] + [f"nothing is meant by: {entry}" for entry in left]:
        print(line)
    print(f"{count} blocks with commands")
    return 1 if unknown or left else 0


if __name__ == "__main__":
    sys.exit(main())
