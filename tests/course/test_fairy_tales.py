"""The fairy tales: one translation for each sentence, the German of a grammar book, and no test sentence learnt."""

import random

import pytest

from transformer_course.tasks.fairy_tales import (
    ANIMALS,
    CASES,
    PEOPLE,
    PLACES,
    THINGS,
    WITH_BEINGS,
    Clause,
    Noun,
    Phrase,
    Teller,
    Verb,
    _english,
    _main,
    _subordinate,
    fairy_tales,
)


def test_every_sentence_has_one_translation() -> None:
    translations: dict[str, str] = {}
    for seed in (1, 2):
        teller = Teller(seed)
        for _ in range(10_000):
            english, german = teller.sentence()
            assert translations.setdefault(english, german) == german
    assert len(translations) > 18_000


def test_sentences_look_like_sentences() -> None:
    for english, german in fairy_tales(3_000, seed=3):
        for side in (english, german):
            assert side[0].isupper()
            assert side[-1] in ".?"
            assert "  " not in side
            assert not any(pair in side for pair in (" .", " ,", ",,", ",.", " ?"))
        assert english[-1] == german[-1]


def test_the_same_seed_tells_the_same_tales_and_none_is_learnt_and_tested() -> None:
    assert fairy_tales(100, seed=4) == fairy_tales(100, seed=4)
    assert fairy_tales(100, seed=4) != fairy_tales(100, seed=5)
    learnt = {english for english, _ in fairy_tales(3_000, seed=4)}
    assert not learnt & {english for english, _ in fairy_tales(3_000, seed=4, test=True)}


def noun(english: str) -> Noun:
    (noun,) = (one for one in (*PEOPLE, *ANIMALS, *THINGS, *PLACES) if one.english == english)
    return noun


@pytest.mark.parametrize(
    ("english", "singular", "plural"),
    [
        ("man", "Mann Mann Mann", "Männer Männer Männern"),
        ("boy", "Junge Jungen Jungen", "Jungen Jungen Jungen"),
        ("bear", "Bär Bären Bären", "Bären Bären Bären"),
        ("queen", "Königin Königin Königin", "Königinnen Königinnen Königinnen"),
        ("mirror", "Spiegel Spiegel Spiegel", "Spiegel Spiegel Spiegeln"),
        ("horse", "Pferd Pferd Pferd", "Pferde Pferde Pferden"),
    ],
)
def test_nouns_in_three_cases(english: str, singular: str, plural: str) -> None:
    assert [noun(english).in_case(case, False) for case in CASES] == singular.split()
    assert [noun(english).in_case(case, True) for case in CASES] == plural.split()


class Chosen(random.Random):
    """Chance that takes no adjective and the first kind of article that is asked for."""

    kind = "the"

    def random(self) -> float:
        return 0.99

    def choice(self, seq):  # type: ignore[no-untyped-def]
        return self.kind if self.kind in seq else seq[0]


def phrase(english: str, kind: str = "the", plural: bool = False) -> Phrase:
    teller = Teller(0)
    teller.chance = Chosen()
    teller.chance.kind = kind
    return teller._phrase(noun(english), (), plural)


@pytest.mark.parametrize(
    ("english", "kind", "plural", "german"),
    [
        ("man", "the", False, "der Mann, den Mann, dem Mann"),
        ("woman", "a", False, "eine Frau, eine Frau, einer Frau"),
        ("child", "a", False, "ein Kind, ein Kind, einem Kind"),
        ("boy", "this", False, "dieser Junge, diesen Jungen, diesem Jungen"),
        ("dog", "the", True, "die Hunde, die Hunde, den Hunden"),
        ("cat", "many", True, "viele Katzen, viele Katzen, vielen Katzen"),
    ],
)
def test_articles_agree(english: str, kind: str, plural: bool, german: str) -> None:
    assert ", ".join(phrase(english, kind, plural).german.values()) == german


def verb(base: str) -> Verb:
    (verb,) = (one for one in WITH_BEINGS if one.base == base)
    return verb


@pytest.mark.parametrize(
    ("base", "tense", "english", "main", "subordinate"),
    [
        ("see", "present", "sees", "sieht die Katze", "die Katze sieht"),
        ("see", "past", "saw", "hat die Katze gesehen", "die Katze gesehen hat"),
        ("help", "past", "helped", "hat der Katze geholfen", "der Katze geholfen hat"),
        ("follow", "past", "followed", "ist der Katze gefolgt", "der Katze gefolgt ist"),
        ("invite", "present", "invites", "lädt die Katze ein", "die Katze einlädt"),
        ("invite", "can", "can invite", "kann die Katze einladen", "die Katze einladen kann"),
        ("call", "future", "will call", "wird die Katze rufen", "die Katze rufen wird"),
    ],
)
def test_the_verb_comes_second_or_last(base: str, tense: str, english: str, main: str, subordinate: str) -> None:
    clause = Clause(phrase("dog"), verb(base), (phrase("cat"),), tense)
    assert _english(clause) == f"the dog {english} the cat"
    assert _main(clause) == f"der Hund {main}"
    assert _subordinate(clause) == f"der Hund {subordinate}"
