"""What can be seen of a whole classifier that a learner built: its own questions, beside those of any model."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn import functional as F

from cellcheck.authoring.calls import state
from cellcheck.authoring.modules import as_it_is, built
from transformer_course.lessons.examining import MOVED, Calls, ExaminedModel, kept, near, of_dtype

SIZES = ("vocab_size", "max_length", "d_model", "num_heads", "d_ff", "num_layers", "num_classes")

CHANGED_LATER = "The scores are changed after the last layer, so they are no longer raw."

SEES_ALL = "every real token and nothing else"


class Second(NamedTuple):
    """What is seen of a second call on the same input."""

    looks: dict[Any, Calls]
    """The calls of each block's attention."""
    order: list[nn.Module]
    """The blocks, and the norms that belong to none, in the order in which they were done."""
    alike: bool
    """Whether the logits are those of the first call."""


class ExaminedClassifier(ExaminedModel):
    """A classifier, which reads rows of ids: those that are 0 are padding."""

    returned = "logits"
    form: str | None = None
    """What is wrong with the logits as they come, in a sentence."""

    def __init__(self, symbol: Any, sizes: Mapping[str, int], tokens: torch.Tensor, dtype: torch.dtype) -> None:
        self.real = tokens != 0
        self.symbol, self.dtype = symbol, dtype
        super().__init__(symbol, {name: sizes[name] for name in SIZES}, tokens, dtype)

    def result(self, x: torch.Tensor) -> torch.Tensor:
        """The logits, (batch, num_classes). Turned round, or with an axis too many, they still are logits.

        Raises:
            _NoLogits: when they are nothing that could be looked at as logits.
        """
        return self._logits(self.model, x)

    def _logits(self, model: nn.Module, x: torch.Tensor) -> torch.Tensor:
        logits: Any = model(x)
        if logits is None:
            raise _NoLogits("Your forward returns nothing: there is no return at its end.")
        if not isinstance(logits, torch.Tensor):
            raise _NoLogits(f"Your forward should return a tensor, but it returns a {type(logits).__name__}.")
        if not logits.is_floating_point():
            raise _NoLogits("Your forward returns whole numbers, such as the best class, and no score for each class.")
        wanted, shape = (len(x), self.sizes["num_classes"]), tuple(logits.shape)
        words = f"The logits should have the shape {wanted}, but they have {shape}."
        if x is self.x and shape != wanted:
            self.form = words
        if shape != wanted and shape == wanted[::-1]:
            return logits.T
        if logits.numel() == len(x) * wanted[1]:
            return logits.reshape(wanted)
        if shape[:1] != wanted[:1]:
            raise _NoLogits(words)
        return logits

    def answers(self, questions: Sequence[str]) -> dict[str, Any]:
        """What the model answers; where there are no logits, every answer is the sentence that says so."""
        try:
            answers = super().answers(questions)
        except _NoLogits as why:
            return dict.fromkeys(questions, str(why))
        if self.form is not None and "shape_and_dtype" in answers:
            answers["shape_and_dtype"] = self.form
        return answers

    def moved(self, tokens: torch.Tensor) -> torch.Tensor:
        """Whether the logits of each row differ for other tokens: (batch,), boolean."""
        with torch.no_grad():
            moved: torch.Tensor = (self.result(tokens) - self.output).abs().amax(dim=-1) > MOVED
        return moved

    # --- the questions

    def every_logit(self) -> str:
        return "a finite number" if self.output.isfinite().all() else "Some logits are NaN or infinite."

    def the_influence_of_padding(self) -> str:
        words = self._table(self.sizes["vocab_size"])
        tables = [] if words is None else [words]
        with kept(tables):
            for table in tables:
                table.reshape(-1, table.shape[-1])[0] += torch.linspace(-2, 3, table.shape[-1], dtype=table.dtype)
            still = not self.moved(self.x).any()
        return "zero" if still else "The logits change when the vector of id 0 changes, so something reads the padding."

    def what_attention_sees(self) -> str:
        """Does attention look at the real tokens, at all of them and at nothing else, in each block?"""
        looks = {self._looks(block) for block in self.blocks}
        if not looks:
            return "No block can be found among the model's modules, so its attention can't be seen."
        return " ".join(sorted(looks - {SEES_ALL})) or SEES_ALL

    def _looks(self, block: Any) -> str:
        if not self.seen[block]:
            return "The attention of a block is never called."
        for _, weights in self.seen[block]:
            asked = self.real[:, None, :, None].expand(weights.shape)  # what padding looks at matters to nobody
            keys = self.real[:, None, None, :].expand(weights.shape)
            if (weights[asked & ~keys] > 0).any():
                return "In a block, attention looks at padding too."
            if not (weights[asked & keys] > 0).all():
                return "In a block, attention looks at only some of the real tokens."
        return SEES_ALL

    def the_order_of_the_tokens(self) -> str:
        changed = (self._turned != self.x).any(dim=1)
        counts = self._other_tokens[0][changed].all()
        return (
            "something that the logits depend on"
            if counts
            else "The logits stay the same when the tokens come in another order."
        )

    def what_reaches_the_logits(self) -> str:
        """Does each real token count? One other id may happen to change next to nothing, so up to three are tried."""
        real, moved = self.real.T, self._other_tokens[1:]
        for further in (3, 5):
            if moved[real].all():
                break
            moved = moved | self._each_moved(self._others(further))
        return "every real token" if moved[real].all() else "Some real tokens can change without changing any logit."

    @cached_property
    def _turned(self) -> torch.Tensor:
        """The real tokens before the last one in reverse order."""
        turned = self.x.clone()
        for row in turned:
            places = (row[:-1] != 0).nonzero()[:, 0]
            row[places] = row[places.flip(0)]
        return turned

    @cached_property
    def _other_tokens(self) -> torch.Tensor:
        """Which rows' logits move, (1 + length, batch): with the tokens turned round, then with one id changed."""
        return self._each_moved(torch.cat([self._turned[None], self._others(1)]))

    def _others(self, further: int) -> torch.Tensor:
        """(length, batch, length): in each copy of the tokens the ids at another place are changed, but not padding."""
        length = self.x.shape[1]
        changed = torch.where(self.real, (self.x - 1 + further) % (self.sizes["vocab_size"] - 1) + 1, 0)
        return torch.where(torch.eye(length, dtype=torch.bool)[:, None], changed, self.x)

    def _each_moved(self, others: torch.Tensor) -> torch.Tensor:
        """Of each of these batches, all in one call, the rows whose logits differ from those of the input."""
        with torch.no_grad():
            logits = self.result(others.flatten(0, 1)).reshape(*others.shape[:2], -1)
        return (logits - self.output.reshape(len(self.x), -1)).abs().amax(dim=-1) > MOVED

    def what_came_before(self) -> str:
        """Does a model that has been called before give what a new one with the same weights gives?"""
        x = self.x
        new = of_dtype(built(self.symbol, *self.sizes.values()), self.dtype).eval()
        weights, its = [*self.model.parameters()], [*new.parameters()]
        if [p.shape for p in its] != [p.shape for p in weights]:
            return "A new model has other parameters than one that has been called."
        with torch.no_grad():
            for parameter, weight in zip(its, weights, strict=True):
                parameter.copy_(weight)
            make_new = as_it_is(new)
            self.result(x)
            for tokens in (x.flip(0), x[:, 2:], torch.cat([x[:, :1], x], dim=1)):  # the same shape, shorter and longer
                make_new()
                fresh, used = (self._tried(model, tokens) for model in (new, self.model))
                if fresh is not None and (used is None or not near(fresh, used)):
                    return "The logits depend on what the model was called on before."
        return "without effect on the logits"

    def _tried(self, model: nn.Module, x: torch.Tensor) -> torch.Tensor | None:
        """The logits; None where the model stops with an error."""
        try:
            return self._logits(model, x)
        except Exception:
            return None

    def the_mode(self) -> str:
        if not self.second.alike:
            return "The logits differ from call to call, in eval mode too."
        return super().the_mode()

    def what_is_never_trained(self) -> str:
        frozen = [name for name, parameter in self.model.named_parameters() if not parameter.requires_grad]
        some = 0 < len(frozen) < len([*self.model.parameters()])
        return ", ".join(frozen[:3]) if some else super().what_is_never_trained()

    def what_training_reaches(self) -> str:
        """Does a gradient reach anything at all?"""
        if isinstance(self.reached, str) or not any(self.reached.values()):
            return "No gradient flows back from the logits, so nothing in the model can be trained."
        return "the model"

    def what_you_return(self) -> str:
        return self._returned

    @cached_property
    def _returned(self) -> str:
        ones = torch.ones_like(self.output[..., 0])
        if near(self.output.exp().sum(-1), ones):
            return "You return logarithms of shares, not raw scores."
        if near(self.output.sum(-1), ones):
            return "You return shares that sum to 1, not raw scores."
        biases = [p for p in self.model.parameters() if p.shape == (self.sizes["num_classes"],)]
        if not biases:
            return "raw scores"
        with kept(biases), torch.no_grad():
            biases[-1][0] += 3.0
            risen = self.result(self.x) - self.output
        expected = torch.zeros_like(risen)
        expected[..., 0] = 3.0
        return "raw scores" if near(risen, expected) else CHANGED_LATER

    def what_follows_the_stack(self) -> str:
        """With silent blocks, a norm after the stack makes the size of the embeddings unimportant."""
        if (calls := self.second.order.count(self._norm())) > 1:
            return f"The last norm is called {calls} times, not once after the last block."
        if not self.second.alike:
            return "a norm"  # that the logits change from call to call is said elsewhere
        tables = self._tables
        with self.silenced(self.blocks), kept(tables), torch.no_grad():
            for table in tables:
                table *= 10.0  # away from eps
            before = self.result(self.x)
            for table in tables:
                table *= 10.0
            same = near(self.result(self.x), before)
        if not same:
            return "No norm comes between the last block and the last layer."
        return "a norm" if self._normed_in_the_end() else "A norm comes before the blocks, and none after them."

    def _normed_in_the_end(self) -> bool:
        """Whether a norm is called after the last block, if those that belong to no block are called as modules."""
        norms, order = self._norms, self.second.order
        return order[-1] in norms if set(order) & set(norms) else True

    @cached_property
    def second(self) -> Second:
        """All that can be seen of one more call."""
        order: list[nn.Module] = []
        hooks = [m.register_forward_hook(lambda m, *_: order.append(m)) for m in (*self._norms, *self.blocks)]
        looks, logits = self.watching(self.x)
        for hook in hooks:
            hook.remove()
        return Second(looks, order, near(logits, self.output))

    @cached_property
    def seen(self) -> dict[Any, Calls]:
        return self.second.looks

    def what_the_last_layer_reads(self) -> str:
        """Which positions those are, seen with silent blocks; nobody can tell where the scores are changed later."""
        kind = self._returned
        with self.silenced(self.blocks), torch.no_grad():
            logits = self.result(self.x)
            for name, scores in self._readings():
                if kind.startswith("You return shares"):
                    scores = scores.softmax(-1)
                elif kind.startswith("You return logarithms"):
                    scores = scores.log_softmax(-1)
                if near(logits, scores):
                    return name
        if self.form or kind == CHANGED_LATER:
            return self.form or kind
        return "The last layer reads neither the last position, normed once, nor the mean of the real tokens."

    def _readings(self) -> Iterator[tuple[str, torch.Tensor]]:
        """Ways to read, and what the logits would be: with and without a last norm, before or after a mean."""
        d_model, classes = self.sizes["d_model"], self.sizes["num_classes"]
        words = self._table(self.sizes["vocab_size"])
        places = self._table(self.x.shape[1], words)
        head: Any = next((m for m in self.model.modules() if _shape(m) == (classes, d_model)), None)
        norm = self._norm()
        if words is None or head is None:
            return
        rows = words.detach().reshape(-1, d_model)
        places_of = 0.0 if places is None else places.detach().reshape(-1, d_model)[: self.x.shape[1]]
        real = self.real[..., None].to(words.dtype)
        for scale in (1.0, d_model**0.5):
            x = scale * rows[self.x] + places_of
            often = [norm] * self.sizes["num_layers"]
            for firsts, second in (([norm], None), ([], norm), ([], None), (often, None)):
                y = x
                for first in firsts:
                    y = _normed(y, first)
                for name, read in _WAYS.items():
                    yield name, head(_normed(read(y, real), second))

    def _norm(self) -> Any:
        """The norm that belongs to no block; None where there is none."""
        return next(iter(self._norms), None)

    @cached_property
    def _norms(self) -> list[nn.Module]:
        """All norms that belong to no block."""
        inner = {id(m) for block in self.blocks for m in block.modules()}
        return [m for m in self.model.modules() if _shape(m) == (self.sizes["d_model"],) and id(m) not in inner]

    def _table(self, rows: int, other: torch.Tensor | None = None) -> torch.Tensor | None:
        """The smallest table with so many rows or more; a learner may have made it larger. `other` is taken already."""
        tables = [table for table in self._tables if table is not other and table.shape[-2] >= rows]
        return min(tables, key=lambda table: table.shape[-2]) if tables else None

    @cached_property
    def _tables(self) -> list[torch.Tensor]:
        """The parameters that are tables with a row for each token or each place."""
        inside = {id(p) for block in self.blocks for p in block.parameters()}
        heads = {id(p) for m in self.model.modules() if isinstance(m, nn.Linear) for p in m.parameters()}
        d_model = self.sizes["d_model"]
        return [
            p
            for p in self.model.parameters()
            if id(p) not in inside | heads
            and p.dim() in (2, 3)
            and p.shape[-1] == d_model
            and p.shape[:-2] in ((), (1,))
        ]

    def arguments(self) -> dict[str, Any]:
        return state([self.x])


class _NoLogits(Exception):
    """What a model returns is nothing that could be looked at as logits: a sentence says why."""


def look_at(
    symbol: Any, sizes: Mapping[str, int], tokens: torch.Tensor, ask: Sequence[str], dtype: str
) -> dict[str, Any]:
    """What the model answers to the questions named in `ask`."""
    try:
        return ExaminedClassifier(symbol, sizes, tokens, getattr(torch, dtype)).answers(ask)
    except _NoLogits as why:
        return dict.fromkeys(ask, str(why))


_WAYS: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "the last position": lambda x, real: x[:, -1],
    "the mean of the real tokens": lambda x, real: (x * real).sum(1) / real.sum(1),
    "The last layer reads the first position.": lambda x, real: x[:, 0],
    "The last layer reads a mean in which padding counts.": lambda x, real: x.mean(1),
    "The last layer reads the sum of the real tokens, not their mean.": lambda x, real: (x * real).sum(1),
    "The last layer reads the largest numbers of all positions.": lambda x, real: x.amax(1),
}


def _shape(module: nn.Module) -> tuple[int, ...]:
    weight = getattr(module, "weight", None)
    return tuple(weight.shape) if isinstance(weight, torch.Tensor) else ()


def _normed(x: torch.Tensor, norm: Any) -> torch.Tensor:
    if norm is None:
        return x
    return F.layer_norm(x, x.shape[-1:], norm.weight, norm.bias).detach()
