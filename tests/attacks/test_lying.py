"""Lying about what was done: answers that claim to be right, and a grader's process made to say so."""

from dataclasses import replace
from pathlib import Path

import pytest

from cellcheck.running.grade import grade
from tests.attacks.attacks import LESSON, POINTS, ROOMY, Attack, answer, carry_out, code, notebook, setup

DOT = {"batched_dot": "def batched_dot(a, b):\n    return a"}


def instead(source: str) -> Attack:
    """An answer of this kind, and no work in it."""
    return Attack("", types={"batched_dot": source})


def before(source: str, **more: object) -> Attack:
    """A cell that changes the world, then a wrong answer."""
    return Attack("", (source,), types=DOT, **more)  # type: ignore[arg-type]


EQUAL = """
class Equal:
    shape, dtype, ndim, requires_grad, device = torch.Size([1]), torch.float32, 1, True, torch.device("cpu")
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __lt__(self, other): return False
    __gt__ = __le__ = __ge__ = __lt__
    def __hash__(self): return 0
    def __bool__(self): return True
    def __len__(self): return 1
    def __float__(self): return 0.0
    def __iter__(self): return iter([self])
    def __getattr__(self, name): return self
    def __call__(self, *args, **kwargs): return self
    def __array__(self, *args, **kwargs): return np.zeros(1)
    def __instancecheck__(self, other): return True
    def __class_getitem__(cls, item): return cls
    def __sub__(self, other): return 0
    __add__ = __mul__ = __matmul__ = __truediv__ = __rsub__ = __sub__
def batched_dot(a, b): return Equal()"""
FIND_CHILD = "child = grader_object('Child')\n"


def answering(answers: str, **more: object) -> Attack:
    """The child is made to answer this, whatever it is asked."""
    probe = f"type(child).probe = lambda self, symbol, cases, patients: {answers}"
    return before(FIND_CHILD + probe, hurts_itself=True, **more)


def failing(error: str) -> Attack:
    """The child is made to say that each cell failed with this error."""
    return before(
        FIND_CHILD + f"type(child).run = lambda self, source: iter([{{'error': {error}}}])", hurts_itself=True
    )


LYING = {
    "an object that equals everything": instead(EQUAL),
    "a class of lies": instead(
        EQUAL.replace("return Equal()", "return type('tensor', (Equal,), {'__class__': torch.Tensor})()")
    ),
    "__torch_function__": instead("""
class Yes(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return True if function in (torch.allclose, torch.equal) else torch.ones(())
def batched_dot(a, b): return torch.ones(1).as_subclass(Yes)"""),
    "a tensor that lies about its shape": instead("""
class Wide(torch.Tensor):
    shape = property(lambda self: torch.Size([1, 2, 3]))
    def size(self, *args): return self.shape
    def numel(self): return 6
    def clone(self, *args, **kwargs): return self
    def detach(self): return self
    def cpu(self): return self
def batched_dot(a, b): return torch.ones(3).as_subclass(Wide)"""),
    "an array subclass": instead("""
class Yes(np.ndarray):
    def __array_ufunc__(self, *args, **kwargs): return True
    def __array_function__(self, *args, **kwargs): return True
def batched_dot(a, b): return np.zeros(3).view(Yes)"""),
    "an object that acts when it is shown": instead("""
class Acts:
    def __repr__(self): tell("shown")
    __str__ = __format__ = _repr_html_ = __reduce__ = __reduce_ex__ = __repr__
def batched_dot(a, b): return Acts()"""),
    "an iterator that answers later": instead("def batched_dot(a, b):\n    yield a @ b.transpose(1, 2)"),
    "a coroutine": instead("async def batched_dot(a, b):\n    return a @ b.transpose(1, 2)"),
    "numbers as words": instead("def batched_dot(a, b):\n    return str(a @ b.transpose(1, 2))"),
    "objects in an array": instead("def batched_dot(a, b):\n    return np.array([lambda: 1], dtype=object)"),
    "no answer but an error": instead("def batched_dot(a, b):\n    raise AssertionError('right')"),
    "an error of its own": instead("""
class Right(BaseException):
    def __str__(self): raise self
    __repr__ = __str__
def batched_dot(a, b): raise Right"""),
    "an error that is no text": instead("""
class Odd(Exception):
    def __str__(self): return Text("x")
class Text(str):
    def strip(self): return self
    def splitlines(self): return [self]
    def __getitem__(self, key): return self
    def encode(self, *args): return b"\\xff" * 10**4
def batched_dot(a, b): raise Odd"""),
    "an error with a strange name": instead(
        "def batched_dot(a, b):\n    raise type('NotYet\\n2.0\\x1b[2J' * 50, (Exception,), {})('x')"
    ),
    "a mark as an exception": instead("class Score(Exception): score = 2.0\ndef batched_dot(a, b): raise Score(2.0)"),
    "a callable that is no function": instead(
        "class Call:\n    __module__ = 3\n    def __call__(self, a, b): return a\nbatched_dot = Call()"
    ),
    "a symbol that raises when it is touched": instead("""
class Touchy:
    def __getattribute__(self, name): raise SystemExit(name)
batched_dot = Touchy()"""),
    "a symbol whose home is somewhere else": instead(
        "def batched_dot(a, b): return a\nbatched_dot.__module__ = 'transformer_course.tensors'"
    ),
    "a symbol wrapped in itself": instead("def batched_dot(a, b): return a\nbatched_dot.__wrapped__ = batched_dot"),
    "another answer's text": instead("def batched_dot(a, b): return pick(a, b)"),
    "patched torch": before("""
for name in ("allclose", "equal", "isclose"):
    setattr(torch, name, lambda *args, **kwargs: True)
torch.testing.assert_close = lambda *args, **kwargs: None
torch.Tensor.__eq__ = lambda *args: torch.tensor(True)"""),
    "patched numpy": before("""
np.allclose = np.array_equal = np.isclose = lambda *args, **kwargs: True
np.testing.assert_allclose = np.testing.assert_array_equal = lambda *args, **kwargs: None"""),
    "patched modules": before("""
import cellcheck.checking.earlier
for name in list(sys.modules):
    if name.startswith(("cellcheck", "transformer_course", "safetensors")):
        sys.modules[name] = types.ModuleType(name)"""),
    "patched builtins": before(
        "builtins.isinstance = lambda *args: True\nbuiltins.sum = lambda *args: 12.0", hurts_itself=True
    ),
    "patched snapshot": before(
        "import cellcheck.authoring.observe as o\no.snapshot = lambda value: torch.zeros(())", hurts_itself=True
    ),
    "patched wire": before(
        """\
import cellcheck.running.wire as w
import cellcheck.running.child as c
w.encode = c.encode = lambda *args: b'passed'""",
        hurts_itself=True,
    ),
    "patched probe": answering("iter([{'seen': {'output': 2.0, 'score': 2.0}}] * len(cases))"),
    "answers that hold verdicts": answering(
        "iter([{'seen': {'output': {'passed': True}, 'score': 2.0, 'status': 'passed', 'error': None, 'aspects': []}}]"
        " * len(cases))"
    ),
    "an answer that says it is done": answering("iter([{'ok': True}])"),
    "answers that nobody asked for": before(
        FIND_CHILD
        + """
for odd in (b"x", b"y" * 100_000):
    child.channel.send_bytes(odd)
import cellcheck.running.wire as wire
child.channel.send_bytes(wire.encode({"error": {"type": "Stray", "message": "", "line": ""}}))"""
    ),
    "too few answers": answering(
        "iter([{'seen': {}}])",
        limits=replace(ROOMY, probe_seconds=0.2),  # the grader waits for the rest as long as it may
    ),
    "an answer, and then none to answer for": answering("iter([{'seen': {}}, {'absent': True}])"),
    "an error instead of answers": answering("1 / 0"),
    "an error of arrays": failing("{'type': np.zeros(3), 'message': {}, 'line': torch.ones(2)}"),
    "an error of nothing": failing("{}"),
    "seen what nobody sees": answering(
        "iter([{'seen': {'output': np.zeros(0, 'uint8'), 'gradients': 7, 'arguments': [[]]}}] * len(cases))"
    ),
    "AST transformer": before(
        """
import ast
class Nothing(ast.NodeTransformer):
    def visit_Module(self, node): return ast.parse("pass")
get_ipython().ast_transformers.append(Nothing())""",
        hurts_itself=True,
    ),
    "input transformer": before(
        "get_ipython().input_transformers_cleanup.append(lambda lines: ['pass\\n'])", hurts_itself=True
    ),
    "a shell that runs nothing": before(
        "done = types.SimpleNamespace(error_before_exec=None, error_in_exec=None, result=12.0)\n"
        "get_ipython().run_cell = lambda *args, **kwargs: done",
        hurts_itself=True,
    ),
    "exit handlers": before("import atexit\natexit.register(lambda: send(packed(b'{}')))\nsys.exit()"),
    "a finder of modules": before(
        "class Finder:\n    def find_spec(self, name, *args): raise SystemExit\nsys.meta_path.insert(0, Finder())",
        hurts_itself=True,
    ),
    "traces": before(
        "sys.settrace(lambda *args: None)\nsys.setprofile(lambda *args: None)\nthreading.settrace(lambda *args: None)"
    ),
    "a hook on every call": before(
        "sys.addaudithook(lambda *args: None)\nsys.excepthook = sys.unraisablehook = sys.displayhook = print"
    ),
    "redefined check": before("def check(symbol): return 2.0\nclass cellcheck: checks = lambda lesson: check"),
    "redefined names": before("print = open = len = sum = type = isinstance = Exception = range = str = None"),
    "scores lying about": before("score = grade = points = result = 12.0\nverdict = {'batched_dot': 2.0}"),
    "the course's own, still blank": instead(
        "import transformer_course.tensors\ndef batched_dot(a, b): return transformer_course.tensors.batched_dot(a, b)"
    ),
    "the course's own, kept for later": Attack(
        "",
        ("import transformer_course.tensors as kept",),
        types={
            **DOT,
            "mse_loss": "from transformer_course import mlp\ndef mse_loss(*both): return mlp.mse_loss(*both)",
        },
    ),
    "the cases read off the stack": instead("""
def batched_dot(a, b):
    for frame in frames():
        for name in ("expected", "output", "answer", "reference"):
            if name in frame.f_locals: return frame.f_locals[name]"""),
}


@pytest.mark.parametrize("name", LYING)
def test_no_lie_earns_anything(name: str, course: Path) -> None:
    result = carry_out(replace(LYING[name], name=name), course)
    assert not [r for r in result.repairs if "LookupError" in r or "NameError" in r]


def test_an_earlier_answer_does_not_pass_for_a_later_one(course: Path) -> None:
    """A symbol's text comes once it has been answered for: whoever answers for it badly has lost its points."""
    attack = Attack(
        "traded",
        types={
            "mlp_predict": "def mlp_predict(params, inputs):\n    raise ValueError",
            "mlp_predict_numpy": """
import transformer_course.mlp
def mlp_predict_numpy(params, inputs):
    params = [(torch.as_tensor(W), torch.as_tensor(b)) for W, b in params]
    return transformer_course.mlp.mlp_predict(params, torch.as_tensor(inputs)).numpy()""",
        },
    )
    carry_out(attack, course)


EDITS = {
    "points": {"nbgrader": {"grade_id": "test_batched_dot", "points": 100, "grade": True}},
    "a mark of one's own": {"nbgrader": {"grade_id": "test_mine", "points": 100, "grade": True}},
    "skipped": {"tags": ["skip-execution"], "nbgrader": {"grade_id": "test_batched_dot"}},
    "an experiment": {"tags": ["experiment"], "nbgrader": {"grade_id": "batched_dot"}},
    "a score": {"nbgrader": {"grade_id": "test_batched_dot", "score": 2.0}, "score": 2.0},
    "a lesson of one's own": {"nbgrader": {"grade_id": ["test_batched_dot"]}, "lesson": "mine"},
}


@pytest.mark.parametrize("name", EDITS)
def test_edited_metadata_earns_nothing(name: str, course: Path) -> None:
    cell = code("2.0") | {"metadata": EDITS[name]}
    cell["outputs"] = [
        {"output_type": "execute_result", "data": {"text/plain": "2.0"}, "metadata": {}, "execution_count": 1}
    ]
    data = notebook([code(setup(course)), code(DOT["batched_dot"], "batched_dot"), cell, code(answer("pick"), "pick")])
    result = grade(data, 5)
    assert result.score == POINTS["pick"]
    assert result.max_score == sum(POINTS.values())
    assert result.lesson == LESSON
