"""Generates the catalogue read at run time: `python -m sizing.catalogue.build` (needs PyYAML, a dev dependency).

The YAML files under `data/` are the source and are edited by hand; the JSON beside them is committed, so that a user
needs no YAML parser and no wait. `--check` exits 1 where the two differ.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from sizing.catalogue.indexing import build_names
from sizing.catalogue.load import DATA_DIRECTORY, GENERATED
from sizing.catalogue.text import Kind

__all__ = ["compile_catalogue", "main", "render"]


def compile_catalogue(directory: Path = DATA_DIRECTORY) -> dict[str, Any]:
    """What the YAML files say, plus the look-up tables of names. Raises NameClashError for a name of two meanings."""
    models = _read(directory / "models.yaml")
    accelerators = _read(directory / "accelerators.yaml")
    quantization = _read(directory / "quantization.yaml")
    facts = _read(directory / "platform_facts.yaml")
    rows: dict[Kind, Any] = {
        "model": models,
        "accelerator": accelerators,
        "format": quantization["formats"],
        "kv_format": quantization["kv_cache"],
    }
    return {
        "models": models,
        "accelerators": accelerators,
        "formats": quantization["formats"],
        "kv_formats": quantization["kv_cache"],
        "format_hardware": quantization["hardware"],
        "offers": _read(directory / "cloud_offers.yaml"),
        "facts": [{**fact, "section": section} for section, group in facts.items() for fact in group],
        "names": build_names(rows, _read(directory / "ambiguous_names.yaml")),
    }


def render(compiled: dict[str, Any]) -> str:
    """The generated file: compact, unknown fields left out, one section a line so that a change shows in a diff."""
    sections = (
        f"{json.dumps(name)}:{json.dumps(_known_only(content), ensure_ascii=False, separators=(',', ':'))}"
        for name, content in compiled.items()
    )
    return "{" + ",\n".join(sections) + "}\n"


def _known_only(content: Any) -> Any:
    if not isinstance(content, list):
        return content
    return [{name: value for name, value in row.items() if value is not None} for row in content]


def _read(path: Path) -> Any:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(path.read_text(encoding="utf-8"), Loader=loader)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m sizing.catalogue.build", description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing, exit 1 if the generated file is out of date"
    )
    options = parser.parse_args(arguments)
    text = render(compile_catalogue())
    if options.check:
        return 0 if GENERATED.read_text(encoding="utf-8") == text else 1
    GENERATED.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
