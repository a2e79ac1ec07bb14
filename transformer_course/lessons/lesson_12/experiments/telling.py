"""Trains the storyteller, whose weights are in `data/storyteller/`.

    python -m transformer_course.lessons.lesson_12.experiments.telling FOLDER

writes `model.safetensors`, `config.json` and `tokenizer.json` to FOLDER, in the form in which models are published. It
takes about 6 minutes of processor time on one core, and needs the packages `safetensors` and `tokenizers`. A number of
steps may follow the folder.
"""

import json
import sys
from pathlib import Path

import torch
from torch import nn

from transformer_course.byte_pairs import byte_pair_merges, byte_pair_vocabulary
from transformer_course.language_model.modern import ModernLanguageModel
from transformer_course.language_model.published import to_llama
from transformer_course.language_model.storyteller import END, story_ids
from transformer_course.language_model.words import PIECE, Words, pieces
from transformer_course.lessons.lesson_11.experiments import Corpus, Run, fit
from transformer_course.lessons.lesson_12.experiments.widths import gated_width
from transformer_course.tasks.stories import Storyteller

WIDTH, HEADS, KV_HEADS, LAYERS = 128, 4, 2, 3
MERGES, LEARNT_FROM = 800, 3_000
"""Byte pairs, and the stories that they are learnt from."""
STEPS, BATCH, RATE, SEED = 1_300, 6, 3e-3, 0
LONGEST = 512
"""Tokens that a reader of the file should expect at most; no story has as many."""


def learnt() -> Words:
    """The byte pairs of the stories."""
    teller = Storyteller(seed=1_000_000)
    merges = byte_pair_merges([piece for _ in range(LEARNT_FROM) for piece in pieces(teller.story().text)], MERGES)
    return Words(tuple(merges))


def trained(words: Words, steps: int = STEPS) -> Run:
    """A new model that has read `steps` batches of stories, each story once."""
    teller = Storyteller(SEED)

    def batches(ids: torch.Tensor, length: int, size: int, generator: torch.Generator) -> tuple[torch.Tensor, ...]:
        """Whole stories, from the first token to the end. Beyond it, nothing is asked for."""
        rows = [story_ids(words, teller.story().text) for _ in range(size)]
        inputs = nn.utils.rnn.pad_sequence([row[:-1] for row in rows], batch_first=True, padding_value=END)
        return inputs, nn.utils.rnn.pad_sequence([row[1:] for row in rows], batch_first=True, padding_value=-100)

    torch.manual_seed(SEED)
    model = ModernLanguageModel(words.size, WIDTH, HEADS, KV_HEADS, gated_width(WIDTH), LAYERS)
    nothing = torch.tensor([], dtype=torch.long)  # the stories are told as they are read
    corpus = Corpus("stories", words.size, nothing, nothing, words.encode, words.decode)
    return fit(model, corpus, steps, batch_size=BATCH, rate=RATE, batches=batches, name="stories")  # type: ignore[arg-type]


def publish(folder: Path, model: nn.Module, words: Words) -> None:
    """The weights in 16 bits, the sizes, and the byte pairs, as `transformers` and `tokenizers` read them."""
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    halved = {name: tensor.half() for name, tensor in to_llama(model.state_dict(), HEADS).items()}
    save_file(halved, folder / "model.safetensors", metadata={"format": "pt"})
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": words.size,
        "hidden_size": WIDTH,
        "num_attention_heads": HEADS,
        "num_key_value_heads": KV_HEADS,
        "intermediate_size": gated_width(WIDTH),
        "num_hidden_layers": LAYERS,
        "max_position_embeddings": LONGEST,
        "hidden_act": "silu",
        "rms_norm_eps": 1e-05,
        "rope_theta": 10000.0,
        "tie_word_embeddings": False,
        "bos_token_id": END,
        "eos_token_id": END,
        "torch_dtype": "float16",
    }
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n", "utf-8")
    (folder / "tokenizer.json").write_text(_for_the_library(list(words.merges)) + "\n", "utf-8")


def _for_the_library(merges: list[tuple[str, str]]) -> str:
    """Our byte pairs in the form of the library `tokenizers`: the same ids for every text."""
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers

    letter = _letters_of_bytes()
    names = {pair: tuple("".join(letter[byte] for byte in part.encode()) for part in pair) for pair in merges}
    vocabulary = {"<end>": END} | {letter[byte]: byte + 1 for byte in range(256)}
    for token, number in byte_pair_vocabulary(merges).items():
        vocabulary["".join(letter[byte] for byte in token.encode())] = number
    tokenizer = Tokenizer(models.BPE(vocabulary, [(one, other) for one, other in names.values()]))
    cut = pre_tokenizers.Split(Regex(PIECE), behavior="isolated")
    bytes_only = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([cut, bytes_only])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken("<end>", special=True)])
    return str(tokenizer.to_str(pretty=False))


def _letters_of_bytes() -> list[str]:
    """The letter that stands for each byte there: itself where it can be printed, and one from 256 on otherwise."""
    printed = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printed]
    return [chr(byte) if byte in printed else chr(256 + others.index(byte)) for byte in range(256)]


if __name__ == "__main__":
    torch.set_num_threads(1)
    story_words = learnt()
    run = trained(story_words, *map(int, sys.argv[2:]))
    publish(Path(sys.argv[1]), run.model, story_words)
    print(f"{run.seconds / 60:.1f} minutes of processor time, loss {sum(run.losses[-50:]) / 50:.4f} nats per token")
