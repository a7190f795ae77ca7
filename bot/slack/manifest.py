"""`python -m bot.slack.manifest [REQUEST_URL]` prints the app manifest; without a URL it is for Socket Mode."""

from __future__ import annotations

import sys
from typing import Final

import yaml

from bot.slack.needs import manifest

_HEAD: Final = "# The Slack app, for {way}. Made by `python -m bot.slack.manifest`; a test keeps the two equal.\n"


def text(request_url: str | None = None) -> str:
    """The manifest as YAML."""
    way = "Socket Mode" if request_url is None else f"signed HTTP at {request_url}"
    return _HEAD.format(way=way) + yaml.safe_dump(manifest(request_url), sort_keys=False, allow_unicode=True, width=120)


if __name__ == "__main__":
    sys.stdout.write(text(*sys.argv[1:2]))
