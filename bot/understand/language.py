"""German or English: by the small words, with the thread's language where a message has none."""

import re
from typing import Literal

from bot.understand.text import word_set

Lang = Literal["de", "en"]

_GERMAN = word_set(
    "der die das und oder ist sind ein eine einen einem einer nicht kein keine auf mit fuer von zu im "
    "wie was welche welcher welches wir ich du mir uns "
    "unser unsere mein meine meinem reicht passt laeuft brauche brauchen braucht haben hab habe wird "
    "werden kann kannst koennen soll sollen warum wieso "
    "wieviel wieviele viele viel gleichzeitig nutzer leute kontext karte karten speicher gibt geht dann "
    "noch nur aber auch bei als dass wenn "
    "statt lieber jetzt und wuerde waere doch mal bitte danke pro je vergleich vergleiche kosten kostet "
    "strom netzteil anfragen mitarbeiter "
    "genug drauf darauf zwei drei vier lohnt sich eher nein ja welchem dasselbe gleiche nochmal "
    "stattdessen zurueck tun heisst bedeutet auslastung bestes beste besten erste parallele modell server fuers "
    "gegenueber zum zur des den dem oben hallo moin servus guten tag muss trainieren guenstiger "
    "schneller langsam reichen passen laufen denn wo mehr weniger "
    "halbiere verdopple ohne schaffe schafft stueck antworten woechentlich taeglich dokumente stunden jahre monat"
)
_ENGLISH = word_set(
    "the and or is are a an not no on with for of to in how what which we i you my our your does do can "
    "could should would will fits fit run runs "
    "need needs have has got why many much users people context card cards memory at then also just only "
    "but if when than from per it this that "
    "there be same instead enough vs cheaper faster slower price cost hello hi hey thanks please make "
    "use drop add compare back first again who "
    "concurrent requests get gets me us they them his its as by about any some more less one two three "
    "four box was were without anything"
)
_WORD = re.compile(r"[a-z]+")
# What a program wrote says nothing of the person who pastes it: fenced text, and an error up to the end of its line or to a dash.
_PASTED = re.compile(
    r"```.*?(?:```|$)|(?<![\w.])[\w.]*(?:error|exception)\b: .*?(?=\s[-\u2013\u2014]\s|[\"\u201d\u201c]|\n|$)",
    re.DOTALL,
)


def language(folded: str, umlauts: bool, default: Lang = "en") -> Lang:
    """The language of a message; umlauts tip the scale, a tie goes to the thread's language."""
    own = _PASTED.sub(" ", folded)
    german, english = _counted(own)
    if own != folded and not (german or english):
        # Errors are in English: two German words on the line of one are the writer's own.
        german = found if (found := _counted(folded)[0]) > 1 else 0
    german += 2 * umlauts
    if german == english:
        return default
    return "de" if german > english else "en"


def _counted(folded: str) -> tuple[int, int]:
    """German and English words of the beginning and the end of a text."""
    words = [
        found.group() for found in _WORD.finditer(folded[:6000] + " " + folded[-400:] if len(folded) > 6400 else folded)
    ]
    return sum(word in _GERMAN for word in words), sum(word in _ENGLISH for word in words)
