"""Whether a card can do a format is answered as that, in both languages, and not by a list of models."""

from __future__ import annotations

import pytest

from bot.testing import Conversation
from bot.thread import Context

CASES = [
    ("Does FP8 work on a 3090?", "^Only for storage: RTX 3090 .*8.6, 8.9 is needed"),
    ("Geht NVFP4 auf einer L40S?", "^Nur zum Speichern: L40S .*8.9, nötig ist 10.0"),
    ("does fp8 work on an L40S?", "^Yes: L40S computes in FP8"),
    ("Läuft FP8 auf einer P40?", "^Nein: FP8 braucht Compute Capability 7.5, Tesla P40 hat 6.1"),
]


@pytest.mark.parametrize(("text", "wanted"), CASES)
def test_the_support_of_a_format_is_told(text: str, wanted: str) -> None:
    talk = Conversation(Context())
    talk.say(text).expect(wanted).never("Tok/s", "What runs on it", "Was darauf läuft")
