"""The packaged notes: complete in both languages, every figure recomputed, none copied from a guide."""

import ast
import math
import operator
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from knowledge import notes
from sizing.catalogue.load import generated
from sizing.engine import estimate_data
from sizing.reasons import Topic

NOTES = Path(notes.__file__).with_name("notes")
GUIDES = Path(__file__).parents[2].parent / "shared" / "sources"
FRONT_MATTER = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)
WORD = re.compile(r"\w+")
SHINGLE = 8
MOST_WORDS = 400
ENGINE_TOLERANCE = 0.015

WANTED_TOPICS = """weights formats kv_cache kv_mla sliding_window hybrid_state context concurrency overhead activations cuda_graphs
gpu_memory_utilization usable_memory tensor_parallel pipeline_split layer_split replicas mixed_devices offload moe_offload
unified_memory bandwidth prefill decode moe batching queueing prefix_cache speculative quantization_quality compatibility
engines training_memory optimizer_states lora qlora checkpointing zero_fsdp training_time rlhf rag embedding vector_index
reranking transcription image_video vision_tokens multi_model host_ram cpu storage load_time pcie nvlink power_supply
heat_noise circuit network electricity cost_buy cost_rent cost_api break_even geforce_licence availability backup
data_protection monitoring load_test diagnosis upgrade_path tpu_npu apple old_cards model_choice workload_capture profiles
misconceptions units_gb_gib contradictions"""

OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
}
FUNCTIONS: dict[str, Callable[..., Any]] = {"ceil": math.ceil, "min": min, "max": max}


@cache
def head_and_body(name: str) -> tuple[dict[str, Any], str]:
    content = (NOTES / name).read_text(encoding="utf-8")
    matter = FRONT_MATTER.match(content)
    assert matter, f"{name} has no front matter"
    return yaml.safe_load(matter[1]), content[matter.end() :]


FILES = sorted(path.name for path in NOTES.glob("*.md"))
IDS = sorted({name.split(".")[0] for name in FILES})
FIGURES = [
    (name, figure["key"]) for name in FILES if name.endswith(".en.md") for figure in head_and_body(name)[0]["figures"]
]


def figure_of(name: str, key: str) -> dict[str, Any]:
    return next(figure for figure in head_and_body(name)[0]["figures"] if figure["key"] == key)


def value_of(expression: str, inputs: dict[str, float]) -> float:
    def walk(node: ast.expr) -> Any:
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            return node.value
        if isinstance(node, ast.Name):
            return inputs[node.id]
        if isinstance(node, ast.BinOp):
            return OPERATORS[type(node.op)](walk(node.left), walk(node.right))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -walk(node.operand)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return FUNCTIONS[node.func.id](*(walk(argument) for argument in node.args))
        raise AssertionError(f"not arithmetic: {ast.dump(node)}")

    return float(walk(ast.parse(expression, mode="eval").body))


def written(value: float, digits: int, lang: str) -> str:
    text = f"{value:,.{digits}f}"
    return text if lang == "en" else text.translate(str.maketrans(",.", ".,"))


def catalogue_value(reference: str) -> Any:
    section, ident, path = reference.split("|")
    value: Any = next(row for row in generated()[section] if row["id"] == ident)
    for step in path.split("."):
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value


def estimate_value(estimate: dict[str, Any], path: str) -> float:
    values: list[Any] = [estimate]
    for step in path.split("."):
        values = [inner for value in values for inner in _step(value, step)]
    return float(sum(values))


def _step(value: Any, step: str) -> list[Any]:
    """`*` is every element, a number one of them, a name the step of a derivation or the field."""
    if step == "*":
        return list(value)
    if not isinstance(value, list | tuple):
        return [value[step]]
    return [value[int(step)] if step.isdigit() else next(each for each in value if each["quantity"] == step)]


def test_every_wanted_topic_and_every_topic_of_the_engine_has_a_note() -> None:
    covered = {topic for name in FILES for topic in head_and_body(name)[0]["topics"]}
    assert {*WANTED_TOPICS.split(), *(topic.value for topic in Topic)} - covered == set()


def test_the_packaged_loader_reads_them_all() -> None:
    assert [note.document.source for note in notes.load()] == FILES
    assert all(note.document.topics and note.sources and note.chunks for note in notes.load())


@pytest.mark.parametrize("topic", sorted({topic for note in notes.load() for topic in note.document.topics}))
def test_a_topic_has_all_its_notes_the_nearest_first(topic: str) -> None:
    every = [note for note in notes.load() if topic in note.document.topics]
    assert [*notes.on_topic(topic)] == sorted(every, key=lambda note: note.document.topics.index(topic))


def test_a_note_is_found_by_its_document() -> None:
    assert [notes.with_id(note.document.id) for note in notes.load()] == [*notes.load()]
    assert [notes.with_id(unknown) for unknown in ("note:none.de", "backup.de", "")] == [None] * 3


@pytest.mark.parametrize("ident", IDS)
def test_both_languages_say_the_same(ident: str) -> None:
    german, english = (head_and_body(f"{ident}.{lang}.md") for lang in ("de", "en"))
    assert (german[0]["lang"], english[0]["lang"]) == ("de", "en")
    for key in ("id", "topics", "as_of", "sources"):
        assert german[0][key] == english[0][key], key
    without_words = [
        [{k: v for k, v in f.items() if k != "what"} for f in head["figures"]] for head in (german[0], english[0])
    ]
    assert without_words[0] == without_words[1]
    assert german[1].count("\n## ") == english[1].count("\n## ")


@pytest.mark.parametrize("name", FILES)
def test_a_note_is_short_sourced_and_worked(name: str) -> None:
    head, body = head_and_body(name)
    assert name == f"{head['id']}.{head['lang']}.md"
    assert 100 <= len(body.split()) <= MOST_WORDS
    assert head["changes"]
    assert head["sources"]
    assert all(source["title"] and source["publisher"] and source["date"] for source in head["sources"])
    assert head["figures"] or head.get("no_figures_because")
    assert "(" in body and "{" not in body, "a source in words stands behind a fact; no placeholder is left"


@pytest.mark.parametrize("name", FILES)
def test_the_text_states_each_figure_as_its_language_writes_it(name: str) -> None:
    head, body = head_and_body(name)
    missing = [f["key"] for f in head["figures"] if written(f["value"], f["digits"], head["lang"]) not in body]
    assert missing == []


@pytest.mark.parametrize(("name", "key"), FIGURES)
def test_a_figure_is_what_its_expression_gives(name: str, key: str) -> None:
    figure = figure_of(name, key)
    result = value_of(figure["expr"], figure["inputs"])
    # a figure rounded to tens or thousands ("about 13,000 tokens") has digits 0 and trailing zeros
    step = max(10.0 ** -figure["digits"], _round_step(figure["value"]) if figure["digits"] == 0 else 0.0)
    assert figure["value"] == pytest.approx(result, abs=step / 2 * 1.0001)


def _round_step(value: float) -> float:
    zeros = len(str(int(value))) - len(str(int(value)).rstrip("0")) if value else 0
    return float(10 ** min(zeros, 3))


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith(".en.md")])
def test_inputs_taken_from_the_catalogue_are_still_in_it(name: str) -> None:
    for figure in head_and_body(name)[0]["figures"]:
        for key, reference in figure.get("catalogue", {}).items():
            assert figure["inputs"][key] == catalogue_value(reference), f"{figure['key']}: {key}"


@pytest.mark.parametrize(("name", "key"), [(n, k) for n, k in FIGURES if "engine" in figure_of(n, k)])
def test_the_engine_agrees(name: str, key: str) -> None:
    figure = figure_of(name, key)
    estimate = estimate_data(figure["engine"]["spec"]).model_dump()
    assert estimate["ok"], estimate["error"]
    engine, unrounded = figure["engine"], value_of(figure["expr"], figure["inputs"])
    if "within" in engine:
        asked = value_of(engine["of"], figure["inputs"]) if "of" in engine else unrounded
        low, high = (estimate_value(estimate, f"{engine['within']}.{end}") for end in ("low", "high"))
        assert low <= asked <= high
        return
    paths = engine["path"] if isinstance(engine["path"], list) else [engine["path"]]
    found = sum(estimate_value(estimate, path) for path in paths)
    computed = value_of(engine["of"], {**figure["inputs"], "x": found}) if "of" in engine else found
    assert computed == pytest.approx(unrounded, rel=_tolerance(engine))


def _tolerance(engine: dict[str, Any]) -> float:
    """A figure may ask for more where it rests on another file of the same weights, at most twice as much."""
    asked = float(engine.get("tolerance", ENGINE_TOLERANCE))
    assert asked <= 2 * ENGINE_TOLERANCE
    return asked


def test_many_figures_and_one_of_every_misconception_are_held_against_the_engine() -> None:
    checked = [(name, key) for name, key in FIGURES if "engine" in figure_of(name, key)]
    assert len(checked) >= 50
    misconceptions = {name for name, _ in FIGURES if name.startswith("misconception_")}
    assert misconceptions - {name for name, _ in checked} == set()


@pytest.mark.skipif(not GUIDES.is_dir(), reason="the German guides are not part of the project and not on this machine")
def test_no_sentence_of_the_guides_is_copied() -> None:
    def shingles(text: str) -> set[tuple[str, ...]]:
        found = [word.lower() for word in WORD.findall(text)]
        return {tuple(found[n : n + SHINGLE]) for n in range(len(found) - SHINGLE + 1)}

    guides = set().union(*(shingles(path.read_text(encoding="utf-8")) for path in GUIDES.glob("*.txt")))
    copied = {name: [" ".join(s) for s in shingles(head_and_body(name)[1]) & guides] for name in FILES}
    assert {name: found for name, found in copied.items() if found} == {}
