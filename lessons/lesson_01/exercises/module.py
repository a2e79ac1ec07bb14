"""`MLP`: cases, mistakes and variants. The probe hands the weights in."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from course.mlp import MLP
from grader.authoring.aspects import KNOWN, any_numbers, gradients, modes, special, untouched, values
from grader.authoring.draw import strided
from grader.authoring.spec import Aspect, Case, Exercise, Mistake
from lessons.lesson_01.exercises.drawing import NetworkSizes, draw_network
from lessons.lesson_01.exercises.models import (
    ActivationBeside,
    AddedOneByOne,
    Functional,
    LastLayerApart,
    Network,
    OtherName,
    PropertyOverSequential,
    Recursive,
    SizesUsedUp,
    between,
    detached,
    forwards,
    initialised,
    linears,
    making,
    one_a_shape,
    with_activations,
)


def _models(generator: np.random.Generator) -> list[Case]:
    def draw(widths: list[int], n: int, kind: torch.dtype = torch.float32) -> dict[str, Any]:
        return {"sizes": widths, **draw_network(generator, widths, n, kind)}

    sizes = NetworkSizes(generator)
    apart = draw(sizes.two, sizes.n)
    return [
        *sizes.cases(draw),
        Case("with a model and inputs in float64", draw(sizes.two, sizes.n, torch.float64), frozenset({"float64"})),
        Case(
            "with inputs that are not contiguous",
            {**apart, "inputs": strided(apart["inputs"])},
            frozenset({"strided"}),
        ),
    ]


MLP_MODULE = Exercise(
    symbol="MLP",
    points=3,
    cases=_models,
    references=(MLP,),
    aspects=(
        Aspect("layers", keys=("layers", "separate"), kinds=KNOWN, weight=2.0),
        Aspect("parameters registered", keys=("parameters",), kinds=KNOWN, weight=3.0),
        values(),
        gradients(),
        special("a single layer", "single"),
        special("a batch of one", "one"),
        *any_numbers(),
        modes(weight=1.0),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "plain_list",
            making(linears),
            "Your layers stand in a plain Python list, so model.parameters() does not find them, and an "
            "optimizer would train nothing. Which kind of list does PyTorch look into?",
        ),
        Mistake(
            "one_layer_repeated",
            making(lambda sizes: nn.ModuleList([nn.Linear(sizes[0], sizes[1])] * (len(sizes) - 1))),
            "All your layers are one and the same object, with one set of weights. What does multiplying a "
            "list copy: the layers, or the reference to one?",
        ),
        Mistake(
            "layers_of_one_shape_shared",
            making(one_a_shape),
            "Layers of the same shape share their weights. Should two layers that do different work not "
            "learn different things?",
        ),
        Mistake(
            "activations_in_layers",
            type("MLP", (Network,), {"make": lambda self, s: with_activations(s), "between": lambda *a: a[1]}),
            "The result is right, but layers also holds the ReLUs. Others will count on layers[1] being the "
            "second Linear: where else can the ReLUs stand?",
        ),
        Mistake(
            "another_name",
            OtherName,
            "The model works, but nobody finds its Linears: there is no attribute called layers. What name "
            "does the docstring give it?",
        ),
        Mistake(
            "last_layer_apart",
            LastLayerApart,
            "The last Linear does not stand in layers with the others. How can it, and still go without a ReLU?",
        ),
        Mistake(
            "one_layer_too_few",
            making(lambda sizes: nn.ModuleList(linears(sizes[:-1]))),
            "There is a Linear too few. How many layers stand between k sizes?",
        ),
        Mistake(
            "one_layer_too_many",
            making(lambda sizes: nn.ModuleList([*linears(sizes), nn.Linear(sizes[-1], sizes[-1])])),
            "There is a Linear too many. How many layers stand between k sizes?",
        ),
        Mistake(
            "sizes_swapped",
            making(lambda sizes: nn.ModuleList(nn.Linear(d_out, d_in) for d_in, d_out in pairwise(sizes))),
            "Each Linear has its two sizes swapped. Which comes first when you make one: what goes in, or "
            "what comes out?",
        ),
        Mistake(
            "no_bias",
            making(lambda sizes: nn.ModuleList(nn.Linear(i, o, bias=False) for i, o in pairwise(sizes))),
            "Your Linears have no bias. Which argument switched it off?",
        ),
        Mistake(
            "relu_after_last",
            between(lambda x, i, last: torch.relu(x)),
            "The predictions are the right ones with every negative number replaced by 0. After which "
            "layers does ReLU stand, and after which one not?",
        ),
        Mistake(
            "no_relu",
            between(lambda x, i, last: x),
            "Without ReLU all your layers together are one linear map. What stands between two layers?",
        ),
        Mistake(
            "relu_after_first_only",
            between(lambda x, i, last: torch.relu(x) if i == 0 < last else x),
            "Two layers come out right, deeper networks do not: ReLU stands after the first layer only. "
            "Which other layers need one?",
        ),
        Mistake(
            "relu_on_the_inputs",
            type("MLP", (Network,), {"forward": lambda self, x: Network.forward(self, torch.relu(x))}),
            "The inputs went through ReLU before the first layer, so their negative numbers are lost. Does "
            "ReLU stand before a layer, or between two?",
        ),
        Mistake(
            "tanh_instead_of_relu",
            between(lambda x, i, last: x if i == last else torch.tanh(x)),
            "Your layers bend with tanh. What does ReLU do with a negative number, and what with a positive one?",
        ),
        Mistake(
            "dropout_added",
            between(lambda x, i, last: x if i == last else F.dropout(torch.relu(x), 0.5)),
            "There is dropout between your layers, and numbers fall out by chance. Does the signature name any?",
        ),
        Mistake(
            "stopped_after_first_layer",
            forwards(lambda self, x: self.layers[0](x) if len(self.layers) == 1 else self.layers[0](x).relu()),
            "Your result is that of the first layer. Does the return stand inside the loop?",
        ),
        Mistake(
            "squeezed",
            type("MLP", (Network,), {"forward": lambda self, x: Network.forward(self, x).squeeze()}),
            "Axes of length one disappear from your result. Is a batch of one example still a batch?",
        ),
        Mistake(
            "graph_cut",
            forwards(detached),
            "The predictions are right, but no gradient gets past the last layer: the others would never "
            "learn. Where is the graph cut?",
        ),
        Mistake(
            "sizes_used_up",
            SizesUsedUp,
            "The model is right, but the caller's list of sizes is shorter now. How can you look at two "
            "sizes at a time without taking them out?",
        ),
    ),
    variants={
        "module list and index": Network,
        "sequential of Linears": making(lambda sizes: nn.Sequential(*linears(sizes))),
        "built with append": making(
            lambda sizes: nn.ModuleList().extend(nn.Linear(sizes[i], sizes[i + 1]) for i in range(len(sizes) - 1))
        ),
        "property over a sequential": PropertyOverSequential,
        "added one by one": AddedOneByOne,
        "functional forward": Functional,
        "recursive": Recursive,
        "activation beside the layers": ActivationBeside,
        "own initialisation": making(initialised),
    },
)
