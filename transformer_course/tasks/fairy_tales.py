"""Sentences from fairy tales, in English and in correct German, as many as you like: both grow from one small grammar.

The words are few, and the grammar is real: three genders and three cases, articles and endings that agree, the verb in
second place or at the very end, prefixes that come off, and an "it" whose German depends on the noun it stands for.
Every English sentence has exactly one translation here, so a translation is either right or wrong.
"""

import random
import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

Pair = tuple[str, str]
Case = Literal["nom", "acc", "dat"]
CASES: tuple[Case, ...] = ("nom", "acc", "dat")


@dataclass(frozen=True)
class Noun:
    """A noun in both languages; `gender` is m, f or n."""

    english: str
    plural: str
    german: str
    mehrzahl: str
    gender: str
    weak: str = ""
    """The ending that a weak noun has in the accusative and dative: der Bär, den Bären."""
    preposition: str = "in"
    """Of a place: in, on or at."""

    def in_case(self, case: Case, plural: bool) -> str:
        if not plural:
            return self.german if case == "nom" else self.german + self.weak
        return self.mehrzahl + ("n" if case == "dat" and self.mehrzahl[-1] not in "ns" else "")


@dataclass(frozen=True)
class Verb:
    """A verb in both languages."""

    base: str
    third: str
    past: str
    infinitive: str
    er: str
    """The third person of the present."""
    participle: str
    objects: str = ""
    """The cases of its objects: "", "acc", "dat" or "dat acc"."""
    particle: str = ""
    """The English particle: throw *away*."""
    prefix: str = ""
    """The German prefix that comes off: wirft ... *weg*. `infinitive` and `er` are without it."""
    to_be: bool = False
    """Its perfect is made with sein."""


@dataclass(frozen=True)
class Phrase:
    """A noun phrase or pronoun: its English, and its German in the three cases."""

    subject: str
    object: str
    german: dict[Case, str]
    plural: bool = False
    person: int = 3
    gender: str = "m"
    human: bool = True
    pronoun: bool = False
    definite: bool = True
    relative: "Clause | None" = None
    """A clause whose subject or object this phrase is: "the dog that sleeps"."""
    role: Case = "nom"
    """Which part of that clause the phrase is."""


@dataclass(frozen=True)
class Clause:
    """Who does what, where and when."""

    subject: Phrase
    verb: Verb
    objects: tuple[Phrase, ...] = ()
    tense: str = "present"
    """present, past, future, or the English modal verb."""
    place: Pair | None = None
    when: Pair | None = None
    fronted: bool = False
    """Whether `when` comes first."""
    negated: bool = False


def _nouns(table: str) -> tuple[Noun, ...]:
    rows = [line.split("|") for line in table.strip().splitlines()]
    return tuple(Noun(*(cell.strip() for cell in row)) for row in rows)


PEOPLE = _nouns("""
man|men|Mann|Männer|m
woman|women|Frau|Frauen|f
child|children|Kind|Kinder|n
girl|girls|Mädchen|Mädchen|n
boy|boys|Junge|Jungen|m|n
king|kings|König|Könige|m
queen|queens|Königin|Königinnen|f
prince|princes|Prinz|Prinzen|m|en
princess|princesses|Prinzessin|Prinzessinnen|f
farmer|farmers|Bauer|Bauern|m|n
baker|bakers|Bäcker|Bäcker|m
cook|cooks|Koch|Köche|m
witch|witches|Hexe|Hexen|f
wizard|wizards|Zauberer|Zauberer|m
giant|giants|Riese|Riesen|m|n
thief|thieves|Dieb|Diebe|m
neighbour|neighbours|Nachbar|Nachbarn|m|n
teacher|teachers|Lehrer|Lehrer|m
grandmother|grandmothers|Großmutter|Großmütter|f
grandfather|grandfathers|Großvater|Großväter|m
sister|sisters|Schwester|Schwestern|f
brother|brothers|Bruder|Brüder|m
aunt|aunts|Tante|Tanten|f
uncle|uncles|Onkel|Onkel|m
""")
ANIMALS = _nouns("""
dog|dogs|Hund|Hunde|m
cat|cats|Katze|Katzen|f
horse|horses|Pferd|Pferde|n
bird|birds|Vogel|Vögel|m
cow|cows|Kuh|Kühe|f
mouse|mice|Maus|Mäuse|f
bear|bears|Bär|Bären|m|en
wolf|wolves|Wolf|Wölfe|m
fox|foxes|Fuchs|Füchse|m
goat|goats|Ziege|Ziegen|f
pig|pigs|Schwein|Schweine|n
frog|frogs|Frosch|Frösche|m
lion|lions|Löwe|Löwen|m|n
duck|ducks|Ente|Enten|f
donkey|donkeys|Esel|Esel|m
rabbit|rabbits|Kaninchen|Kaninchen|n
""")
THINGS = _nouns("""
book|books|Buch|Bücher|n
letter|letters|Brief|Briefe|m
apple|apples|Apfel|Äpfel|m
cake|cakes|Kuchen|Kuchen|m
key|keys|Schlüssel|Schlüssel|m
hat|hats|Hut|Hüte|m
lamp|lamps|Lampe|Lampen|f
cup|cups|Tasse|Tassen|f
knife|knives|Messer|Messer|n
coat|coats|Mantel|Mäntel|m
ring|rings|Ring|Ringe|m
flower|flowers|Blume|Blumen|f
picture|pictures|Bild|Bilder|n
basket|baskets|Korb|Körbe|m
bottle|bottles|Flasche|Flaschen|f
violin|violins|Geige|Geigen|f
chair|chairs|Stuhl|Stühle|m
shirt|shirts|Hemd|Hemden|n
coin|coins|Münze|Münzen|f
egg|eggs|Ei|Eier|n
crown|crowns|Krone|Kronen|f
mirror|mirrors|Spiegel|Spiegel|m
""")
PLACES = _nouns("""
house|houses|Haus|Häuser|n||in
garden|gardens|Garten|Gärten|m||in
kitchen|kitchens|Küche|Küchen|f||in
forest|forests|Wald|Wälder|m||in
village|villages|Dorf|Dörfer|n||in
school|schools|Schule|Schulen|f||in
church|churches|Kirche|Kirchen|f||in
castle|castles|Schloss|Schlösser|n||in
tower|towers|Turm|Türme|m||in
cave|caves|Höhle|Höhlen|f||in
bridge|bridges|Brücke|Brücken|f||on
field|fields|Feld|Felder|n||on
mountain|mountains|Berg|Berge|m||on
roof|roofs|Dach|Dächer|n||on
river|rivers|Fluss|Flüsse|m||at
lake|lakes|See|Seen|m||at
""")

ADJECTIVES = (  # English, German alone, German before an ending
    ("old", "alt", "alt"), ("young", "jung", "jung"), ("big", "groß", "groß"), ("small", "klein", "klein"),
    ("tired", "müde", "müd"), ("happy", "glücklich", "glücklich"), ("sad", "traurig", "traurig"),
    ("hungry", "hungrig", "hungrig"), ("clever", "klug", "klug"), ("rich", "reich", "reich"), ("poor", "arm", "arm"),
    ("friendly", "freundlich", "freundlich"), ("brave", "mutig", "mutig"), ("lazy", "faul", "faul"),
)  # fmt: skip
LOOKS = (
    ("old", "alt", "alt"), ("new", "neu", "neu"), ("big", "groß", "groß"), ("small", "klein", "klein"),
    ("red", "rot", "rot"), ("blue", "blau", "blau"), ("green", "grün", "grün"), ("white", "weiß", "weiß"),
    ("black", "schwarz", "schwarz"), ("beautiful", "schön", "schön"), ("heavy", "schwer", "schwer"),
    ("golden", "golden", "golden"), ("strange", "seltsam", "seltsam"),
)  # fmt: skip

ALONE = (
    Verb("sleep", "sleeps", "slept", "schlafen", "schläft", "geschlafen"),
    Verb("sing", "sings", "sang", "singen", "singt", "gesungen"),
    Verb("dance", "dances", "danced", "tanzen", "tanzt", "getanzt"),
    Verb("laugh", "laughs", "laughed", "lachen", "lacht", "gelacht"),
    Verb("cry", "cries", "cried", "weinen", "weint", "geweint"),
    Verb("work", "works", "worked", "arbeiten", "arbeitet", "gearbeitet"),
    Verb("wait", "waits", "waited", "warten", "wartet", "gewartet"),
    Verb("live", "lives", "lived", "wohnen", "wohnt", "gewohnt"),
)
WAKING = (
    Verb("get up", "gets up", "got up", "stehen", "steht", "aufgestanden", prefix="auf", to_be=True),
    Verb(
        "fall asleep", "falls asleep", "fell asleep", "schlafen", "schläft", "eingeschlafen", prefix="ein", to_be=True
    ),
    Verb("come back", "comes back", "came back", "kommen", "kommt", "zurückgekommen", prefix="zurück", to_be=True),
    Verb("go away", "goes away", "went away", "gehen", "geht", "weggegangen", prefix="weg", to_be=True),
)
WITH_BEINGS = (
    Verb("see", "sees", "saw", "sehen", "sieht", "gesehen", "acc"),
    Verb("hear", "hears", "heard", "hören", "hört", "gehört", "acc"),
    Verb("look for", "looks for", "looked for", "suchen", "sucht", "gesucht", "acc"),
    Verb("find", "finds", "found", "finden", "findet", "gefunden", "acc"),
    Verb("love", "loves", "loved", "lieben", "liebt", "geliebt", "acc"),
    Verb("kiss", "kisses", "kissed", "küssen", "küsst", "geküsst", "acc"),
    Verb("wash", "washes", "washed", "waschen", "wäscht", "gewaschen", "acc"),
    Verb("paint", "paints", "painted", "malen", "malt", "gemalt", "acc"),
    Verb("wake", "wakes", "woke", "wecken", "weckt", "aufgeweckt", "acc", particle="up", prefix="auf"),
    Verb("invite", "invites", "invited", "laden", "lädt", "eingeladen", "acc", prefix="ein"),
    Verb("call", "calls", "called", "rufen", "ruft", "gerufen", "acc"),
    Verb("help", "helps", "helped", "helfen", "hilft", "geholfen", "dat"),
    Verb("thank", "thanks", "thanked", "danken", "dankt", "gedankt", "dat"),
    Verb("follow", "follows", "followed", "folgen", "folgt", "gefolgt", "dat", to_be=True),
    Verb("answer", "answers", "answered", "antworten", "antwortet", "geantwortet", "dat"),
)
WITH_THINGS = (
    Verb("buy", "buys", "bought", "kaufen", "kauft", "gekauft", "acc"),
    Verb("sell", "sells", "sold", "verkaufen", "verkauft", "verkauft", "acc"),
    Verb("find", "finds", "found", "finden", "findet", "gefunden", "acc"),
    Verb("lose", "loses", "lost", "verlieren", "verliert", "verloren", "acc"),
    Verb("hide", "hides", "hid", "verstecken", "versteckt", "versteckt", "acc"),
    Verb("steal", "steals", "stole", "stehlen", "stiehlt", "gestohlen", "acc"),
    Verb("carry", "carries", "carried", "tragen", "trägt", "getragen", "acc"),
    Verb("break", "breaks", "broke", "zerbrechen", "zerbricht", "zerbrochen", "acc"),
    Verb("need", "needs", "needed", "brauchen", "braucht", "gebraucht", "acc"),
    Verb("take", "takes", "took", "nehmen", "nimmt", "genommen", "acc"),
    Verb("throw", "throws", "threw", "werfen", "wirft", "weggeworfen", "acc", particle="away", prefix="weg"),
    Verb("pick", "picks", "picked", "heben", "hebt", "aufgehoben", "acc", particle="up", prefix="auf"),
)
GIVING = (
    Verb("give", "gives", "gave", "geben", "gibt", "gegeben", "dat acc"),
    Verb("show", "shows", "showed", "zeigen", "zeigt", "gezeigt", "dat acc"),
    Verb("bring", "brings", "brought", "bringen", "bringt", "gebracht", "dat acc"),
    Verb("send", "sends", "sent", "schicken", "schickt", "geschickt", "dat acc"),
    Verb("lend", "lends", "lent", "leihen", "leiht", "geliehen", "dat acc"),
)
MOVING = (
    Verb("go", "goes", "went", "gehen", "geht", "gegangen", to_be=True),
    Verb("ride", "rides", "rode", "reiten", "reitet", "geritten", to_be=True),
    Verb("jump", "jumps", "jumped", "springen", "springt", "gesprungen", to_be=True),
    Verb("run", "runs", "ran", "laufen", "läuft", "gelaufen", to_be=True),
)
SAYING = (
    Verb("say", "says", "said", "sagen", "sagt", "gesagt"),
    Verb("believe", "believes", "believed", "glauben", "glaubt", "geglaubt"),
    Verb("know", "knows", "knew", "wissen", "weiß", "gewusst"),
    Verb("hope", "hopes", "hoped", "hoffen", "hofft", "gehofft"),
)
MODALS = {"can": "können kann", "must": "müssen muss", "should": "sollen soll", "want to": "wollen will"}
EVERY_MORNING = ("every morning", "jeden Morgen")
WHEN: dict[str, tuple[Pair, ...]] = {
    "past": (("yesterday", "gestern"), ("last night", "gestern Nacht"), ("a year ago", "vor einem Jahr")),
    "present": (("today", "heute"), EVERY_MORNING, ("now", "jetzt")),
    "future": (("tomorrow", "morgen"), ("in the evening", "am Abend"), ("soon", "bald")),
}
CONJUNCTIONS = (("because", "weil"), ("although", "obwohl"), ("while", "während"))

_THE = {"m": "der den dem", "f": "die die der", "n": "das das dem", "p": "die die den"}
_ENDINGS = {"m": "- en em", "f": "e e er", "n": "- - em", "p": "e e en"}
_THIS = {"m": "er en em", "f": "e e er", "n": "es es em", "p": "e e en"}
_AFTER_THE = {"m": "e en en", "f": "e e en", "n": "e e en", "p": "en en en"}
_AFTER_A = {"m": "er en en", "f": "e e en", "n": "es es en", "p": "en en en"}
_STRONG = {"p": "e e en"}
_RELATIVE = {"m": "der den dem", "f": "die die der", "n": "das das dem", "p": "die die denen"}
_HE = {"m": "er ihn ihm", "f": "sie sie ihr", "n": "es es ihm", "p": "sie sie ihnen"}
_OWNERS = {"my": "mein", "his": "sein", "her": "ihr", "our": "unser"}


def _form(table: dict[str, str], gender: str, case: Case) -> str:
    return table[gender].split()[CASES.index(case)].strip("-")


def _pronoun(subject: str, other: str, forms: str, plural: bool = False, person: int = 3) -> Phrase:
    german = dict(zip(CASES, forms.split(), strict=True))
    return Phrase(subject, other, german, plural, person, "p" if plural else "m", pronoun=True)


PRONOUNS = (
    _pronoun("he", "him", "er ihn ihm"), _pronoun("she", "her", "sie sie ihr"),
    _pronoun("they", "them", "sie sie ihnen", plural=True), _pronoun("I", "me", "ich mich mir", person=1),
    _pronoun("we", "us", "wir uns uns", plural=True, person=1),
)  # fmt: skip
NOBODY = Phrase("nobody", "nobody", dict(zip(CASES, ("niemand", "niemanden", "niemandem"), strict=True)))


def _article(word: str) -> str:
    return "an" if word[0] in "aeiou" else "a"


class Teller:
    """Tells one sentence after the other; which ones depends on `seed` alone.

    >>> english, german = Teller(seed=7).sentence()
    >>> english[-1] == german[-1]
    True
    """

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def sentence(self) -> Pair:
        """One sentence and its translation."""
        kinds: tuple[tuple[int, Callable[[], Pair]], ...] = (
            (36, self._plain), (14, self._with_conjunction), (10, self._conjunction_first), (8, self._reported),
            (10, self._object_with_relative), (12, self._with_it), (10, self._question),
        )  # fmt: skip
        (kind,) = self.chance.choices([kind for _, kind in kinds], [weight for weight, _ in kinds])
        english, german = (_tidy(side) for side in kind())
        return english, german

    def _plain(self) -> Pair:
        clause = self._clause(relative=0.2)
        return _english(clause) + ".", _main(clause) + "."

    def _with_conjunction(self) -> Pair:
        first = self._clause(when=False)
        other = self._state() if self.chance.random() < 0.4 else self._clause(when=False)
        english, german = self.chance.choice(CONJUNCTIONS)
        if english == "while":
            first, other = (replace(one, tense=self._same_time(first)) for one in (first, other))
        return f"{_english(first)} {english} {_english(other)}.", f"{_main(first)}, {german} {_subordinate(other)}."

    def _conjunction_first(self) -> Pair:
        first = self._state() if self.chance.random() < 0.4 else self._clause(when=False)
        other = self._clause(when=False)
        english, german = self.chance.choice(CONJUNCTIONS)
        if english == "while":
            first, other = (replace(one, tense=self._same_time(first)) for one in (first, other))
        translation = f"{german} {_subordinate(first)}, {_main(other, first='')}."
        return f"{english} {_english(first)}, {_english(other)}.", translation

    def _same_time(self, clause: Clause) -> str:
        return clause.tense if clause.tense in ("present", "past") else "past"

    def _reported(self) -> Pair:
        saying = Clause(self._subject(), self.chance.choice(SAYING), tense=self.chance.choice(("present", "past")))
        other = self._state() if self.chance.random() < 0.3 else self._clause()
        other = replace(other, fronted=False, tense="present" if other.tense in MODALS else other.tense)
        return f"{_english(saying)} that {_english(other)}.", f"{_main(saying)}, dass {_subordinate(other)}."

    def _object_with_relative(self) -> Pair:
        clause = Clause(self._subject(), self.chance.choice(WITH_BEINGS), (), self._tense())
        being = self._being(definite=True)
        pronoun = _form(_RELATIVE, being.gender, "nom")
        about = self._relative(being)
        clause = replace(clause, objects=(being,))
        word = "who" if being.human else "that"
        tail = _subordinate(replace(about, subject=replace(being, german={**being.german, "nom": pronoun})))
        return f"{_english(clause)} {word} {_english(about, subject='')}.", f"{_main(clause)}, {tail}."

    def _with_it(self) -> Pair:
        """Someone does something to a thing, and then something else to *it*."""
        subject, thing = self._subject(), self._thing(plural=False)
        one, other = self.chance.sample(WITH_THINGS, 2)
        tense = self.chance.choice(("present", "past"))
        it = Phrase("it", "it", {case: _form(_HE, thing.gender, case) for case in CASES}, pronoun=True)
        first, second = Clause(subject, one, (thing,), tense), Clause(subject, other, (it,), tense)
        finite, middle, right = _parts(second)
        tail = f"{finite} {middle} {right}" if tense == "present" else f"{middle} {right}"
        return f"{_english(first)} and {_english(second, subject='')}.", f"{_main(first)} und {tail}."

    def _question(self) -> Pair:
        clause = replace(self._clause(when=False), negated=False)
        if self.chance.random() < 0.3:
            thing = self._thing(plural=False, definite=True)
            if self.chance.random() < 0.5:
                return f"where is {thing.subject}?", f"wo ist {thing.german['nom']}?"
            owner = self.chance.choice(PEOPLE)
            return (
                f"does {thing.subject} belong to the {owner.english}?",
                f"gehört {thing.german['nom']} {_form(_THE, owner.gender, 'dat')} {owner.in_case('dat', False)}?",
            )
        if clause.subject.pronoun and clause.subject.person == 3 and self.chance.random() < 0.5:
            who = Phrase("who", "whom", {"nom": "wer", "acc": "wen", "dat": "wem"})
            asked = replace(clause, subject=who)
            return _english(asked) + "?", _main(asked) + "?"
        return _asked(clause) + "?", _main(clause, first="") + "?"

    def _clause(self, when: bool = True, relative: float = 0.0) -> Clause:
        """A clause of any kind."""
        tense, draw, place = self._tense(), self.chance.random(), None
        objects: tuple[Phrase, ...] = ()
        if draw < 0.16:
            verb = self.chance.choice(ALONE)
            place = self._place() if verb.base == "live" or self.chance.random() < 0.6 else None
        elif draw < 0.24:
            verb = self.chance.choice(WAKING)
        elif draw < 0.36:
            verb, place = self.chance.choice(MOVING), self._goal()
        elif draw < 0.58:
            verb, objects = self.chance.choice(WITH_BEINGS), (self._being(pronouns=True),)
        elif draw < 0.82:
            verb, objects = self.chance.choice(WITH_THINGS), (self._thing(),)
            place = self._place() if self.chance.random() < 0.15 else None
        else:
            verb, objects = self.chance.choice(GIVING), (self._being(pronouns=True), self._thing())
        subject = NOBODY if self.chance.random() < 0.03 else self._subject(relative)
        firm = all(one.definite for one in objects) and subject is not NOBODY
        negated = firm and tense in ("present", "past", "future", "can") and self.chance.random() < 0.12
        times = WHEN.get("present" if tense in MODALS else tense, ())
        chosen = self.chance.choice(times) if when and self.chance.random() < 0.35 else None
        if negated and chosen == EVERY_MORNING:  # "not every morning" would mean something else
            chosen = None
        fronted = chosen is not None and self.chance.random() < 0.5
        return Clause(subject, verb, objects, tense, place, chosen, fronted, negated)

    def _state(self) -> Clause:
        """Somebody is somehow: a clause with "be"."""
        english, german, _ = self.chance.choice(ADJECTIVES)
        return Clause(self._subject(), BE, (), self.chance.choice(("present", "past")), (english, german))

    def _relative(self, being: Phrase) -> Clause:
        clause = self._state() if self.chance.random() < 0.4 else self._clause(when=False)
        return replace(clause, subject=replace(being, relative=None))

    def _tense(self) -> str:
        kinds = ("present", "past", "future", *MODALS)
        return self.chance.choices(kinds, (30, 36, 10, 6, 6, 6, 6))[0]

    def _subject(self, relative: float = 0.0) -> Phrase:
        if self.chance.random() < 0.25:
            return self.chance.choice(PRONOUNS)
        being = self._being()
        if self.chance.random() < relative:
            if self.chance.random() < 0.35:  # the phrase is the object there
                verb = self.chance.choice(WITH_BEINGS)
                about = Clause(self._subject(), verb, (), self.chance.choice(("present", "past")))
                case: Case = "dat" if verb.objects == "dat" else "acc"
                return replace(being, relative=about, role=case)
            return replace(being, relative=self._relative(being))
        return being

    def _being(self, pronouns: bool = False, definite: bool | None = None) -> Phrase:
        if pronouns and self.chance.random() < 0.25:
            return self.chance.choice(PRONOUNS)
        human = self.chance.random() < 0.65
        noun = self.chance.choice(PEOPLE if human else ANIMALS)
        return replace(self._phrase(noun, ADJECTIVES, definite=definite), human=human)

    def _thing(self, plural: bool | None = None, definite: bool | None = None) -> Phrase:
        return replace(self._phrase(self.chance.choice(THINGS), LOOKS, plural, definite), human=False)

    def _phrase(
        self,
        noun: Noun,
        adjectives: Sequence[tuple[str, str, str]],
        plural: bool | None = None,
        definite: bool | None = None,
    ) -> Phrase:
        """An article or the like, perhaps an adjective, and a noun."""
        if plural is None:
            plural = self.chance.random() < 0.22
        adjective = self.chance.choice(adjectives) if self.chance.random() < 0.45 else None
        gender = "p" if plural else noun.gender
        kinds = ["the"] * 5 + ["this"] + ["owner"] * 2
        if not definite:
            kinds += ["two", "three", "many"] if plural else ["a"] * 4
        kind = self.chance.choice(kinds)
        words = [adjective[0]] if adjective else []
        words.append(noun.plural if plural else noun.english)
        german: dict[Case, str] = {}
        owner = self.chance.choice(list(_OWNERS)) if kind == "owner" else ""
        for case in CASES:
            if kind == "the":
                first, ending = _form(_THE, gender, case), _AFTER_THE
            elif kind == "this":
                first, ending = "dies" + _form(_THIS, gender, case), _AFTER_THE
            elif kind in ("a", "owner"):
                stem = "ein" if kind == "a" else _OWNERS[owner]
                first, ending = stem + _form(_ENDINGS, gender, case), _AFTER_A
            else:
                first = {"two": "zwei", "three": "drei"}.get(kind) or "viele" + ("n" if case == "dat" else "")
                ending = _STRONG
            middle = f" {adjective[2]}{_form(ending, gender, case)}" if adjective else ""
            german[case] = f"{first}{middle} {noun.in_case(case, plural)}"
        if kind == "a":
            kind = _article(words[0])
        elif kind == "this" and plural:
            kind = "these"
        text = " ".join([owner or kind, *words])
        indefinite = kind in ("a", "an", "two", "three", "many")
        return Phrase(text, text, german, plural, gender=gender, definite=not indefinite)

    def _place(self) -> Pair:
        """Where: with the dative."""
        noun = self.chance.choice(PLACES)
        adjective = self.chance.choice(LOOKS[:4]) if self.chance.random() < 0.25 else None
        prepositions = {"in": ("in", "in"), "on": ("on", "auf"), "at": ("at", "an")}
        english, german = prepositions[noun.preposition]
        article = _form(_THE, noun.gender, "dat")
        first = {"in dem": "im", "an dem": "am"}.get(f"{german} {article}", f"{german} {article}")
        between = (f"{adjective[0]} ", f"{adjective[2]}en ") if adjective else ("", "")
        return f"{english} the {between[0]}{noun.english}", f"{first} {between[1]}{noun.german}"

    def _goal(self) -> Pair:
        """Where to: into or onto with the accusative, to with the dative."""
        noun = self.chance.choice([one for one in PLACES if one.preposition != "at"])
        english, german = ("into", "in") if noun.preposition == "in" else ("onto", "auf")
        article = _form(_THE, noun.gender, "acc")
        first = {"in das": "ins", "auf das": "aufs"}.get(f"{german} {article}", f"{german} {article}")
        return f"{english} the {noun.english}", f"{first} {noun.german}"


BE = Verb("be", "is", "was", "sein", "ist", "gewesen")


def _english(clause: Clause, subject: str | None = None) -> str:
    """A clause in English; a `subject` replaces the clause's own."""
    who, verb = clause.subject, clause.verb
    who_english = _with_relative_english(who) if subject is None else subject
    third = not who.plural and who.person == 3
    if verb is BE:
        assert clause.place is not None
        am = "am" if who.person == 1 and not who.plural else "is" if third else "are"
        form = am if clause.tense == "present" else "was" if not who.plural else "were"
        return f"{who_english} {form} {clause.place[0]}"
    if clause.negated:
        help_ = {"present": "does not" if third else "do not", "past": "did not", "future": "will not"}
        form = f"{help_.get(clause.tense, 'cannot')} {verb.base}"
    elif clause.tense == "present":
        form = verb.third if third else verb.base
    elif clause.tense == "past":
        form = verb.past
    elif clause.tense == "future":
        form = f"will {verb.base}"
    else:
        modal = "wants to" if clause.tense == "want to" and third else clause.tense
        form = f"{modal} {verb.base}"
    return _around(who_english, form, clause)


def _around(subject: str, form: str, clause: Clause) -> str:
    objects = [one.object for one in clause.objects]
    if clause.verb.particle:
        late = clause.objects[0].pronoun if clause.objects else False
        objects = [*objects, clause.verb.particle] if late else [clause.verb.particle, *objects]
    place = [clause.place[0]] if clause.place else []
    words = [subject, form, *objects, *place]
    if clause.when:
        words = [clause.when[0], *words] if clause.fronted else [*words, clause.when[0]]
    return " ".join(word for word in words if word)


def _asked(clause: Clause) -> str:
    """A yes-or-no question in English."""
    who, verb = clause.subject, clause.verb
    third = not who.plural and who.person == 3
    if clause.tense == "want to":
        return _around(f"{'does' if third else 'do'} {_with_relative_english(who)}", f"want to {verb.base}", clause)
    help_ = {"present": "does" if third else "do", "past": "did", "future": "will"}.get(clause.tense, clause.tense)
    return _around(f"{help_} {_with_relative_english(who)}", verb.base, clause)


def _with_relative_english(who: Phrase) -> str:
    if who.relative is None:
        return who.subject
    if who.role == "nom":
        return f"{who.subject} {'who' if who.human else 'that'} {_english(who.relative, subject='')}"
    return f"{who.subject} that {_english(who.relative)}"


def _parts(clause: Clause) -> tuple[str, str, str]:
    """The finite verb, the middle of the clause, and what waits at its end."""
    who, verb = clause.subject, clause.verb
    if verb is BE:
        assert clause.place is not None
        now, then = {(False, 3): ("ist", "war"), (False, 1): ("bin", "war")}.get(
            (who.plural, who.person), ("sind", "waren")
        )
        return (now if clause.tense == "present" else then), clause.place[1], ""

    def conjugated(infinitive: str, er: str) -> str:
        if who.plural:
            return infinitive
        if who.person == 3:
            return er
        return "weiß" if infinitive == "wissen" else infinitive[:-1]

    if clause.tense == "present":
        finite, right = conjugated(verb.infinitive, verb.er), verb.prefix
    elif clause.tense == "past":
        have = ("sein", "ist", "bin", "sind") if verb.to_be else ("haben", "hat", "habe", "haben")
        finite, right = have[3] if who.plural else have[1] if who.person == 3 else have[2], verb.participle
    elif clause.tense == "future":
        finite, right = conjugated("werden", "wird"), verb.prefix + verb.infinitive
    else:
        plural, single = MODALS[clause.tense].split()
        finite, right = (plural if who.plural else single), verb.prefix + verb.infinitive
    cases: list[Case] = [case for case in CASES if case in verb.objects]
    if verb.objects == "dat acc":
        cases = ["dat", "acc"]
    objects = [(one.pronoun, one.german[case]) for one, case in zip(clause.objects, cases, strict=False)]
    middle = [text for pronoun, text in objects if pronoun]
    if clause.when and not clause.fronted:
        middle.append(clause.when[1])
    middle += [text for pronoun, text in objects if not pronoun]
    if clause.negated:
        middle.append("nicht")
    if clause.place:
        middle.append(clause.place[1])
    return finite, " ".join(middle), right


def _main(clause: Clause, first: str | None = None) -> str:
    """A main clause: the verb comes second. `first=""`: something else was first, or it is a question."""
    finite, middle, right = _parts(clause)
    subject = _with_relative(clause.subject)
    if first is not None:
        start = f"{finite} {subject}"
    elif clause.when and clause.fronted:
        start = f"{clause.when[1]} {finite} {subject}"
    else:
        start = f"{subject} {finite}"
    return " ".join(word for word in (start, middle, right) if word)


def _subordinate(clause: Clause) -> str:
    """A subordinate clause: the verb comes last."""
    finite, middle, right = _parts(clause)
    joined = right + finite if clause.tense == "present" else f"{right} {finite}".strip()  # "wegwirft" is one word
    return " ".join(word for word in (_with_relative(clause.subject), middle, joined) if word)


def _with_relative(who: Phrase) -> str:
    if who.relative is None:
        return who.german["nom"]
    pronoun = _form(_RELATIVE, who.gender, who.role)
    if who.role == "nom":
        about = replace(who.relative, subject=replace(who, relative=None, german={**who.german, "nom": pronoun}))
        return f"{who.german['nom']}, {_subordinate(about)},"
    return f"{who.german['nom']}, {pronoun} {_subordinate(who.relative)},"


def _tidy(sentence: str) -> str:
    sentence = re.sub(r"[ ,]+(?=[.?,])", "", re.sub(r" +", " ", sentence)).strip()
    return sentence[:1].upper() + sentence[1:]


def fairy_tales(count: int, seed: int = 0, *, test: bool = False) -> list[Pair]:
    """`count` different sentences with their translations, to learn from or to test with.

    Which of the two a sentence is for is decided by the sentence itself, so no sentence is ever in both.

    >>> learnt, tested = set(fairy_tales(300)), set(fairy_tales(300, test=True))
    >>> len(learnt), len(tested), learnt & tested
    (300, 300, set())
    """
    teller, pairs = Teller(seed), dict[str, str]()
    while len(pairs) < count:
        english, german = teller.sentence()
        if (zlib.crc32(english.encode()) % 10 == 0) is test:
            pairs[english] = german
    return list(pairs.items())
