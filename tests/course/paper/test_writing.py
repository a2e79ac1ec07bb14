"""Writing with a model that reads its source once gives the ids of one that reads it for every token."""

import torch
from torch import nn

from transformer_course.beam import beam_search
from transformer_course.decoding import greedy_decode
from transformer_course.paper.built_in import BuiltInTransformer
from transformer_course.paper.looking import last_crossing, translation_maps
from transformer_course.paper.model import Transformer
from transformer_course.paper.writing import ReadsOnce, write


def model() -> Transformer:
    torch.manual_seed(0)
    transformer = Transformer(13, 11, 16, 2, 2, 32, 0.5, 12)
    for parameter in transformer.parameters():
        nn.init.normal_(parameter, std=0.4)
    return transformer


def test_it_reads_a_source_once_and_says_the_same() -> None:
    asked, read = model().eval(), []
    asked.encoder.register_forward_hook(lambda *_: read.append(1))
    source = torch.tensor([[5, 3, 8, 0], [4, 9, 12, 2]])
    for decode, options in ((greedy_decode, {}), (beam_search, {"beam_width": 3})):
        wanted = decode(asked, source, 1, 2, 6, **options)
        read.clear()
        assert torch.equal(decode(ReadsOnce(asked), source, 1, 2, 6, **options), wanted)
        assert len(read) == (1 if decode is greedy_decode else 2)


def test_answers_belong_to_their_sources_and_dropout_is_off() -> None:
    asked = model().train()
    sources = [[5, 3, 8], [4, 9, 12, 2, 7], [6]]
    answers = write(asked, sources, max_length=6, max_tokens=5)
    assert asked.training
    asked.eval()
    for source, answer in zip(sources, answers, strict=True):
        assert greedy_decode(asked, torch.tensor([source]), 1, 2, 6)[0].tolist() == answer


class Whole(nn.Module):
    def forward(self, source: torch.Tensor, target_input: torch.Tensor) -> torch.Tensor:
        return nn.functional.one_hot((source[:, :1] + target_input).clamp(max=9) * 0 + 2, 10).float()


def test_a_model_in_one_piece_is_called_as_it_is() -> None:
    assert write(Whole(), [[5], [6]], max_length=3) == [[2], [2]]


def test_attention_can_be_seen_on_both_sides() -> None:
    maps = translation_maps(model(), torch.tensor([[5, 3, 8]]), torch.tensor([[1, 6]]))
    assert {name: tuple(weights.shape) for name, weights in maps.items() if "layers.1" in name} == {
        "encoder.layers.1.attention": (1, 2, 3, 3),
        "decoder.layers.1.self_attention": (1, 2, 2, 2),
        "decoder.layers.1.cross_attention": (1, 2, 2, 3),
    }


def test_the_last_cross_attention_is_found_whatever_it_is_called() -> None:
    source, target = torch.tensor([[5, 3, 8]]), torch.tensor([[1, 6]])
    ours = model()
    expected = translation_maps(ours, source, target)["decoder.layers.1.cross_attention"][0]
    crossing = last_crossing(ours, source, target)
    assert crossing is not None
    assert torch.equal(crossing, expected)
    theirs = last_crossing(BuiltInTransformer(ours), source, target)
    assert theirs is not None
    assert torch.allclose(theirs, expected, atol=1e-6)
    assert last_crossing(Whole(), source, target) is None
