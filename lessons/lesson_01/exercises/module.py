"""`MLP`: cases, mistakes and variants. The probe hands the weights in."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from course.mlp import MLP
from grader.authoring.aspects import also, any_numbers, gradients, modes, untouched, values
from grader.authoring.draw import strided
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.aspects import special
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
        also(
            "layers",
            "layers",
            "separate",
            weight=3.0,
            meaning="model.layers holds the Linear layers, in order, each with weights of its own.",
        ),
        also(
            "parameters registered",
            "parameters",
            weight=9.0,
            meaning="model.parameters() lists every weight and every bias, so that an optimiser can train them.",
        ),
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
            "Your layers are in a plain Python list, so model.parameters() doesn't find them, and an optimiser would "
            "train nothing. Which kind of list does PyTorch look into?",
            central=True,
        ),
        Mistake(
            "one_layer_repeated",
            making(lambda sizes: nn.ModuleList([nn.Linear(sizes[0], sizes[1])] * (len(sizes) - 1))),
            "All your layers are one and the same object, with one set of weights. When you multiply a list, what is "
            "copied: the layer, or the reference to it?",
            central=True,
        ),
        Mistake(
            "layers_of_one_shape_shared",
            making(one_a_shape),
            "Layers of the same shape share their weights. Shouldn't two layers that do different work learn "
            "different things?",
        ),
        Mistake(
            "activations_in_layers",
            type("MLP", (Network,), {"make": lambda self, s: with_activations(s), "between": lambda *a: a[1]}),
            "The predictions are right, but layers also holds the ReLUs. Other code relies on layers[1] being the "
            "second Linear: where else can the ReLUs go?",
        ),
        Mistake(
            "another_name",
            OtherName,
            "The model works, but other code can't find its Linears: there is no attribute called layers. What name "
            "does the docstring give it?",
        ),
        Mistake(
            "last_layer_apart",
            LastLayerApart,
            "The last Linear isn't in layers with the others. How can it be there, and still go without a ReLU?",
        ),
        Mistake(
            "one_layer_too_few",
            making(lambda sizes: nn.ModuleList(linears(sizes[:-1]))),
            "There is one Linear too few. How many layers fit between k sizes?",
        ),
        Mistake(
            "one_layer_too_many",
            making(lambda sizes: nn.ModuleList([*linears(sizes), nn.Linear(sizes[-1], sizes[-1])])),
            "There is one Linear too many. How many layers fit between k sizes?",
        ),
        Mistake(
            "sizes_swapped",
            making(lambda sizes: nn.ModuleList(nn.Linear(d_out, d_in) for d_in, d_out in pairwise(sizes))),
            "Each Linear has its two sizes swapped. Which comes first when you make one: what goes in, or what comes "
            "out?",
        ),
        Mistake(
            "no_bias",
            making(lambda sizes: nn.ModuleList(nn.Linear(i, o, bias=False) for i, o in pairwise(sizes))),
            "Your Linears have no bias. Which argument switched it off?",
        ),
        Mistake(
            "relu_after_last",
            between(lambda x, i, last: torch.relu(x)),
            "The predictions are the right ones with every negative number replaced by 0. Which layer has no ReLU "
            "after it?",
            central=True,
        ),
        Mistake(
            "no_relu",
            between(lambda x, i, last: x),
            "Without ReLU all your layers together are one linear map. What belongs between two layers?",
            central=True,
        ),
        Mistake(
            "relu_after_first_only",
            between(lambda x, i, last: torch.relu(x) if i == 0 < last else x),
            "Two layers come out right, deeper networks don't: only the first layer has a ReLU after it. Which other "
            "layers need one?",
        ),
        Mistake(
            "relu_on_the_inputs",
            type("MLP", (Network,), {"forward": lambda self, x: Network.forward(self, torch.relu(x))}),
            "The inputs went through ReLU before the first layer, so their negative numbers are lost. Does ReLU come "
            "before a layer, or between two?",
        ),
        Mistake(
            "tanh_instead_of_relu",
            between(lambda x, i, last: x if i == last else torch.tanh(x)),
            "Your layers use tanh. What does ReLU do to a negative number, and what to a positive one?",
        ),
        Mistake(
            "dropout_added",
            between(lambda x, i, last: x if i == last else F.dropout(torch.relu(x), 0.5)),
            "There is dropout between your layers, so the predictions change from call to call. Does the docstring "
            "ask for any?",
        ),
        Mistake(
            "stopped_after_first_layer",
            forwards(lambda self, x: self.layers[0](x) if len(self.layers) == 1 else self.layers[0](x).relu()),
            "Your result is that of the first layer. Is the return inside the loop?",
        ),
        Mistake(
            "squeezed",
            type("MLP", (Network,), {"forward": lambda self, x: Network.forward(self, x).squeeze()}),
            "Axes of length one disappear from your result. Is a batch of one example still a batch?",
        ),
        Mistake(
            "graph_cut",
            forwards(detached),
            "The predictions are right, but no gradient gets past the last layer, so the others would never learn. "
            "What cuts the graph?",
        ),
        Mistake(
            "sizes_used_up",
            SizesUsedUp,
            "The model is right, but the caller's list of sizes is shorter now. How can you look at two sizes at a "
            "time without removing them?",
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
