"""Where control groups can be made, on machines of every kind. What they are good for, tests/attacks/ shows."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cellcheck.sandbox.groups import Home, NoGroups, find, home, sweep

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there are control groups on Linux only")
UNIFIED = "30 23 0:26 {root} /sys/fs/cgroup {options} shared:9 - cgroup2 cgroup2 rw,nsdelegate"
SEPARATE = "3{n} 31 0:3{n} {root} /sys/fs/cgroup/{name} {options} - cgroup cgroup rw,{name}"
TERMINAL = "/user.slice/user-1000.slice/user@1000.service/app.slice/terminal.scope"


class Machine:
    """A root folder with a few files as Linux has them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.write("proc/self/mountinfo", "22 1 8:1 / / rw - ext4 /dev/root rw")
        self.write("proc/self/cgroup", "")
        self.tree = root / "sys/fs/cgroup"

    def write(self, path: str, text: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        with open(self.root / path, "a", encoding="ascii") as file:
            file.write(f"{text}\n" if text else "")

    def unified(self, place: str, options: str = "rw,nosuid", root: str = "/") -> None:
        """A tree of version 2 with this process in the group `place`."""
        self.write("proc/self/mountinfo", UNIFIED.format(options=options, root=root))
        self.write("proc/self/cgroup", f"0::{place}")

    def group(self, place: str, controllers: str = "", enabled: str = "", processes: tuple[int, ...] = ()) -> None:
        """A group of version 2; `enabled` is what the groups below it have."""
        folder = f"sys/fs/cgroup{place}"
        self.write(f"{folder}/cgroup.controllers", controllers)
        self.write(f"{folder}/cgroup.subtree_control", enabled)
        self.write(f"{folder}/cgroup.procs", "\n".join(map(str, processes)))
        if place != "/":
            self.write(f"{folder}/cgroup.type", "domain")

    def separate(self, *names: str, place: str = "/", options: str = "rw", root: str = "/") -> None:
        """Trees of version 1."""
        for n, name in enumerate(names):
            self.write("proc/self/mountinfo", SEPARATE.format(n=n, name=name, options=options, root=root))
            self.write("proc/self/cgroup", f"{n + 2}:{name}:{place}")
            below = os.path.relpath(place, root)
            self.write(f"sys/fs/cgroup/{name}/{below}/cgroup.procs", str(os.getpid()))

    def reason(self) -> str:
        """Why there are no groups."""
        with pytest.raises(NoGroups) as refused:
            find(self.root)
        return str(refused.value).replace(str(self.root), "")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


# --- version 2 --------------------------------------------------------------------------------------------------


def test_beside_the_terminal_where_the_users_own_slice_is_delegated(machine: Machine) -> None:
    machine.unified(TERMINAL)
    machine.group("/", "cpu memory pids", "cpu memory pids")
    machine.group(os.path.dirname(TERMINAL), "cpu memory pids", "memory pids")
    machine.group(TERMINAL, "memory pids", processes=(1, os.getpid()))  # 1 stands for the shell
    assert find(machine.root) == Home(2, {"memory": machine.tree / os.path.dirname(TERMINAL)[1:]})


def test_it_makes_room_where_the_grader_is_alone(machine: Machine) -> None:
    machine.unified("/grader.scope")
    machine.group("/", "memory pids")
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as child:  # a zygote, say
        machine.group("/grader.scope", "cpu memory pids", processes=(os.getpid(), child.pid))
        scope = machine.tree / "grader.scope"
        assert find(machine.root) == Home(2, {"memory": scope})
        child.communicate()
    assert (scope / "cgroup.subtree_control").read_text() == "+memory +pids +cpu"
    assert (scope / f"grader-{os.getpid()}-own" / "cgroup.procs").exists()


def test_nobody_else_is_moved(machine: Machine) -> None:
    machine.unified("/session.scope")
    machine.group("/", "memory pids")
    machine.group("/session.scope", "memory pids", processes=(1, os.getpid()))
    assert "shares the group /sys/fs/cgroup/session.scope with other programs" in machine.reason()
    assert not [*machine.tree.glob("**/grader-*")]


def test_at_the_machines_root_processes_are_in_nobodys_way(machine: Machine) -> None:
    machine.unified("/")
    machine.group("/", "cpu memory pids", processes=(1, os.getpid()))
    assert find(machine.root) == Home(2, {"memory": machine.tree})
    assert "+memory +pids" in (machine.tree / "cgroup.subtree_control").read_text()


def test_a_container_whose_tree_is_mounted_read_only(machine: Machine) -> None:
    machine.unified("/", options="ro,nosuid")
    machine.group("/", "cpu memory pids", processes=(1,))
    machine.write("sys/fs/cgroup/cgroup.type", "domain")
    assert "mounted read-only" in machine.reason()


def test_an_account_that_may_not_write(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    machine.unified("/user.slice/session.scope")
    machine.group("/user.slice", "memory pids", "memory pids")
    machine.group("/user.slice/session.scope", "memory pids", processes=(os.getpid(),))
    assert "this account may not write to /sys/fs/cgroup/user.slice." in machine.reason()
    assert "systemd-run" in machine.reason()


def test_without_the_controllers(machine: Machine) -> None:
    machine.unified("/a/b")
    machine.group("/", "cpu memory pids", "cpu")
    machine.group("/a", "cpu", "cpu")
    machine.group("/a/b", "cpu", processes=(os.getpid(),))
    assert "hasn't got the controllers memory and pids" in machine.reason()


# --- version 1, both, and none ------------------------------------------------------------------------------------


@pytest.mark.parametrize("root", ["/", "/docker/1"], ids=["machine", "container"])
def test_a_tree_for_each_controller(machine: Machine, root: str) -> None:
    machine.separate("cpuacct", "memory", "pids", place="/docker/1", root=root)
    below = os.path.relpath("/docker/1", root)
    expected = {name: machine.tree / name / below for name in ("memory", "pids", "cpuacct")}
    assert find(machine.root) == Home(1, expected)


def test_beside_a_second_version_without_controllers_the_first_is_used(machine: Machine) -> None:
    machine.write(
        "proc/self/mountinfo", UNIFIED.format(options="rw", root="/").replace("cgroup rw", "cgroup/unified rw")
    )
    machine.write("proc/self/cgroup", "0::/")
    machine.write("sys/fs/cgroup/unified/cgroup.controllers", "")
    machine.separate("cpuacct", "memory", "pids")
    assert find(machine.root).version == 1


def test_read_only_trees(machine: Machine) -> None:
    machine.separate("cpuacct", "memory", "pids", options="ro")
    assert "read-only" in machine.reason()


def test_a_controller_is_missing(machine: Machine) -> None:
    machine.separate("cpuacct", "memory")
    assert machine.reason() == "the controller pids isn't there"


def test_a_group_that_is_out_of_sight(machine: Machine) -> None:
    machine.separate("cpuacct", "memory", "pids", place="/a", root="/b")
    assert "can't be seen" in machine.reason()


def test_none_at_all(machine: Machine, tmp_path: Path) -> None:
    assert machine.reason() == "none are mounted"
    with pytest.raises(NoGroups, match="none are mounted"):
        find(tmp_path / "no Linux")


# --- what killed graders leave -------------------------------------------------------------------------------------


def test_the_groups_of_the_dead_are_removed(tmp_path: Path) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    groups = {name: tmp_path / name for name in (f"grader-{ended.pid}-0", f"grader-{os.getpid()}-0", "others")}
    for group in groups.values():
        group.mkdir()
    sweep(Home(2, {"memory": tmp_path}))
    assert {path.name for path in tmp_path.iterdir()} == {f"grader-{os.getpid()}-0", "others"}


def test_a_killed_grader_leaves_nothing_for_long() -> None:
    """On this machine, where it has groups."""
    try:
        here = home()
    except NoGroups as reason:
        pytest.skip(f"there are no control groups: {reason}")
    # It says itself what it has made: once it's dead, any other grader on this machine may remove that.
    lines = """
import os
from cellcheck.sandbox.groups import Group, home
Group(home())
for folder in home().folders.values():
    print(*folder.glob(f"grader-{os.getpid()}-*"), sep="\\n", flush=True)
os.kill(os.getpid(), 9)"""
    output = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, check=False).stdout
    left = [Path(line) for line in output.splitlines()]
    assert len(left) == len(here.folders)
    sweep(here)
    assert not [group for group in left if group.exists()]
