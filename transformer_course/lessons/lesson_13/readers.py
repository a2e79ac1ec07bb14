"""What can be seen of a whole model that reads numbers: a forecaster, or a Transformer for pictures.

These are its own questions, beside those of any model.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import torch
from torch import nn

from cellcheck.authoring.calls import state
from cellcheck.authoring.modules import built
from transformer_course.lessons.examining import MOVED, Calls, ExaminedModel, kept, near

NOT_THE_COURSES = (
    "With num_layers = {}, PyTorch finds no EncoderBlock of lesson 3 in your model, so nothing can be seen inside. How "
    "many should there be?"
)
NEVER = "Your blocks are there, but their attention is never called. Where does forward call each block?"
ALONE = "Your blocks are given each token as a row of its own. Which axes do they expect?"
UNREAD = "Some numbers of the input reach no token. Where are they lost?"
PARTLY = (
    "Some changes of a number reach no token, though larger ones do. Is something rounded, or cut off, before the "
    "first block?"
)
LOST = "Some numbers of the input change nothing in the result. Where are they lost?"
MIXED = "A token changes with numbers that aren't its own. What is mixed before the first block?"
ALIKE = (
    "Two numbers of a token always count alike, so it can't tell them apart. What is added up before the first block?"
)
SWAPPED = "Your blocks are given rows and tokens the other way round. Which axis do they expect first?"
ACROSS = "Your blocks are given the tokens of several rows as if they were one row. Which axes do they expect?"
ZEROS_HIDDEN = (
    "A token whose numbers are all 0 isn't seen by every other, as if it were padding. Is there any padding here?"
)
FIXED = "Your positions are fixed: nothing can train them. What does the docstring say about them?"
KEPT = "Something is kept from one input to the next. What should a result depend on?"
MEANT = "their mean"
SUMMED = "The last layer reads the sum of all patches. Which summary of them does the docstring name?"
NOTHING_LEFT = (
    "In a new model, your result says nothing about the input. Is it made of means over a token's own numbers?"
)


class ExaminedReader(ExaminedModel):
    """A model that reads numbers: `groups` says of each, row by row, which token it belongs to."""

    returned = "results"

    def __init__(
        self, symbol: Any, sizes: Mapping[str, int], x: torch.Tensor, groups: Sequence[int], outputs: int
    ) -> None:
        self.symbol, self.groups, self.outputs = symbol, groups, outputs
        super().__init__(symbol, sizes, x, x.dtype)

    def result(self, x: torch.Tensor) -> torch.Tensor:
        """What the model makes of a copy of `x`: one that overwrites its input spoils no other question."""
        result: torch.Tensor = self.model(x.clone())
        self.latest = result
        return result

    def answers(self, questions: Sequence[str]) -> dict[str, Any]:
        """One that remembers what it was asked before gives no answer that says anything."""
        if self._remembers():
            sound = [question for question in questions if question in ("shape_and_dtype", "arguments")]
            return dict.fromkeys(questions, KEPT) | super().answers(sound)
        return super().answers(questions)

    # --- the questions

    def each_block(self) -> str:
        """Any other width is as wrong."""
        return re.sub(rf"d_ff (?!{self.sizes['d_ff']}\b)\d+", "a different d_ff", super().each_block())

    def what_reaches_the_result(self) -> str:
        """Does each input number count?"""
        results = self._when_nudged[1].reshape(len(self.groups), *self.output.shape)
        moved = (results - self.output).abs().flatten(2).amax(dim=-1) > MOVED
        if moved.all():
            return "every number of the input"
        token = self.what_a_token_is()
        return token if token in (UNREAD, PARTLY) else LOST  # the same slip is told once

    @cached_property
    def _nudged(self) -> torch.Tensor:
        """(places, batch, ...): in each copy of the input another number is changed."""
        return self._changed_by(1.5)

    def _changed_by(self, amount: float) -> torch.Tensor:
        copies = self.x.flatten(1).repeat(len(self.groups), 1, 1)
        for place, copy in enumerate(copies):
            copy[:, place] += amount
        return copies.reshape(len(self.groups), *self.x.shape)

    @cached_property
    def _when_nudged(self) -> tuple[torch.Tensor | None, torch.Tensor]:
        """What the first attention is asked about then, and what the model returns."""
        return _first_look(self.watched(self._nudged.flatten(0, 1))), self.latest

    def what_a_token_is(self) -> str:
        """Which tokens change with each number, at the first attention?"""
        before, after = _first_look(self.seen), self._when_nudged[0]
        if before is None or after is None:
            return self._unseen()
        if len(before) != len(self.x):
            return self._turned(before.shape[1], len(before))
        if before.shape[1] == 1 < len(set(self.groups)):
            return "The whole input is a single token. How many should there be?"
        moves = (after.reshape(len(self.groups), *before.shape) - before)[:, 0]  # (numbers, tokens, d_model)
        changed = moves.abs().amax(dim=-1) > MOVED
        tokens = [tuple(row.nonzero()[:, 0].tolist()) for row in changed]  # of each number, the tokens that it moves
        if any(len(moved) > 1 for moved in tokens):
            return "one part of the input" if self._relative() else MIXED
        if not all(tokens):
            return PARTLY if all(self._reach_a_token(50.0) | self._reach_a_token(-50.0)) else UNREAD
        if not all(self._reach_a_token(0.1)):
            return PARTLY
        together = len(set(zip(self.groups, tokens, strict=True)))
        if not together == len(set(self.groups)) == len(set(tokens)):
            return "Numbers that belong together go to different tokens."
        return ALIKE if self._count_alike() else "one part of the input"

    def _reach_a_token(self, amount: float) -> torch.Tensor:
        """Of each number, whether some token changes when it becomes so much larger."""
        before, after = (self._tokens(x) for x in (self.x, self._changed_by(amount).flatten(0, 1)))
        return (after.reshape(len(self.groups), *before.shape) - before)[:, 0].abs().flatten(1).amax(dim=1) > MOVED

    def _unseen(self) -> str:
        """Why no attention was seen at work."""
        return NEVER if self.blocks else NOT_THE_COURSES.format(self.sizes["num_layers"])

    def _turned(self, tokens: int, rows: int) -> str:
        """What the blocks were given, if that isn't as many rows as came in."""
        if tokens == len(self.x):
            return SWAPPED
        return ALONE if tokens == 1 < rows else ACROSS

    def _count_alike(self) -> bool:
        """Do two numbers of one token move it in the same direction, as they do once they are added up?"""
        before, after = (self._tokens(x) for x in (self.x, self._nudged.flatten(0, 1)))
        moves = (after.reshape(len(self.groups), *before.shape) - before)[:, 0].flatten(1).double()
        directions = nn.functional.normalize(moves, dim=1)
        groups = torch.tensor(self.groups)
        others = (groups.unsqueeze(1) == groups).fill_diagonal_(False)
        return bool(((directions @ directions.mT).abs()[others] > 1 - 1e-6).any())

    def _relative(self) -> bool:
        """Is each token one number, measured from others, such as the last one, or on a scale that others set?

        Then what happens to the other tokens, when a number is changed, follows from their own numbers in the same way
        for all of them, and what happens to the number's own token doesn't.
        """
        count = len(self.groups)
        before, after = (self._tokens(x) for x in (self.x, self._nudged.flatten(0, 1)))
        if len(set(self.groups)) != count or before.shape[1] != count:
            return False
        if not near(self._tokens(self.x[:1])[0], before[0]):  # other rows set the scale
            return False
        moves = (after.reshape(count, *before.shape) - before)[:, 0]  # (numbers, tokens, d_model)
        numbers = self.x[0].flatten().double()
        measures = torch.stack([torch.ones_like(numbers), numbers], dim=1)  # (count, 2)
        for place, moved in enumerate(moves.double()):
            others = torch.arange(count) != place
            law = torch.linalg.lstsq(measures[others], moved[others]).solution
            off = (moved - measures @ law).abs().amax(dim=1)
            if off[others].max() > MOVED or off[place] <= MOVED:
                return False
        return True

    def _tokens(self, x: torch.Tensor, learning: bool = False) -> torch.Tensor:
        """What the first block is given: (batch, tokens, d_model)."""
        block = next(block for block in self.blocks if self.seen[block])
        forward, given = block.forward, []

        def noting(tokens: torch.Tensor, *arguments: Any, **named: Any) -> Any:
            given.append(tokens)
            return forward(tokens, *arguments, **named)

        block.forward = noting
        with torch.set_grad_enabled(learning):
            self.result(x)
        del block.forward
        return given[0]

    def what_the_last_layer_reads(self) -> str:
        """Which tokens count, once the last block is done? All of them, or one that no patch is in."""
        called = [block for block in self.blocks if self.seen[block]]
        before, after = _first_look(self.seen), self._when_nudged[0]
        if not called or before is None or after is None:
            return self._unseen()
        parts = ((after.reshape(len(self.groups), *before.shape) - before).abs().amax(dim=-1) > MOVED).flatten(0, 1)
        own = ~parts.any(dim=0)  # tokens that no number of the input goes into: (tokens,)
        block, generator = called[-1], torch.Generator().manual_seed(0)
        forward, read = block.forward, []
        for token in range(before.shape[1]):

            def pushed(*arguments: Any, token: int = token, **named: Any) -> Any:
                result = forward(*arguments, **named).clone()
                result[:, token] += 30 * torch.randn(result.shape[-1], generator=generator).to(result.dtype)
                return result

            block.forward = pushed
            with torch.no_grad():
                moved = any((self.result(self.x) - self.output).abs().max() > MOVED for _ in range(6))
            del block.forward
            read.append(moved)
        reads = torch.tensor(read)
        if (reads & own).any():
            return "every patch, or a class token"
        if reads.all():
            return self._made_of_patches(block, len(reads))
        if int(reads.sum()) != 1:
            all_but_the_first = not reads[0] and reads[1:].all()
            which = "every patch but the first" if all_but_the_first else "only some of the patches"
            return f"The last layer reads {which}."
        which = "the first patch" if reads[0] else "the last patch" if reads[-1] else "one patch"
        return f"The last layer reads {which} alone."

    def _made_of_patches(self, block: Any, tokens: int) -> str:
        """What the last layer makes of all patches: a sum of what it makes of each, after the norm or before it."""
        width, generator = self.sizes["d_model"], torch.Generator().manual_seed(0)
        one, other = (torch.randn(width, generator=generator).to(self.x.dtype) for _ in range(2))
        if tokens == 1:
            return "every patch, or a class token"
        away, rest = 0.3 * (one - other), tokens - 1
        first, others = [one] + [other] * rest, [other] + [one] * rest
        moved = [one - away, other + away] + [other] * (rest - 1)
        of_one, of_other, of_first, of_others, of_moved = (
            self._after(block, torch.stack(rows)) for rows in ([one] * tokens, [other] * tokens, first, others, moved)
        )
        if near(of_first + of_others, of_one + of_other) or near(of_first, of_moved):
            return "every patch, or a class token"
        return "The last layer reads neither the mean of all patches nor a class token. What is made of them?"

    def what_is_made_of_the_patches(self) -> str:
        """Their sum instead of their mean? What a new model's norm gives shows how many are added up."""
        called = [block for block in self.blocks if self.seen[block]]
        if not called:
            return MEANT
        tokens, generator = self.seen[called[-1]][-1][0].shape[1], torch.Generator().manual_seed(0)
        token = torch.randn(self.sizes["d_model"], generator=generator).to(self.x.dtype)
        return SUMMED if tokens > 1 and self._adds_up(called[-1], token, tokens) else MEANT

    def _after(self, block: Any, tokens: torch.Tensor) -> torch.Tensor:
        """What the model returns if this is what the last block gives for each image."""
        forward = block.forward
        block.forward = lambda *arguments, **named: tokens.expand_as(forward(*arguments, **named)).clone()
        with torch.no_grad():
            result = self.result(self.x)
        del block.forward
        return result

    def _adds_up(self, block: Any, token: torch.Tensor, tokens: int) -> bool:
        """Is what the last Linear layer reads as many times as long as what the norm of a new model gives?"""
        last = [m for m in self.model.modules() if isinstance(m, nn.Linear) and m.out_features == self.outputs]
        vectors = [p for p in self.model.parameters() if p.dim() == 1]
        fresh = [p for p in built(self.symbol, *self.sizes.values()).parameters() if p.dim() == 1]
        read: list[torch.Tensor] = []
        hooks = [m.register_forward_pre_hook(lambda _, given: read.append(given[0])) for m in last]
        with kept(vectors):
            for own, new in zip(vectors, fresh, strict=True):
                own.copy_(new)
            self._after(block, token.expand(tokens, -1))
        for hook in hooks:
            hook.remove()
        if not read or read[-1].shape != (len(self.x), self.sizes["d_model"]):
            return False
        lengths = read[-1].square().mean(dim=1).sqrt()
        return near(lengths / tokens, torch.ones_like(lengths))

    def what_is_left_of_the_input(self) -> str:
        """With norms and biases as they are when a model is made. The mean of the numbers of a token is 0 then."""
        new = built(self.symbol, *self.sizes.values())
        pairs = [
            (own, fresh) for own, fresh in zip(self.model.parameters(), new.parameters(), strict=True) if own.dim() == 1
        ]
        with kept([own for own, _ in pairs]):
            for own, fresh in pairs:
                own.copy_(fresh)
            generator = torch.Generator().manual_seed(len(self.groups))
            drawn = 2 * torch.randn(64, *self.x.shape[1:], generator=generator, dtype=self.x.dtype)
            results = self.result(drawn)  # so many that not all can be negative, should negative ones be set to 0
        moved = (results - results[:1]).abs().max() > MOVED
        return "enough to tell inputs apart" if moved else NOTHING_LEFT

    def the_mode(self) -> str:
        """Dropout makes something else of the same input each time, and a BatchNorm doesn't."""
        sentence = super().the_mode()
        if "training mode" not in sentence:
            return sentence
        self.model.train()
        with torch.no_grad():
            same = near(self.result(self.x), self.result(self.x))
        self.model.eval()
        if same:
            return f"The {self.returned} are different in training mode, and always the same: is there a BatchNorm?"
        return sentence

    def _remembers(self) -> bool:
        """In eval mode, with all chance the same: does another input in between make a difference?"""
        results = []
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            for x in (self.x, 3 * self.x + 5, self.x):
                torch.manual_seed(0)
                results.append(self.result(x))
        return not near(results[0], results[-1])

    def what_is_never_trained(self) -> str:
        """In words that don't depend on the names of the parts."""
        if isinstance(self.reached, str):
            return self.reached
        in_blocks = {id(own) for block in self.blocks for own in block.parameters()}
        parameters = dict(self.model.named_parameters())
        lost = [parameters[name] for name, reached in self.reached.items() if not reached]
        kinds = {
            "parts of a block" if id(own) in in_blocks else "a vector, as in a norm" if own.dim() == 1 else "a matrix"
            for own in lost
        }
        return " and ".join(sorted(kinds, reverse=True)) or "nothing"

    def what_attention_sees(self) -> str:
        looks = [weights for block in self.blocks for _, weights in self.seen[block]]
        if not looks:
            return self._unseen()
        if len(looks[0]) != len(self.x):
            return self._turned(looks[0].shape[-1], len(looks[0]))
        everywhere = all((weights > 0).all() for weights in looks)
        if not everywhere:
            return "Some tokens don't look at all others. Is there anything to hide?"
        return "every token" if self._zeros_are_seen() else ZEROS_HIDDEN

    def _zeros_are_seen(self) -> bool:
        """A series may lie at 0, and a patch may be black."""
        with_zeros = self.x.flatten(1).clone()
        with_zeros[:, torch.tensor(self.groups) == self.groups[-1]] = 0
        seen = self.watched(with_zeros.reshape(self.x.shape))
        return all((weights > 0).all() for of_a_block in seen.values() for _, weights in of_a_block)

    def how_attention_tells_places_apart(self) -> str:
        """With an input of equal numbers, only positions tell the tokens apart."""
        for _, weights in [seen for block in self.watched(torch.ones_like(self.x)).values() for seen in block]:
            if len(weights) != len(self.x):
                return self._turned(weights.shape[-1], len(weights))
            if not (weights - weights.mean(dim=-1, keepdim=True)).abs().amax() > MOVED:
                return "Nothing says where a token is before the blocks."
            looking, seen = weights.flatten(0, 1), weights.flatten(0, 1).mT  # (heads of all rows, tokens, tokens)
            apart = torch.stack(
                [(side.unsqueeze(2) - side.unsqueeze(1)).abs().amax(dim=(0, 3)) for side in (looking, seen)]
            )
            alike = (apart.amax(dim=0) <= MOVED).sum(dim=1).max()  # how many tokens can't be told apart
            if alike >= max(len(apart[0]) - 1, 2):  # all but a class token
                return "Nothing says where a token is before the blocks."
            return "Some of the tokens have the same position." if alike > 1 else "by positions"
        return self._unseen()

    def what_positions_are_made_of(self) -> str:
        """With an input of equal numbers, does anything that can be trained tell two tokens apart?"""
        if not any(self.seen.values()):
            return self._unseen()
        tokens = self._tokens(torch.ones_like(self.x), learning=True)[0]  # (tokens, d_model)
        generator = torch.Generator().manual_seed(0)
        weights = torch.randn(tokens.shape[1], generator=generator).to(tokens.dtype)
        trainable = [parameter for parameter in self.model.parameters() if parameter.requires_grad]
        for one in range(len(tokens)):
            for other in range(one):
                apart = tokens[one] - tokens[other]
                if not apart.abs().max() > MOVED or not apart.requires_grad:
                    continue
                reached = torch.autograd.grad(apart @ weights, trainable, retain_graph=True, allow_unused=True)
                if not any(gradient is not None and gradient.abs().max() > MOVED for gradient in reached):
                    return FIXED
        return "learned"

    def what_follows_the_stack(self) -> str:
        """A norm makes the size of what the last block returns unimportant."""
        called = [block for block in self.blocks if self.seen[block]]
        if not called:
            return self._unseen()
        block = called[-1]
        results = []
        for factor in (1e4, 1e6):  # away from eps, and from what is added afterwards
            forward = block.forward

            def stretched(*arguments: Any, forward: Any = forward, factor: float = factor, **named: Any) -> Any:
                return factor * forward(*arguments, **named)

            block.forward = stretched
            with torch.no_grad():
                results.append(self.result(self.x))
            del block.forward
        same = torch.allclose(results[0], results[1], rtol=1e-3, atol=1e-3)
        return "a norm" if same else "There is no norm after the last block."

    def what_you_return(self) -> str:
        """Whatever the last layer computes, or something made of it?"""
        output = self.output.flatten(1)
        if near(output.exp().sum(-1), torch.ones(len(output), dtype=output.dtype)):
            return "Your results are logarithms of shares."
        if near(output.sum(-1), torch.ones(len(output), dtype=output.dtype)):
            return "Your results are shares that sum to 1."
        biases = [p for p in self.model.parameters() if p.shape == (self.outputs,)]
        if not biases:
            return "the numbers of the last layer"
        far = []
        for amount in (-100.0, 100.0):
            with kept(biases), torch.no_grad():
                biases[-1].add_(amount)
                far.append(self.result(self.x))
        low, high = (result.mean().item() for result in far)
        if near(far[1] - far[0], torch.full_like(far[0], 200.0)) or _scaled_row_by_row(far[1] - far[0]):
            return "the numbers of the last layer"
        if abs(low) < 0.1:
            return "Your results stop at 0." if high > 2 else "Your results always lie between 0 and 1."
        if abs(high - low) < 3:
            return "Your results always lie between -1 and 1."
        return "Your results are changed after the last layer."

    def arguments(self) -> dict[str, Any]:
        given = self.x.clone()
        self.model(given)
        return state([given])


def _scaled_row_by_row(rise: torch.Tensor) -> bool:
    """Does each row have a scale of its own, on which all its numbers rise alike? That of its input, say."""
    rise = rise.flatten(1)
    scale = rise.mean(dim=1, keepdim=True)
    return bool((scale > 1).all()) and near(rise / scale, torch.ones_like(rise)) and not near(scale, scale.flip(0))


def _first_look(seen: Mapping[Any, Calls]) -> torch.Tensor | None:
    calls = [call for of_a_block in seen.values() for call in of_a_block]
    return calls[0][0] if calls else None


def look_at(symbol: Any, inputs: Mapping[str, Any], groups: Sequence[int], outputs: int) -> dict[str, Any]:
    """What the model answers to the questions named in the case's `ask`."""
    return ExaminedReader(symbol, inputs["sizes"], inputs["x"], groups, outputs).answers(inputs["ask"])
