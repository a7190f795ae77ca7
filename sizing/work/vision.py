"""Image tokens of vision-language models: how many a picture costs, by the rule of its family."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

# Pixels on the side of one token and the bounds per image, by words of the model's id. Qwen2-VL and 2.5-VL: 28 x 28, 4 to 16,384
# (https://huggingface.co/Qwen/Qwen2-VL-7B-Instruct/discussions/47); Gemma 3: 256 a crop (catalogue). From the models' own
# preprocessing, not read anew: Qwen3-VL 32 x 32; Llama 3.2 Vision up to four tiles of 1,601; InternVL 256 for each of up to 12 tiles of
# 448 and a thumbnail; Pixtral and Mistral Small 3 28 x 28 after merging 2 x 2 patches of 14.
_PATCH: Final = {"qwen2-vl": 28, "qwen2.5-vl": 28, "qwen3-vl": 32, "qwen3.5": 32, "pixtral": 28, "mistral-small-3": 28}
_MAX_PATCHES: Final = 16_384
_TILES: Final = {"internvl": (448, 256, 12), "llama-3.2": (560, 1601, 4), "llama-4": (336, 144, 16)}
_FIXED: Final = {"gemma-3": 256, "gemma-4": 280, "llava-1.5": 576, "phi-3": 1921}
_DEFAULT_PATCH = 28


@dataclass(frozen=True, slots=True)
class ImageTokens:
    """Tokens of one picture and the rule behind them: `patch`, `tiles` or `fixed`; `assumed` where the family is unknown."""

    tokens: int
    rule: str
    assumed: bool


def image_tokens(model_id: str, width: int, height: int) -> ImageTokens:
    """Tokens of one picture of that size: 2,691 for full HD in Qwen2.5-VL."""
    name = model_id.lower()
    for key, count in _FIXED.items():
        if key in name:
            return ImageTokens(count, "fixed", False)
    for key, (side, each, most) in _TILES.items():
        if key in name:
            tiles = min(most, math.ceil(width / side) * math.ceil(height / side))
            return ImageTokens((tiles + (1 if tiles > 1 and key == "internvl" else 0)) * each, "tiles", False)
    patch = next((side for key, side in _PATCH.items() if key in name), None)
    side = patch or _DEFAULT_PATCH
    return ImageTokens(
        max(4, min(_MAX_PATCHES, math.ceil(width / side) * math.ceil(height / side))), "patch", patch is None
    )


def pages_per_second(prefill_tok_s: float, output_tok_s: float, tokens_per_page: int, written_per_page: int) -> float:
    """Pages a second of reading documents with a vision model: the tokens of the picture are read, its text is written."""
    return 1.0 / (tokens_per_page / prefill_tok_s + written_per_page / output_tok_s)
