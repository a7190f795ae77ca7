"""The generated file says what the YAML files say, and reading it needs nothing but the standard library."""

import json
import subprocess
import sys
from dataclasses import fields
from functools import cache
from typing import Any

import pytest

from sizing.catalogue.build import compile_catalogue, main, render
from sizing.catalogue.indexing import NameClashError, Row, build_names
from sizing.catalogue.load import GENERATED, catalogue, generated
from sizing.catalogue.text import Kind

SECTIONS = ("models", "accelerators", "formats", "kv_formats", "offers", "facts")


@cache
def compiled() -> dict[str, Any]:
    return compile_catalogue()


def as_json(value: Any) -> Any:
    return json.loads(json.dumps(value))


def test_generated_file_is_up_to_date() -> None:
    assert GENERATED.read_text(encoding="utf-8") == render(compiled()), "run python -m sizing.catalogue.build"


def test_generated_file_is_compiled_from_the_yaml_files_alone() -> None:
    assert generated()["names"] == as_json(compiled()["names"])
    assert generated()["format_hardware"] == as_json(compiled()["format_hardware"])


def test_check_accepts_the_committed_file() -> None:
    assert main(["--check"]) == 0


@pytest.mark.parametrize("section", SECTIONS)
def test_every_field_of_every_entry_is_what_the_yaml_says(section: str) -> None:
    entries = getattr(catalogue(), section)
    rows = compiled()[section]
    assert list(entries) == [row["id"] for row in rows]
    for row in rows:
        entry = entries[row["id"]]
        defaults = {field.name: field.default for field in fields(entry)}
        assert row.keys() <= defaults.keys()
        for name, default in defaults.items():
            value = getattr(entry, name)
            assert as_json(value) == as_json(default if row.get(name) is None else row[name]), (entry.id, name)


@pytest.mark.parametrize(("section", "least"), list(zip(SECTIONS, (507, 249, 149, 20, 209, 84), strict=True)))
def test_the_catalogue_is_complete_and_ids_are_unique(section: str, least: int) -> None:
    ids = [row["id"] for row in compiled()[section]]
    assert len(ids) == len(set(ids)) >= least


def test_every_entry_gives_a_source_and_a_fact_says_where_it_has_none() -> None:
    found = catalogue()
    unsourced = [
        entry.id
        for group in (found.models, found.accelerators, found.formats, found.kv_formats, found.offers)
        for entry in group.values()
        if not entry.sources
    ]
    assert unsourced == []
    assert {fact.basis for fact in found.facts.values() if not fact.sources} <= {"recalled", "computed"}


def test_offers_name_known_accelerators() -> None:
    found = catalogue()
    assert {offer.accelerator for offer in found.offers.values()} <= found.accelerators.keys()
    assert sum(len(found.offers_for(ident)) for ident in found.accelerators) == len(found.offers)
    assert found.offers_for("no-such-card") == ()


def test_formats_refer_to_known_formats() -> None:
    formats = catalogue().formats
    for entry in formats.values():
        meant = {*(entry.customary or {}).values(), entry.size_like} - {None}
        assert meant <= formats.keys() or entry.id == "16bit", entry.id


def test_nothing_but_the_standard_library_is_loaded_at_run_time() -> None:
    script = (
        "import sys\n"
        "before = set(sys.modules)\n"
        "from sizing.catalogue.names import find\n"
        "assert find('Llama 3.1 8B AWQ', 'model').id\n"
        "assert find('RTX 4900', 'accelerator').suggestions\n"
        "print(sorted({name.partition('.')[0] for name in set(sys.modules) - before} - sys.stdlib_module_names))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['sizing']"


def only_models(*models: Row) -> dict[Kind, list[Row]]:
    return {"model": list(models), "accelerator": [], "format": [], "kv_format": []}


def test_a_name_of_two_entries_is_refused_unless_it_is_listed_as_ambiguous() -> None:
    rows = only_models({"id": "a/x-1b", "aliases": ["twin"]}, {"id": "b/y-1b", "aliases": ["Twin"]})
    with pytest.raises(NameClashError, match="'Twin' means a/x-1b and b/y-1b"):
        build_names(rows, {})
    names = build_names(rows, {"model": {"twin": ["b/y-1b", "a/x-1b"]}})
    assert names["model"]["ambiguous"] == {"twin": ["b/y-1b", "a/x-1b"]}


def test_an_ambiguous_name_may_only_list_known_ids() -> None:
    with pytest.raises(NameClashError, match="lists unknown ids"):
        build_names(only_models(), {"model": {"x": ["gone"]}})
