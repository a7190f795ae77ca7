"""What a message asks: all intents with their weight, the main one first."""

import re
from collections.abc import Mapping

from bot.understand.request import Intent
from bot.understand.text import Text

_CUES: tuple[tuple[Intent, float, str], ...] = (
    # reicht, passt, läuft
    ("fits", 3.0, r"\b(?:reicht|reichen|genuegt|genuegen|langt|ausreichend|passt|passen|is (?:\w+ ){0,6}enough|enough (?:for|to|\?)|enough\b|fits?\b|fitting|hard limit|zu klein|too small|overkill)"),
    ("fits", 2.4, r"\b(?:laeuft|laufen|lauffaehig|geht (?:da|das|es|sich)|geht\b|klappt|schafft (?:das|es|die|ein)|drauf|drin\b|genug (?:fuer|vram|speicher)|runs? on|run it|run (?:a|the|an|this)|hold (?:that|it)|can (?:i|we|you|it|one)|could i|kann (?:ich|man|die|das|eine)|koennen wir|will (?:it|an?|the|my|one|2|two)|would (?:it|an?|that|ktransformers|\d)|does (?:\w+ ){0,5}(?:work|run|need)|possible|moeglich|machbar|feasible|realistisch|any chance|get\w* .{0,20} going|useful for|brauchbar|ok\?|realistic|worth trying|survive|squeeze\w*|zurecht|ueberhaupt|doable|viable|workable|suffic\w*|adequate|capable|handle|cope|pull (?:it|this|that) off|good enough|gud enough|taugt|packt|packen|stemm\w*|tauglich|geeignet|suitable|tut'?s\b|reichts|gehts|laeufts|betreiben|supports?\b|unterstuetz\w*|usable|nutzbar|sinnvoll (?:laeuft|nutz\w*))"),
    ("fits", 3.0, r"\b(?:what can (?:i|we) run|was kann ich .{0,30}laufen|was laeuft|what runs|which models?(?: can| run| fit| would)|welche modelle|welches modell (?:passt|laeuft|geht)|largest model|groesste[sn]? modell|max(?:imum|imal)?(?:er|e)? (?:context|kontext|ctx)|how much (?:ctx|context)|wie ?viel kontext|best quant|welche[nrsm]? quant|what quant)"),
    ("size", 3.0, r"\b(?:what (?:gpu|gpus|hardware|hw|card|cards|box|server|machine|do i need|do we need|would i need|kind of|size|vram|minimum)|which (?:gpu|gpus|hardware|card|cards|box|server|machine|setup|accelerator)|welche[nrs]? (?:gpu|gpus|hardware|karte|karten|grafikkarte\w*|server|maschine|rechner|ausstattung|beschleuniger)|was brauch\w*|was muesste|was fuer (?:eine?n?|einen) (?:karte|server|gpu|hardware|rechner|maschine|kiste)|mit was|womit)"),
    ("size", 3.0, r"\b(?:how much (?:v?ram|memory|gpu|iron|hardware|gpu memory|vram)|wie ?viel (?:v?ram|speicher|gpu|grafikspeicher|arbeitsspeicher|hardware|gb)|how many (?:gpus?|cards|h100s?|a100s?|l40s?|l4s?|\w*\d\w*|accelerators|nodes|servers|of (?:them|those))|wie ?viele? (?:gpus?|karten|grafikkarten|server|knoten|\w*\d\w*|davon)|how big|wie gross|hardware (?:fuer|for)|dimensionier\w*|auslegen|auslegung|sizing|size (?:for|a|it|this|llama|us)|empfehl\w*|recommend\w*|suggest\w*|vorschlag|what (?:should|would) (?:i|we) (?:buy|get|order)|was (?:soll|sollen|sollte) (?:ich|wir) (?:kaufen|nehmen|bestellen|anschaffen)|kaufberatung|planning hardware|specs? for|requirements?|anforderung\w*|need a server|brauch\w* (?:wir|ich|es)|minimum|smallest (?:gpu|thing|card|box)|kleinste|guenstigste karte|durchrechnen|rechnung|weights gb|break ?down|was waere|benoetig\w*|erforderlich\w*|noetig|needed|required|would it take|spec out|berechn\w*|calculate|estimate\b|abschaetz\w*|brauchts|was fuer (?:ein|eine|einen)\b|vram\s?\?|speicher\s?\?|ram\s?\?|setup (?:for|fuer)|bedarf\b)"),
    ("compare", 3.4, r"(?:\bvs\.?\b|\bversus\b|\bvergleich\w*|\bcompar(?:e|ed|ison|ing)\b|\bwhich (?:is|one|of|would|fits|serves|card|should|setup) (?:is |of |the )?(?:better|faster|these|those|them|more)|\bwas ist (?:besser|schneller|sinnvoller|guenstiger)|\bwelche[rs]? (?:ist|von|der|waere) |\bgegenueber\b|\bbetter (?:buy|choice|option|deal)|\bdeciding\b|\bentscheid\w*|\bchoosing between|\bupgrade\b|\blohnt sich\b|\bunterschied (?:macht|zwischen|in)|\bwhich of\b|\bwhich serves|\bwhich fits|\bwelche fuer|\blieber\b|\bor better\b|\bwelche\?|\bschwanke\w*|\btorn between|\beither\b|\bgegeneinander|\bor just buy|\badd a|\bthinking \d|\balternativ)"),
    ("throughput", 3.0, r"\b(?:how fast|how quick\w*|wie schnell|wie flott|what speed|welche geschwindigkeit|throughput|durchsatz|tok(?:en)?s?/s (?:kann|can|do|should|would|schafft|bekomm)|(?:how much|wie ?viel) (?:slower|faster|langsamer|schneller)|how many (?:tok\w*|t/s|users?|people|concurrent|parallel|requests|streams|chats|sessions|pages|images|clients|agents|simultaneous|employees|devs|developers|calls|students)|wie ?vielen? (?:tok\w*|t/s|nutzern?|leuten?|user|anfragen|parallelen?|streams|chats|sitzungen|seiten|bildern?|gleichzeitigen?|benutzern?|mitarbeitern?|kollegen|requests|clients|agenten|anrufe|studenten)|wie ?viel (?:tok\w*|t/s|durchsatz|nutzer)|concurrency limit|what concurrency|which t/s|what (?:tok/s|t/s|ttft|throughput|latency|tps)|(?:ttft|latency|latenz|durchsatz|throughput)\s?\?|limits me|go (?:up )?to \d+|ttft (?:for|fuer|auf|on|bei)|was sind ttft|tokens? per second (?:can|do|should)|roughly how many|hours\? days|how long|wie lange|dauert|speed\b|geschwindigkeit|tps\b|handle \d|stemm\w*|bedienen|verkraft\w*|serves? (?:more|how many)|concurrency should|what should it be|painful|(?<![\d.,~] )(?<![\d.,~])(?:tok(?:en)?s?/s|t/s|tps)\b(?=\s?(?:for|fuer|bei|at|\?|auf|on|mit|with|can|kann|per|pro|und|and|$))|faster\b|schneller\b|snappy|fluessig|responsive|tempo\b|flott\b|latency|latenz|warten die|people wait|users? wait|max(?:imum|imale?)? batch|pages per (?:hour|second|minute)|seiten pro|stunden (?:brauch|dauer)|how quick|reqs?/s|rps\b|qps\b|time to first|before it's)"),
    ("explain", 3.0, r"\b(?:why|warum|wieso|weshalb|woran|how come|how on earth|wie kann das|how did you|wie kommst du|what'?s? (?:is )?(?:wrong|missing|going on)|what am i (?:missing|doing)|what are we doing|was mache ich falsch|where does (?:the|all)|wo(?:hin)? (?:geht|bleibt|ist) (?:der|das|die)|normal\b|expected\b|erwartbar|bug\b|broken|kaputt|defective|defekt|stimmt (?:es|das|da)|is it true|is that true|can that be|kann das (?:sein|stimmen)|really need|erklaer\w*|explain\w*|what happens|was passiert|difference between|was ist der unterschied|unterschied zw|was bedeutet|what does .{0,30} mean|more important|mach(?:t|en) (?:das|es) (?:viel|einen|was)|makes? (?:a|much|any) difference|does it matter|does (?:adding|doubling|a second|using|it matter|this)|double the speed|doppelt so schnell|twice as fast|how does|wie funktioniert|how is that|makes? sense|worth\b|lohnt\b|how much (?:slower|faster|worse|better)|macht .{0,12} sinn|how much faster|wie viel schneller|bringt (?:das|es|mir|ein|eine|mehr)|spielt .{0,20} rolle|which is right|wer hat recht|is that sane|sane\b|upselling|plausib\w*|worth it|even used|does (?:mixing|it load)|ueberhaupt sinnvoll|sinnvoll\b|rather not|oder besser nicht|herleit\w*|nachvollzieh\w*|formeln?\b|does .{0,24} help|bringt .{0,24} was|addiert|shouldn'?t it|obwohl|eigentlich|so slow|so langsam|halb so schnell|realistic\b|misleading|myth|mythos|verstehe nicht|don'?t understand|wrong)"),
    ("explain", 2.6, r"\b(?:never \w+ again|haengt|hangs|abbruch|stuerzt|crash\w*|ooms?|out of memory|refuses|won'?t (?:start|load|fit)|startet nicht|seems to do nothing|blows? (?:it )?up|double their)\b"),
    ("size", 3.7, r"\b(?:planning hardware|welche hardware|what hardware|which hardware|hardware brauchen|hardware do (?:i|we))\b"),
    ("cost", 3.0, r"\b(?:kost\w*|costs?\b|costing|pric(?:e|es|ing)|preis\w*|cheap\w*|guenstig\w*|billig\w*|teuer|expensive|overpay\w*|rent(?:s|al|ing)?\b|miet\w*|buy or rent|kaufen oder mieten|break[- ]?even|amortis\w*|rentier\w*|rechnet sich|rechnen sich|tco\b|per million|pro million|/mtok|per mtok|pro mio|wirtschaftlich\w*|roi\b|api bill|(?:how much|wie ?viel) (?:money|geld|\$|€)|spending|monatlich\w* kosten|stundenpreis|instance type|welche instanz|worth (?:buying|renting)|\$ per|€ pro|lohnt das|lohnt sich (?:das|die|der|ein)|cloud oder kaufen|buy(?:ing)? or (?:rent|cloud)|kaufen oder|mieten oder|payback|spar(?:t|en) (?:wir|ich|man)|saves? money|electricity (?:cost|bill)|stromkosten|monthly cost|pay for|bezahl\w*|invoice|quote\b|angebot\b|capex|opex|budget for the cfo)"),
    ("power", 3.6, r"\b(?:watts?\b|wattage|strom\w*|netzteil\w*|psus?\b|power (?:supply|draw|limit|cap|consumption|bill)|breaker|sicherung\w*|heat\b|heiss\w*|heat output|abwaerme|kuehlung|cooling|lautstaerke|laut wird|laut\b(?! (?:hersteller|doku|angabe|nvidia|dsgvo|readme|datenblatt|vendor))|noise|noisy|loud|kwh|stromverbrauch|steckdose\w*|outlet|power limit\w*|cap \w+ to \d+ ?w|\d+ ?w\b.{0,30}(?:psu|netzteil)|undervolt\w*|thermal\w*|klimaanlage|ups\b|usv\b|amps?\b|220v|110v|230v|waermeentwicklung|dezibel|luefter)"),
    ("system", 2.8, r"\b(?:nv-?link|pcie\b|pci-e|nvme|ssds?\b|netzwerk|network|infiniband|gbe\b|10g\b|25g\b|mainboard|motherboard|which cpu|welche[rn]? (?:cpu|prozessor)|cpu (?:for|fuer|dazu|brauche)|memory channels|speicherkanaele|how much (?:system )?ram\b|wie ?viel (?:ram|arbeitsspeicher|system)|lanes|riser|chassis|rack\w*|failover|redundan\w*|hochverfuegbar\w*|ausfall|ausfaellt|faellt .{0,14} aus|gpu dies|dies\?|load time|ladezeit|loading|storage|festplatte\w*|disk\b|unterbau|workstation (?:als|for)|kubernetes|ressourcen|resources|switch\b|nfs\b|backup\w*|n\+1|how many (?:cores|kerne|cpus)|wie ?viele (?:kerne|cores)|ecc\b|bridge\b|numa\b|server room|serverraum|hot ?spare|uptime|verfuegbarkeit|99[.,]\d|which ram|ddr5\?|cold start|kaltstart|model swap)"),
    ("rag", 3.3, r"(?:\brag\b|\bdokument\w*\b(?=.{0,40}\b(?:such|chat|frag|index|durchsuch|wissen|rag|confluence|share))|\bdokumentensuche|\bembedd\w*|\bvector (?:db|database|store|index)|\bvektor\w*|\brerank\w*|\bre-rank\w*|\bhnsw\b|\bqdrant|\bmilvus|\bpgvector|\bfaiss|\bweaviate|\bchroma\b|\bchunks?\b|\bknowledge base|\bwissensdatenbank|\bretrieval|\bindex(?:ing|ieren|ierung)\b|\bsharepoint|\bconfluence|\bragflow|\bsemantic search|\bsemantische suche|\bdocument search|\bopensearch|\belasticsearch)"),
)  # fmt: skip
_CUE = tuple((intent, weight, re.compile(pattern)) for intent, weight, pattern in _CUES)

_SLASH: Mapping[str, Intent] = {
    "size": "size", "fits": "fits", "fit": "fits", "passt": "fits", "check": "fits", "cmp": "compare", "compare": "compare", "vergleich": "compare",
    "vs": "compare", "ft": "finetune", "finetune": "finetune", "train": "finetune", "training": "finetune", "lora": "finetune", "qlora": "finetune",
    "tps": "throughput", "speed": "throughput", "throughput": "throughput", "tempo": "throughput", "bench": "throughput", "users": "throughput",
    "why": "explain", "warum": "explain", "explain": "explain", "help": "explain", "hilfe": "explain", "cost": "cost", "kosten": "cost",
    "preis": "cost", "price": "cost", "power": "power", "strom": "power", "watt": "power", "system": "system", "rag": "rag", "embed": "rag",
    "ctx": "fits", "kontext": "fits", "quant": "fits", "rent": "cost", "miete": "cost", "toks": "throughput", "sizing": "size", "max": "fits",
}  # fmt: skip
_SLASH_WORD = re.compile(r"\s*/([a-z]+)\b")
_HELP = re.compile(r"\s*/?(?:help|hilfe|was kannst du|what can you do|wie benutze ich dich|how do i use you|how does this (?:bot )?work)\b")


def slash_word(text: Text) -> str | None:
    """The command of a slash line, or None."""
    found = _SLASH_WORD.match(text.folded)
    return found.group(1) if found else None


def cues(text: Text) -> dict[Intent, float]:
    """Weights of the intents whose words occur; a slash command outweighs words."""
    found: dict[Intent, float] = {}
    for intent, weight, pattern in _CUE:
        hits = len({m.group()[:12] for m in _first(pattern, text.folded, 4)})
        if hits:
            found[intent] = max(found.get(intent, 0.0), weight) + 0.4 * (hits - 1)
    word = slash_word(text)
    if word in _SLASH:
        found[_SLASH[word]] = found.get(_SLASH[word], 0.0) + 10.0
    if _HELP.match(text.folded):
        found["explain"] = found.get("explain", 0.0) + 10.0
    return found


def _first(pattern: re.Pattern[str], text: str, limit: int) -> list[re.Match[str]]:
    out = []
    for match in pattern.finditer(text):
        out.append(match)
        if len(out) == limit:
            break
    return out
