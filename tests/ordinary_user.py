"""Runs the tests of the walls as an ordinary user: `make test` does, where it is root itself.

    python -m tests.ordinary_user [TEST ...]

Root and an ordinary user have different walls, and different ways out. The user has an account of its own, which has a
name where this root may mount. Where only root may read Python, or these files, it sees them through mounts that nobody
else has.
"""

import os
import shutil
import stat
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from cellcheck.sandbox import kernel

ROOT = Path(__file__).resolve().parents[1]
TESTS = (
    "tests/sandbox",
    *(f"tests/attacks/test_{name}.py" for name in ("escaping", "reading", "writing", "groups", "without_namespaces")),
)


def main(options: list[str]) -> int:
    """The exit code of pytest; 0 where this process isn't root: whoever runs it has run all tests as that user."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return 0
    account = 10_000 + os.getpid() % 50_000
    home = tempfile.mkdtemp(prefix="u-")  # short: the path of a socket may have 107 letters
    os.chown(home, account, account)
    pid = os.fork()
    if pid == 0:
        try:
            _open_up({ROOT, Path(sys.prefix), Path(sys.base_prefix)}, _named(account, Path(home)))
            _become(account)
            _test(home, options)
        except OSError as error:
            print(f"The walls can't be tested as an ordinary user here: {error}.", file=sys.stderr, flush=True)
            os._exit(1 if os.environ.get("NOTHING_SKIPPED") else 0)
        finally:
            os._exit(1)
    try:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    finally:
        shutil.rmtree(home)


def _named(account: int, home: Path) -> Path:
    """The machine's list of accounts, with one more."""
    listed = home / "passwd"
    own = f"ordinary:x:{account}:{account}::{home}:/bin/sh\n"
    listed.write_text(Path("/etc/passwd").read_text("utf-8") + own, "utf-8")
    return listed


def _open_up(needed: set[Path], accounts: Path) -> None:
    """In this process, everybody may read these folders. What else lies in a closed folder on the way is gone."""
    closed = defaultdict(list)
    for path in needed:
        for folder in (*reversed(path.parents), path):
            if not _is_open(folder):
                closed[folder].append(path)
                break
    try:
        kernel.unshare("mount")
    except OSError:
        if closed:
            raise
        return
    kernel.mount("none", "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)
    kernel.mount(str(accounts), "/etc/passwd", flags=kernel.MS_BIND)
    for folder, paths in closed.items():
        descriptor = os.open(folder, os.O_PATH)
        whole = [folder / name for name in os.listdir(folder)] if folder in paths else paths
        kernel.mount("tmpfs", str(folder), "tmpfs", options="mode=755")
        for path in whole:
            source = f"/proc/self/fd/{descriptor}/{path.relative_to(folder)}"
            if os.path.isdir(source):
                path.mkdir(parents=True, exist_ok=True)
            else:
                path.touch()
            kernel.mount(source, str(path), flags=kernel.MS_BIND | kernel.MS_REC)
        os.close(descriptor)


def _is_open(folder: Path) -> bool:
    everybody = stat.S_IROTH | stat.S_IXOTH
    return folder.stat().st_mode & everybody == everybody


def _become(account: int) -> None:
    os.setgroups([])
    os.setresgid(account, account, account)
    os.setresuid(account, account, account)
    kernel.own_proc_files()


def _test(home: str, options: list[str]) -> None:
    os.chdir(ROOT)
    surroundings = {name: os.environ[name] for name in ("PATH", "LANG", "OMP_NUM_THREADS") if name in os.environ}
    own = {"HOME": home, "TMPDIR": home, "PYTHONDONTWRITEBYTECODE": "1"}
    together = ("--numprocesses", "2", "--dist", "loadfile", "-p", "no:cacheprovider")
    command = [sys.executable, "-m", "tests.twice", *together, *(options or TESTS)]
    os.execve(sys.executable, command, surroundings | own)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
