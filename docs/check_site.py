# SPDX-License-Identifier: Apache-2.0
"""Checks a built site as a browser would see it: links within it lead to pages and places that exist, it loads nothing
from elsewhere, and what new users look for is at most three clicks from the front page."""

import sys
from collections import deque
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Where a new user should arrive, from the front page: a page, or a place on it.
SOUGHT = {
    "marginals in PyTorch": "pytorch.html#marginals",
    "a sentence without a tree": "errors.html",
    "the format of swor's npz": "formats.html#npz",
    "marginals side by side": "operations/numbers.html#marginals",
    "installing": "install.html",
}


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        of = {name: value or "" for name, value in attributes}
        if "id" in of:
            self.places.add(of["id"])
        if tag == "a" and "href" in of:
            self.links.append(of["href"])
        elif tag == "link" and of.get("rel") in ("stylesheet", "icon", "preload"):
            self.loaded.append(of["href"])
        elif tag in ("script", "img", "source", "iframe") and "src" in of:
            self.loaded.append(of["src"])


def resolved(page: str, target: str) -> tuple[str, str]:
    """The page and the place on it that a relative link of a page leads to."""
    parts = urlsplit(target)
    if not parts.path:
        return page, unquote(parts.fragment)
    path = Path("/", page).parent.joinpath(unquote(parts.path))
    flat: list[str] = []
    for piece in path.parts[1:]:
        if piece == "..":
            flat.pop()
        elif piece != ".":
            flat.append(piece)
    return "/".join(flat), unquote(parts.fragment)


def main(folder: Path) -> int:
    pages = {str(path.relative_to(folder)): Page(path.read_text()) for path in sorted(folder.rglob("*.html"))}
    wrong = []
    links: dict[str, list[tuple[str, str]]] = {name: [] for name in pages}
    for name, page in pages.items():
        for target in page.loaded:
            if urlsplit(target).scheme not in ("", "data"):
                wrong.append(f"{name} loads {target}")
        for target in page.links + page.loaded:
            if urlsplit(target).scheme:
                continue
            path, place = resolved(name, target)
            if not (folder / path).is_file():
                wrong.append(f"{name}: {target} leads nowhere")
            elif place and path in pages and place not in pages[path].places:
                wrong.append(f"{name}: {target} leads to a place that is not on the page")
            else:
                links[name].append((path, place))
    if not pages:
        wrong.append(f"{folder} has no pages")

    # Clicks from the front page: the shortest way to every page, and one more for a place on it.
    clicks = {"index.html": 0}
    waiting = deque(["index.html"] if "index.html" in pages else [])
    places: dict[str, int] = {}
    while waiting:
        name = waiting.popleft()
        for path, place in links[name]:
            places.setdefault(f"{path}#{place}" if place else path, clicks[name] + 1)
            if path in pages and path not in clicks:
                clicks[path] = clicks[name] + 1
                waiting.append(path)
    for what, place in SOUGHT.items():
        if places.get(place, 99) > 3:
            wrong.append(f"{what} ({place}) is not within three clicks of the front page")
        else:
            print(f"{what}: {place}, clicks: {places[place]}")
    lost = sorted(name for name in pages if name not in clicks and name != "search.html")
    if lost:
        wrong.append(f"no way leads from the front page to {', '.join(lost)}")
    print(f"{len(pages)} pages, {sum(map(len, links.values()))} links within the site")
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
