"""Lengths in tokens: context, input, output, system prompt."""

from bot.understand.roles import FILL, Rule, rule

_CONTEXT = (
    r"(?<![a-z])(?:-c|--ctx-size|ctx(?:[-_ ]?(?:size|len\w*))?|context(?: ?(?:window|length|"
    r"size|len))?|kontext\w*|fenster\w*|window|seq(?:uence)?(?:[-_ ]?len(?:gth)?s?)?s?|"
    r"max[-_ ]?(?:model[-_ ]?|seq(?:uence)?[-_ ]?)?len(?:gth)?|num[-_]?ctx|n[-_]?ctx|"
    r"cutoff(?:[-_ ]len)?|max[-_ ]?seq\w*|model[-_ ]len\w*|sequenz\w*|"
    r"sessions? (?:that )?(?:grow|go|reach)\w*|grows?|wachsen|history|verlauf|max_position\w*|"
    r"max[-_]?total[-_]?tokens|kv[- ]?cache (?:for|fuer))"
)
_CONTEXT_AFTER = (
    r"[\s\-]{0,2}(?:tok\w* )?(?:of |max |volle[mnrs]? |full |total |langem |langer |"
    r"lange[ns]? |an |long[- ]?)?(?:ctx|context|kontext\w*|window|fenster|seq(?:uence)?s?\b|"
    r"sequenz\w*|history|verlauf|model[- ]len)"
)
_INPUT = (
    r"(?<![a-z])(?:(?<!system )(?<!system-)prompts?(?:laenge|[- ]?len(?:gth)?|s)?|"
    r"inputs?(?:[-_ ]?(?:len(?:gth)?|tokens?))?|isl|eingab\w*|prefill(?:ing)?(?: of)?|pp|"
    r"(?:user )?quer(?:y|ies)|questions?|nutzerfrage|fragen?|in\s?[:=]|rein\s?[:=]|"
    r"(?:users? )?sends?|schick\w*|pasten?|paste|stuff\w*|feed\w*|documents? of|docs? of|"
    r"chunks?(?: of| mit| a)?|pdfs? of|contracts? of)"
)
_INPUT_AFTER = (
    r"[\s\-]{0,2}(?:tok\w*[\s\-])?(?:lange[nrms]? |long |of )?(?:in\b(?=\s?(?:/|,|\+|&|and\b|"
    r"und\b|;|\)|\.|:|-|\||$|\d+(?:[.,]\d+)?k?\s?(?:tok\w*\s)?(?:out|raus|answer|antw)|x\d))|"
    r"inputs?\b|rein\b|hinein\b|(?<!system )prompts?\b|eingab\w*|prefill\w*|eingang|"
    r"promptlaenge|prompt\w*|(?:[a-z]+\s)?(?:ankomm|reinkomm|reingeh|hineingeh|eingeh)\w*|"
    r"pasted|questions?\b|input-?tok\w*|token-?prompts?)"
)
_DOCUMENT_AFTER = (
    r"[\s\-]{0,2}(?:tok\w*[\s\-])?(?:long |lange[nrms]? )?(?:vertra?e?g\w*|contracts?|"
    r"documents?|dokument\w*|docs?\b|pdfs?\b|files?\b|pages?\b|transcripts?|transkript\w*|"
    r"articles?|emails?|papers?|reports?|bericht\w*|"
    r"code ?base|codebase|repos?\b|books?|buch|chunks?|absa\w*|texte?n?\b|akten?\b|gutachten|"
    r"tickets?|legal|manual|handbuch)"
)
_DOCUMENT_BEFORE = (
    r"\b(?:vertra?e?g\w*|contracts?|documents?|dokument\w*|docs|pdfs?|transcripts?|transkript\w*|"
    r"articles?|artikel\w*|"
    r"emails?|mails?|papers?|reports?|bericht\w*|akten?|gutachten|tickets?|absa(?:tz|etz)\w*|texte?n?|"
    r"protokoll\w*|handbuech\w*|manuals?)"
)
_EACH_BEFORE = (
    r"(?:\bje(?:weils|de[rs]?)?|\beach|\ba\b|\bof|\bper (?:chunk|doc\w*|page|request|prompt|"
    r"sample|item|message|entry)|\bpro (?:chunk|dokument|seite|anfrage|absatz|beispiel|"
    r"nachricht|datensatz|mail|vertrag)|\bavg\.?|\baverag\w*|\bdurchschnittlich|\bim schnitt|"
    r"\bmean|\bmedian|\bmittel)(?:\s(?:is|ist|of|von|mit|with|entry|sample|one|length|"
    r"laenge))?(?:\s?(?:~|ca\.?|about|maybe|around|etwa|rund|ungefaehr|approx\.?|so|mit|of|is|"
    r"are|=|:))*\s?"
)
_EACH_AFTER = (
    r"[\s,]{0,2}(?:each\b|apiece|per (?:chunk|doc\w*|page|request|prompt|sample|image|message|"
    r"question|call|turn)|pro (?:chunk|dokument|seite|anfrage|absatz|beispiel|nachricht|"
    r"datensatz|frage|mail|ticket|call)|je (?:dokument|chunk|anfrage|seite|absatz|mail)|"
    r"lang\b|long\b)"
)
_OUTPUT = (
    r"(?<![a-z])(?:rollouts?|out(?! of\b)(?:puts?)?(?:[-_ ]?(?:len(?:gth)?|tokens?))?|osl|answers?|antwort\w*|"
    r"ausgab\w*|completions?|gen\b|generat\w*|generier\w*|erzeug\w*|respon[sd]\w*|repl(?:y|"
    r"ies)|summar\w*(?: to| into)?|zusammenfass\w*|max[-_ ]?(?:new[-_ ]?)?tokens|reasoning|tg|"
    r"writes?|raus\s?[:=]?|zusammenfassung\w*|produces?|decode)"
)
_OUTPUT_AFTER = (
    r"[\s\-]{0,2}(?:tok\w*[\s\-])?(?:lange[nrms]? |long |new |of |new-)?(?:out\b(?! of)|"
    r"outputs?\b|raus\b|heraus\b|answers?\b|antwort\w*|completions?\b|responses?\b|generated|"
    r"generiert\w*|generier\w*|ausgab\w*|tokens? (?:out|generated)|repl(?:y|ies)\b|summar(?:y|"
    r"ies)\b|zusammenfassung\w*|reasoning|new tokens|generation(?!s)|"
    r"(?:[a-z]+\s)?(?:rauskomm|herauskomm|rausgeh|zurueckkomm)\w*|(?:[a-z]+\s)?comes? (?:out|back))"
)
_SYSTEM = r"system[- ]?prompts?"
_OBSERVED_OK = (
    r"\s?(?:tok\w*\s)?(?:ctx |context |kontext )?(?:ok\b|works?\b|fine\b|geht\b|laeuft\b|is fine|ist ok|"
    r"passt noch|klappt\b|fits\b|went fine)(?=\s?[,;(]|\s\w)"
)
# "output is one label, so like 5 tokens": words between, no figure and no other length.
_WORDS_BETWEEN = (
    r"s?\b(?![^.!?;]*\b(?:ctx|context|kontext|prompts?|inputs?|outputs?|answers?|antwort\w*|parallel\w*|users?|nutzer)\b)"
    r"[^.!?;\d()]{1,36}"
)
_TOKENS = "tokens -"
_LABELLED = "tokens - requests"

LENGTH_RULES: tuple[Rule, ...] = (
    rule("glued context", "context_tokens", 6.5, _TOKENS, glued="ctx seq kontext context len n seqlen num max"),
    rule("glued input", "input_tokens", 6.5, _TOKENS, glued="in isl"),
    rule("glued output", "output_tokens", 6.5, _TOKENS, glued="out osl"),
    rule(
        "label context",
        "context_tokens",
        6.6,
        _LABELLED,
        left=r"(?<![a-z])(?:ctx|context|kontext|seq(?:[-_ ]?len)?|num_ctx|n_ctx|max[-_]model[-_]len|"
        r"cutoff(?:[-_]len)?|ctx[-_]size)\s?[:=]?\s?",
        least=128,
    ),
    rule(
        "label input",
        "input_tokens",
        6.6,
        _LABELLED,
        left=r"(?<![a-z])(?:isl|input[-_ ]?len(?:gth)?|prompt[-_ ]?len(?:gth)?|input)\s?[:=]?\s?",
        least=16,
    ),
    rule(
        "label output",
        "output_tokens",
        6.6,
        _LABELLED,
        left=r"(?<![a-z])(?:osl|output[-_ ]?len(?:gth)?|max[-_]new[-_]tokens|max[-_]tokens|output|" r"gen)\s?[:=]?\s?",
        least=2,
    ),
    rule(
        "concurrency for a length",
        "context_tokens",
        6.8,
        "tokens",
        left=r"\bconcurrency (?:for|at|of|with)\s",
        right=r"\s?(?:per|each|pro|je)\b",
        least=128,
    ),
    rule("context before", "context_tokens", 5.0, _TOKENS, left=_CONTEXT + FILL, least=128),
    rule("context after", "context_tokens", 5.6, _TOKENS, right=_CONTEXT_AFTER, least=128),
    rule("input before", "input_tokens", 5.1, _TOKENS, left=_INPUT + FILL, least=8),
    rule("input after", "input_tokens", 5.6, _TOKENS, right=_INPUT_AFTER, least=32),
    rule(
        "per so many tokens",
        "per_tokens",
        6.0,
        "tokens",
        left=r"\b(?:per|pro|cost of|price of|kosten (?:fuer|pro)|costs? for|\$|€)\s?",
    ),
    rule(
        "price asked of so many tokens",
        "per_tokens",
        6.0,
        "tokens",
        left=r"\b(?:(?:what (?:do|does|would|will|are|is)|was (?:kosten|kostet)|wie ?viel (?:kosten|kostet)|"
        r"how much (?:do|does|would|will|are|is))"
        r"(?: (?:uns|us|mich|me|die|the))?|kosten (?:fuer|von)|costs? (?:for|of))\s",
        right=r"(?!\s?(?:tok\w*\s)?(?:of )?(?:context|kontext|ctx))",
    ),
    rule(
        "cost of so many tokens", "per_tokens", 6.0, "tokens", right=r"\s?(?:tok\w*\s)?(?:costs?\b|kosten\b|kostet\b)"
    ),
    rule("document before", "input_tokens", 5.3, _TOKENS, left=_DOCUMENT_BEFORE + FILL, least=200),
    rule("document length", "input_tokens", 5.2, "tokens", right=_DOCUMENT_AFTER, least=8),
    rule("document length", "input_tokens", 5.2, "-", right=_DOCUMENT_AFTER, scaled=True, least=1000),
    rule(
        "so many tokens of something",
        "input_tokens",
        4.0,
        "tokens",
        right=r"\s(?!context|kontext|window|fenster|seq|ctx|chats?\b|sessions?\b|limit|answers?|antwort|outputs?|replies|responses?|cap\b)[a-z]{4,}s\b",
        scaled=True,
        least=512,
    ),
    rule("each before", "input_tokens", 4.6, "tokens", left=_EACH_BEFORE, least=8),
    rule("each after", "input_tokens", 4.7, "tokens", right=_EACH_AFTER, least=8),
    rule("output before", "output_tokens", 5.2, _TOKENS, left=_OUTPUT + FILL, least=2),
    rule("output, some words, tokens", "output_tokens", 4.4, "tokens", left=_OUTPUT + _WORDS_BETWEEN, least=1),
    rule("input, some words, tokens", "input_tokens", 4.3, "tokens", left=_INPUT + _WORDS_BETWEEN, least=8),
    rule(
        "took for",
        "output_tokens",
        4.9,
        "tokens",
        left=r"\d\s?(?:s|sec\w*|sek\w*|min\w*)\s(?:for|fuer)\s(?:a |eine |about |etwa )?",
        scaled=False,
        least=8,
    ),
    rule("output after", "output_tokens", 5.7, _TOKENS, right=_OUTPUT_AFTER, least=2),
    rule("system prompt before", "system_prompt_tokens", 6.6, _TOKENS, left=_SYSTEM + FILL, least=20),
    rule(
        "system prompt after",
        "system_prompt_tokens",
        6.6,
        _TOKENS,
        right=r"[\s\-]{0,2}(?:tok\w*[\s\-])?(?:long |lange[rn]? )?" + _SYSTEM,
        least=20,
    ),
    rule(
        "in of in/out",
        "input_tokens",
        7.2,
        _TOKENS,
        left=r"(?:isl/osl|in/out|input/output|prompt/answer|rein/raus|i/o)\W{0,3}",
    ),
    rule(
        "out of in/out",
        "output_tokens",
        7.2,
        _TOKENS,
        left=r"(?:isl/osl|in/out|input/output|prompt/answer|rein/raus|i/o)\W{0,3}\d[\d.,]*k?\s?/\s?",
    ),
    rule(
        "ran at",
        "observed_context",
        6.9,
        _TOKENS,
        left=r"^(?!.*\b(?:ob|wenn|whether|if|kann|can|does|do|will|would|wuerde\w*|soll\w*|should|want\w*|moecht\w*|muss|"
        r"must|wollte? (?:mal )?fragen)\b)[^\x00]*",
        right=_OBSERVED_OK,
        least=512,
    ),
    rule(
        "fails above",
        "observed_context",
        6.8,
        _TOKENS,
        left=r"\b(?:over|above|ab|ueber|more than|beyond|oom\w*(?: errors?)? (?:at|bei|ab)|"
        r"crash\w* (?:at|bei|ab))\s?~?\s?",
        right=r"\s?(?:tok\w*\s)?(?:ooms?\b|crash\w*|it |dies|fliegt|stuerzt|schlaegt)",
        least=512,
    ),
    rule(
        "fails at",
        "observed_context",
        6.7,
        _TOKENS,
        left=r"\b(?:oom\w*|crash\w*|dies|abbruch|fails)\s(?:errors? )?(?:at|bei|ab|around|beyond|" r"above)\s?~?\s?",
        least=512,
    ),
    rule(
        "measured at",
        "observed_context",
        4.4,
        _TOKENS,
        left=r"(?<![a-z\d.,])(?:\d[\d.,]*\s?(?:s|sec|sekunden|seconds|t/s|tok/s|min|gb|tps))\s(?:at|bei|@)\s?~?\s?",
        scaled=True,
        least=512,
    ),
    rule(
        "capped at",
        "observed_context",
        6.9,
        _TOKENS,
        left=r"\b(?:caps|capped|capping|begrenzt|deckelt|limitiert|limits|truncat\w*|"
        r"schneidet)\s(?:\w+\s){0,2}?(?:at|auf|to|bei)\s",
        least=512,
    ),
    rule(
        "cap wished",
        "context_tokens",
        6.0,
        _TOKENS,
        left=r"\b(?:cap|limit|begrenzen?|deckeln|beschraenken?|restrict)\s(?:\w+\s){0,2}?(?:at|auf|to|bei)\s",
        least=512,
    ),
    rule(
        "native length",
        "native_context",
        6.9,
        _TOKENS,
        left=r"\b(?:native|nativ\w*|supports?|unterstuetzt|advertised|beworben\w*|trained (?:on|for)|"
        r"theoretisch|modellmaximum|model max(?:imum)?)(?:\s(?:ctx|context|kontext|is|ist|are|"
        r"length|up to|bis|von|of|zu|es|zwar|max))*\s",
        least=512,
    ),
    rule(
        "reported capacity",
        "reported_tokens",
        7.0,
        _TOKENS,
        left=r"\b(?:store|stored|capacity|kv cache size|gpu kv cache size)[^.]{0,14}",
        least=512,
    ),
    rule("length in k", "context_tokens", 2.6, "tokens", scaled=True, least=512),
    rule("length in tokens", "context_tokens", 2.4, "tokens", least=256),
    rule("bare k", "context_tokens", 2.2, "-", scaled=True, least=1000),
)

POWERS = frozenset((1, 2, 4, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 256, 512, 1024))
_BINARY = frozenset((1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512, 1024))


def binary_k(tokens: float, scale: str) -> float:
    """A context of "8k" is customarily 8,192; "50k" is 50,000."""
    thousands = tokens / 1000
    return thousands * 1024 if scale == "k" and thousands in _BINARY else tokens
