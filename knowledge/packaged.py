"""The YAML files that come with this package."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

# libyaml reads several times faster; a PyYAML that was built without it reads the same.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@cache
def packaged(name: str) -> Mapping[str, Any]:
    """A YAML file beside this module."""
    content: dict[str, Any] = yaml.load(files("knowledge").joinpath(name).read_text(encoding="utf-8"), LOADER)
    return content
