#!/usr/bin/env python3
"""Builds the documentation as a site: site/build.py FOLDER.

The pages keep their places in the repository, so that a link works there and in the site. A text file
that a page links to, such as a rule, becomes a page of its own.
"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = ["*.md", "docs/**/*.md", "clients/*/README.md", "bench/**/*.md", "examples/**/*.md", "rules/*.md"]
LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")
FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
# What stands behind the language is for tests; mkdocs would not take the line for a fence.
LANGUAGE = re.compile(r"\A(```\w+) .*")
LIST_BEHIND_TEXT = re.compile(r"^((?![*\d|>]|\s).+\n)(?=(?:\*|\d\.) )", re.MULTILINE)
PICTURES = {".png", ".svg"}


def is_file_here(target: str, page: Path) -> bool:
    return "://" not in target and (page.parent / target).is_file()


def page_of(target: str) -> str:
    """The name under which a linked file is in the site."""
    return target if Path(target).suffix in PICTURES | {".md"} else target + ".md"


def prose_for_mkdocs(text: str, page: Path) -> str:
    """Links to files become links to their pages; a list has an empty line above it."""

    def link(match: re.Match[str]) -> str:
        before, target, after = match.groups()
        return before + (page_of(target) if is_file_here(target, page) else target) + after

    return LIST_BEHIND_TEXT.sub(r"\1\n", LINK.sub(link, text))


def stage(page: Path, sources: Path) -> None:
    """Writes a page, and the files that it links to and that are no pages themselves."""
    text = page.read_text()
    parts = FENCE.split(text)
    parts[::2] = [prose_for_mkdocs(part, page) for part in parts[::2]]
    parts[1::2] = [LANGUAGE.sub(r"\1", part) for part in parts[1::2]]
    to = sources / page.relative_to(ROOT)
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text("".join(parts))
    for _, target, _ in LINK.findall("".join(FENCE.split(text)[::2])):
        if not target.endswith(".md") and is_file_here(target, page):
            stage_linked((page.parent / target).resolve(), sources)


def stage_linked(file: Path, sources: Path) -> None:
    to = sources / page_of(str(file.relative_to(ROOT)))
    to.parent.mkdir(parents=True, exist_ok=True)
    if file.suffix in PICTURES:
        shutil.copyfile(file, to)
    else:
        to.write_text(f"# {file.name}\n\n`{file.relative_to(ROOT)}`\n\n~~~~text\n{file.read_text()}\n~~~~\n")


def list_decisions(sources: Path) -> None:
    """Behind the text about them, all decisions, the latest one first."""
    folder = sources / "docs/decisions"
    pages = sorted(folder.glob("[0-9]*.md"), reverse=True)
    titles = [page.read_text().partition("\n")[0].removeprefix("# ") for page in pages]
    with (folder / "README.md").open("a") as index:
        index.write("\n" + "".join(f"* [{title}]({page.name})\n" for title, page in zip(titles, pages)))


def main() -> int:
    site = Path(sys.argv[1]).resolve()
    sources = site.parent / (site.name + "-sources")
    for folder in (site, sources):
        shutil.rmtree(folder, ignore_errors=True)
    for pattern in PAGES:
        for page in sorted(ROOT.glob(pattern)):
            if "node_modules" not in page.parts:
                stage(page, sources)
    list_decisions(sources)
    (sources / "site").mkdir()
    for name in ("icon.svg", "style.css"):
        shutil.copyfile(ROOT / "site" / name, sources / "site" / name)
    command = ["mkdocs", "build", "--quiet", "--strict", "-f", ROOT / "site/mkdocs.yml", "-d", site]
    return subprocess.run(command, env=os.environ | {"SITE_SOURCES": str(sources)}).returncode


if __name__ == "__main__":
    sys.exit(main())
