"""What is shown and what is hidden: a course below /usr, an environment inside a course, a course above Python."""

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from cellcheck.sandbox import sight
from cellcheck.sandbox.reasons import why_no_namespaces
from cellcheck.sandbox.sight import CannotHide, Sight
from tests.sandbox.test_walls import behind_walls

linux = pytest.mark.skipif(sys.platform != "linux", reason="there are walls on Linux only")


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with a Python in usr/lib, a course with an environment of its own below usr, and a link to it."""
    for name in ("usr/lib/python", "usr/lib/course/submitted/ada", "usr/lib/course/env/lib/torch", "usr/bin"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "home").symlink_to("usr/lib/course")
    needed = [tmp_path / name for name in ("usr/lib", "usr/lib/python", "usr/bin", "home/env/lib", "usr/nothing")]
    monkeypatch.setattr(sight, "_candidates", lambda: map(str, needed))
    return tmp_path


def relative(paths: list[str], system: Path) -> list[str]:
    return [os.path.relpath(path, system) for path in paths]


def test_each_path_is_shown_once(system: Path) -> None:
    assert relative(Sight([]).shown(), system) == ["home", "usr/bin", "usr/lib"]


def test_of_a_hidden_course_only_its_python_is_shown(system: Path) -> None:
    seen = Sight([system / "home", system / "elsewhere"])
    assert relative(seen.matters(), system) == ["usr/lib/course"]
    assert relative(seen.shown(below=seen.matters()[0]), system) == ["usr/lib/course/env/lib"]
    allowed = relative(seen.without_hidden(), system)
    assert allowed == ["usr/bin", "usr/lib/course/env/lib", "usr/lib/python"]


def test_a_link_that_leads_to_a_link_can_be_followed(system: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody's environment may be such a link, and stand in the course's folder."""
    (system / "usr" / "lib" / "near").symlink_to("../../home")
    (system / "far").symlink_to(system / "usr" / "lib" / "near")
    (system / "round").symlink_to("round")
    needed = [system / "far" / "env" / "lib", system / "round" / "env"]
    monkeypatch.setattr(sight, "_candidates", lambda: map(str, needed))
    assert relative(Sight([]).shown(), system) == ["far", "home", "usr/lib/course/env/lib", "usr/lib/near"]


def test_in_a_shown_part_of_a_hidden_course_more_may_be_hidden(system: Path) -> None:
    seen = Sight([system / "usr/lib/course", system / "usr/lib/course/env/lib/torch"])
    assert relative(seen.without_hidden(), system) == ["usr/bin", "usr/lib/python"]


@pytest.mark.parametrize("name", ["usr/lib", "usr/lib/python", "home/env/lib"])
def test_what_python_needs_as_a_whole_cannot_be_hidden(name: str, system: Path) -> None:
    with pytest.raises(CannotHide, match="Move what you grade to a folder of its own"):
        Sight([system / name])


def test_a_course_around_python_hides_all_else(system: Path) -> None:
    """Nothing but what is needed is shown anyway."""
    seen = Sight([system, system / "usr"])
    assert seen.matters() == []
    assert {"usr/bin", "usr/lib"} <= {*relative(seen.without_hidden(), system)}


def test_this_python_can_be_told_from_the_folders_around_it() -> None:
    home = Path(os.__file__).parent
    with pytest.raises(CannotHide):
        Sight([home])
    assert [*Sight([home / "json"]).matters()] == [str((home / "json").resolve())]


LOOK = """
attempt("gradebook", lambda: open(COURSE + "/gradebook.db").read())
attempt("submission", lambda: open(COURSE + "/submitted/ada/lesson.ipynb").read())
attempt("names", lambda: os.listdir(COURSE + "/submitted"))
attempt("copied", lambda: os.link(COURSE + "/gradebook.db", "copy"))
attempt("library", lambda: open(COURSE + "/lib/module.py").read())
attempt("beside", lambda: len(os.listdir(os.path.dirname(COURSE))) > 0)
"""


@pytest.fixture(params=["/usr/share", "/usr/lib", "/usr/local/lib", "/usr/src", "/opt"])
def course(request: pytest.FixtureRequest) -> Iterator[Path]:
    """A course with an environment of its own, where containers have theirs."""
    if not os.access(request.param, os.W_OK):
        pytest.skip(f"only root may write to {request.param}")
    with tempfile.TemporaryDirectory(dir=request.param) as folder:
        os.chmod(folder, 0o755)
        for name in ("gradebook.db", "submitted/ada/lesson.ipynb", "lib/module.py"):
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(name)
        yield Path(folder)


@linux
@pytest.mark.parametrize(
    ("who", "lacking"), [("root", ""), ("user", ""), ("root", "namespaces"), ("user", "namespaces")]
)
def test_a_course_is_hidden_wherever_it_stands(who: str, lacking: str, course: Path) -> None:
    source = f"COURSE = {str(course)!r}\n{LOOK}"
    report = behind_walls(who, source, lacking, HIDDEN=str(course), PYTHON_IS_IN=str(course))
    if lacking != ", ".join(report["missing"].keys() - {"files"}):
        pytest.skip(f"this machine lacks {report['missing']}")
    refused = {"No such file or directory", "Permission denied"}
    told = report["told"]
    assert {told["gradebook"], told["submission"], told["names"]} <= refused
    assert isinstance(told["copied"], str), "a link was made"
    assert told["library"] == "lib/module.py"


def test_without_hiding_it_would_be_seen() -> None:
    """The test above is about hiding: /usr/share itself is in sight."""
    if not os.access("/usr/share", os.W_OK):
        pytest.skip("only root may write there")
    with tempfile.TemporaryDirectory(dir="/usr/share") as folder:
        os.chmod(folder, 0o755)
        Path(folder, "gradebook.db").write_text("marks")
        source = f"attempt('gradebook', lambda: open({folder!r} + '/gradebook.db').read())"
        assert behind_walls("user", source)["told"]["gradebook"] == "marks"
        refused = behind_walls("user", "", HIDDEN="/usr/share")
    assert json.dumps(refused).startswith('{"refused": "/usr/share can')


SECRETS = (
    *("etc/jupyter/nbgrader_config.py", "etc/jupyter/jupyter_server_config.d/own.json", "etc/conda/activate.d/own.sh"),
    *("share/jupyter/kernels/own/kernel.json", "share/nbgrader/exchange/course/inbound/ada/lesson.ipynb"),
    *("pip.conf", ".condarc", ".netrc", "conda-meta/state"),
)
HARMLESS = ("etc/fonts/fonts.conf", "share/fonts/own.ttf", "lib/module.py", "ssl/cacert.pem")
PREFIX = f"""
for name in {(*SECRETS, *HARMLESS)!r}:
    attempt(name, lambda: open(PYTHON + "/" + name).read())
"""


@linux
@pytest.mark.parametrize(
    ("who", "lacking"), [("root", ""), ("user", ""), ("root", "namespaces"), ("user", "namespaces")]
)
def test_settings_of_this_python_are_hidden(who: str, lacking: str) -> None:
    """They know passwords: that of the gradebook's server, of a package index, of a kernel's service."""
    if who == "root" and os.geteuid() != 0:
        pytest.skip("not root")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        os.chmod(folder, 0o755)
        for name in (*SECRETS, *HARMLESS):
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(name)
        report = behind_walls(who, f"PYTHON = {folder!r}\n{PREFIX}", lacking, PYTHON_IS_IN=folder)
    if lacking != ", ".join(report["missing"].keys() - {"files"}):
        pytest.skip(f"this machine lacks {report['missing']}")
    assert {report["told"][name] for name in SECRETS} <= {"No such file or directory", "Permission denied"}
    assert {name: report["told"][name] for name in HARMLESS} == {name: name for name in HARMLESS}


@pytest.mark.parametrize(
    ("mark", "text", "says"),
    [
        ("proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n", "AppArmor"),
        ("proc/sys/kernel/unprivileged_userns_clone", "0\n", "kernel.unprivileged_userns_clone=1"),
        ("proc/sys/user/max_user_namespaces", "0\n", "user.max_user_namespaces=10000"),
        (".dockerenv", "", "seccomp=unconfined"),
    ],
)
def test_the_reason_is_named(mark: str, text: str, says: str, tmp_path: Path) -> None:
    assert why_no_namespaces("unshare says: no", tmp_path) == "unshare says: no"
    (tmp_path / mark).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / mark).write_text(text)
    reason = why_no_namespaces("unshare says: no", tmp_path)
    assert reason.startswith("unshare says: no. ")
    assert says in reason
