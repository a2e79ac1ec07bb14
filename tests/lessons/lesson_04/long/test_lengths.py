"""The first lines of the plot by length: lesson 4's reversal model, with a teacher and on its own."""

import pandas as pd
import torch

from tests.lessons.tables import write
from transformer_course.lengths import exact_by_length
from transformer_course.seq2seq import Seq2SeqTransformer
from transformer_course.seq2seq_fitting import fit, generate, predict
from transformer_course.sequences import exact_match
from transformer_course.tasks import reversal


def test_04_lengths() -> None:
    rows = []
    for seed in (0, 1):
        data = reversal.reversal_task(seed)
        torch.manual_seed(seed)
        model = Seq2SeqTransformer(reversal.VOCAB_SIZE, 16, d_model=64, num_heads=4, d_ff=128, num_layers=1)
        train = reversal.tensors(data.train, 10, 11)
        fit(model, *train, start_id=reversal.START_ID, steps=300, learning_rate=0.003, seed=seed)

        def taught(source: torch.Tensor, target: torch.Tensor, model: Seq2SeqTransformer = model) -> torch.Tensor:
            return predict(model, source, target, start_id=reversal.START_ID).argmax(-1)

        def alone(source: torch.Tensor, target: torch.Tensor, model: Seq2SeqTransformer = model) -> torch.Tensor:
            ends = {"start_id": reversal.START_ID, "end_id": reversal.END_ID}
            return generate(model, source, max_length=target.shape[1], **ends)

        for line, answer in [("no mask, with a teacher", taught), ("no mask, on its own", alone)]:
            shares = exact_by_length(answer, exact_match, exclude=data.train, seed=seed)
            rows += [{"line": line, "seed": seed, "length": n, "exact": share} for n, share in shares.items()]
    table = pd.DataFrame(rows)
    write("04_lengths", table)
    inside = table[table["length"] <= 10]
    assert (inside[inside["line"] == "no mask, with a teacher"]["exact"] > 0.95).all()
    assert (inside[inside["line"] == "no mask, on its own"]["exact"] < 0.05).all()
