"""Writing an entry to the capstone: a folder with a file of code, and with the weights of a trained model if wanted."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from transformer_course.length_generalization.adder import Adder

CODE = '''"""An adder for long sums: positions {positions!r}, offsets {offsets}, window {window}."""

from transformer_course.length_generalization.adder import Adder
from transformer_course.length_generalization.writing import SumWriting
from transformer_course.seq2seq_fitting import fit
from transformer_course.vocabulary import pad_sequences

FORMAT = {format}
STEPS = {steps}


def make_model():
    """A new model. Any nn.Module will do that is called as model(source, target_input) and returns logits."""
    return Adder(
        SumWriting(**FORMAT),
        positions={positions!r},
        offsets={offsets},
        window={window},
        d_model={d_model},
        num_heads={num_heads},
        d_ff={d_ff},
        num_layers={num_layers},
    )


def train(model, draw):
    """Trains the model. draw(count) gives new sums, as pairs of lists of ids: what is read, and what is answered."""
    sources, targets = zip(*draw({sums}))
    source = pad_sequences(list(sources), max(map(len, sources)))  # (n, source_length)
    target = pad_sequences(list(targets), max(map(len, targets)))  # (n, target_length)
    fit(model, source, target, start_id=model.writing.alphabet.start_id, steps=STEPS, learning_rate={learning_rate})
'''


def write_entry(
    folder: str | Path,
    model: Adder,
    *,
    with_weights: bool = False,
    steps: int = 1800,
    learning_rate: float = 3e-3,
    sums: int = 20_000,
) -> str:
    """Writes `folder` with an entry that builds a model such as this one: `adder.py`, and a sentence about it.

    Without weights, whoever runs the table trains a new model with the `train` of `adder.py`, on sums of its own.
    `with_weights` adds `weights.safetensors`, this model as it is. Files that are there already are replaced.
    """
    from safetensors.torch import save_file

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    code = CODE.format(
        format=_as_code(asdict(model.writing)),
        steps=steps,
        learning_rate=learning_rate,
        sums=sums,
        **model.settings,
    )
    (folder / "adder.py").write_text(code, "utf-8")
    weights = folder / "weights.safetensors"
    weights.unlink(missing_ok=True)
    count = sum(parameter.numel() for parameter in model.parameters())
    sentence = f"{folder / 'adder.py'} is written, for a model with {count:,} parameters"
    if not with_weights:
        return f"{sentence}. It will be retrained when the table is made."
    save_file({name: value.contiguous() for name, value in model.state_dict().items()}, str(weights))
    return f"{sentence}, and {weights.name} with its weights."


def _as_code(settings: Mapping[str, Any]) -> str:
    """A dict as it is written in code, one entry a line.

    >>> print(_as_code({"least_first": True, "width": None}))
    {
        "least_first": True,
        "width": None,
    }
    """
    rows = "".join(
        f'    "{name}": {f"{value}" if not isinstance(value, str) else chr(34) + value + chr(34)},\n'
        for name, value in settings.items()
    )
    return f"{{\n{rows}}}"
