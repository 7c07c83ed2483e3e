#!/usr/bin/env python3
"""Has aspell read the pages that site/build.py has collected: spelling.py SOURCES WORDS.

Code, addresses and the pages made of files that are no prose are left out. WORDS are words of the
trade, one on each line, that aspell does not know.
"""
import re
import subprocess
import sys
from pathlib import Path

NOT_PROSE = re.compile(r"^(`{3,}|~{3,}).*?^\1$|^    [^\n]*$|`[^`\n]*(?:\n[^`\n]+)?`|\]\([^)]*\)|<[^>]*>|https?://\S+", re.MULTILINE | re.DOTALL)
# Commits, versions and the like.
NO_WORD = re.compile(r"\b\w*\d\w*\b")


def prose_of(page: Path) -> str:
    text = NO_WORD.sub(" ", NOT_PROSE.sub(" ", page.read_text()))
    return text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")


def unknown(text: str) -> set[str]:
    command = ["aspell", "list", "--lang=en_GB", "--mode=none"]
    return set(subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout.split())


def main() -> int:
    sources, known = Path(sys.argv[1]), set(Path(sys.argv[2]).read_text().lower().split())
    pages = [page for page in sorted(sources.rglob("*.md")) if not page.name.partition(".md")[0].count(".")]
    wrong = 0
    used: set[str] = set()
    for page in pages:
        words = {word.removesuffix("'s") for word in unknown(prose_of(page))}
        used |= {word for word in words if word.lower() in known}
        for word in sorted(words - used):
            print(f"{page.relative_to(sources)}: {word}")
            wrong += 1
    print(f"{len(pages)} pages, {wrong} words that are misspelt, or belong into {sys.argv[2]}")
    return 1 if wrong or not used else 0


if __name__ == "__main__":
    sys.exit(main())
