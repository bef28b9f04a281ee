"""Under what terms one column of the stage is played."""

from dataclasses import dataclass
from pathlib import Path

from cxlab.benchmarks.mmtaup2.conversation.personas import NAMES
from cxlab.benchmarks.mmtaup2.conversation.speech import USUAL_WER, open_back_end
from cxlab.benchmarks.mmtaup2.conversation.task_dialogue import ConversationSettings
from cxlab.errors import BadOption
from cxlab.voice.sound_files import SoundFolder

# A line → the back end that speaks and hears on it; any other is a service of that name.
LINES = {"text": "", "voice": "channel", "sound": "espeak", "openai": "openai"}


@dataclass(frozen=True)
class Variant:
    """Under what terms a column is played: persona, exposure, line, and the word error rate of `voice`.

    The lines: text; voice without sound; sound, real audio made on this machine; openai or endpoint:NAME, a service's.
    The word error rate of those that sound is what it comes to.
    """

    persona: str = "none"
    exposure: int = 0
    modality: str = "text"
    wer: float = USUAL_WER

    def __post_init__(self) -> None:
        known = self.modality in LINES or self.modality.startswith("endpoint:")
        if self.persona not in NAMES or not known or self.exposure not in (0, 1, 2):
            there = f"personas {', '.join(NAMES)}; exposures 0, 1, 2; lines {', '.join(LINES)}, endpoint:NAME"
            raise BadOption(f"variant {self}; there are: {there}")

    @property
    def free(self) -> bool:
        """Whether nobody is asked, and paid, to speak."""
        return self.modality in ("text", "voice", "sound")

    def terms(self, seed: int, domain: str, sounds: Path) -> ConversationSettings:
        """Raises NoAudio or NotConfigured for a line on which nothing can speak or listen here."""
        audio = LINES.get(self.modality, self.modality)
        ears = open_back_end(audio, domain, {}, SoundFolder(sounds)) if audio else None
        return ConversationSettings(
            self.persona, self.exposure, "voice" if audio else "text", self.wer, seed, ears=ears
        )
