"""Links in the repository's texts, as they have to be on the site: to its own pages, else to the repository."""

import os.path
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cellcheck.errors import GraderError
from cellcheck.repository import Repository

# Code comes first: what looks like a link in it is none.
_LINK = re.compile(
    r"^```.*?^```|``.+?``|`[^`\n]+`"
    r"|(?P<shown>!?)(?P<words>\[(?:[^\[\]]|\[[^\[\]]*\])*\])"
    r"\((?!https?:|#|mailto:|attachment:|\))(?P<target>[^()\s#]+)(?P<anchor>#[^()\s]*)?\)",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Links:
    """Which of the repository's files are pages of the site."""

    repository: Repository
    pages: Mapping[Path, str]
    """The page of a file, by the file's path in the repository: "guides/authors.md"."""
    site: Path = Path("site")
    """Where the site's own files stand in the repository."""

    def resolved(self, text: str, written_in: Path, page: str) -> str:
        """The text of the file `written_in`, which becomes `page`, with links that lead somewhere.

        Raises:
            GraderError: when a link leads to nothing.
        """

        def link(match: re.Match[str]) -> str:
            words, target, anchor = match["words"], match["target"], match["anchor"] or ""
            if target is None:
                return match[0]
            path = Path(os.path.normpath(written_in.parent / target))
            if match["shown"]:  # the site takes pictures along; those of a lesson it has drawn itself
                shown = os.path.relpath(path, (self.site / page).parent)
                return f"!{words}({shown})" if (self.repository.root / path).is_file() else match[0]
            if path in self.pages:
                return f"{words}({os.path.relpath(self.pages[path], Path(page).parent)}{anchor})"
            if not (self.repository.root / path).exists():
                raise GraderError(f"{written_in} links to {target}, which doesn't exist.")
            return f"{words}({self.in_repository(path)}{anchor})"

        return _LINK.sub(link, text)

    def in_repository(self, path: Path) -> str:
        """The address of a file in this version of the repository."""
        kind = "tree" if (self.repository.root / path).is_dir() else "blob"
        return f"{self.repository.address}/{kind}/{self.repository.tag}/{path.as_posix()}"
