"""What lesson 7 says under "What you should see", measured again on two seeds."""

from functools import cache
from typing import cast

import pytest
import torch

from tests.nightly import both_seeds, both_seeds_later
from transformer_course.beam import beam_search
from transformer_course.cached_model import CachedSeq2SeqTransformer
from transformer_course.caching import cached_greedy_decode
from transformer_course.decoding import ends_each_sequence, greedy_decode
from transformer_course.lengths import exact_by_length
from transformer_course.lessons.lesson_07 import experiments as lab
from transformer_course.sampling import best_of_n, generate, sample_with_temperature, top_p_filter
from transformer_course.seq2seq import Seq2SeqTransformer
from transformer_course.seq2seq_fitting import predict
from transformer_course.sequences import exact_match
from transformer_course.tasks import reversal

ENDS = (lab.START, lab.END, lab.MAX_LENGTH)
TREE_ENDS = {"start_id": lab.TREE_START, "end_id": lab.TREE_END, "max_length": 4}


@cache
def letters(seed: int) -> reversal.ReversalData:
    return reversal.reversal_task(seed)


@cache
def pairs(seed: int) -> lab.Pairs:
    return lab.tensors(letters(seed).test[:200])


@cache
def model(seed: int, steps: int = 100) -> CachedSeq2SeqTransformer:
    trained = lab.train_reverser(letters(seed), steps, seed=seed, kind=CachedSeq2SeqTransformer)
    return cast(CachedSeq2SeqTransformer, trained)


@cache
def unmasked(seed: int) -> Seq2SeqTransformer:
    return lab.train_reverser(letters(seed), 300, seed=seed, kind=Seq2SeqTransformer)


@cache
def greedy(seed: int) -> torch.Tensor:
    return greedy_decode(model(seed), pairs(seed)[0], *ENDS)


def rows_right(seed: int, ids: torch.Tensor) -> float:
    return lab.scores(ids, pairs(seed)[1])["rows"]


@both_seeds
def test_cautious_is_right_more_often(seed: int) -> None:
    shares = []
    for temperature in (0, 1, 1.5):
        generator = torch.Generator().manual_seed(seed + 1)

        def draw(
            scores: torch.Tensor, temperature: float = temperature, generator: torch.Generator = generator
        ) -> torch.Tensor:
            return sample_with_temperature(scores, temperature, generator)

        shares.append(rows_right(seed, lab.sample_answers(draw, model(seed), pairs(seed)[0])))
    assert shares[0] > shares[1] + 0.05
    assert shares[1] > shares[2]


@both_seeds
def test_top_p_follows_doubt(seed: int) -> None:
    source, target = pairs(seed)
    _, _, hesitating = lab.hesitation(model(seed), source, target)
    with torch.no_grad():
        sure = model(seed)(source[:1], torch.tensor([[lab.START]]))[:, -1]
    counts = [int(torch.isfinite(top_p_filter(logits, 0.9)).sum()) for logits in (hesitating, sure)]
    assert counts[0] > counts[1]


@cache
def reading() -> lab.Reading:
    return lab.read_the_book()


@cache
def passages(seed: int) -> dict[lab.Settings, tuple[int, int, str]]:
    """For each setting: the percentage of words in the book, how many passages differ, and the first one."""
    every = len(reading().model.characters)
    settings = [(0.0, every, 1.0), (1.0, every, 1.0), (1.5, every, 1.0), (1.0, every, 0.5)]
    table = lab.passages(generate, reading(), "I looked at the captain, and ", settings, seed=seed)
    seen = zip(table["words in the book"], table["different"], table["passage"], strict=True)
    return {
        (temperature, 0, p): (int(words.rstrip(" %")), different, text)
        for (temperature, _, p), (words, different, text) in zip(settings, seen, strict=True)
    }


@both_seeds
def test_greedy_goes_in_circles(seed: int) -> None:
    _, different, text = passages(seed)[(0.0, 0, 1.0)]
    assert different == 1
    assert text[-10:] in text[:-10]
    assert text.count(text[-15:]) >= 4


@both_seeds
def test_bold_words_are_invented(seed: int) -> None:
    assert reading().loss < 1.75
    assert 82 <= passages(seed)[(1.0, 0, 1.0)][0] <= 94
    assert 68 <= passages(seed)[(1.5, 0, 1.0)][0] <= 82


@both_seeds
def test_filters_keep_words_real(seed: int) -> None:
    assert passages(seed)[(1.0, 0, 0.5)][0] > passages(seed)[(1.0, 0, 1.0)][0] + 3


@cache
def tales(seed: int) -> dict[float, tuple[int, str]]:
    """At each temperature: the percentage of words that occur in such tales, and one passage."""
    table = lab.tell(generate, "Once upon a time, there lived a", [0, 0.7, 2.0], seed=seed)
    return {row[0]: (int(row[1].rstrip("%")), row[2]) for row in table.itertuples(index=False)}


@both_seeds
def test_a_transformer_remembers(seed: int) -> None:
    passage = tales(seed)[0][1]
    words = lab.words_of(passage)
    runs = [tuple(words[start : start + 8]) for start in range(len(words) - 7)]
    assert len(runs) == len(set(runs)) > 40
    name = passage.partition(" named ")[2].partition(".")[0]
    assert words.count(name.lower()) >= 3


@both_seeds
def test_a_bold_transformer_rambles(seed: int) -> None:
    assert tales(seed)[0.7][0] >= 90
    assert tales(seed)[0.7][1] != tales(seed)[0][1]
    assert 58 <= tales(seed)[2.0][0] <= 75


@both_seeds_later
def test_the_branch_is_never_reached(seed: int) -> None:
    source, target = pairs(seed)
    reported = exact_match(predict(unmasked(seed), source, target, start_id=lab.START).argmax(dim=-1), target)
    assert reported > 0.95
    assert exact_match(greedy_decode(unmasked(seed), source, *ENDS), target) < 0.05


def colleagues_decode(decoder: lab.Model, sources: torch.Tensor) -> torch.Tensor:
    """The lesson's patient: it stops only when all rows say their end in the same step."""
    written = torch.full_like(sources[:, :1], lab.START)
    for _ in range(lab.MAX_LENGTH):
        next_ids = decoder(sources, written)[:, -1].argmax(dim=-1)
        written = torch.cat([written, next_ids.unsqueeze(1)], dim=1)
        if (next_ids == lab.END).all():
            break
    return written[:, 1:].detach()


@both_seeds
def test_the_score_is_blind(seed: int) -> None:
    assert rows_right(seed, colleagues_decode(model(seed), pairs(seed)[0])) == rows_right(seed, greedy(seed))


@both_seeds
def test_it_writes_after_the_end(seed: int) -> None:
    def goes_on(ids: torch.Tensor) -> float:
        ended_before = ((ids == lab.END).cumsum(dim=1) - (ids == lab.END).long()) > 0
        return ((ids != 0) & ended_before).any(dim=1).float().mean().item()

    assert goes_on(colleagues_decode(model(seed), pairs(seed)[0])) > 0.5
    assert goes_on(greedy(seed)) == 0


@both_seeds
def test_who_ends_each_sequence(seed: int) -> None:
    def yours(decoder: lab.Model, sources: torch.Tensor) -> torch.Tensor:
        return greedy_decode(decoder, sources, *ENDS)

    def impatient(decoder: lab.Model, sources: torch.Tensor) -> torch.Tensor:
        ids = yours(decoder, sources)
        ends = (ids == lab.END).any(dim=0)
        return ids[:, : int(ends.int().argmax()) + 1 if ends.any() else ids.shape[1]]

    generator = torch.Generator().manual_seed(seed)

    def moody(decoder: lab.Model, sources: torch.Tensor) -> torch.Tensor:
        return lab.sample_answers(lambda scores: sample_with_temperature(scores, 2.0, generator), decoder, sources)

    sources = pairs(seed)[0][:12]
    assert ends_each_sequence(yours, model(seed), sources)
    for sick in (colleagues_decode, impatient, moody):
        assert not ends_each_sequence(sick, model(seed), sources)


@both_seeds
def test_greedy_is_wrong_on_the_tree(seed: int) -> None:
    chances, source = lab.tree_answers(), torch.tensor([[3]])
    text = lab.tree_text(greedy_decode(lab.tree_model, source, **TREE_ENDS)[0])
    best = lab.tree_text(beam_search(lab.tree_model, source, **TREE_ENDS, beam_width=2)[0])
    assert chances[text] == pytest.approx(0.24)
    assert chances[best] == pytest.approx(0.36) == pytest.approx(max(chances.values()))


@both_seeds
def test_the_penalty_prefers_long(seed: int) -> None:
    ids = beam_search(lab.tree_model, torch.tensor([[3]]), **TREE_ENDS, beam_width=2, length_penalty=1.0)
    assert lab.tree_text(ids[0]) == "aa."


@cache
def four_beams(seed: int) -> torch.Tensor:
    ids = beam_search(model(seed), pairs(seed)[0], *ENDS, 4)
    return torch.nn.functional.pad(ids, (0, lab.MAX_LENGTH - ids.shape[1]))


@both_seeds
def test_beams_are_more_likely(seed: int) -> None:
    source = pairs(seed)[0]
    likelihood = [lab.log_likelihood(model(seed), source, ids).mean() for ids in (four_beams(seed), greedy(seed))]
    assert likelihood[0] > likelihood[1] + 0.05


@both_seeds
def test_beams_help_a_little(seed: int) -> None:
    assert 0.01 < rows_right(seed, four_beams(seed)) - rows_right(seed, greedy(seed)) < 0.065


@cache
def any_of_sixteen(seed: int) -> float:
    generator = torch.Generator().manual_seed(seed)
    return lab.pass_at(lambda scores: sample_with_temperature(scores, 0.5, generator), model(seed), pairs(seed), [16])[
        0
    ]


@cache
def best_of(seed: int, n: int) -> float:
    generator = torch.Generator().manual_seed(seed)
    return rows_right(seed, best_of_n(model(seed), pairs(seed)[0], *ENDS, n, generator))


@both_seeds
def test_any_of_many(seed: int) -> None:
    assert any_of_sixteen(seed) > rows_right(seed, greedy(seed)) + 0.1


@both_seeds
def test_likelihood_is_no_verifier(seed: int) -> None:
    assert abs(best_of(seed, 16) - rows_right(seed, greedy(seed))) < 0.08


@both_seeds
def test_best_beats_one(seed: int) -> None:
    assert best_of(seed, 16) > best_of(seed, 1) + 0.05


@both_seeds
def test_a_vote_is_no_verifier(seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    (share,) = lab.vote_of(
        lambda scores: sample_with_temperature(scores, 0.5, generator), model(seed), pairs(seed), [16]
    )
    assert abs(share - rows_right(seed, greedy(seed))) < 0.08


@both_seeds_later
def test_no_rescue(seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    trained = model(seed, 300)
    ways = [
        lambda source, target: greedy_decode(trained, source, lab.START, lab.END, target.shape[1]),
        lambda source, target: beam_search(trained, source, lab.START, lab.END, target.shape[1], 4),
        lambda source, target: lab.luckiest(
            lambda scores: sample_with_temperature(scores, 1.0, generator), trained, source, target, 8
        ),
    ]
    for way in ways:
        shares = exact_by_length(way, exact_match, exclude=letters(seed).train, lengths=(10, 12), count=50)
        assert shares[10] > 0.7
        assert shares[12] <= 0.1


@both_seeds_later
def test_the_cache_changes_nothing(seed: int) -> None:
    source = pairs(seed)[0]
    for steps in (100, 300):
        fast = cached_greedy_decode(model(seed, steps), source, *ENDS)
        assert torch.equal(fast, greedy_decode(model(seed, steps), source, *ENDS))


@both_seeds
def test_quadratic_against_linear(seed: int) -> None:
    writer = lab.long_writer(200, seed)
    assert lab.tokens_read(greedy_decode, writer, [200]) == [20_100]
    assert lab.tokens_read(cached_greedy_decode, writer, [200]) == [200]


@both_seeds_later
def test_the_cache_is_faster(seed: int) -> None:
    writer = lab.long_writer(200, seed)
    slow, fast = (lab.seconds(decode, writer, [200])[0] for decode in (greedy_decode, cached_greedy_decode))
    assert slow > 1.5 * fast
