"""`python -m bot.slack.manifest [REQUEST_URL]` prints the app manifest; without a URL it is for Socket Mode."""

from __future__ import annotations

import sys
from typing import Final

import yaml

from bot.slack.needs import manifest

HEAD: Final = "# The Slack app, for Socket Mode. Made by `python -m bot.slack.manifest`; a test keeps the two equal.\n"


def text(request_url: str | None = None) -> str:
    """The manifest as YAML."""
    return HEAD + yaml.safe_dump(manifest(request_url), sort_keys=False, allow_unicode=True, width=120)


if __name__ == "__main__":
    sys.stdout.write(text(*sys.argv[1:2]))
