"""What leads an answer on named hardware beside the verdict: the cause where one is asked for, the pace and the targets where they are."""

from __future__ import annotations

import re
from typing import Any, Final

from bot.compose.counting import missed
from bot.compose.draft import Draft
from bot.explain import is_about_speed, reasons, with_mark
from bot.heard import Heard
from bot.reply.wording import Wording
from bot.sized import Sized

_WHY: Final = re.compile(
    r"\b(?:why|how come|how on earth|warum|wieso|weshalb|woher|wohin|where (?:does|do|did|is)|unterschied|difference|bug|broken|kaputt|"
    r"defekt\w*|twice|doppelt|zweimal|what happens|was passiert|never answers|antwortet nie|hangs|hängt sich|"
    r"can (?:that|this|it) (?:really )?be|kann (?:das|es) (?:denn )?sein|"
    r"(?:what(?:'?s| is| am i| are we)|was) (?:\S+ )?(?:missing|wrong|fehlt|falsch|realistic|realistisch)|"
    r"(?:is|ist) (?:\S+ )?(?:expected|normal))\b|\b(?:normal|expected)\?",
    re.IGNORECASE,
)
_WHY_NOT: Final = re.compile(r"\b(?:why not|(?:warum|wieso|weshalb) (?:nicht|kein\w*))\b", re.IGNORECASE)
_FAILED: Final = re.compile(
    r"won'?t (?:start|load|run)|(?:does|did|will)(?:n'?t| not) (?:start|load)|fails? to (?:start|load)|refuses|"
    r"startet (?:\S+ )?nicht|crash|stürzt ab|bricht ab",
    re.IGNORECASE,
)
_FIT: Final = re.compile(
    r"\bfits?\b|\bpass(?:t|en|te)\b|\breich(?:t|en)\b|\benough\b|\bgenug\b|\bl(?:ä|ae)uft\b|\bruns?\b|\bgeht\b|\bgehen\b|\bpossible\b|"
    r"m(?:ö|oe)glich|\bdrauf\b|\bholds?\b",
    re.IGNORECASE,
)
_HOW_FAST: Final = re.compile(
    r"\b(?:how fast|wie schnell|(?:how many|wie ?viele?) tok\S*)\b(?:(?!\b(?:and|und)\b)[^,.;?!])*", re.IGNORECASE
)
_WAITS: Final = re.compile(
    r"\bp ?\d\d\b|percentile|perzentil|\bwait|warte|\bqueue|schlange|\bpeak|spitze|sto(?:ß|ss)zeit", re.IGNORECASE
)
_SLOW: Final = re.compile(
    r"\b(?:slow(?:er|ly)?|sluggish|crawl\w*|langsam\w*|lahm\w*|kriecht|tr(?:ä|ae)ge|tok(?:en)?s?/s|t/s|tps)\b",
    re.IGNORECASE,
)
_SECONDS: Final = re.compile(
    r"\b(?:seconds?|sekunden?|minutes?|minuten?|never answers|antwortet nie|hangs)\b", re.IGNORECASE
)
_PROMPT: Final = re.compile(
    r"prompts?\b|prefill|\bttft\b|first token|erste[nsr]? (?:token|wort)|eingabe|\bbis (?:was|etwas|es|zum)\b|until|before (?:it|the)|"
    r"system ?prompt|prefix|never answers|antwortet nie",
    re.IGNORECASE,
)
_SLOTS: Final = re.compile(
    r"num_parallel|\bslots?\b|\btwice\b|doppelt|zweimal|\beach request|je anfrage", re.IGNORECASE
)
_EXPERTS: Final = re.compile(r"\bactive\b|aktiv|expert|\bmoe\b|\ba\d+b\b", re.IGNORECASE)


def asks_why(heard: Heard, question: str) -> bool:
    """Whether a cause is asked for: by the intent and by a word, since "is that realistic?" asks for the verdict."""
    return heard.asks("explain") and _WHY.search(question) is not None and not _FAILED.search(question)


def asks_why_not(question: str) -> bool:
    """ "Why not a 14B?" asks whether that would do."""
    return _WHY_NOT.search(question) is not None


def asks_why_slow(heard: Heard, question: str) -> bool:
    """Whether a cause is asked for of something that runs, only slowly."""
    return asks_why(heard, question) and _SLOW.search(question) is not None


def asks_of_failed_start(heard: Heard, question: str) -> bool:
    """Whether it is asked why an engine does not start."""
    return heard.intent == "explain" and _FAILED.search(question) is not None


def causes(draft: Draft, sized: Sized, heard: Heard, question: str) -> list[str]:
    """Sentences that say why, the one nearest to the question first; none where the estimate gives no reason."""
    measured = observed_text(draft, sized, heard, question)
    about_speed = bool(measured or is_about_speed(question) or _SECONDS.search(question))
    if about_speed and (paced := _pace_causes(draft, sized, question)):
        return [measured, paced[0]] if measured else paced
    own = [text for text in (_slots(draft, sized, question), _experts(draft, sized, question)) if text]
    return own or reasons(sized, draft.words, draft.sources, question=question)


def observed_text(draft: Draft, sized: Sized, heard: Heard, question: str) -> str:
    """A speed measured in this message beside the estimate: as expected, slower, or faster."""
    measured = ((heard.request.get("other") or {}).get("observed") or {}).get("tok_s")
    speed = sized.estimate.speed
    if not measured or not _says(measured, question) or speed is None or speed.decode_tok_s_per_user is None:
        return ""
    expected, several = speed.decode_tok_s_per_user, int(sized.figures.get("concurrency") or 1)
    of_all = several > 1 and measured > expected.high and speed.output_tok_s_total is not None
    if of_all and speed.output_tok_s_total is not None:
        expected = speed.output_tok_s_total
    key = "slower" if measured < expected.low else "faster" if measured > expected.high else "as_expected"
    draft.material.add(measured, "rate")
    text = draft.words.text("observed", key, measured=measured, rate=expected)
    summed = draft.words.text("observed", "of_all", count=several) if of_all else ""
    return f"{text} {summed}".strip()


def _says(measured: float, question: str) -> bool:
    """Whether this message gives the figure: one of an earlier turn was measured on what was talked of then."""
    return any(
        abs(float(number.replace(",", ".")) - measured) < 0.01 for number in re.findall(r"\d+(?:[.,]\d+)?", question)
    )


def _pace_causes(draft: Draft, sized: Sized, question: str) -> list[str]:
    """What sets the wait for the first word, or the pace of those that follow."""
    speed, words = sized.estimate.speed, draft.words
    if speed is None or speed.decode_tok_s_per_user is None:
        return []
    text = words.text("leads", "writing", rate=speed.decode_tok_s_per_user, **_figures(sized))
    told = [with_mark(text, draft.sources.topic("bandwidth", text))]
    if speed.ttft_ms and speed.prefill_tok_s and speed.input_tokens:
        draft.material.add_data({"input_tokens": speed.input_tokens})
        text = words.text("leads", "prompt", given=speed.input_tokens, rate=speed.prefill_tok_s, first=speed.ttft_ms)
        waited = with_mark(text, draft.sources.topic("prefill", text))
        told.insert(0 if _PROMPT.search(question) else 1, waited)
    return told


def _slots(draft: Draft, sized: Sized, question: str) -> str:
    """Requests at once cost cache, never a second copy of the weights."""
    count = int(sized.figures.get("concurrency") or 1)
    if not _SLOTS.search(question) or count < 2 or not sized.figures.get("kv_gib"):
        return ""
    each = draft.work_out(
        "cache_of_a_request", "cache_gib / requests", "GiB", cache_gib=sized.figures["kv_gib"], requests=float(count)
    )
    text = draft.words.text("leads", "slots", each_gib=each, **_figures(sized))
    return with_mark(text, draft.sources.topic("kv_cache", text))


def _experts(draft: Draft, sized: Sized, question: str) -> str:
    """Total against active parameters of a mixture of experts."""
    resolved = sized.resolved
    if resolved is None or resolved.architecture.moe is None or not _EXPERTS.search(question):
        return ""
    total, active = resolved.architecture.params_total / 1e9, resolved.architecture.params_active / 1e9
    for count in (resolved.architecture.params_total, resolved.architecture.params_active):
        draft.material.add(count)
    text = draft.words.text("leads", "moe", total=total, active=active, **_figures(sized))
    return with_mark(text, draft.sources.topic("moe", text))


def _figures(sized: Sized) -> dict[str, Any]:
    names = ("hardware", "model", "weights", "weights_gib", "concurrency", "context")
    return {name: sized.figures[name] for name in names if name in sized.figures}


def asks_fit(question: str) -> bool:
    """Whether the words ask if it fits; a named card alone does not, nor does "how fast does it run"."""
    return _FIT.search(_HOW_FAST.sub("", question)) is not None


def with_pace(headline: str, sized: Sized, heard: Heard, question: str, words: Wording) -> str:
    """The verdict, and in the same breath how fast it is and whether that is what was wished."""
    speed = sized.estimate.speed
    if not sized.estimate.fits or speed is None or speed.decode_tok_s_per_user is None:
        return headline
    if told := targets_text(sized, words):
        return f"{headline} {told}"
    if not heard.asks("throughput") or not asks_fit(question):
        return headline
    key = "pace" if speed.ttft_ms else "pace_alone"
    return f"{headline} {words.text('leads', key, rate=speed.decode_tok_s_per_user, first=speed.ttft_ms)}"


def targets_text(sized: Sized, words: Wording) -> str:
    """Whether the wishes for speed are met, with the figures; empty where there are none."""
    speed = sized.estimate.speed
    if sized.parsed is None or speed is None:
        return ""
    wishes, lacking = sized.parsed.targets, missed(sized.estimate, sized.parsed.targets)
    if lacking:
        shown = [words.text("lack", f"target_{name}", wanted=wanted, got=got) for name, wanted, got in lacking]
        return words.text("leads", "missed", lacking=words.listed(shown))
    rows = (
        (wishes.tokens_s_per_user, speed.decode_tok_s_per_user, "rate_user", "rate"),
        (wishes.tokens_s_total, speed.output_tok_s_total, "rate_total", "rate"),
        (wishes.ttft_s, speed.ttft_ms, "rate_first", "first"),
    )
    shown = [words.text("leads", key, **{name: got}) for wanted, got, key, name in rows if wanted and got]
    return words.text("leads", "met", rates=words.listed(shown)) if shown else ""


def misses_targets(sized: Sized) -> bool:
    """Whether it runs, but slower than wished."""
    return sized.parsed is not None and bool(missed(sized.estimate, sized.parsed.targets))


def answered_by_targets(sized: Sized, question: str, words: Wording) -> bool:
    """Whether the targets that were said are the question, rather than how long the slowest wait."""
    return bool(targets_text(sized, words)) and _WAITS.search(question) is None
