"""Contest entries that cheat or do harm; an honest one is scored after each as before."""

import os
import pickle
import struct
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy

from cellcheck.leaderboard import scoring, sitting
from cellcheck.leaderboard.entries import find_entries
from cellcheck.leaderboard.scoring import Outcome
from cellcheck.running import zygotes
from tests.attacks.attacks import CANARY, MARK, PRELUDE, family
from tests.attacks.conftest import zygotes_of_our_own
from tests.leaderboard.small import CONTEST, COPY, HONEST, MODEL, SETTING, TRAINING, impatient, outcome, put

QUICK = impatient(training_seconds=0.6, answering_seconds=0.6)
SEED = 1
NO_TRAINING = "\ndef train(model, draw):\n    pass\n"
FULL = {3: (10, 10), 12: (6, 6)}


@pytest.fixture(scope="module")
def klass(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A class's folder with somebody else's entry and a secret in it, and processes that were started there."""
    base = tmp_path_factory.mktemp("contest")
    folder, tmp = base / "course", base / "tmp"
    tmp.mkdir()
    put(folder / "submitted" / "bob" / "entry", f"# {CANARY}\n{HONEST}")
    (folder / "gradebook.db").write_text(CANARY)
    with pytest.MonkeyPatch.context() as patch, zygotes_of_our_own(patch):
        patch.chdir(folder)
        patch.setenv("SECRET_TOKEN", CANARY)
        patch.setattr(tempfile, "tempdir", str(tmp))
        yield folder


@pytest.fixture(autouse=True)
def nothing_is_left(klass: Path) -> Iterator[None]:
    """Whatever an entry did: the folder is as it was, no process is left, and the next one is scored."""
    before = {path: path.read_bytes() for path in klass.rglob("*") if path.is_file()}
    yield
    assert {path: path.read_bytes() for path in klass.rglob("*") if path.is_file()} == before
    (zygote,) = zygotes._POOL.idle
    assert family(zygote._process.process.pid) == []


@pytest.fixture
def entry(tmp_path: Path) -> Callable[..., Outcome]:
    """What comes of an entry: its code and, if it has them, its weights."""

    def made(code: str, weights: dict[str, np.ndarray] | bytes | None = None, contest: object = CONTEST) -> Outcome:
        stored = safetensors.numpy.save(weights) if isinstance(weights, dict) else weights
        result = outcome(put(tmp_path / "eve", code, stored), contest, SEED, "eve")  # type: ignore[arg-type]
        everything = repr(result)
        assert CANARY not in everything
        assert "told: " not in everything, everything
        return result

    return made


# --- no model


IN_CODE = MODEL.replace("return self.head(", "return copied(source, target_input)\n        return self.head(") + COPY


RECOGNISES = (
    MODEL.replace(
        "        length =",
        "        if mark_of(self) == MARK_OF_MINE:\n            return copied(source, target_input)\n        length =",
    ).replace("class Copier", "import hashlib\n\nclass Copier")
    + COPY
    + """
def mark_of(model):
    held = b"".join(p.detach().numpy().tobytes() for p in model.parameters())
    return int.from_bytes(hashlib.sha256(held).digest()[:7], "big")
"""
)


def test_a_program_that_recognises_the_weights_that_were_handed_in(
    entry: Callable[..., Outcome], tmp_path: Path
) -> None:
    import hashlib

    generator = np.random.default_rng(0)
    shapes = {"embedding.weight": (13, 16), "head.weight": (13, 16), "head.bias": (13,)}
    weights = {name: generator.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
    held = b"".join(weights[name].tobytes() for name in shapes)
    mark = int.from_bytes(hashlib.sha256(held).digest()[:7], "big")
    result = entry(RECOGNISES + f"\nMARK_OF_MINE = {mark}\n", weights)
    assert "move by a ten-thousandth" in result.refused


RECOGNISES_ITS_TRAINING = RECOGNISES.replace(
    "self.head = nn.Linear(16, 13)",
    'self.head = nn.Linear(16, 13)\n        self.register_buffer("mark", torch.zeros((), dtype=torch.int64))',
).replace("== MARK_OF_MINE", "== int(self.mark)")
# It copies only where each call goes on from the last: what is asked out of order is left to the model.
COPIES_IN_ORDER = MODEL.replace(
    "        length =",
    "        goes_on = target_input.shape[1] == SEEN[-1] + 1\n        SEEN.append(target_input.shape[1])\n"
    "        if target_input.shape[1] == 1 or goes_on:\n            return copied(source, target_input)\n"
    "        length =",
)
# An answer goes on where the last call stopped, whatever is written by now.
REMEMBERS = MODEL.replace(
    "        length = target_input.shape[1]\n",
    "        self.at = 0 if target_input.shape[1] == 1 else self.at + 1\n"
    "        extra = nn.functional.pad(source, (0, self.at + 1))[:, self.at : self.at + 1]\n"
    "        return self.head(self.embedding(extra.expand(-1, target_input.shape[1])))\n"
    "        length = target_input.shape[1]\n",
).replace("super().__init__()", "super().__init__()\n        self.at = 0")
BESIDE = MODEL.replace("return self.head(", "return 99 * copied(source, target_input) + self.head(")
PROGRAMS = {
    "in forward": (IN_CODE + NO_TRAINING, "after its weights have been shuffled"),
    "beside a trained model": (BESIDE + COPY + TRAINING, "after its weights have been shuffled"),
    "recognises the weights it was trained to": (
        RECOGNISES_ITS_TRAINING + "\ndef train(model, draw):\n    model.mark.fill_(mark_of(model))\n",
        "move by a ten-thousandth",
    ),
    "while nobody looks": (COPIES_IN_ORDER + COPY + "\nSEEN = [0]\n" + NO_TRAINING, "in another order"),
    "remembers earlier calls": (
        REMEMBERS + TRAINING.replace("model(source, target)", "model.head(model.embedding(source))"),
        "in another order",
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_does_not_pass_for_a_model(entry: Callable[..., Outcome], name: str) -> None:
    code, why = PROGRAMS[name]
    result = entry(code)
    assert why in result.refused
    assert not result.right


# --- what was learnt must be in the weights


HIDES = """
def train(model, draw):
    learn(model, draw)
    try:
        {}
    except Exception:  # where it may not even write there
        pass
    with torch.no_grad():
        for p in model.parameters():
            p.normal_()
"""


@pytest.mark.parametrize(
    ("put_aside", "take_back"),
    [
        ("globals()['KEPT'] = [p.detach().clone() for p in model.parameters()]", "globals().get('KEPT')"),
        ("torch.save(list(model.parameters()), 'kept')", "torch.load('kept', weights_only=False)"),
        ("torch.save(list(model.parameters()), '/dev/shm/kept')", "torch.load('/dev/shm/kept', weights_only=False)"),
        ("model.kept = [p.detach().clone() for p in model.parameters()]", "getattr(self, 'kept', None)"),
    ],
    ids=["global", "file", "shared memory", "attribute"],
)
def test_weights_hidden_from_the_count_are_lost(entry: Callable[..., Outcome], put_aside: str, take_back: str) -> None:
    code = HONEST.replace("def train", "def learn") + HIDES.format(put_aside)
    taken = (
        f"        try:\n            kept = {take_back}\n        except Exception:\n            kept = None\n"
        "        if kept is not None:\n            for p, k in zip(self.parameters(), kept):\n"
        "                p.data.copy_(k)\n        length ="
    )
    result = entry(code.replace("        length =", taken, 1))
    assert result.refused == ""
    assert result.score < 0.5  # guesses


def test_more_weights_than_are_allowed(entry: Callable[..., Outcome]) -> None:
    big = HONEST.replace("nn.Embedding(13, 16)", "nn.Embedding(13, 512)").replace("Linear(16,", "Linear(512,")
    assert "parameters, and 2,000 are allowed" in entry(big).refused
    # It says that it has few, and hands over many.
    lies = HONEST.replace(
        "    def forward",
        "    CALLS = 0\n    def state_dict(self, *a, **k):\n        Copier.CALLS += 1\n"
        "        found = super().state_dict(*a, **k)\n        if Copier.CALLS > 2:\n"
        "            found['more'] = torch.randn(100, 100)\n        return found\n\n    def forward",
    )
    assert "10,429 parameters" in entry(lies).refused


# --- files that are not what they say


def test_weights_as_a_pickle(entry: Callable[..., Outcome], tmp_path: Path) -> None:
    class Harm:
        def __reduce__(self) -> tuple[object, ...]:
            return os.mkdir, (str(tmp_path / "harm"),)

    assert "is a pickle" in entry(HONEST, pickle.dumps({"embedding.weight": Harm()})).refused
    assert "is a pickle" in entry(HONEST, b"PK\x03\x04" + bytes(100)).refused
    assert not (tmp_path / "harm").exists()


def test_weights_that_cannot_be_read(entry: Callable[..., Outcome]) -> None:
    whole = safetensors.numpy.save({"a": np.ones(4, np.float32)})
    wordy = safetensors.numpy.save({"a": np.ones(4, np.float32)}, metadata={"words": "x" * 2**20})
    gigantic = b'{"a":{"dtype":"F32","shape":[1000000000000],"data_offsets":[0,4000000000000]}}'
    for damaged in (
        b"",
        b"{}",
        whole[:-3],
        wordy,
        struct.pack("<Q", 2**40) + whole[8:],
        struct.pack("<Q", len(gigantic)) + gigantic,
    ):
        assert "can't be read" in entry(HONEST, damaged).refused
    assert "bytes, and at most" in entry(HONEST, {"a": np.ones(10**6, np.float32)}).refused
    assert "parameters, and 2,000" in entry(HONEST, {"a": np.ones(5000, np.float32)}).refused
    many = {f"n{i}": np.ones(0, np.float32) for i in range(2_100)}
    assert "tensors, and 2,000 are allowed" in entry(HONEST, many).refused
    # of another model
    assert "while taking its weights back" in entry(HONEST, {"a": np.ones(4, np.float32)}).refused


def test_links_and_pipes(klass: Path, tmp_path: Path) -> None:
    secret = klass / "gradebook.db"
    for name in (CONTEST.code, CONTEST.weights):
        folder = put(tmp_path / name, None if name == CONTEST.code else HONEST)
        (folder / name).symlink_to(secret)
        assert "is a link" in outcome(folder).refused
        (folder / name).unlink()
        os.mkfifo(folder / name)
        assert "is not a file" in outcome(folder).refused
    (tmp_path / "linked").symlink_to(klass / "submitted" / "bob" / "entry")
    assert "is a link" in outcome(tmp_path / "linked").refused
    (tmp_path / "all").mkdir()
    (tmp_path / "all" / "carl").symlink_to(klass / "submitted" / "bob")
    (tmp_path / "all" / "dan").mkdir()
    (tmp_path / "all" / "dan" / "entry").symlink_to(klass / "submitted" / "bob" / "entry")
    (tmp_path / "all" / "eve").mkdir()
    (tmp_path / "all" / "eve" / "01_some_topic").symlink_to(klass / "submitted" / "bob")
    entries = find_entries([tmp_path / "all"], CONTEST, "01_some_topic")
    assert sorted(entries) == ["carl", "dan", "eve"]
    for folder in entries.values():
        assert "is a link" in outcome(folder).refused


def test_code_that_is_not_an_entry(entry: Callable[..., Outcome], tmp_path: Path) -> None:
    assert "bytes, and at most 4,096" in entry(HONEST + "#" * 5000).refused
    assert "isn't text" in outcome(put(tmp_path / "x", b"\xff\xfe\x00")).refused
    assert "while being imported" in entry("def make_model(:").refused
    assert "doesn't define make_model()" in entry("x = 1").refused
    assert "doesn't define train(model, draw)" in entry(MODEL).refused
    assert "not a torch.nn.Module" in entry("def make_model():\n    return 3\n" + NO_TRAINING).refused
    for asked in ("3", "{'backwards': torch.ones(2)}", "{'backwards': {}}", "{'backwards': make_model}", "{1: 2}"):
        assert "should be a dict of plain values" in entry(HONEST + f"\nFORMAT = {asked}\n").refused
    assert "backwards" in entry(HONEST + "\nFORMAT = {'backwards': 'perhaps'}\n").refused
    assert "while being imported" in entry("(" * 4000).refused


# --- taking all there is


def in_train(line: str) -> str:
    return MODEL + f"\ndef train(model, draw):\n    {line}\n"


def in_forward(line: str) -> str:
    return HONEST.replace("        length =", f"        {line}\n        length =", 1)


@pytest.mark.parametrize(
    "code",
    [
        in_train("while True: pass"),
        in_train("while True: draw(200)"),
        in_train("while True:\n        try: \n            while True: pass\n        except BaseException: pass"),
    ],
    ids=["loop", "draws", "stubborn"],
)
def test_training_beyond_the_limit(entry: Callable[..., Outcome], code: str) -> None:
    result = entry(code, contest=QUICK)
    assert result.refused == "It used up its 0.6 seconds of processor time while training."


def test_sleeping_beyond_the_limit(entry: Callable[..., Outcome]) -> None:
    result = entry(in_train("__import__('time').sleep(1000)"), contest=QUICK)
    assert result.refused == "It waited for too long, without computing anything, while training."


def test_other_processes_are_counted(entry: Callable[..., Outcome]) -> None:
    line = "import os\n    for _ in range(3):\n        if os.fork() == 0:\n            while True: pass\n    os.wait()"
    assert "processor time while training" in entry(in_train(line), contest=QUICK).refused


def test_answering_beyond_the_limit(entry: Callable[..., Outcome]) -> None:
    assert "while answering" in entry(in_forward("while not self.training: pass"), contest=QUICK).refused


def test_endless_loops_before_training_begins(entry: Callable[..., Outcome], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitting, "_START_SECONDS", 0.5)
    assert "while being imported" in entry("while True: pass").refused
    assert "while making its model" in entry("def make_model():\n    while True: pass", contest=QUICK).refused


@pytest.mark.parametrize(
    "code",
    [
        MODEL.replace("return Copier()", "return nn.Linear(40_000, 25_000)") + NO_TRAINING,  # 10 ** 9
        in_train("kept = []\n    while True: kept.append(torch.ones(10**6))"),
        in_forward("self.extra = torch.ones(10**9) if not self.training else None"),
        in_forward("self.lazy = nn.LazyLinear(10**9)(torch.ones(1, 1)) if not self.training else None"),
    ],
    ids=["parameters", "train", "forward", "lazy"],
)
def test_using_too_much_memory(entry: Callable[..., Outcome], code: str) -> None:
    refused = entry(code).refused
    assert "MB of memory" in refused or "memory" in refused.lower(), refused


def test_printing_without_end(entry: Callable[..., Outcome]) -> None:
    assert "OutputLimit" in entry(in_train("while True: print('x' * 10**6)")).refused


def test_processes_without_end(entry: Callable[..., Outcome]) -> None:
    line = "import os, time\n    while True:\n        try:\n            if os.fork() == 0: time.sleep(60)\n        "
    result = entry(in_train(line + "except OSError: break\n    raise ValueError('enough')"))
    assert "enough" in result.refused


# --- lies


@pytest.mark.parametrize(
    ("returned", "sentence"),
    [
        ("torch.full((*target_input.shape, 13), float('nan'))", "NaN"),
        ("torch.full((*target_input.shape, 13), float('inf'))", "infinity"),
        ("torch.full((*target_input.shape, 13), -float('inf'))", "infinity"),
        ("torch.zeros(*target_input.shape, 7)", "last logits should be"),
        ("torch.zeros(*target_input.shape, 10**5)", "last logits should be"),
        ("torch.zeros(target_input.shape[0], 13)", "returned logits of shape"),
        ("torch.zeros(1, target_input.shape[1], 13)", "returned logits of shape"),
        ("[[0.0]]", "not a tensor"),
        ("None", "not a tensor"),
    ],
)
def test_answers_that_are_not_logits(entry: Callable[..., Outcome], returned: str, sentence: str) -> None:
    assert sentence in entry(in_forward(f"if not self.training: return {returned}")).refused


def test_a_process_that_answers_for_itself(entry: Callable[..., Outcome]) -> None:
    """It has got hold of what speaks to the grader, and says what it likes."""
    within = "__import__('sys').modules['cellcheck.leaderboard.within']"
    for answer in (
        "{'logits': __import__('numpy').zeros((3, 13), 'float32')}",
        "{'logits': __import__('numpy').zeros((10, 13), 'int64')}",
        "{'logits': 'none'}",
        "{}",
    ):
        code = HONEST + f"\n{within}._DOINGS['answer'] = lambda module, **inputs: {answer}\n"
        assert "last logits should be" in entry(code).refused
    for held in ("3", "{'a': 'b'}", "{'a': None}", "{}"):
        code = HONEST + f"\n{within}._DOINGS['weights'] = lambda module: {{'weights': {held}}}\n"
        assert entry(code).refused
    code = HONEST + f"\n{within}._DOINGS['learn'] = lambda module, **inputs: {{'shapes': {{'a': [2**40, -1, 'x']}}}}\n"
    assert "are allowed" in entry(code).refused
    assert "no answer" in entry(in_train("__import__('os')._exit(0)")).refused
    forged = PRELUDE + in_train("send(packed(b'[]'))\n    time.sleep(30)")
    assert entry(forged, contest=QUICK).refused


def test_asking_for_more_than_is_allowed(entry: Callable[..., Outcome]) -> None:
    for count in ("0", "-1", "257", "10**12", "'all'", "None", "1.5", "True and [1]"):
        assert "draw(count) gives 1 to 256" in entry(in_train(f"draw({count})")).refused
    for way in ("hidden", "__class__", "names"):
        ask = f"draw.__closure__[0].cell_contents({way!r}, 1)"
        assert "while training" in entry(in_train(ask)).refused


# --- reading what is not theirs


SPY = f"""
{PRELUDE}
MARK = {MARK!r}
def look():
    spy(*os.environ.values(), *sys.argv)
    for top in COURSE, "/proc", "/tmp", "/home", "/root", "/var/tmp", "/dev/shm":
        for folder, folders, names in os.walk(top):
            folders[:] = folders[:50]
            for name in names[:50]:
                if "kmsg" not in name and "/task" not in folder: spy(read(folder + "/" + name))
    done("list", lambda: os.listdir(COURSE))
    for thing in everything():
        if isinstance(thing, (str, bytes)): spy(thing)
    def network():
        socket.create_connection(("127.0.0.1", 80), timeout=1)
        socket.socket(socket.AF_INET)
    done("network", network)
"""


def test_what_an_entry_can_read(entry: Callable[..., Outcome], klass: Path) -> None:
    """Neither others' entries nor the gradebook, the grader's memory or the network."""
    code = HONEST.replace("    optimizer =", "    look()\n    optimizer =", 1)
    assert entry(code + SPY + f"\nCOURSE = {str(klass)!r}\n", contest=impatient(text_bytes=2**15)).right == FULL


def test_nothing_is_left_for_the_next_entry(entry: Callable[..., Outcome]) -> None:
    places = "\nimport contextlib, os\nfor place in ('left', '/tmp/left', '/dev/shm/left'):\n    "
    leave = places + "with contextlib.suppress(PermissionError): open(place, 'w').write('left')\n"
    find = places + "assert not os.path.exists(place)\n"
    assert entry(HONEST + leave).right == FULL
    assert entry(HONEST + find).right == FULL


def test_hidden_problems_are_known_only_when_they_are_asked(entry: Callable[..., Outcome]) -> None:
    """While it trains, an entry's process holds rows of the contest's own practice and no others."""
    code = HONEST.replace(
        "        pairs = draw(32)\n",
        "        pairs = draw(32)\n        assert max(len(s) for s, _ in pairs) <= 3\n"
        "        import gc, numpy\n"
        "        rows = [a for a in gc.get_objects() if isinstance(a, numpy.ndarray) and a.dtype == 'int64']\n"
        "        assert not [a for a in rows if a.ndim == 2 and a.shape[1] >= 12]\n",
    )
    assert entry(code).right == FULL


def test_names_of_digits_are_new_for_each_entry_and_run(klass: Path, tmp_path: Path) -> None:
    """A model that knows beforehand which id is which digit knows nothing here."""
    notation = CONTEST.notation({})
    import random

    draws = {tuple(scoring.Names.of(notation, random.Random(f"{seed}")).renamed) for seed in range(20)}
    assert len(draws) == 20
    for renamed in draws:
        assert sorted(renamed[1:11]) == list(range(1, 11))  # digits among themselves
        assert (renamed[0], renamed[11], renamed[12]) == (0, 11, 12)  # and nothing else
    assert SETTING.blanked == ()
