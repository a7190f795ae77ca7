"""Numbers written as words, German and English, up to tens of thousands."""

from bot.understand.text import word_set

NUMBER_WORDS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "fifteen": 15, "sixteen": 16, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
    "ein": 1, "eine": 1, "einer": 1, "einen": 1, "einem": 1, "eines": 1, "ne": 1, "nen": 1, "ner": 1, "nem": 1,
    "zwei": 2, "zwo": 2, "drei": 3, "vier": 4, "fuenf": 5, "sechs": 6, "sieben": 7, "acht": 8, "neun": 9, "zehn": 10,
    "elf": 11, "zwoelf": 12, "fuenfzehn": 15, "sechzehn": 16, "zwanzig": 20, "dreissig": 30, "vierzig": 40,
    "fuenfzig": 50, "sechzig": 60, "achtzig": 80, "hundert": 100, "tausend": 1000, "hundred": 100, "thousand": 1000,
    "dutzend": 12, "dozen": 12, "single": 1, "einzelne": 1, "einzelnen": 1, "einzige": 1, "dual": 2, "doppel": 2, "triple": 3,
    "quad": 4, "both": 2, "beide": 2, "beiden": 2, "paar": 2, "pair": 2, "couple": 2, "zweier": 2, "zweien": 2, "dreien": 3, "vieren": 4,
}  # fmt: skip
_TENS = {
    "zwanzig": 20,
    "dreissig": 30,
    "vierzig": 40,
    "fuenfzig": 50,
    "sechzig": 60,
    "siebzig": 70,
    "achtzig": 80,
    "neunzig": 90,
}
_ONES = {"ein": 1, "zwei": 2, "drei": 3, "vier": 4, "fuenf": 5, "sechs": 6, "sieben": 7, "acht": 8, "neun": 9}
NUMBER_WORDS |= _TENS
NUMBER_WORDS |= {f"{one}und{ten}": n + m for one, n in _ONES.items() for ten, m in _TENS.items()}
NUMBER_WORDS |= {
    word + many: n * factor
    for word, n in (*_ONES.items(), ("zehn", 10), ("zwoelf", 12), ("fuenfzehn", 15), *_TENS.items())
    for many, factor in (("hundert", 100), ("tausend", 1000))
    if not (many == "hundert" and n > 9)
}
VAGUE_ONES = word_set("ein eine einer einen einem eines ne nen ner nem one")
