"""The class's answers to lesson 02."""

from __future__ import annotations

from grader.demo.learners import Learner

LESSON = "02_tokenizer"

IN_OTHER_WORDS = {
    "build_vocabulary": """\
def build_vocabulary(corpus):
    joined = "".join(corpus)
    order = sorted(set(joined), key=lambda symbol: (-joined.count(symbol), joined.index(symbol)))
    return dict(zip(order, range(1, len(order) + 1)))""",
    "encode": """\
def encode(text, vocabulary):
    ids = []
    for symbol in text:
        ids.append(vocabulary[symbol])
    return ids""",
    "decode": """\
def decode(ids, vocabulary):
    names = list(vocabulary)
    places = list(vocabulary.values())
    text = ""
    for i in ids:
        if int(i) == 0:
            continue
        text += names[places.index(i)]
    return text""",
    "pad_sequences": """\
def pad_sequences(sequences, max_length, pad_id=0):
    rows = []
    for sequence in sequences:
        room = max_length - len(sequence)
        assert room >= 0, "this sequence is too long"
        rows.append(list(sequence) + [pad_id] * room)
    return torch.tensor(rows, dtype=torch.int64).reshape(len(rows), max_length)""",
    "prepare_example": """\
def prepare_example(text, label, vocabulary, max_length, cls_id):
    tokens = torch.zeros(max_length, dtype=torch.long)
    ids = encode(text, vocabulary)
    if len(ids) >= max_length:
        raise ValueError("too long")
    for place, i in enumerate(ids):
        tokens[place] = i
    tokens[-1] = cls_id
    return tokens, label""",
    "byte_pair_merges": """\
def byte_pair_merges(words, num_merges):
    cut = [list(word) for word in words]
    learnt = []
    while len(learnt) < num_merges:
        seen = {}
        for tokens in cut:
            for left, right in zip(tokens, tokens[1:]):
                seen[left, right] = seen.get((left, right), 0) + 1
        if not seen:
            break
        top = max(seen.values())
        best = sorted(pair for pair in seen if seen[pair] == top)[-1]
        learnt.append(best)
        for tokens in cut:
            i = 0
            while i < len(tokens) - 1:
                if (tokens[i], tokens[i + 1]) == best:
                    tokens[i : i + 2] = [best[0] + best[1]]
                i += 1
    return learnt""",
    "apply_merges": """\
def apply_merges(word, merges):
    tokens = [symbol for symbol in word]
    for left, right in merges:
        out = []
        for token in tokens:
            if out and not glued and out[-1] == left and token == right:
                out[-1] = left + right
                glued = True
            else:
                out.append(token)
                glued = False
        tokens = out
    return tokens""",
    "byte_pair_decode": """\
def byte_pair_decode(tokens):
    word = ""
    for token in tokens:
        word = word + token
    return word""",
    "round_trips": """\
def round_trips(encode, decode, text):
    try:
        return bool(decode(encode(text)) == text)
    except Exception:
        return False""",
}

HONEST = (
    Learner("ada", LESSON),
    Learner("bela", LESSON, types=IN_OTHER_WORDS),
    Learner(
        "chidi",
        LESSON,
        edits={
            "build_vocabulary": ("start=1", "start=0"),
            "pad_sequences": ("row[: len(sequence)]", "row[max_length - len(sequence) :]"),
        },
    ),
    Learner(
        "dana",
        LESSON,
        edits={
            "decode": ("place != 0", "place >= 0"),
            "byte_pair_merges": ("best = max(", "best = min("),
        },
    ),
    Learner("eli", LESSON, begins=4),
    Learner("fay", LESSON, begins=0),
)
LEARNERS = HONEST
