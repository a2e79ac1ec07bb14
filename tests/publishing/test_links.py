"""Links in the repository's texts: to pages where there are some, else to the repository, and never to nothing."""

from pathlib import Path

import pytest

from cellcheck.errors import GraderError
from cellcheck.publishing.links import Links
from cellcheck.repository import Repository

REPOSITORY = Repository.find(Path(__file__).parent)
AUTHORS, LIMITS = Path("docs/authors.md"), Path("docs/limits.md")
LINKS = Links(REPOSITORY, {AUTHORS: "guides/authors.md", LIMITS: "guides/limits.md"})


@pytest.mark.parametrize(
    ("text", "resolved"),
    [
        ("[a](limits.md)", "[a](limits.md)"),
        ("[a](../docs/limits.md#memory-and-time)", "[a](limits.md#memory-and-time)"),
        ("[`a` [b]](limits.md)", "[`a` [b]](limits.md)"),
        ("[a](https://example.org/limits.md)", "[a](https://example.org/limits.md)"),
        ("[a](#here)", "[a](#here)"),
        ("`[a](nowhere.md)` and [b](limits.md)", "`[a](nowhere.md)` and [b](limits.md)"),
        ("```\n[a](nowhere.md)\n```\n[b](limits.md)", "```\n[a](nowhere.md)\n```\n[b](limits.md)"),
        ("![a](attachment:picture.png)", "![a](attachment:picture.png)"),
        ("![a [b]](class.png)", "![a [b]](../../docs/class.png)"),
        ("![a](../lessons/pictures/b.png)", "![a](../lessons/pictures/b.png)"),
    ],
)
def test_links_to_pages(text: str, resolved: str) -> None:
    assert LINKS.resolved(text, AUTHORS, "guides/authors.md") == resolved


def test_a_page_in_another_folder() -> None:
    assert LINKS.resolved("[a](docs/limits.md)", Path("README.md"), "start.md") == "[a](guides/limits.md)"
    assert LINKS.resolved("[a](limits.md)", AUTHORS, "guides/de/authors.md") == "[a](../limits.md)"


def test_what_has_no_page_is_in_the_repository() -> None:
    base = f"{REPOSITORY.address}/blob/{REPOSITORY.tag}"
    assert LINKS.resolved("[a](../data/README.md#b)", AUTHORS, "guides/authors.md") == f"[a]({base}/data/README.md#b)"
    tree = base.replace("/blob/", "/tree/")
    assert LINKS.resolved("[a](../data)", AUTHORS, "guides/authors.md") == f"[a]({tree}/data)"


def test_a_link_to_nothing_is_refused() -> None:
    with pytest.raises(GraderError, match=r"docs/authors\.md links to nowhere\.md, which doesn't exist"):
        LINKS.resolved("[a](nowhere.md)", AUTHORS, "guides/authors.md")
