"""Speech without audio: what a recogniser makes of a text, seeded and calibrated to a word error rate.

`channel(text, wer, seed)` gives the heard text, `hear` also each single error. The dial is exact by
construction (errors are added until the stated rate is reached), so a comparison at two rates is not
blurred by chance; the same seed at a higher rate keeps the errors of the lower one and adds to them.
"""

from cxlab.voice.confusion_tables import LANGUAGES
from cxlab.voice.hearing import HeardText, Piece, WordError, channel, hear
from cxlab.voice.words import word_error_rate, words

__all__ = ["LANGUAGES", "HeardText", "Piece", "WordError", "channel", "hear", "word_error_rate", "words"]
