"""The class's answers to lesson 02."""

from cellcheck.demo.learners import Learner

LESSON = "02_tokenizer"

HONEST = (
    Learner("ada", LESSON),
    Learner("bela", LESSON, otherwise=True),
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
        edits={"decode": (" - {0}", ""), "byte_pair_merges": ("best = max(", "best = min(")},
    ),
    Learner("eli", LESSON, begins=4),
    Learner("fay", LESSON, begins=0),
)
LEARNERS = HONEST
