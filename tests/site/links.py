#!/usr/bin/env python3
"""Checks a built site: links.py SITE.

Each link leads to a file and a place in it, each page can be reached from the first one by links of the
pages' own text or the menu, and nothing is loaded from elsewhere.
"""
import sys
from collections import deque
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src"}


class Page(HTMLParser):
    """The ids of a page, where it links to and what it loads."""

    def __init__(self, text: str):
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        self.ids.update(value for key in ("id", "name") if (value := given.get(key)))
        if tag == "a" and (link := given.get("href")):
            self.links.append(link)
        if tag == "link" and given.get("rel") != "canonical" and (link := given.get("href")):
            self.loads.append(link)
        if tag in LOADED and (link := given.get(LOADED[tag])):
            self.loads.append(link)


def main() -> int:
    site = Path(sys.argv[1]).resolve()
    pages = {path: Page(path.read_text()) for path in site.rglob("*.html")}
    wrong: list[str] = []

    def target(page: Path, link: str) -> Path | None:
        """The file behind a link; None: it leads elsewhere, or is wrong, which is noted."""
        parts = urlsplit(link)
        if parts.scheme:
            return None
        file = page if not parts.path else (page.parent / unquote(parts.path)).resolve()
        if page.name == "404.html" and parts.path.startswith("/"):
            file = (site / unquote(parts.path[1:])).resolve()
        if file.is_dir():
            file = file / "index.html"
        if not file.is_file():
            wrong.append(f"{page.relative_to(site)}: {link} leads nowhere")
            return None
        ids = pages[file].ids if file in pages else set()
        if parts.fragment and unquote(parts.fragment) not in ids:
            wrong.append(f"{page.relative_to(site)}: {link} leads to no place in {file.name}")
        return file

    for path, page in pages.items():
        for link in page.loads:
            if urlsplit(link).netloc:
                wrong.append(f"{path.relative_to(site)}: {link} is loaded from elsewhere")
            else:
                target(path, link)

    reached = {site / "index.html"}
    waiting = deque(reached)
    while waiting:
        path = waiting.popleft()
        for link in pages[path].links:
            file = target(path, link)
            if file in pages and file not in reached:
                reached.add(file)
                waiting.append(file)
    lonely = pages.keys() - reached - {site / "404.html"}
    wrong += [f"{path.relative_to(site)}: nothing links to it" for path in sorted(lonely)]
    print("\n".join(wrong) if wrong else f"{len(pages)} pages, all links lead somewhere")
    return 1 if wrong or len(pages) < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
