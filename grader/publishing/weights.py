"""How heavy the built pages are, and how long they take to read: `make site-numbers` writes the table on the site."""

from __future__ import annotations

import csv
import gzip
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import unquote

from bs4 import BeautifulSoup, Tag

WORDS_A_MINUTE = 200
HEAD = ("page", "minutes to read", "page, kB", "styles, scripts and fonts, kB", "pictures, kB")


@dataclass(frozen=True)
class Page:
    """A built page, with all that it loads."""

    file: Path
    soup: BeautifulSoup

    @classmethod
    def read(cls, file: Path) -> Page:
        """The page in that file."""
        return cls(file, BeautifulSoup(file.read_bytes(), "lxml"))

    @property
    def title(self) -> str:
        """Its first heading."""
        heading = self.soup.find("h1")
        return heading.get_text().removesuffix("#").strip() if isinstance(heading, Tag) else self.file.stem

    @property
    def minutes(self) -> int:
        """How long its prose takes to read, code and outputs left out."""
        article = self.soup.find("article")
        words = sum(len(p.get_text().split()) for p in article.find_all(["p", "li"])) if isinstance(article, Tag) else 0
        return max(1, round(words / WORDS_A_MINUTE))

    def resources(self) -> Iterator[tuple[str, str]]:
        """What a browser fetches to show it: the kind ("picture" or "part") and the address."""
        for tag in self.soup.find_all(
            ["img", "script", "link", "iframe", "source", "video", "audio", "embed", "object"]
        ):
            address = tag.get("src") or tag.get("data") or tag.get("href")
            rel = set(tag.get("rel") or [])
            if not address or (tag.name == "link" and not rel & {"stylesheet", "preload", "modulepreload", "icon"}):
                continue
            yield ("picture" if tag.name == "img" else "part"), str(address)

    def row(self) -> tuple[str, str, str, str, str]:
        """Its line in the table: text as it travels, compressed; pictures as they are."""
        files = {(kind, self._file(address)) for kind, address in self.resources()}
        parts, pictures = ([path for k, path in files if k == kind] for kind in ("part", "picture"))
        weights = (travelling(self.file), sum(map(travelling, parts)), sum(path.stat().st_size for path in pictures))
        return (self.title, str(self.minutes), *(str(round(weight / 1000)) for weight in weights))

    def _file(self, address: str) -> Path:
        return (self.file.parent / unquote(address.split("?")[0].split("#")[0])).resolve()


@cache  # all pages load the same ones
def travelling(path: Path) -> int:
    """The bytes that a server sends for a file; fonts are compressed already."""
    return path.stat().st_size if path.suffix.startswith(".woff") else len(gzip.compress(path.read_bytes(), 6))


def table(built: Path) -> list[tuple[str, ...]]:
    """The front page, and all lessons."""
    files = [built / "index.html", *sorted((built / "lessons").glob("[0-9]*.html"))]
    return [HEAD, *(Page.read(file).row() for file in files)]


def main(built: str, target: str) -> None:
    """Prints the table, and writes it."""
    rows = table(Path(built))
    with Path(target).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    for row in rows:
        print(
            "  ".join(
                cell.rjust(len(head)) if head != HEAD[0] else cell.ljust(45)
                for head, cell in zip(HEAD, row, strict=True)
            )
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
