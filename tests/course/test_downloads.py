"""Downloads: resumed, checked, kept, read from a mirror, and one sentence where there is no network."""

import gzip
import hashlib
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from transformer_course import downloads
from transformer_course.downloads import Listed, NotAvailable, cache_folder, downloaded, listed
from transformer_course.tasks.multi30k import copy, multi30k, word_by_word

CONTENT = bytes(range(256)) * 1000


class Server(http.server.ThreadingHTTPServer):
    """Serves CONTENT; may break off, ignore ranges, or send something else."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[str | None] = []
        self.breaks_after: int | None = None
        self.knows_ranges = True
        self.content = CONTENT


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        wanted = self.headers["Range"]
        self.server.asked.append(wanted)
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and self.server.knows_ranges else 0
        body = self.server.content[start:]
        self.send_response(206 if start else 200)
        self.end_headers()
        self.wfile.write(body[: self.server.breaks_after])

    def log_message(self, *_: object) -> None:
        """Quietly."""


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    serving = Server()
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    entry = Listed(
        f"http://127.0.0.1:{serving.server_address[1]}/file", len(CONTENT), hashlib.sha256(CONTENT).hexdigest(), "none"
    )
    monkeypatch.setattr(downloads, "listed", lambda: {"set/file.gz": entry})
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(downloads.MIRROR, raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    yield serving
    serving.shutdown()
    serving.server_close()


def test_a_file_is_downloaded_once(server: Server) -> None:
    path = downloaded("set/file.gz")
    assert path == downloaded("set/file.gz") == cache_folder() / "set/file.gz"
    assert path.read_bytes() == CONTENT
    assert server.asked == [None]


def test_a_broken_download_goes_on_where_it_stopped(server: Server) -> None:
    server.breaks_after = 100_000
    for _ in range(2):
        with pytest.raises(NotAvailable, match="goes on where it stopped"):
            downloaded("set/file.gz")
    server.breaks_after = None
    assert downloaded("set/file.gz").read_bytes() == CONTENT
    assert server.asked == [None, "bytes=100000-", "bytes=200000-"]
    assert [path.name for path in (cache_folder() / "set").iterdir()] == ["file.gz"]


def test_a_server_without_ranges_starts_again(server: Server) -> None:
    server.breaks_after = 100_000
    with pytest.raises(NotAvailable):
        downloaded("set/file.gz")
    server.breaks_after, server.knows_ranges = None, False
    assert downloaded("set/file.gz").read_bytes() == CONTENT


def test_a_wrong_file_is_never_returned_and_the_next_try_starts_afresh(server: Server) -> None:
    server.content = CONTENT[::-1]
    with pytest.raises(NotAvailable, match="sha256 differs"):
        downloaded("set/file.gz")
    server.content = CONTENT
    path = downloaded("set/file.gz")
    path.write_bytes(b"damaged later")
    assert downloaded("set/file.gz").read_bytes() == CONTENT


def test_without_a_network_it_is_one_sentence(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.shutdown()
    server.server_close()
    with pytest.raises(NotAvailable) as refused:
        downloaded("set/file.gz")
    message = str(refused.value)
    assert "\n" not in message
    assert message.count(". ") == 0
    assert downloads.MIRROR in message


def test_a_mirror_is_read_in_place_and_checked(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(downloads.MIRROR, str(tmp_path / "mirror"))
    with pytest.raises(NotAvailable, match="has no file"):
        downloaded("set/file.gz")
    path = tmp_path / "mirror" / "set" / "file.gz"
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENT)
    assert downloaded("set/file.gz") == path
    path.write_bytes(b"something else")
    with pytest.raises(NotAvailable, match="replace it"):
        downloaded("set/file.gz")
    assert server.asked == []


def test_multi30k_is_listed_whole_and_pinned() -> None:
    splits = ("train", "val", "test_2016_flickr")
    assert set(listed()) >= {f"multi30k/{split}.{language}.gz" for split in splits for language in ("en", "de")}
    for entry in listed().values():
        assert entry.url.startswith("https://raw.githubusercontent.com/")
        assert len(entry.sha256) == 64


def test_pairs_are_lines_of_the_two_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {}
    for language, text in (("en", "A dog.\nTwo cats.\n"), ("de", "Ein Hund.\nZwei Katzen.\n")):
        name = f"multi30k/val.{language}.gz"
        content = gzip.compress(text.encode())
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        files[name] = Listed("", len(content), hashlib.sha256(content).hexdigest(), "")
    monkeypatch.setattr(downloads, "listed", lambda: files)
    monkeypatch.setenv(downloads.MIRROR, str(tmp_path))
    pairs = multi30k("val")
    assert pairs == [("A dog.", "Ein Hund."), ("Two cats.", "Zwei Katzen.")]
    assert word_by_word(pairs)("two dog.") == "Zwei Hund."
    assert copy("A dog.") == "A dog."
