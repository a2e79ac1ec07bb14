"""How good is a translation? BLEU and chrF, as sacrebleu counts them.

Sources: Papineni et al., "BLEU: a Method for Automatic Evaluation of Machine Translation", ACL 2002; Popović, "chrF:
character n-gram F-score for automatic MT evaluation", WMT 2015; Post, "A Call for Clarity in Reporting BLEU Scores",
WMT 2018.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


class NoSacrebleu(ImportError):
    """The library `sacrebleu` is missing. The message says in one sentence what to do."""


@dataclass(frozen=True)
class TranslationScore:
    """Two scores from 0 to 100, and the signatures that say exactly how they were
    counted: quote them with the numbers.
    """

    bleu: float
    chrf: float
    bleu_signature: str
    chrf_signature: str

    def __str__(self) -> str:
        return f"BLEU {self.bleu:.1f} ({self.bleu_signature}), chrF {self.chrf:.1f} ({self.chrf_signature})"


def translation_score(translations: Sequence[str], references: Sequence[str]) -> TranslationScore:
    """Compare translations with one reference each, all sentences together.

    Raises:
        NoSacrebleu: when the library isn't installed.
    """
    library = _sacrebleu()
    bleu, chrf = library.BLEU(), library.CHRF()
    scores = [metric.corpus_score(list(translations), [list(references)]).score for metric in (bleu, chrf)]
    return TranslationScore(float(scores[0]), float(scores[1]), str(bleu.get_signature()), str(chrf.get_signature()))


def sentence_chrf(translation: str, reference: str) -> float:
    """chrF of one sentence, from 0 to 100. BLEU says little about a single sentence."""
    return float(_sacrebleu().CHRF().sentence_score(translation, [reference]).score)


def _sacrebleu() -> Any:
    try:
        from sacrebleu import metrics
    except ImportError:
        raise NoSacrebleu(
            "BLEU and chrF are counted by the library sacrebleu, which is not installed here: pip install sacrebleu"
        ) from None
    return metrics
