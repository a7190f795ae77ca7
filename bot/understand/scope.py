"""What the bot declines: other topics, small talk, wishes for secrets; and orders that are to be ignored."""

import re
from dataclasses import dataclass

from bot.understand.text import Text
from bot.understand.units import unit_after

_PIECES_OF_WRITING = (
    "cover letter|application letter|poem|essay|speech|song|story|invitation|resume|motivationsschreiben|anschreiben|"
    "bewerbung|gedicht|rede|aufsatz|lebenslauf|einladung|geschichte|lied"
)
_TOPICS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "mining",
        re.compile(
            r"\b(?:mine|mining|minen|schuerf\w*|krypto\w*|crypto\w*|bitcoin|btc|ethereum|monero|"
            r"hash ?rate|dogecoin)\b"
        ),
    ),
    (
        "gaming",
        re.compile(
            r"\b(?:gaming|gamer|zocken|gezockt|fps\b|cyberpunk|minecraft|fortnite|call of duty|"
            r"counter[- ]?strike|cs2|gta\b|valorant|elden ring|videospiel\w*|video games?|"
            r"spiele (?:in|auf|mit)|zum spielen|play games|144 ?hz|ray ?tracing|dlss|baldur\w*|"
            r"starfield|witcher|warzone|battlefield|esports?|steam deck)\b"
        ),
    ),
    (
        "other work",
        re.compile(
            r"\b(?:fuer(?:s)?|for|zum)\s(?:\w+\s)?(?:studium|schule|uni|university|college|school|photoshop|videoschnitt|"
            r"video (?:editing|cutting)|photo editing|bildbearbeitung|lightroom|autocad|cad|blender|solidworks|excel|surfen|netflix|"
            r"streaming series|home ?office)\b"
        ),
    ),
    (
        "legal",
        re.compile(
            r"\b(?:(?:dsgvo|gdpr)(?![- ]?(?:konform|compliant|gerecht|tauglich|hosting|cloud))|"
            r"rechtlich\w*|rechtsberat\w*|legal(?:ly)? (?:ok|allowed|advice|question)|"
            r"is it legal|illegal\w*|erlaubt\b|(?:darf (?:ich|man)|"
            r"duerfen wir)(?! (?:\w+ )?(?:ausgeben|investieren|hoechstens|maximal)|"
            r"[^.!?;]{0,60}\b(?:rechnen|annehmen|ausgehen|ansetzen|kalkulieren|einplanen))|haftung\w*|haftet|"
            r"liab(?:le|ility)|ai act|ki-?verordnung|urheberrecht\w*|copyright\w*|lizenz(?:ier\w*|"
            r"recht\w*|bedingung\w*|frage\w*)|license (?:terms|allow\w*)|lawyer|anwalt\b|"
            r"betriebsrat zustimm\w*|arbeitsrecht\w*|patent\w*|sue\b|contract law|vertragsrecht|"
            r"steuerlich\w*|absetzen)\b"
        ),
    ),
    (
        "installation",
        re.compile(
            r"\b(?:(?:install|installier\w*|update|aktualisier\w*|einricht\w*|set ?up) (?:\w+ ){0,"
            r"4}(?:driver|treiber|cuda|cudnn|rocm|ollama|vllm|ubuntu|docker|windows|linux|proxmox|"
            r"toolkit)|(?:\w*treibern?|drivers?|cuda|rocm|nvidia-smi)\b.{0,40}\b(?:install\w*|installier\w*|"
            r"einricht\w*|updat\w*|aktualisier\w*|upgrad\w*|geht nicht|not (?:found|working)|fehler|error|failed|neu aufsetzen)|"
            r"how (?:do|to) (?:i |we )?install|wie installier\w*|dkms|secure boot|blue ?screen|"
            r"kernel module|black screen|bootet nicht)\b"
        ),
    ),
    (
        "quality",
        re.compile(
            r"\b(?:(?:which|what|welches?|welche) (?:\w+ ){0,3}(?:model|modell|llm|ki|ai)\w* (?:is|"
            r"ist|writes?|schreibt|kann|speaks?|spricht|are|sind|gives?|hat) (?:\w+ ){0,3}(?:best\w*|"
            r"smart\w*|better|besser|klueg\w*|klug|schlau\w*|intelligent\w*|deutsch|german|good|gut)|"
            r"smarter|klueger|schlauer|mmlu|halluzinier\w*|hallucinat\w*|best (?:coding|open|german|"
            r"local) (?:model|llm)\b|(?:which|what|welche[srn]?) (?:\w+ ){0,3}(?:model|modell|llm|ki|"
            r"ai)\w* (?:writes?|schreibt|"
            r"speaks?|spricht|formuliert|translates?|uebersetzt|klingt|sounds?|reasons?|codes?)\b|"
            r"besser (?:deutsch|german)|better (?:at|in) (?:coding|german|math|"
            r"writing|reasoning)|best at|am besten deutsch|qualitaet der antworten|write better|"
            r"schreibt besser|more intelligent)\b"
        ),
    ),
    (
        "secrets",
        re.compile(
            r"\b(?:api[- _]?keys?|(?:slack|bot|app|access|auth|"
            r"xox\w*)[- _]?(?:bot[- _]?)?tokens?(?! ?(?:/|per|pro|pre))|slack_\w+|passwor[dt]\w*|"
            r"datenbankpasswor\w*|kennwort\w*|secrets?\b|credentials?|zugangsdaten|"
            r"env(?:ironment)?[- ](?:var\w*|file)|umgebungsvariable\w*|private keys?|ssh[- ]?keys?|"
            r"signing secret|database_url|\.env\b|system ?prompt (?:ausgeben|zeigen|wiederholen|"
            r"anzeigen)|(?:reveal|print|show|output|leak|give me|gib|zeig\w*|nenn\w*|verrate\w*|dump|"
            r"repeat) (?:\w+ ){0,3}(?:system ?prompt|instructions|anweisungen|tokens?\b(?! ?(?:/|per|"
            r"pro))|logs? of other|other users|conversation of|nachrichten von|gespraeche von))"
        ),
    ),
    (
        "writing",
        re.compile(
            r"\b(?:write|draft|compose|formulate|schreib\w*|formulier\w*|verfass\w*|entwirf)\b[^.?!]{0,48}\b(?:"
            + _PIECES_OF_WRITING
            + r")\b|"
            r"\b(?:" + _PIECES_OF_WRITING + r")\b[^.?!]{0,64}\b(?:schreiben|formulieren|verfassen|entwerfen)\b"
        ),
    ),
    (
        "errand",
        re.compile(
            r"\b(?:kantine|reservier\w*|krank(?:gemeldet)?|urlaub|wetter|weather|witz|joke|poem|"
            r"gedicht|mittag(?:essen)?|lunch|coffee|kaffee\w*|meeting ?room|besprechungsraum|"
            r"translate|uebersetz\w* (?:mir|bitte|das)|recipe|rezept|fussball|football|birthday|"
            r"geburtstag|horoskop|stock tip|aktien\w*|flight|flug\b|hotel|taxi|remind me|"
            r"erinner\w* mich|kalender|calendar|(?:write|draft|compose) (?:\w+ ){0,3}(?:mail|email|poem|essay|letter|"
            r"python|script|function|song|story|speech|invitation|cv|resume)|cover letter|anschreiben|lebenslauf|"
            r"schreib\w* (?:mir )?(?:eine?n? )?(?:mail|e-mail|gedicht|skript|"
            r"aufsatz|brief|rede|lied)|capital of|hauptstadt|who won|wer hat gewonnen|drucker|printer|"
            r"monitor empfehl\w*|handy|smartphone|bewerbung|homework|hausaufgab\w*|movie|film|news\b|"
            r"nachrichten heute|reset my|vpn\b|outlook|excel-?(?:tabelle|formel)|wi-?fi|wlan)\b"
        ),
    ),
)
_SMALL_TALK = re.compile(
    r"(?>\b(?:thanks?|thank you|thx|ty|danke\w*|merci|dankeschoen|vielen dank|great|super|"
    r"cool|nice|perfect|perfekt|klasse|prima|awesome|top|ok|okay|alright|got it|verstanden|"
    r"alles klar|passt so|"
    r"hi|hello|hey|hallo|moin|servus|guten (?:morgen|tag|abend)|good (?:morning|evening|"
    r"night)|morning|morgen|gruess\w*|how'?s it going|how are you|wie geht'?s\w*|"
    r"wie geht es dir|what'?s up|na\?|bye|tschuess|"
    r"ciao|schoenen (?:tag|abend|feierabend|gruss)|have a (?:nice|good) \w+|see you|lol|"
    r"haha\w*|who are you|wer bist du|are you (?:a bot|human|real|there)|bist du (?:ein bot|"
    r"echt|da)|test|ping|sorry|no problem|kein problem|you rock|"
    r"good bot|guter bot|du bist (?:toll|super)|wow|yes|yep|ja|nein|no|nope|mega|all|team|"
    r"everyone|zusammen|leute|bot|sizewise|very much|so much|dir|you|a lot|sehr|the|for|fuer|"
    r"die|hilfe|help|schnelle|quick|antwort|das|that|it|was|is|ist|war|und|and|i|so|bis|"
    r"spaeter|later|dann|then|leider|today|heute|bin|am|im|not|nicht|well|gut|good)\b|"
    r"[^a-z0-9])++"
)
_INJECTION = re.compile(
    r"\b(?:ignore (?:all |any |the |your |everything )?(?:previous|prior|above|earlier|"
    r"instructions|rules)|disregard (?:all|the|your|previous)|ignorier\w* (?:alle|bitte|deine|"
    r"die|vorherige\w*|saemtliche)|vergiss (?:alle|deine|alles|bitte alle|die)|forget (?:all|"
    r"your|everything|previous)|"
    r"you are now|du bist (?:jetzt|ab sofort|nun)|from now on|ab (?:jetzt|sofort) (?:antwort|"
    r"sag|gib|bist|immer)\w*|pretend (?:to|you)|act as|tu so als|system ?(?:prompt)?\s?:|"
    r"developer mode|jailbreak|dan mode|repeat after me|sprich mir nach|wiederhol\w* (?:genau|"
    r"wortwoertlich|nach mir)|"
    r"always (?:answer|say|reply|respond)|antworte (?:immer|nur|ab)|sag (?:einfach|immer|nur)|"
    r"just say (?:yes|it fits)|override|new instructions?|neue anweisung\w*|admin mode|"
    r"ich bin (?:der |dein )?(?:admin|entwickler)|i am (?:the |your )?(?:admin|developer)|"
    r"sudo\b|drop table|rm -rf|curl \S+|wget \S+|<script|\{\{|\$\(|eval\(|exec\(|rootgpt|"
    r"ohne einschraenkung\w* antworten)"
)
_SUBJECT = re.compile(
    r"(?<![a-z0-9])(?:gpus?|grafikkarten?|v?ram\b|llms?|vllm|ollama|modelle?\b|models?\b|"
    r"ki[- ]?server|ai[- ]?server|ki\b|tokens?|tok/s|inferen[cz]\w*|chatbot|chat ?gpt|"
    r"sprachmodell\w*|rag\b|embedding\w*|whisper|transkri\w*|transcri\w*|quanti\w*|q4|q8|fp8|"
    r"fp16|int4|int8|"
    r"fine-?tun\w*|finetun\w*|lora|hardware|server\b|nvlink|kv[- ]?cache|kontext\w*|context|"
    r"concurren\w*|pcie|netzteil|psu|watt|stromverbrauch|cuda|tensor|batch|accelerator|h100|"
    r"karte\b|karten\b|cards?\b|workstation|vector|vektor\w*|hosten|self-?host\w*|on-?prem\w*|"
    r"on premises|cloud\b|macbook|laptop|nutzer\b|users\b|speicher)(?![a-z0-9])"
)


@dataclass(frozen=True, slots=True)
class Scope:
    """`topic` names what is declined; `injection` and `secret` are flags for the log, never a reason to act."""

    topic: str | None = None
    injection: bool = False
    secret: bool = False
    subject: bool = False


_HOW_MANY_FIT = re.compile(
    r"\b(?:how many|wie ?viele?)\s(?P<what>[a-z]{3,20}(?:\s[a-z]{3,20})?)\s(?:(?:can|could|will|would|koennen|kann|ich|i|"
    r"we|you|man|do|does)\s){0,3}"
    r"(?:fits?|passen|passt|go (?:in|on)|gehen (?:in|auf)|stecken)\b"
)
_OURS = re.compile(
    r"(?:models?|modellen?|llms?|layers?|schichten|params?|parametern?|experten?|experts?|weights|gewichte|copies|kopien|"
    r"replicas?|instan[cz]\w*|"
    r"adapters?|adaptern?|loras?|agents?|agenten|gpus?|containers?|vms?|pods?|workers?|processes|prozesse|them|davon|"
    r"sequen\w+|contexts?|more)$"
)


def _counts_other_things(folded: str) -> bool:
    """ "How many bananas fit into an H100": what is counted is nothing that a card holds."""
    found = _HOW_MANY_FIT.search(folded)
    if found is None:
        return False
    return not any(_OURS.match(word) or unit_after(word, 0)[0] for word in found["what"].split())


def read_scope(text: Text) -> Scope:
    """Which foreign topic a message touches, and whether it speaks of hardware for AI at all."""
    folded = text.folded
    topics = [name for name, pattern in _TOPICS if pattern.search(folded)]
    injection = _INJECTION.search(folded) is not None
    if _counts_other_things(folded):
        topics.append("other things")
    topic = topics[0] if topics else "small talk" if folded.strip() and _SMALL_TALK.fullmatch(folded) else None
    return Scope(topic, injection, "secrets" in topics, _SUBJECT.search(folded) is not None)
