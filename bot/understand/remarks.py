"""What a message says besides: cloud or not, NVLink, vendors wanted or not, offload, redundancy, noise."""

import re
from typing import Any

from bot.understand.devices import ASKS_FOR_MAC
from bot.understand.text import Text
from bot.understand.training_data import dataset_tokens
from bot.understand.wishes import read_wishes

_NO_CLOUD = re.compile(
    r"\b(?:on[- ]?prem\w*|(?:nicht|not|kein\w*|no|ohne|without|never|"
    r"raus aus der) (?:in (?:der|the|die) |in )?(?:public )?cloud|cloud (?:ist|is) (?:raus|"
    r"out|verboten|tabu|not|nicht|keine option)|air[- ]?gapped|in[- ]?house|lokal\w*|"
    r"local(?:ly)?|im keller|eigene[rn]? (?:hardware|server\w*|rechenzentrum)|selbst hosten|"
    r"self[- ]?host\w*|offline)\b"
)
_CLOUD = re.compile(
    r"\b(?:cloud|aws|ec2|azure|gcp|runpod|vast\.?ai|lambda(?: labs)?|hetzner|coreweave|"
    r"paperspace|ovh|scaleway|ionos|rent\w*|(?:ge|an)?miet\w*|instance|instanz|spot)\b"
)
_PROVIDERS = re.compile(
    r"\b(aws|azure|gcp|google cloud|runpod|vast\.?ai|lambda|hetzner|coreweave|ovh|scaleway|"
    r"ionos|stackit|together|openai)\b"
)
_NVLINK = re.compile(r"\bnv-?link\b")
_NO_NVLINK = re.compile(
    r"\b(?:no|not|kein\w*|ohne|without|w/o|lacks?)\s(?:an? |any |the )?nv-?link|"
    r"nv-?link (?:fehlt|geht nicht|not available)"
)
_ASK_NVLINK = re.compile(
    r"\b(?:is|worth|lohnt|brauch\w*|need|does|do i need|bringt|useful|helps?|mit oder ohne|"
    r"with or without)\b[^.!?;]{0,40}nv-?link|nv-?link[^.!?;]{0,30}(?:worth|lohnt|noetig|"
    r"necessary|needed|even used|\?)"
)
_VENDORS = {"amd": "amd", "nvidia": "nvidia", "apple": "apple", "intel": "intel"}
_NO_VENDOR = re.compile(
    r"\b(?:no|kein\w*|not|ohne|without|nicht|except|ausser)\s(?:von |any )?(amd|nvidia|apple|" r"intel|mac|macs)\b"
)
_WANT_VENDOR = re.compile(
    r"\b(?:gern\w*|prefer\w*|bevorzug\w*|only|nur|ideally|am liebsten|lieber|must be|"
    r"muss)\s(?:von |an? |eine )?(amd|nvidia|apple|intel)\b|\b(amd|nvidia|apple|"
    r"intel)\s(?:only|bevorzugt|preferred|waere schoen)\b"
)
_FLAGS: tuple[tuple[str, Any, re.Pattern[str]], ...] = (
    (
        "offload",
        "experts_to_cpu",
        re.compile(
            r"\bexpert\w* (?:(?:are|sit|live|lie|liegen|stay|bleiben|kept|running) )?(?:im|in|into|ins|to|onto|on|auf|via) "
            r"(?:den |dem |the |die |der |system )?(?:ram|cpu|arbeitsspeicher|hauptspeicher)|(?:n-?)?cpu-?moe|-ot exps|"
            r"\bexpert\w*[- ](?:off-?load|auslager)|(?:off-?load\w*|auslager\w*) (?:\w+ ){0,3}expert"
        ),
    ),
    (
        "offload",
        True,
        re.compile(r"\boff-?load\w*|auslager\w*|layers? (?:on|to|auf) (?:the |die )?(?:cpu|ram)|spill\w*"),
    ),
    ("speculative", "mtp", re.compile(r"\bmtp\b")),
    ("speculative", "eagle", re.compile(r"\beagle-?[123]?\b")),
    ("speculative", "draft", re.compile(r"\bspeculative|\bspekulativ\w*|\bdraft(?:[- ]?mod\w*)?\b|\bals draft\b")),
    (
        "redundancy",
        "N-1",
        re.compile(
            r"\bgpu (?:dies|fails|ausfaellt)|one (?:gpu|card|node) (?:dies|fails|is down)|(?:eine|"
            r"1) (?:karte|gpu) (?:ausfaellt|stirbt|kaputt)|faellt (?:eine|1) (?:karte|gpu)"
        ),
    ),
    (
        "redundancy",
        "N+1",
        re.compile(
            r"\bredundan\w*|n\+1|hochverfuegbar\w*|failover|high availability|\bha\b|ausfallsicher\w*|" r"hot ?spare"
        ),
    ),
    ("quiet", True, re.compile(r"\b(?:leise|quiet|silent|lautlos|laut wird|heiss/laut|no noise|not loud)\b")),
    ("streaming", True, re.compile(r"\b(?:live|real-?time|echtzeit|streaming)\b")),
    (
        "offline_batch",
        True,
        re.compile(
            r"\b(?:batch[- ]?job|offline[- ]?batch|overnight|ueber nacht|nachts|offline processing|"
            r"klassifikation|batch summari\w*)\b"
        ),
    ),
    ("prefix_cache", True, re.compile(r"\bprefix[- ]?cach\w*|prompt[- ]?cach\w*")),
    ("platform", "mac", re.compile(r"\bmac(?:book\w*|s)?\b|\bmac(?=\d)|\bimac\b")),
    ("laptop", True, re.compile(r"\b(?:laptop|notebook|macbook\w*)\b")),
    (
        "co_located",
        True,
        re.compile(
            r"\b(?:daneben|nebenbei|alongside|on the same (?:card|gpu)|auf derselben|gleichzeitig mit|"
            r"neben dem|side by side|together with an?|plus (?:embedding|reranker|whisper))\b"
        ),
    ),
    ("beside_model", True, re.compile(r"\b(?:noch ein|another|also an?|zusaetzlich ein|add an?) \d+(?:\.\d+)?b\b")),
    (
        "optimize",
        "cost",
        re.compile(
            r"\b(?:cheapest|guenstigste\w*|billigste\w*|whatever is cheap\w*|cost-efficient|" r"so guenstig wie)\b"
        ),
    ),
    ("optimize", "speed", re.compile(r"\b(?:fastest|schnellste\w*|as fast as possible|so schnell wie moeglich)\b")),
)
_MAX_DEVICES = re.compile(
    r"\b(?:max(?:\.|imal|imum)?|at most|hoechstens|no more than|nicht mehr als|up to|"
    r"bis zu)\s(?:of )?(\d{1,3}|two|zwei|four|vier|one|eine[r]?)\s(?:gpus?|cards?|karten?|"
    r"grafikkarten)\b"
)
# "At least 8 bit", "nothing below fp8", "Q6 oder besser": how narrow the weights may get.
_BITS = r"(?:(?:q|fp|int|bf)[ -]?(\d{1,2})\b|(\d{1,2})[ -]?bits?\b)"
_LEAST_BITS = re.compile(
    r"\b(?:at least|mindestens|wenigstens|mind\.|min\.?|minimum|no less than|not (?:below|under|less than)|nothing (?:below|under)|"
    r"nicht (?:unter|weniger als)|nichts unter|>=)\s?(?:an? |eine? )?"
    + _BITS
    + r"|\b"
    + _BITS
    + r"\s(?:or (?:better|more|higher|above)|oder (?:besser|mehr|hoeher))\b"
)
_NET = re.compile(r"\b(netto|brutto|net of tax|gross|excl\.? vat|incl\.? vat|zzgl\.? mwst|inkl\.? mwst)\b")


def read_remarks(text: Text) -> dict[str, Any]:
    """The remarks by name."""
    folded = text.folded
    out: dict[str, Any] = {}
    if _NO_CLOUD.search(folded):
        out["cloud"] = False
    elif _CLOUD.search(folded):
        out["cloud"] = True
    provider = _PROVIDERS.search(folded)
    if provider:
        out["provider"] = provider.group(1)
    if _NVLINK.search(folded):
        out["nvlink"] = False if _NO_NVLINK.search(folded) else "asked" if _ASK_NVLINK.search(folded) else True
    if tokens := dataset_tokens(text):
        out["dataset_tokens"] = tokens
    for name, value, pattern in _FLAGS:
        if name not in out and pattern.search(folded):
            out[name] = value
    return out | _wishes(folded) | read_wishes(folded)


def _wishes(folded: str) -> dict[str, Any]:
    out: dict[str, Any] = {}
    unwanted = _NO_VENDOR.search(folded)
    if unwanted:
        out["exclude_vendor"] = unwanted.group(1).removesuffix("s").replace("mac", "apple")
    wanted = _WANT_VENDOR.search(folded)
    if wanted and not unwanted:
        out["vendor"] = wanted.group(1) or wanted.group(2)
    if ASKS_FOR_MAC.search(folded) and not unwanted:
        out["vendor"] = "apple"
    bits = _LEAST_BITS.search(folded)
    if bits:
        out["min_bits"] = float(next(group for group in bits.groups() if group))
    most = _MAX_DEVICES.search(folded)
    if most:
        words = {"two": 2, "zwei": 2, "four": 4, "vier": 4, "one": 1}
        out["max_devices"] = int(most.group(1)) if most.group(1).isdigit() else words.get(most.group(1), 1)
    net = _NET.search(folded)
    if net:
        out["tax"] = "net" if net.group(1).startswith(("net", "excl", "zzgl")) else "gross"
    return out
