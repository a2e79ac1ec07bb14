"""The paper's model against PyTorch's own, the paper's parameter count, and where dropout is."""

import pytest
import torch
from torch import nn

from transformer_course.paper.built_in import BuiltInTransformer
from transformer_course.paper.layers import DecoderLayer, EncoderLayer, PositionwiseFeedForward
from transformer_course.paper.masks import create_masks
from transformer_course.paper.model import Decoder, Encoder, Transformer, count_parameters
from transformer_course.paper.recipes import BASE

SOURCE = torch.tensor([[5, 3, 8, 0, 0], [4, 9, 12, 2, 7], [1, 0, 0, 0, 0]])
TARGET = torch.tensor([[1, 6, 4, 0], [1, 7, 10, 2], [1, 3, 0, 0]])


def small(dropout: float = 0.0, **options: bool) -> Transformer:
    torch.manual_seed(0)
    model = Transformer(13, 11, 16, 2, 4, 24, dropout, 9, **options)
    for parameter in model.parameters():  # biases and norms that start at 0 and 1 would hide a mistake
        nn.init.normal_(parameter, std=0.3)
    return model.double()


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("training", [False, True])
def test_the_same_weights_give_the_same_logits_and_gradients_as_pytorchs(norm_first: bool, training: bool) -> None:
    ours = small(norm_first=norm_first).train(training)
    theirs = BuiltInTransformer(ours).train(training)
    real = TARGET != 0
    results = [model(SOURCE, TARGET)[real] for model in (ours, theirs)]
    assert torch.allclose(*results, atol=1e-10)
    slopes = torch.randn(results[0].shape, dtype=torch.float64)
    for result in results:
        (result * slopes).sum().backward()
    layer, their_layer = ours.encoder.layers[1], theirs.transformer.encoder.layers[1]
    assert torch.allclose(layer.feed_forward.linear_in.weight.grad, their_layer.linear1.weight.grad, atol=1e-10)
    assert torch.allclose(ours.encoder.embedding.weight.grad, theirs.source_embedding.weight.grad, atol=1e-10)


def test_the_orders_differ() -> None:
    post, pre = small(), small(norm_first=True)
    assert isinstance(post.encoder.final_norm, nn.Identity)
    assert not isinstance(pre.decoder.final_norm, nn.Identity)
    layer = EncoderLayer(8, 2, 16, 0.0)
    out = layer(torch.randn(2, 3, 8))
    assert torch.allclose(out.mean(-1), torch.zeros(2, 3), atol=1e-5)  # post-norm: what leaves is normalised
    layer.norm_first = True
    assert not torch.allclose(layer(torch.randn(2, 3, 8)).mean(-1), torch.zeros(2, 3), atol=1e-3)


def test_padding_and_the_future_are_hidden() -> None:
    model = small().eval()
    before = model(SOURCE, TARGET)
    changed = TARGET.clone()
    changed[:, 2] = 5
    assert torch.equal(model(SOURCE, changed)[:, :2], before[:, :2])
    wider = nn.functional.pad(SOURCE, (0, 3))
    assert torch.allclose(model(wider, TARGET), before, atol=1e-10)


def test_the_base_model_is_about_as_large_as_in_the_papers_table() -> None:
    with torch.device("meta"):  # sizes only
        model = BASE.build(37000, 37000)
        apart = Transformer(37000, 37000, 512, 6, 8, 2048, 0.1, 512)
    assert count_parameters(model) == 63_119_496
    assert abs(count_parameters(model) / 65e6 - 1) < 0.03
    assert count_parameters(apart) - count_parameters(model) == 2 * 37000 * 512


def test_shared_embeddings_are_one_matrix_and_need_one_vocabulary() -> None:
    model = Transformer(11, 11, 16, 1, 4, 24, 0.0, 9, share_embeddings=True)
    assert model.encoder.embedding.weight is model.decoder.embedding.weight is model.output.weight
    assert model(SOURCE.clamp(max=10), TARGET).shape == (3, 4, 11)
    with pytest.raises(ValueError, match="one vocabulary"):
        Transformer(11, 12, 16, 1, 4, 24, 0.0, 9, share_embeddings=True)


def test_dropout_is_on_each_sub_layers_output_and_on_the_embeddings() -> None:
    torch.manual_seed(0)
    x = torch.randn(4, 50, 8)
    feed_forward = PositionwiseFeedForward(8, 16, 0.5)
    assert (feed_forward(x) == 0).float().mean() == pytest.approx(0.5, abs=0.05)
    assert (feed_forward.eval()(x) != 0).all()
    for layer, arguments in (
        (EncoderLayer(8, 2, 16, 1.0, norm_first=True), (x,)),
        (DecoderLayer(8, 2, 16, 1.0, norm_first=True), (x, torch.randn(4, 3, 8))),
    ):
        assert torch.equal(layer(*arguments), x)  # every sub-layer's output is dropped; the residual stream is not
    layer = EncoderLayer(8, 2, 16, 1.0)
    assert torch.equal(layer(x), layer.norm2(layer.norm1(x)))
    tokens = torch.randint(1, 9, (2, 5))
    assert torch.equal(Encoder(9, 8, 0, 2, 16, 1.0, 9)(tokens), torch.zeros(2, 5, 8))
    assert torch.equal(Decoder(9, 8, 0, 2, 16, 1.0, 9)(tokens, x[:2]), torch.zeros(2, 5, 8))


def test_embeddings_are_as_large_as_the_sinusoids() -> None:
    torch.manual_seed(0)
    encoder = Encoder(1000, 64, 0, 2, 16, 0.0, 9)
    embedded = encoder(torch.randint(1, 1000, (50, 9))) - encoder.positions.encoding
    assert embedded.std().item() == pytest.approx(1.0, abs=0.05)


def test_masks_go_where_they_belong() -> None:
    model = small()
    source_mask, target_mask = create_masks(SOURCE, TARGET)
    states = model.encoder(SOURCE, source_mask)
    by_hand = model.output(model.decoder(TARGET, states, target_mask, source_mask))
    assert torch.equal(by_hand, model(SOURCE, TARGET))
