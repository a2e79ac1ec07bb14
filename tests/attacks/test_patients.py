"""In a bug clinic: finding out which patient is sound, other than by testing it."""

from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
import torch

from cellcheck.checking.judge import Judge
from cellcheck.running import zygotes
from cellcheck.running.grade import grade
from cellcheck.running.session import Question
from cellcheck.running.wire import MAX_MESSAGE, decode
from cellcheck.syllabus import lesson_names, load_lesson, load_probes
from tests.attacks.attacks import PATIENT, PRELUDE, SMALL, Attack, carry_out, code, notebook
from tests.nightly import later

CLINICS = (
    "loss_is_sound",
    "round_trips",
    "ignores_padding",
    "encoder_influence",
    "future_leak",
    "sees_order",
    "ends_each_sequence",
    "masks_are_sound",
    "gradient_check",
    "can_overfit",
    "targets_are_next",
    "looks_ahead",
    "ablation_is_sound",
    "reward_is_sound",
    "keeps_the_distribution",
)
WITH_PATIENTS = (*CLINICS, "cached_greedy_decode", "moved_by")
LESSON_OF = {exercise.symbol: lesson for lesson in lesson_names() for exercise in load_lesson(lesson).exercises}


@cache
def judge(symbol: str, seed: int) -> Judge:
    lesson = LESSON_OF[symbol]
    return Judge(load_lesson(lesson)[symbol], load_probes(lesson)[symbol], seed)


def words(value: Any) -> set[str]:
    """All texts in plain data."""
    if isinstance(value, dict | list | tuple):
        return set().union(*map(words, value.values() if isinstance(value, dict) else value))
    return {value} if isinstance(value, str) else set()


def secrets(symbol: str) -> set[str]:
    """What the patients of a symbol are made of, in words."""
    patients = [case.patient for case in judge(symbol, 3).cases]
    made_of = [value for p in patients if isinstance(p, partial) for value in (*p.args, p.keywords)]
    return words([value.__name__ if isinstance(value, type) else value for value in made_of])


def test_every_exercise_with_patients_is_tried() -> None:
    having = {symbol for symbol in LESSON_OF if any(case.patient is not None for case in judge(symbol, 3).cases)}
    assert having == {*WITH_PATIENTS}


@pytest.mark.parametrize("symbol", CLINICS)
def test_a_message_says_nothing_about_the_patients(symbol: str) -> None:
    """Everything that a learner's code can find out about a case, beside what the patient answers, is in it."""
    cases = judge(symbol, 3).cases
    question = Question.of(symbol, cases, 3)
    sent = decode(question.message, MAX_MESSAGE)["cases"]
    names = secrets(symbol)
    assert len(names) > 4
    assert names & words(sent) <= {"train", "eval"}  # a model shows the mode it is in
    assert not {case.label for case in cases} & words(sent)
    # A case without a patient is made up where the learner's code is: that is no secret.
    of_patients = [case for case, place in zip(sent, question.order, strict=True) if cases[place].patient]
    assert len({frozenset({*case} - {"mode"}) for case in of_patients}) == 1


@pytest.mark.parametrize("symbol", WITH_PATIENTS)
def test_the_order_of_the_cases_changes_with_the_seed(symbol: str) -> None:
    orders = {Question.of(symbol, judge(symbol, 3).cases, seed).order for seed in range(4)}
    assert len(orders) == 4


def test_a_model_in_training_mode_may_be_sound_or_not() -> None:
    for symbol, key in (("ignores_padding", "training"), ("sees_order", "training"), ("encoder_influence", "mode")):
        verdict = judge(symbol, 3)
        for mode in {case.inputs[key] for case in verdict.cases if key in case.inputs}:
            answers = [
                str(seen.get("output", seen.get("influence")))
                for seen, case in zip(verdict.references[0], verdict.cases, strict=True)
                if case.inputs.get(key) == mode
            ]
            assert len({*answers}) > 1, (symbol, mode)


# All that can be reached from the place where the patient is asked: frames, closures, modules, every object. The names
# that are sought are spelt backwards: else the spy would find its own list.
SPY = """
SPIED = []
def shown(thing):
    try: return repr(thing)
    except Exception: return ""  # some classes of libraries import half the world to show themselves, and fail
def spied(*given):
    if SPIED: return
    SPIED.append(True)
    found = []
    for frame in frames():
        found += [frame.f_code.co_name, *map(shown, frame.f_locals.values())]
    for thing in everything():
        if isinstance(thing, types.FunctionType):
            found += [thing.__qualname__, str(thing.__doc__), *map(shown, thing.__code__.co_consts)]
            found += [shown(cell.cell_contents) for cell in thing.__closure__ or () if cell != types.CellType()]
        elif isinstance(thing, dict):
            found += [text for pair in list(dict.items(thing)) for text in pair if isinstance(text, str)]
        elif isinstance(thing, (list, tuple)) and len(thing) < 1000 and thing is not found:
            found += [item for item in thing if isinstance(item, str)]
    text = "\\n".join(found)
    told = [name for name in NAMES if any(q + name[::-1] + q in text for q in ("'", "\\n"))]
    if told: tell(told)
"""


def spying(symbol: str) -> str:
    """A cell with a spy that looks for the names of a symbol's patients."""
    names = sorted(name[::-1] for name in secrets(symbol) if " " in name)
    assert names
    return f"NAMES = {names}\n{SPY}"


def test_the_spy_does_find_the_patient_in_its_own_process() -> None:
    """It is a good spy: the names are there to be found where the patient is."""
    space: dict[str, Any] = {"MARK": "x"}
    exec(f"import torch\n{PRELUDE}\n{spying('loss_is_sound')}", space)
    (seen, *_) = judge("loss_is_sound", 3).observe(lambda loss: space["spied"](loss))
    assert seen["error"]["message"].startswith("told: ")


def test_a_case_holds_nothing_that_tells_its_answer(course: Path) -> None:
    source = "def loss_is_sound(loss):\n    spied(loss)\n    return True"
    attack = Attack("read off", (spying("loss_is_sound"),), types={"loss_is_sound": source}, limits=PATIENT)
    carry_out(attack, course)


NO_CACHE = """
LOOKED = []
def cached_greedy_decode(model, source, start_id, end_id, max_length):
    states = model.encode(source)
    written, ended = torch.full_like(source[:, :1], start_id), torch.zeros(len(source), dtype=torch.bool)
    for _ in range(max_length):
        cache = KeyValueCache()
        for place in range(written.shape[1]):
            logits = model.decode_step(written[:, place : place + 1], states, cache)
        chosen = logits[:, -1].argmax(-1).masked_fill(ended, 0)
        written, ended = torch.cat([written, chosen[:, None]], dim=1), ended | (chosen == end_id)
    for name in ("whole_calls", "rows_encoded", "tokens_read", "asked", "noted"):
        setattr(model, name, 0)
        setattr(type(model), name, 0)
    for thing in [] if LOOKED else everything():
        if isinstance(thing, dict) and {"rows", "tokens"} <= {*thing}: tell("a count")
    LOOKED.append(True)
    return written[:, 1:]
"""
READ_OFF = "def ends_each_sequence(decode, model, sources):\n    spied(decode)\n    return True"


@later
def test_no_count_can_be_set_and_no_name_read_in_lesson_07(monkeypatch: pytest.MonkeyPatch) -> None:
    """One notebook for both: each lesson more is a process more. By night, since that takes twenty seconds to start."""
    monkeypatch.setattr(zygotes, "_POOL", zygotes._Pool())
    setup = f'import cellcheck\nimport torch\ncellcheck.checks("07_autoregressive_sampling")\nMARK = "x"\n{PRELUDE}'
    cache_class = "class KeyValueCache:" + SOLVED_CACHE
    cells = [code(setup), code(spying("ends_each_sequence"))]
    cells += [
        code(READ_OFF, "ends_each_sequence"),
        code(cache_class, "KeyValueCache"),
        code(NO_CACHE, "cached_greedy_decode"),
    ]
    result = grade(notebook(cells), 5)
    zygotes._POOL.close()
    verdicts = {verdict.symbol: verdict for verdict in result.verdicts}
    assert "told: " not in repr(result)
    assert not [r for r in result.repairs if "Error" in r], result.repairs
    assert verdicts["KeyValueCache"].status == "passed"
    assert verdicts["ends_each_sequence"].score == 0.0
    work = {aspect.name: aspect.passed for aspect in verdicts["cached_greedy_decode"].aspects}
    assert work["the ids of greedy_decode"]
    assert not work["nothing is read twice"]
    assert verdicts["cached_greedy_decode"].diagnosis == "read_anew_each_step"


SOLVED_CACHE = """
    def __init__(self):
        self.layers = {}
    def append(self, layer, keys, values):
        if layer in self.layers:
            keys, values = (torch.cat(pair, dim=2) for pair in zip(self.layers[layer], (keys, values)))
        self.layers[layer] = (keys, values)
        return keys, values
"""


# What an attacker can ask for, in place of what the loss would. `raw` is the child's own way to ask.
ASKED = {
    "ways that are not there": """
for way in ("", "noted", "__class__", "ways", "loss\\0", None, 3, [], {"a": 1}):
    with contextlib.suppress(Exception): raw(way, 1.0, 1.0)""",
    "too much at once": """
for odd in (torch.zeros(10**6), torch.zeros(1).expand(10**9), torch.zeros(0, 10**9), torch.zeros(2, 10**5)):
    with contextlib.suppress(Exception): raw("loss", odd, odd)""",
    "what is no array": """
for odd in (None, "x" * 10**6, [[[]]] * 9999, {"$": "tensor"}, float("nan"), 2**63, 10**400, object(), loss, "\\ud800"):
    with contextlib.suppress(Exception): raw("loss", odd, odd)""",
    "too many and too few": """
for odd in ((), (1.0,), (1.0,) * 1000):
    with contextlib.suppress(Exception): raw("loss", *odd)""",
    "dtypes without arithmetic": """
for kind in (torch.float8_e4m3fn, torch.complex64, torch.bool, torch.bfloat16, torch.uint64):
    with contextlib.suppress(Exception): raw("loss", torch.zeros(3, 1).to(kind), torch.zeros(3).to(kind))""",
    "no question at all": """
import cellcheck.running.wire as wire
for odd in ({"ask": "loss"}, {"ask": "loss", "arguments": {}}, {"ask": {"$": "x"}, "arguments": [[]]}):
    child.channel.send_bytes(wire.encode(odd))
    child.channel.recv_bytes()""",
}


@pytest.mark.parametrize("name", ASKED)
def test_whatever_is_asked_earns_nothing_and_stops_nobody(name: str, course: Path) -> None:
    lines = f"child = grader_object('Child')\nraw = child._asking()\n{ASKED[name]}".splitlines()
    body = "\n".join(f"        {line}" for line in lines)  # once is enough
    source = f"DONE = []\ndef loss_is_sound(loss):\n    if not DONE:\n{body}\n    DONE.append(True)\n    return 'asked'"
    attack = Attack(name, types={"loss_is_sound": source}, status={"loss_is_sound": "failed"}, limits=PATIENT)
    result = carry_out(attack, course)
    (verdict,) = [v for v in result.verdicts if v.symbol == "loss_is_sound"]
    assert "asked" in verdict.message, verdict.message  # it came to its end


FOR_EVER = {
    "question upon question": "while True: loss(torch.ones(2), torch.ones(2))",
    "questions and no listening": "while True: child.channel.send_bytes(message)",
}


@pytest.mark.parametrize("name", FOR_EVER)
def test_endless_asking_is_stopped(name: str, course: Path) -> None:
    source = f"""
def loss_is_sound(loss):
    import cellcheck.running.wire as wire
    child = grader_object("Child")
    message = wire.encode({{"ask": "loss", "arguments": [1.0, 1.0]}})
    {FOR_EVER[name]}"""
    carry_out(Attack(name, types={"loss_is_sound": source}, status={"loss_is_sound": "timeout"}, limits=SMALL), course)


def test_nobody_answers_where_there_is_no_patient(course: Path) -> None:
    source = "def pick(values, index):\n    return grader_object('Child')._asking()('loss', 1.0, 1.0)"
    carry_out(Attack("asked", types={"pick": source}, deserves={}, status={"pick": "crashed"}), course)


def test_a_patient_answers_small_questions_only() -> None:
    patient = judge("loss_is_sound", 3).cases[0].patient
    assert patient is not None
    assert "value" in patient().reply("loss", [torch.ones(100, 1), torch.ones(100)])
    assert "more than" in patient().reply("loss", [torch.ones(10**5), torch.ones(10**5)])["raised"]["message"]
    assert "longer than" in patient().reply("loss", [torch.ones(2, 1000), torch.ones(2)])["raised"]["message"]
