"""Fairy tales from beginning to end, as many as you like: each grows from a few hundred lines, and hangs together.

Somebody loses something, or needs it, meets an animal, is kind to it, and gets help. Who it is, what it is about, what
the animal can do and how to call it are drawn once for each story, and mentioned again and again. So a reader who
remembers the beginning can tell what must come later. All choices are fair draws, so we know how many bits of surprise
a story holds: no model can need fewer on average, unless it has the story by heart.
"""

import math
import random
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

from transformer_course.data import data_file

T = TypeVar("T")


@dataclass(frozen=True)
class Animal:
    """A helper: what it can't do alone, how the hero helps, and what it can do in return."""

    name: str
    trouble: str
    kindness: str
    lost: str
    """Where something is when nobody took it, and only this animal can get there."""
    obstacle: str
    """What stands between the hero and what a villain keeps."""
    deed: str


def _animals(table: str) -> tuple[Animal, ...]:
    return tuple(Animal(*(cell.strip() for cell in block.splitlines())) for block in table.strip().split("\n\n"))


def _parts(table: str) -> dict[str, str]:
    """The parts of a story by their names. {Braces} stand for what is drawn once a story, [this|or that] for a draw of
    its own.
    """
    named = (block.partition("\n") for block in table.strip().split("\n\n"))
    return {name: text.replace("\n", " ") for name, _, text in named}


ANIMALS = _animals("""
mouse
had fallen into a jar of honey
lifted it out and washed its fur
slipped through a crack in the floor
the door was tied shut with a rope as thick as an arm
gnawed and gnawed until the hole was big enough

raven
had hurt its wing
bound up the wing with a ribbon
was carried off by the wind to the top of the tallest tree
there was a tower without any stairs
spread its wings and flew up to the top

frog
lay on its back in the hot sun
carried it back to the water
rolled into the deepest well in the land
there was a lake as black as ink all around
took a breath and dived down to the bottom

mole
was lost in the bright daylight
covered its eyes with a leaf and led it into the shade
vanished in a hole under the oldest oak
there was a wall ten feet thick
dug a tunnel in less than an hour

bear
had a thorn in its paw
pulled out the thorn
was buried under a landslide of heavy rocks
there was an iron gate with seven locks
pushed with all its might until everything gave way

spider
was caught in a bottle
took out the cork
fell into a gorge that nobody could cross
there was a gorge and no bridge
spun a bridge of silver threads from one side to the other

ant
was floating in a puddle
held out a straw for it to climb on
dropped into the great heap of sand behind the mill
there was a field of ten thousand stones that all looked alike
came with all its sisters, and they searched every inch

firefly
was stuck in a drop of resin
set it free with a pin
was lost in a cave where the sun had never shone
it was darker than the darkest night
lit up like a little star and showed the way

fox
had caught its tail in a gate
opened the gate and let it out
was swallowed by a goose that would not give it back
the door was guarded by a goose that never slept
told such a long and boring story that the goose fell asleep

goat
was tied to a post where no grass grew
untied the rope
slid down a cliff as steep as a wall
there was a cliff as steep as a wall
climbed the cliff as if it were a staircase
""")

TREASURES = {  # what it is: what was special about it, and what still is
    "ring": ("kept its owner warm in the coldest winter", "keeps its owner warm"),
    "key": ("could open any door in the world", "opens any door in the world"),
    "flute": ("made everyone dance who heard it", "makes everyone dance who hears it"),
    "lantern": ("never went out, not even in a storm", "has never gone out"),
    "mirror": ("always told the truth", "tells the truth"),
    "cup": ("was never empty", "is never empty"),
    "bell": ("rang by itself when danger was near", "rings when danger is near"),
    "book": ("had a new story in it every night", "has a new story in it every night"),
    "coat": ("made its owner invisible", "makes its owner invisible"),
    "violin": ("could play all by itself", "plays all by itself"),
    "compass": ("always pointed home", "points home"),
    "kettle": ("could sing seven songs", "sings seven songs"),
}
CURES = {  # what it is: where it grows or comes from
    "apple": "from the last tree in the winter garden",
    "rose": "from the garden at the end of the world",
    "feather": "of the bird that never sleeps",
    "pearl": "from the bottom of the northern sea",
    "herb": "that blooms only at midnight",
    "candle": "that burns without getting shorter",
}
LOOKS = ("golden", "silver", "red", "blue", "green", "white", "black", "tiny")
HEROES = {
    "she": ("girl", "princess", "miller's daughter", "fisherman's daughter", "goose girl", "tailor's daughter"),
    "he": ("boy", "prince", "miller's son", "woodcutter's son", "shepherd boy", "tailor's son"),
}
CHARACTERS = ("brave", "clever", "curious", "cheerful", "poor", "quiet", "stubborn", "kind")
HOMES = (
    "in a village by the sea", "in a mill on the river", "in a hut at the edge of the forest",
    "in a town with seven towers", "in a valley full of apple trees", "in a house at the foot of the mountain",
)  # fmt: skip
FAMILY = ("mother", "father", "grandmother", "grandfather", "little sister", "little brother")
VILLAINS = {
    "witch": "she",
    "giant": "he",
    "wizard": "he",
    "troll": "he",
    "robber": "he",
    "dragon": "it",
    "queen": "she",
}
DENS = (
    "a crooked house in the swamp", "a cave behind the waterfall", "a castle made of ice", "an island in the fog",
    "a hall deep under the mountain", "a ruin where no bird sings",
)  # fmt: skip
CALLS = {
    "whistle three times": "whistled three times", "clap your hands": "clapped {their} hands",
    "stamp your foot": "stamped {their} foot", "sing my name to the wind": "sang its name to the wind",
    "knock on the nearest tree": "knocked on the nearest tree",
}  # fmt: skip
FORMS = {"she": ("she", "her", "her"), "he": ("he", "him", "his"), "it": ("it", "it", "its")}

PLOTS = {  # which parts, in which order; a slash begins a new paragraph
    "stolen": "opening precious / stolen / meeting / arrival help / rage home still ending",
    "dropped": "opening precious / dropped / meeting / remembered help / even home still ending",
    "ill": "opening / ill / meeting / arrival help / rage healed ending",
}
PARTS = _parts("""
opening
[Once upon a time|Long ago|Many years ago], {home}, there lived a {character} {hero} named {Name}.

precious
{Name} had a {thing}[, a gift from {their} {giver}|, which had once belonged to {their} {giver}].
It [{special}|was no ordinary {noun}: it {special}].

stolen
[One night|One stormy evening|While everybody was asleep], a {villain} [came and stole it|crept in through the window
and took it]. [In the morning the {thing} was gone|When {Name} woke up, the {thing} was gone].
"I will bring it back," said {Name}, "even if I have to walk [for a year and a day|to the end of the world]."

dropped
[One day|One summer morning|On the way to the market], {Name} [stumbled|tripped over a root|was not paying attention],
and the {thing} {lost}. {Name} [cried until the sun went down|sat down and wept|called for help, but nobody came].

ill
[One winter|One autumn|In spring], {their} {giver} fell ill, and no doctor in the land could help.
"Only [one thing|a miracle] can save {patient}," said [the oldest of the doctors|a wise old woman|the priest].
"It is a {thing} {special}. But a {villain} guards it."
{Name} [packed some bread and set off at once|put on {their} boots and left the same night].

meeting
[In the forest|By the side of the road|After three days|Not far from there], {they} met a {animal} that {trouble}.
"Please help me," [said|begged|whispered] the {animal}. {Name} {kindness}.
"[Thank you|You have a good heart|I will never forget this], {Name}," said the {animal}. "When you need me, {call}."

remembered
[Then {Name} remembered|All at once {Name} thought of] the {animal}.
{They} {called}, and [a moment later|before {they} could count to ten] it was there.

arrival
[At last|After a long journey|On the seventh day], {Name} came to {den}, where the {villain} lived. But {obstacle}.
"[How will I ever get the {thing}|What am I to do now]?" [sighed|said] {Name}.
{They} {called}, and [a moment later|before {they} could count to ten] the {animal} was there.

help
"[You helped me, and now I will help you|Leave it to me|I know what to do]," it said.
The {animal} {deed}, and {Name} [took|held] the {thing} in {their} hands.

rage
[When|As soon as] the {villain} saw that the {noun} was gone, {villain_they} [turned to stone|ran away and was never
seen again|was so angry that {villain_they} burst|promised to do better and cried like a child].

even
[The {animal} asked for nothing in return|"Now we are even," said the {animal}|The two of them danced until it
was dark].

healed
{Name} ran home with the {thing}.
[By the next morning|Before the sun went down], {their} {giver} was [well again|laughing and asking for soup].

home
{Name} [went home with the {thing}|carried the {thing} home], and [there was a feast that lasted three days|everybody in
the house cried with joy].

still
The {noun} still [hangs over the door|lies beside {their} bed|stands by the window], and to this day it {still}.

ending
{Name} and the {animal} [stayed friends for the rest of their lives|never parted again|met every year at midsummer].
[The end|And that is the whole story|And if they have not died, they are living there still].
""")


@dataclass
class Told:
    """A story, what it is about, and how many bits of surprise the draws made."""

    text: str
    about: dict[str, str]
    bits: float


@dataclass
class Storyteller:
    """Tells one story after another; which ones depends on the seed and the names alone.

    >>> Storyteller(seed=0).story().text[:13]
    'Once upon a t'
    """

    seed: int
    names: Mapping[str, Sequence[str]] | None = None
    """Those of heroines, "she", and of heroes, "he". Without it, those to learn from."""

    def __post_init__(self) -> None:
        self._names = self.names or hero_names()
        self._chance = random.Random(self.seed)
        self._bits = 0.0

    def story(self) -> Told:
        """The next story."""
        self._bits = 0.0
        plot = self._draw(tuple(PLOTS))
        about = self._world(plot)
        text = " ".join("\n" if part == "/" else self._filled(PARTS[part], about) for part in PLOTS[plot].split())
        return Told(re.sub(r"\ba (?=[aeiou])", "an ", text.replace(" \n ", "\n")), about, self._bits)

    def _world(self, plot: str) -> dict[str, str]:
        they = self._draw(tuple(HEROES))
        animal = self._draw(ANIMALS)
        if plot == "ill":
            noun, special = self._draw(tuple(CURES.items()))
            still = ""
        else:
            noun, (special, still) = self._draw(tuple(TREASURES.items()))
        giver = self._draw(FAMILY)
        about = {
            "plot": plot,
            "they": they,
            "They": they.capitalize(),
            "their": FORMS[they][2],
            "hero": self._draw(HEROES[they]),
            "Name": self._draw(self._names[they]),
            "character": self._draw(CHARACTERS),
            "home": self._draw(HOMES),
            "noun": noun,
            "thing": f"{self._draw(LOOKS)} {noun}",
            "special": special,
            "still": still,
            "giver": giver,
            "patient": "him" if giver.endswith(("father", "brother")) else "her",
            **{part: getattr(animal, part) for part in ("trouble", "kindness", "lost", "obstacle", "deed")},
            "animal": animal.name,
        }
        about["call"], called = self._draw(tuple(CALLS.items()))
        about["called"] = called.format(**about)
        if plot != "dropped":
            about["villain"], about["villain_they"] = self._draw(tuple(VILLAINS.items()))
            about["den"] = self._draw(DENS)
        return about

    def _draw(self, choices: Sequence[T]) -> T:
        self._bits += math.log2(len(choices))
        return choices[self._chance.randrange(len(choices))]

    def _filled(self, part: str, about: dict[str, str]) -> str:
        chosen = re.sub(r"\[([^]]*)\]", lambda choice: self._draw(choice[1].split("|")), part)
        return chosen.format(**about)


@cache
def hero_names(new: bool = False) -> dict[str, Sequence[str]]:
    """Names for heroines and heroes: those of the stories to learn from, or as `new` ones the tenth that none of
    these has. A name that both may have is nobody's.

    >>> {who: len(names) for who, names in hero_names(new=True).items()}
    {'she': 407, 'he': 317}
    """
    women, men = (
        set(data_file(f"first_names_{part}.txt").read_text("utf-8").lower().split()) for part in ("female", "male")
    )
    return {
        they: [
            name.capitalize()
            for name in sorted(own - other)
            if name.isalpha() and 3 <= len(name) <= 8 and (zlib.crc32(name.encode()) % 10 == 0) is new
        ]
        for they, own, other in (("she", women, men), ("he", men, women))
    }
