"""Ten English sentences with their German translations: so few that a model which works learns them by heart."""

from transformer_course.tasks.symbols import Example, Symbols

PAIRS = [
    ("the cat sleeps", "die katze schläft"),
    ("the dog sleeps", "der hund schläft"),
    ("the dog runs fast", "der hund rennt schnell"),
    ("a child reads", "ein kind liest"),
    ("a child runs to the house", "ein kind rennt zum haus"),
    ("the house is old", "das haus ist alt"),
    ("the woman reads a book", "die frau liest ein buch"),
    ("the woman sees the dog", "die frau sieht den hund"),
    ("the dog sees the cat", "der hund sieht die katze"),
    ("today the child sees the old house", "heute sieht das kind das alte haus"),
]


def ten_pairs() -> tuple[Symbols, Symbols, list[Example]]:
    """The English words, the German words, and the pairs as ids.

    >>> english, german, examples = ten_pairs()
    >>> english.decode(examples[0][0]), german.decode(examples[0][1])
    (['the', 'cat', 'sleeps'], ['die', 'katze', 'schläft'])
    """
    english = Symbols.of(one.split() for one, _ in PAIRS)
    german = Symbols.of(one.split() for _, one in PAIRS)
    return english, german, [(english.encode(one.split()), german.target(other.split())) for one, other in PAIRS]
