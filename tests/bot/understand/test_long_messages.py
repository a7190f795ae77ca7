"""Reading a message takes time by its length, not by the square of it."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("text", ["1", "1.", "x", "-", "<", "4x", "_"])
def test_a_long_run_of_one_sign_is_read_in_seconds(text: str) -> None:
    code = f"from bot.understand.read import read; read({text!r} * (16_000 // {len(text)}))"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=30)
