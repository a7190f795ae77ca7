"""Questions of planning and operation that the three guides raise: each gets the answer it asks for, in its language, every number traced.

The key is the row of docs/features.md.
"""

from __future__ import annotations

import re
import tomllib
from importlib import resources
from pathlib import Path

import pytest

from bot.conversation import respond
from bot.thread import Context, ThreadState
from bot.understand.planning import topic_of
from knowledge.service import Knowledge
from knowledge.settings import Settings

NOTES = Path(__file__).parents[3] / "knowledge/notes"

QUESTIONS = {
    "S001": ("Womit fange ich bei der Hardwareauswahl für KI an?", "Bei der Aufgabe, nicht bei der Karte"),
    "S002": ("Was soll ich vor dem Hardwarekauf festhalten: Antwortzeit, Durchsatz, Kosten?", "was zählt.*wo Daten|was zählt"),
    "S005": ("Welche Verfügbarkeit und Wiederherstellungszeit muss ich planen?", "welcher Ausfall.*wie lange Stillstand"),
    "S007": ("Which assumptions does a sizing rest on and when does a load test decide?", "load test .* decides"),
    "S009": ("Warum rechnen manche mit 0,93 statt 1 GB je Milliarde Parameter?", "keine Sicherheit.*GiB"),
    "S011": ("Was ist der Unterschied zwischen BF16, FP16, INT8 und INT4?", "zwei.*INT8 eines.*Wertebereich"),
    "S013": ("When is a small specialised model enough instead of a large one?", "narrow.*memory, power and money"),
    "S017": ("Was speichert der KV-Cache eigentlich?", "Schlüssel und Werte.*etwas anderes"),
    "S018": ("How can I save KV cache memory and what does it cost?", "Shorter context.*costs speed"),
    "S022": ("Was bringt Batching und was kostet es?", "liest die Gewichte einmal.*Cache"),
    "S023": ("Why does a server need larger reserves than a desktop user?", "server needs larger reserves"),
    "S029": ("Wie stark leidet die Qualität bei Q4 gegenüber Q8?", "Q8, Q6 und Q4 an eigenen Aufgaben"),
    "S031": ("When is CPU-only inference good enough?", "rare use.*batches, embeddings and development"),
    "S034": ("Why is my GPU waiting and utilisation low, does a larger GPU help?", "CPU side"),
    "S037": ("Kann ich RAM und VRAM einfach addieren?", "addieren sich nie.*Tempo des RAM"),
    "S038": ("A cloud VM offers 128 GB memory and a 24 GB GPU: which memory counts for the model?", "smaller figure"),
    "S040": ("Ist 64 GB Unified Memory dasselbe wie 64 GB VRAM?", "^Nicht dasselbe"),
    "S043": ("Lohnt es sich, den Server nur bei Bedarf zu starten?", "Stapelarbeit ja, für Chats nein"),
    "S045": ("Wo sollen Checkpoints, Gewichte und Backups liegen, lokal oder Objektspeicher?", "kein Backup.*woanders"),
    "S051": ("Replizieren oder aufteilen: was bringt eine zweite GPU?", "größeres Modell.*Kopien bedienen mehr"),
    "S052": ("Zwei Karten: Chat auf einer und Embeddings auf der anderen?", "Embeddings, Bilder oder Nachtarbeit"),
    "S055": ("Can one model run over several servers, what network does it need?", "RDMA.*engine and a model"),
    "S061": ("Welche Karte ist effizienter, Tokens je Kilowattstunde?", "durch Watt.*fertigen Aufgabe"),
    "S062": ("Was kostet der Strom für eine RTX 4090 im Monat?", "kWh.*€ im Monat"),
    "S063": ("Brauche ich ECC-Speicher für KI?", "kein Muss"),
    "S065": ("Welche Teile braucht ein einfacher lokaler KI-Rechner?", "sechs bis acht Kernen.*Für mehrere Dienste"),
    "S066": ("When is professional server hardware worth it over consumer cards?", "many users.*ECC"),
    "S068": ("Stimmt die Faustregel, dass Training vier- bis sechsmal so viel Speicher braucht wie Inferenz?", "18 Byte"),
    "S070": ("What does gradient accumulation do for memory and speed?", "saves no time"),
    "S072": ("Brauche ich Trainingshardware, wenn ich nur Modelle nutzen will?", "^Nein"),
    "S075": ("RAG oder einfach den ganzen Text in den Kontext?", "-fache weniger.*Bessere Suche"),
    "S078": ("On demand, reserved or managed GPU hosting: what is cheaper?", "utilisation, start times, storage and transfer"),
    "S079": ("Worauf muss ich bei einem GPU-Angebot achten?", "genau dieser Karte, nicht der Familie"),
    "S080": ("Welche Karten gibt es mit 48 GB?", "A40.*L40S"),
    "S083": ("Sagt ein Gaming-Benchmark etwas über LLM-Geschwindigkeit?", "^Kaum.*eigene Engine"),
    "S085": ("Woran erkenne ich, welches Bauteil der Engpass ist?", "Lädt langsam: Platte"),
    "S086": ("Does low GPU utilisation prove a CPU problem?", "^No.*one thing at a time"),
    "S087": ("Wie plane ich Updates von Treiber und vLLM?", "ein geprüfter Satz.*Weg zurück"),
    "S088": ("Wer darf auf Modelle und Logs zugreifen, Datenschutz beim KI-Server?", "jeden Dienst"),
    "S089": ("Is local scratch NVMe a backup?", "no backup.*clock"),
    "S090": ("Reicht Gigabit-Ethernet für einen Chatserver?", "^Ja.*WLAN"),
    "S091": ("How does a distributed job restart after a failure?", "last saved state.*Spare.*whole"),
    "S093": ("Was muss ich prüfen, bevor ich eine zweite GPU einbaue?", "Sechs Fragen.*Stecker"),
    "S094": ("Soll ich jetzt schon für drei GPUs kaufen, falls ich später aufrüste?", "wahrscheinlich.*Erst messen"),
    "S095": ("In which order do I decide hardware for local AI?", "task.*memory, then speed, then hardware"),
    "S096": ("Wie teste ich ein Modell, bevor ich Hardware kaufe?", "gemieteten Karte.*kleinste"),
    "S098": ("Was zuerst, Software oder Hardware?", "^Zuerst die Software"),
    "S099": ("Reichen 16 GB RAM für einen Server mit 2x RTX 6000 Ada?", "zu wenig; 96 GB"),
    "S100": ("Was ist die beste GPU für KI?", "gibt es nicht.*günstigste"),
    "S102": ("What is paged attention and what does it save?", "small blocks.*flash attention"),
    "S105": ("Wie viele Worker soll der PyTorch DataLoader haben?", "schrittweise.*gemeinsamen Speicher"),
    "S106": ("Warum läuft fast alles auf CUDA?", "ROCm, Metal, XLA"),
    "S108": ("What is GPUDirect Storage good for?", "only where reading is the brake.*decode"),
    "S109": ("Ändert nvidia-smi etwas an der Karte?", "liest nur.*-pl, -mig, -r"),
    "S116": ("Darf die Inference-API offen im Internet stehen?", "^Nein.*VPN.*Hardware bleibt gleich"),
    "S117": ("Brauche ich Kubernetes für LLM-Hosting?", "nicht zu dimensionieren"),
    "S118": ("Spielt der CPU-Takt oder Governor eine Rolle?", "kurzen Anfragen.*performance"),
    "S119": ("Wie viel Speicher hat die B200?", "180 GB"),
    "S012": ("Tabelle: VRAM von Llama 3.1 8B, Mistral 7B und Llama 3.3 70B in BF16, INT8 und INT4?", "Mistral.*INT4.*Llama 3.3 70B, BF16"),
    "S016": ("Llama 3.1 8B on an RTX 4090: 8k vs 128k context", "fits with context 8k, not with context 128k"),
    "S027": ("Llama 3.3 70B in 16, 8 und 4 Bit im Vergleich", "BF16.*131.*FP8.*67,7.*INT4.*37,2"),
    "S027b": ("Qwen2.5 32B on a 4090: Q8_0, Q6_K or Q4_K_M?", "fits with Q4_K_M, not with Q8_0 and Q6_K"),
    "S036": ("Wie viel RAM braucht ein Server mit einer RTX 4090, n8n, PostgreSQL und Vektordatenbank?", "64 GB RAM"),
    "S059": ("Wie viel Wärme gibt eine RTX 4090 in den Raum?", "739 W.*laut"),
    "S062b": ("85 tokens/s at 350 W or 60 tokens/s at 180 W: which is cheaper?", "60 tokens/s at 180 W is cheaper: 0.83 kWh"),
    "S064": ("Einzelplatz, Workstation oder zentraler Server?", "eine Person.*nicht die Größe der Firma"),
    "S081": ("Wie teste ich unter Last, bevor es live geht?", "erstes Token, Tempo und Fehler.*nicht abdeckt"),
    "S082": ("What is the difference between time to first token and tokens per second?", "computing power.*bandwidth"),
    "S097": ("Reicht genug Speicher, oder muss es auch schnell genug sein?", "Zwei Schwellen"),
    "S104": ("Which cache strategies does Transformers offer?", "static.*quantized.*version"),
    "S115": ("n8n, PostgreSQL, Qdrant, Grafana beside the model: how much RAM and CPU?", "16 GB of RAM and four cores"),
    "S120": ("How much memory does GPT-4 need?", "not disclosed.*open model"),
}  # fmt: skip


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Context:
    folder: Path = tmp_path_factory.mktemp("knowledge")
    return Context(
        knowledge=Knowledge(Settings(data=folder, database_url=f"sqlite:///{folder}/k.db", embeddings="off"))
    )


@pytest.mark.parametrize(("question", "expected"), QUESTIONS.values(), ids=QUESTIONS.keys())
def test_a_question_of_the_guides_is_answered(question: str, expected: str, context: Context) -> None:
    answer, _ = respond(question, ThreadState(), context)
    cells = " ".join(cell for row in answer.table.rows for cell in row) if answer.table else ""
    said = f"{answer.headline} {answer.lead} {cells}".replace("\N{NO-BREAK SPACE}", " ")
    assert re.search(expected, said, re.DOTALL), said
    assert not answer.unverified_numbers


def test_every_topic_has_a_note() -> None:
    topics = tomllib.loads(resources.files("bot.understand").joinpath("planning.toml").read_text("utf-8"))["topic"]
    notes = {path.name.split(".")[0] for path in NOTES.glob("*.md")}
    assert {one["note"] for one in topics} <= notes


@pytest.mark.parametrize(
    "text",
    [
        "Llama 3.1 8B auf einer RTX 4090, 8k Kontext",
        "passt Qwen3 32B in 4 Bit auf 2x 3090?",
        "how many tokens/s for llama 3.3 70b on 2x h100",
        "danke!",
    ],
)
def test_an_ordinary_question_is_no_question_of_the_guides(text: str) -> None:
    assert topic_of(text) is None
