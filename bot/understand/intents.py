"""What a message asks: all intents with their weight, the main one first."""

import re
from collections.abc import Mapping

from bot.understand.request import Intent
from bot.understand.text import Spans, Text

_CUES: tuple[tuple[Intent, float, str], ...] = (
    # reicht, passt, läuft
    (
        "fits",
        3.0,
        r"\b(?:reicht|reichen|genuegt|genuegen|langt|ausreichend|passt|passen|is (?:\w+ ){0,"
        r"6}enough|enough (?:for|to|\?)|enough\b|fits?\b|fitting|hard limit|zu klein|too small|"
        r"overkill)",
    ),
    (
        "fits",
        2.4,
        r"\b(?:laeuft|laufen|lauffaehig|geht (?:da|das|es|sich)|geht\b|klappt|schafft (?:das|es|"
        r"die|ein)|drauf|drin\b|genug (?:fuer|vram|speicher)|runs? on|run it|run (?:a|the|an|"
        r"this)|hold (?:that|it)|can (?:i|we|you|it|one)|could i|kann (?:ich|man|die|das|eine)|"
        r"koennen wir|will (?:it|an?|the|my|one|2|two)|would (?:it|an?|that|ktransformers|\d)|"
        r"does (?:\w+ ){0,5}(?:work|run|need)|possible|moeglich|machbar|feasible|realistisch|"
        r"any chance|get\w* .{0,20} going|useful for|brauchbar|ok\?|realistic|worth trying|"
        r"survive|squeeze\w*|zurecht|ueberhaupt|doable|viable|workable|suffic\w*|adequate|capable|"
        r"handle|cope|pull (?:it|this|that) off|good enough|gud enough|taugt|packt|packen|"
        r"stemm\w*|tauglich|geeignet|suitable|tut'?s\b|reichts|gehts|laeufts|betreiben|"
        r"supports?\b|unterstuetz\w*|usable|nutzbar|sinnvoll (?:laeuft|nutz\w*))",
    ),
    (
        "fits",
        3.0,
        r"\b(?:what can (?:i|we) run|was kann ich .{0,30}laufen|was (?:laeuft|geht)(?! (?:nicht|schief|hier vor|ab)\b)|what runs|"
        r"what(?:'s| is| would be) possible|"
        r"which models?(?: can| run| fit| would)|welche modelle|welches modell (?:passt|laeuft|"
        r"geht)|largest model|groesste[sn]? modell|max(?:imum|imal)?(?:er|e)? (?:context|kontext|"
        r"ctx)|how much (?:ctx|context)|wie ?viel kontext|best quant|welche[nrsm]? quant|"
        r"what quant)",
    ),
    (
        "size",
        3.0,
        r"\b(?:what (?:gpu|gpus|macs?|hardware|hw|card|cards|box|server|machine|do i need|do we need|"
        r"would i need|kind of|size|vram|minimum)|which (?:gpu|gpus|macs?|hardware|card|cards|box|"
        r"server|machine|setup|accelerator)|welche[nrs]? (?:gpu|gpus|macs?|hardware|karte|karten|"
        r"grafikkarte\w*|server|maschine|rechner|ausstattung|beschleuniger)|was brauch\w*|was muss (?:ich|man|wir)\b|"
        r"was muesste|was fuer (?:eine?n?|einen) (?:karte|server|gpu|hardware|rechner|maschine|"
        r"kiste)|mit was|womit)",
    ),
    (
        "size",
        3.0,
        r"\b(?:how much (?:v?ram|memory|gpu|iron|hardware|gpu memory|vram)|wie ?viel (?:v?ram|"
        r"speicher|gpu|grafikspeicher|arbeitsspeicher|hardware|gb)|how many (?:gpus?|cards|h100s?|"
        r"a100s?|l40s?|l4s?|\w*\d\w*|accelerators|nodes|servers|of (?:them|those))|"
        r"wie ?viele? (?:gpus?|karten|grafikkarten|server|knoten|\w*\d\w*|davon)|how big|"
        r"wie gross|hardware (?:fuer|for)|dimensionier\w*|auslegen|auslegung|sizing|size (?:for|a|"
        r"it|this|llama|us)|empfehl\w*|recommend\w*|suggest\w*|vorschlag|what (?:should|"
        r"would) (?:i|we) (?:buy|get|order)|was (?:soll|sollen|sollte) (?:ich|wir) (?:kaufen|"
        r"nehmen|bestellen|anschaffen)|kaufberatung|planning hardware|specs? for|requirements?|"
        r"anforderung\w*|need a server|brauch\w* (?:wir|ich|es)|minimum|smallest (?:gpu|thing|"
        r"card|box)|kleinste|guenstigste karte|durchrechnen|rechnung|weights gb|break ?down|"
        r"was waere|benoetig\w*|erforderlich\w*|noetig|needed|required|would it take|spec out|"
        r"berechn\w*|calculate|estimate\b|abschaetz\w*|brauchts|was fuer (?:ein|eine|einen)\b|"
        r"vram\s?\?|speicher\s?\?|ram\s?\?|setup (?:for|fuer)|bedarf\b)",
    ),
    (
        "compare",
        3.4,
        r"(?:\bvs\.?\b|\bversus\b|\bvergleich\w*|\bcompar(?:e|ed|ison|ing)\b|\bwhich (?:is|one|of|"
        r"would|fits|serves|card|should|setup) (?:is |of |the )?(?:better|faster|these|those|them|"
        r"more)|\bwas ist (?:besser|schneller|sinnvoller|guenstiger)|\bwelche[rs]? (?:ist|von|der|"
        r"waere) |\bgegenueber\b|\bbetter (?:buy|choice|option|deal)|\bdeciding\b|\bentscheid\w*|"
        r"\bchoosing between|\bupgrade\b|\blohnt sich\b|\bunterschied (?:macht|zwischen|in)|"
        r"\bwhich of\b|\bgains?\b|\bwas (?:bringt|braechte) (?:mir|uns|da|hier|eine?|die|der)\b|"
        r"\b(?:would|does|do|can|could|will)\b[^.?!;]{0,80}\b(?:beat|outperform)\b|\bschlaegt\b|"
        r"\bwhich serves|\bwhich fits|\bwelche fuer|\blieber\b|\bor better\b(?= \w)|"
        r"\bwelche\?|\bschwanke\w*|\btorn between|\beither\b|\bgegeneinander|\bor just buy|"
        r"\badd a|\bthinking \d|\balternativ|\bzur (?:auswahl|wahl|debatte)\b|\bshortlist|\bentweder\b)",
    ),
    (
        "throughput",
        3.0,
        r"\b(?:how (?:fast|slow)|how quick\w*|wie (?:schnell|langsam|lahm)|wie flott|what speed|welche geschwindigkeit|"
        r"throughput|durchsatz|(?:how many|wie ?viele?) (?:hours|minutes|stunden|minuten|pages|seiten|images|bilder|documents|"
        r"dokumente|emails?|e-?mails|calls|anrufe|chunks|files|dateien)\b[^.?!;]{0,60}\b(?:per|pro|an?|each|every|je|in der)\b|"
        r"tok(?:en)?s?/s (?:kann|can|do|should|would|schafft|bekomm)|"
        r"(?:how much|wie ?viel) (?:slower|faster|langsamer|schneller)|how many "
        r"(?:(?!(?:gpus?|cards?|servers?|nodes?|for|do|to|on|of|at|are|per|"
        r"\w*\d\w*) )[a-z][\w\-]* ){0,3}(?:tok\w*|t/s|"
        r"users?|people|concurrent|parallel|requests|streams|chats|sessions|pages|images|clients|"
        r"agents|simultaneous|employees|devs|developers|calls|students)|"
        r"wie ?viel(?:en?)? (?:parallel\w*|tok\w*|"
        r"t/s|nutzern?|leuten?|user|anfragen|parallelen?|streams|chats|sitzungen|seiten|bildern?|"
        r"gleichzeitigen?|benutzern?|mitarbeitern?|kollegen|requests|clients|agenten|anrufe|"
        r"studenten)|wie ?viel (?:tok\w*|t/s|durchsatz|nutzer)|concurrency limit|"
        r"(?:limit|maximum|grenze|obergrenze|max) (?:an|von|of|for|fuer|at) (?:\w+ )?(?:concurrent|gleichzeitig|parallel|simultan)\w*|"
        r"tg (?:per|pro|speed)|"
        r"max(?:imum|imale?)? (?:concurrency|parallelitaet|gleichzeitigkeit)|what concurrency|"
        r"which t/s|what (?:tok/s|t/s|ttft|throughput|latency|tps|tg|pp)\b|(?:any|hat \w+|gibt es|got|"
        r"real|actual|echte) (?:\w+ )?(?:numbers|benchmarks?|measurements|zahlen|messwerte)|(?:ttft|latency|latenz|"
        r"durchsatz|throughput)\s?\?|limits me|go (?:up )?to \d+|ttft (?:for|fuer|auf|on|bei)|"
        r"was sind ttft|tok(?:en)?s? (?:per|pro) (?:second|sekunde)(?: (?:can|do|should)|\s?\?|$)|"
        r"roughly how many|(?:hours|days|stunden|tage|minutes|minuten)\s?\?|"
        r"how long|wie lange|dauert|speed\b|geschwindigkeit|tps\b|handle \d|stemm\w*|bedienen|"
        r"wait(?:ing)?[- ]?times?|wartezeit\w*|vertr(?:aegt|agen)\b|(?:kind of |what |"
        r"which )?numbers (?:should|can|do|would) (?:i|we)|"
        r"\d+ (?:concurrent |gleichzeitige )?(?:users?|people|nutzer|leute) (?:\w+ ){0,2}(?:realistic|"
        r"realistisch)|verkraft\w*|serves? (?:more|how many)|concurrency should|"
        r"what should it be|painful|"
        r"(?<!\d[.,~] )(?<![\d,~] )(?<![\d.,~])(?:tok(?:en)?s?/s|t/s|tps)\b(?=\s?(?:for|fuer|bei|at|\?|auf|on|"
        r"mit|with|can|kann|per|pro|und|and|$))|faster\b|schneller\b|snappy|fluessig|responsive|"
        r"tempo\b|flott\b|(?:kommt|kaeme|springt) (?:\w+ ){0,4}(?:an|bei) (?:tok\w*|t/s|tps)(?: |"
        r"/s )?(?:pro sekunde )?(?:raus|rum|heraus)|"
        r"latency|latenz|warten die|people wait|users? wait|max(?:imum|"
        r"imale?)? batch|pages per (?:hour|second|minute)|seiten pro|stunden (?:brauch|dauer)|"
        r"how quick|reqs?/s|rps\b|qps\b|time to first|before it's)",
    ),
    (
        "explain",
        3.0,
        r"\b(?:why|warum|wieso|weshalb|woran|how come|how on earth|wie kann das|how did you|"
        r"wie kommst du|what'?s? (?:is )?(?:wrong|missing|going on)|what am i (?:missing|doing)|"
        r"what are we doing|was mache ich falsch|where does (?:the|all)|wo(?:hin)? (?:geht|bleibt|"
        r"ist) (?:der|das|die)|normal\b|expected\b|erwartbar|bug\b|broken|kaputt|defective|defekt|"
        r"stimmt (?:es|das|da)|is it true|is that true|can that be|kann das (?:sein|stimmen)|"
        r"really need|erklaer\w*|explain\w*|what happens|was passiert|difference between|"
        r"was ist der unterschied|unterschied zw|was (?:genau )?(?:bedeutet|heisst)|what does .{0,30} mean|"
        r"more important|mach(?:t|en) (?:das|es) (?:viel|einen|was)|makes? (?:a|much|"
        r"any) difference|does it matter|does (?:(?:a |an |the )?(?:bigger|larger|higher|longer|"
        r"smaller|more)\b|adding|doubling|a second|using|it matter|this)|"
        r"double the speed|doppelt so schnell|twice as fast|how does|wie funktioniert|how is that|"
        r"makes? sense|worth\b|lohnt\b|how much (?:slower|faster|worse|better)|macht .{0,12} sinn|"
        r"how much faster|wie viel schneller|bringt (?:das|es|mir|ein|eine|mehr)|spielt .{0,"
        r"20} rolle|which is right|wer hat recht|is that sane|sane\b|believable|credible|glaubhaft|glaubwuerdig|"
        r"too good to be true|upselling|plausib\w*|"
        r"worth it|even used|does (?:mixing|it load)|ueberhaupt sinnvoll|sinnvoll\b|rather not|"
        r"oder besser nicht|herleit\w*|nachvollzieh\w*|formeln?\b|does .{0,24} help|bringt .{0,"
        r"24} was|addiert|shouldn'?t it|obwohl|eigentlich|so slow|so langsam|halb so schnell|"
        r"what could (?:it|that|this) be|was koennte (?:es|das) sein|crawl\w*|kriecht|(?:any|ne|eine|"
        r"irgendeine) (?:ideas?|idee)\b|"
        r"immer langsamer|slower and slower|supposed to (?:be|do|get|give|reach|run|happen)|(?:sind|"
        r"ist) (?:es|das|sie) (?:real|in wahrheit|"
        r"tatsaechlich|wirklich)|"
        r"realistic\b|killing (?:me|it|us|my)|hurting|slowing|ausbrems\w*|bremst|bottleneck\w*|"
        r"flaschenhals|holding (?:me|it|us) back|"
        r"annahmen?\b|assum(?:e|ed|ing|ption)\w*\s?\?|did you assume|assumptions?\b|angenommen\?|"
        r"hast du angenommen|"
        r"gehst du aus|misleading|myth|mythos|verstehe nicht|don'?t understand|wrong)",
    ),
    (
        "explain",
        3.2,
        r"\b(?:(?:is|are|runs?|feels?|got|ist|sind|laeuft|laufen|wirkt)\s(?:so |too |very |really |pretty |quite |super |"
        r"extremely |painfully |still |"
        r"zu |sehr |echt |ziemlich |total |extrem |recht |immer noch |nur )*(?:slow|sluggish|laggy|langsam|lahm|traege|zaeh)\b|"
        r"liegts (?:am|an)|liegt (?:es|das|dies) (?:am|an)|(?:am|an der|an den) \w+ liegen|is (?:it|that) (?:because|due)|schuld\b|"
        r"to blame|the culprit|(?:any|a|much) point (?:in|of)|hat es (?:einen )?sinn|(?:macht|ergibt) es sinn|"
        r"should i even|misconfigur\w*|falsch (?:konfiguriert|eingestellt)|really that much (?:slower|faster|worse))",
    ),
    (
        "explain",
        2.6,
        r"\b(?:never \w+ again|haengt|hangs|abbruch|stuerzt|crash\w*|ooms?|out of memory|refuses|"
        r"won'?t (?:start|load|fit)|startet nicht|seems to do nothing|blows? (?:it )?up|"
        r"double their)\b",
    ),
    (
        "size",
        3.7,
        r"\b(?:planning hardware|welche hardware|what hardware|which hardware|hardware brauchen|"
        r"hardware do (?:i|we))\b",
    ),
    (
        "cost",
        3.0,
        r"\b(?:kost\w*|\w+(?:kosten|preise?)\b|or buy\b|buy it\b|"
        r"was (?:zahlt|zahle[nt]?|bezahlt) (?:man|ich|wir)|what (?:do|would|will) (?:i|we|you|one) pay|ballpark|"
        r"(?:per|a|pro|im) (?:month|monat|year|jahr)(?=\s?(?:$|[,?]))|ab wann lohnt|(?:statt|instead of|"
        r"gegen|vs\.?) (?:the )?(?:openai|api)\b|"
        r"oder kaufen|(?<=[$€] )(?:per|pro|an|a|je) (?:hour|stunde|h\b|month|monat|day|tag|year|jahr|mtok|"
        r"million|mio)|costs?\b|costing|pric(?:e|es|ing)|preis\w*|(?<!are )cheap\b|cheap\w+|"
        r"(?<!sind )(?:guenstig|billig)\b|(?:guenstig|billig)\w+|"
        r"teuer|expensive|overpay\w*|rent(?:s|al|ing)?\b|miet\w*|buy or rent|kaufen oder mieten|"
        r"break[- ]?even|amortis\w*|rentier\w*|rechnet sich|rechnen sich|tco\b|per million|"
        r"pro million|/mtok|per mtok|pro mio|wirtschaftlich\w*|roi\b|api bill|(?:how much|"
        r"wie ?viel) (?:money|geld|\$|€)|spending|monatlich\w* kosten|stundenpreis|instance type|"
        r"welche instanz|worth (?:buying|renting)|\$ per|€ pro|lohnt das|lohnt sich (?:das|die|"
        r"der|ein)|cloud oder kaufen|buy(?:ing)? or (?:rent|cloud)|kaufen oder|mieten oder|"
        r"payback|pays? (?:itself )?off|spar(?:t|en) (?:wir|ich|man)|saves? money|"
        r"electricity (?:cost|bill)|stromkosten|"
        r"monthly cost|pay for|bezahl\w*|invoice|quote\b|angebot\b|capex|opex|budget for the cfo)",
    ),
    (
        "cost",
        3.4,
        r"(?:[$€]|\busd|\beur|\bcents?|\bct)\s?(?:/|per|pro|je)\s?(?:1?m\b|mtok\w*|mio\b|million\w*|1m\b)|"
        r"\bcost of (?:a|one|1) million\b|\b(?:per|pro|je|eine|a|one|1) (?:million|mio\.?) (?:output[- ]|ausgabe-?)?tok\w*\b"
        r"(?! (?:of )?(?:context|kontext|ctx))|"
        r"\btotal cost of ownership\b|\bgesamtkosten\b|\bon[- ]demand\b|\b(?:reserved|reservierte?)\b(?=[^.?!]{0,40}(?:[$€]|\bct\b))",
    ),
    (
        "power",
        3.6,
        r"\b(?:\d+ ?w(?:atts?)? (?:\w+ ){0,2}(?:enough|suffic\w*|genug|ausreichend)|"
        r"(?:reich\w*|genueg\w*|langt) (?:ein |eine |dafuer |da |mir )?\d+ ?w\b|"
        r"how much (?:electric\w* )?power\b|power[- ]?(?:efficien\w*|hungry|usage|consum\w*)|energy\b|energie\w*|verbrauch\w*|"
        r"sparsam\w*|thermisch\w*|temperatur\w*|watts?\b|wattage|strom\w*|netzteil\w*|psus?\b|"
        r"power (?:supply|draw|limit|cap|"
        r"consumption|bill)|leistungs(?:aufnahme|bedarf)|anschlussleistung|anschlusswert|breaker|"
        r"sicherung\w*|heat\b|heiss\w*|heat output|abwaerme|kuehlung|"
        r"cooling|lautstaerke|laut wird|laut\b(?! (?:hersteller|doku|angabe|nvidia|dsgvo|readme|"
        r"datenblatt|vendor))|noise|noisy|loud|kwh|stromverbrauch|steckdose\w*|outlet|"
        r"power limit\w*|cap \w+ to \d+ ?w|\d+ ?w\b.{0,30}(?:psu|netzteil)|undervolt\w*|"
        r"thermal\w*|klimaanlage|ups\b|usv\b|amps?\b|220v|110v|230v|waermeentwicklung|dezibel|"
        r"luefter|how hot|wie (?:heiss|warm)|absicher\w*|abgesichert|drehstrom|starkstrom|three-phase)",
    ),
    (
        "system",
        2.8,
        r"\b(?:nv-?link|pcie\b|pci-e|nvme|ssds?\b|netzwerk|network|infiniband|gbe\b|10g\b|25g\b|"
        r"mainboard|motherboard|which cpu|welche[rn]? (?:cpu|prozessor)|cpu (?:for|fuer|dazu|"
        r"brauche)|memory channels|speicherkanaele|how much (?:system )?ram\b|wie ?viel (?:ram|"
        r"arbeitsspeicher|system)|lanes|riser|chassis|rack\w*|failover|redundan\w*|"
        r"hochverfuegbar\w*|ausfall|ausfaellt|faellt .{0,14} aus|gpu dies|dies\?|load time|"
        r"ladezeit|loading|storage|festplatte\w*|disk\b|unterbau|workstation (?:als|for)|"
        r"kubernetes|ressourcen|resources|switch\b|nfs\b|backup\w*|n\+1|how many (?:cores|kerne|"
        r"cpus)|wie ?viele (?:kerne|cores)|ecc\b|bridge\b|numa\b|server room|serverraum|"
        r"hot ?spare|uptime|verfuegbarkeit|99[.,]\d|which ram|ddr5\?|cold start|kaltstart|"
        r"model swap)",
    ),
    (
        "rag",
        3.3,
        r"(?:\brag\b|\bdokument\w*\b(?=.{0,40}\b(?:such|chat|frag|index|durchsuch|wissen|rag|"
        r"confluence|share))|\bdokumentensuche|\bembedd\w*|\bvector (?:db|database|store|index)|"
        r"\bvektor\w*|\brerank\w*|\bre-rank\w*|\bhnsw\b|\bqdrant|\bmilvus|\bpgvector|\bfaiss|"
        r"\bweaviate|\bchroma\b|\bchunks?\b|\bknowledge base|\bwissensdatenbank|\bretrieval|"
        r"\bindex(?:ing|ieren|ierung)\b|\bsharepoint|\bconfluence|\bragflow|\bsemantic search|"
        r"\bsemantische suche|\bdocument search|\bopensearch|\belasticsearch)",
    ),
)
_CUE = tuple((intent, weight, re.compile(pattern)) for intent, weight, pattern in _CUES)

# A tariff that a question of cost names does not make it one of power.
_TARIFF = re.compile(
    r"(?:ct|cents?|€|eur|\$|usd|\d)\s?(?:/|per|pro|je|a)\s?kwh|\bstrom(?:preis|tarif)\w*|\belectricity (?:price|rate|tariff)"
)

_SLASH: Mapping[str, Intent] = {
    "size": "size",
    "fits": "fits",
    "fit": "fits",
    "passt": "fits",
    "check": "fits",
    "cmp": "compare",
    "compare": "compare",
    "vergleich": "compare",
    "vs": "compare",
    "ft": "finetune",
    "finetune": "finetune",
    "train": "finetune",
    "training": "finetune",
    "lora": "finetune",
    "qlora": "finetune",
    "tps": "throughput",
    "speed": "throughput",
    "throughput": "throughput",
    "tempo": "throughput",
    "bench": "throughput",
    "users": "throughput",
    "why": "explain",
    "warum": "explain",
    "explain": "explain",
    "help": "explain",
    "hilfe": "explain",
    "cost": "cost",
    "kosten": "cost",
    "preis": "cost",
    "price": "cost",
    "power": "power",
    "strom": "power",
    "watt": "power",
    "system": "system",
    "rag": "rag",
    "embed": "rag",
    "ctx": "fits",
    "kontext": "fits",
    "quant": "fits",
    "rent": "cost",
    "miete": "cost",
    "toks": "throughput",
    "sizing": "size",
    "max": "fits",
}
_SLASH_WORD = re.compile(r"\s*/([a-z]+)\b")
_HELP = re.compile(
    r"\s*/?(?:help|hilfe|was kannst du|what can you do|wie benutze ich dich|how do i use you|"
    r"how does this (?:bot )?work)\b"
)


def slash_word(text: Text) -> str | None:
    """The command of a slash line, or None."""
    found = _SLASH_WORD.match(text.folded)
    return found.group(1) if found else None


def cues(text: Text, named: Spans) -> dict[Intent, float]:
    """Weights of the intents whose words occur; a slash command outweighs words. In `named`, devices, a "PCIe" asks nothing."""
    found: dict[Intent, float] = {}
    for intent, weight, pattern in _CUE:
        words = _TARIFF.sub(" ", text.folded) if intent == "power" and "cost" in found else text.folded
        hits = len(
            {m.group()[:12] for m in _first(pattern, words, 4) if intent != "system" or not named.hold(m.start())}
        )
        if hits:
            found[intent] = max(found.get(intent, 0.0), weight) + 0.4 * (hits - 1)
    word = slash_word(text)
    if word is not None and word in _SLASH:
        found[_SLASH[word]] = found.get(_SLASH[word], 0.0) + 10.0
    if _HELP.match(text.folded):
        found["explain"] = found.get("explain", 0.0) + 10.0
    return found


def asks_fit_first(text: Text) -> bool:
    """ "Does it fit, and how fast is it?": whether the verdict is asked before the speed."""
    place = {
        intent: min(
            (m.start() for kind, _, pattern in _CUE if kind == intent for m in _first(pattern, text.folded, 1)),
            default=None,
        )
        for intent in ("fits", "throughput")
    }
    fits, speed = place["fits"], place["throughput"]
    return fits is not None and speed is not None and fits < speed and _AND_SPEED.search(text.folded, fits) is not None


_AND_SPEED = re.compile(
    r"\b(?:and|und|plus|sowie|also)\s(?:if so,? |wenn ja,? |dann |then |auch |at )?(?:how fast|how quick\w*|"
    r"wie (?:schnell|flott)|what (?:speed|tok\w*|t/s)|"
    r"mit wie ?viel\w* tok\w*|with how many tok\w*|welche[rsm]? (?:tempo|geschwindigkeit|durchsatz))|"
    r"[?.]\s?(?:if so,? |wenn ja,? |und |and )?(?:how fast|wie schnell|wie flott)\b"
)


def _first(pattern: re.Pattern[str], text: str, limit: int) -> list[re.Match[str]]:
    out = []
    for match in pattern.finditer(text):
        out.append(match)
        if len(out) == limit:
            break
    return out
