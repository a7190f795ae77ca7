"""Models that the catalogue lacks: `config.json` pasted or from the hub, headers of GGUF files.

The hub is the only network edge of understanding a model. It is asked for `config.json` alone, only at the configured
endpoint (HF_ENDPOINT, else Hugging Face; a redirect to another host is not followed), only where an operator allows it
(SIZEWISE_HUB=on), with a time-out, a size limit and huggingface_hub's own cache.
"""

from __future__ import annotations

import json
import math
import os
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Final
from urllib.parse import urlsplit

from sizing.errors import UserError

TIMEOUT_S: Final = 6.0
MAX_CONFIG_BYTES: Final = 2_000_000
_FORMAT_IN_NAME = re.compile(r"[-._]((?:UD-)?I?Q\d\w*|MXFP4\w*|BF16|F16)(?:-\d+-of-\d+)?\.gguf$", re.IGNORECASE)
_FORMAT_SAID = re.compile(r"\b(?:i?q\d(?:_|\b)|f16|bf16|fp16|mxfp4|\d+[- ]?bit)", re.IGNORECASE)
_REPO_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[\w.-]{1,96}")
_CONFIG_KEYS: Final = frozenset(
    {"hidden_size", "n_embd", "d_model", "num_hidden_layers", "n_layer", "text_config", "llm_config"}
)
_MOST_STARTS = 40

_GGUF_MAGIC: Final = b"GGUF"
_MOST_PAIRS: Final = 10_000
_MOST_STRING_BYTES: Final = 1_000_000
_MOST_ITEMS: Final = 5_000_000
_MOST_KEPT: Final = 10_000  # longer arrays are read over: those that say something of layers have a few hundred entries
_SCALARS: Final[Mapping[int, str]] = {
    0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d",
}  # fmt: skip
_STRING, _ARRAY = 8, 9
_GGUF_FIELDS: Final = {
    "block_count": "num_hidden_layers", "embedding_length": "hidden_size", "feed_forward_length": "intermediate_size",
    "attention.head_count": "num_attention_heads", "attention.head_count_kv": "num_key_value_heads",
    "attention.key_length": "head_dim", "context_length": "max_position_embeddings", "expert_count": "num_experts",
    "expert_used_count": "num_experts_per_tok", "expert_feed_forward_length": "moe_intermediate_size",
    "attention.sliding_window": "sliding_window", "vocab_size": "vocab_size",
}  # fmt: skip


def config_in(text: str) -> dict[str, Any] | None:
    """The first JSON object of a message that looks like a model's `config.json`, or None."""
    found = _found(text)
    return found[0] if found else None


def without_config(text: str) -> str:
    """The message without that object: figures of a file are no wishes."""
    found = _found(text)
    return f"{text[: found[1]]} {text[found[2] :]}" if found else text


def _found(text: str) -> tuple[dict[str, Any], int, int] | None:
    """(config, where it begins, where it ends). What is nested too deeply for JSON is none, whatever lies inside."""
    decoder = json.JSONDecoder(parse_float=_finite, parse_constant=str)
    for match in islice(re.finditer(r"\{", text), _MOST_STARTS):
        try:
            found, end = decoder.raw_decode(text, match.start())
        except RecursionError:
            return None
        except ValueError:  # no JSON, or a number of thousands of digits
            continue
        if isinstance(found, dict) and _CONFIG_KEYS & found.keys():
            return found, match.start(), end
    return None


def _finite(written: str) -> float | str:
    """A number, or what was written where it is beyond all numbers: "1e400" is refused in its own words."""
    value = float(written)
    return value if math.isfinite(value) else written


@dataclass(frozen=True)
class Hub:
    """Configs of models by repo id. `endpoint` None is Hugging Face's own."""

    endpoint: str | None = None
    timeout_s: float = TIMEOUT_S

    @classmethod
    def from_environment(cls) -> Hub | None:
        """The hub where SIZEWISE_HUB=on allows it, else None: nothing is ever fetched unasked."""
        if os.environ.get("SIZEWISE_HUB", "").lower() not in ("on", "1", "true"):
            return None
        return cls(os.environ.get("HF_ENDPOINT") or None)

    def config(self, repo_id: str) -> dict[str, Any]:
        """The `config.json` of a repository.

        Raises:
            UserError: no such repository, no such file, too large, no JSON object, or the hub cannot be reached.
        """
        if not _REPO_ID.fullmatch(repo_id):
            raise UserError("model.id", repo_id, f"{repo_id!r} is no repository id such as Qwen/Qwen3-32B")
        return _as_config(self._download(repo_id), repo_id)

    def _download(self, repo_id: str) -> bytes:
        from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url
        from huggingface_hub.errors import EntryNotFoundError, HfHubHTTPError

        # The hub's error derives from that of the HTTP client below it (httpx or httpx2, by version): a refused connection
        # or a time-out is only the latter. A damaged answer is a ValueError or TypeError.
        faults: tuple[type[BaseException], ...] = (*HfHubHTTPError.__bases__, OSError, ValueError, TypeError)
        url = hf_hub_url(repo_id, "config.json", endpoint=self.endpoint)
        try:
            about = get_hf_file_metadata(url, timeout=self.timeout_s, endpoint=self.endpoint)
            if urlsplit(about.location).netloc != urlsplit(url).netloc:
                raise UserError("model.id", repo_id, f"the hub keeps the config.json of {repo_id} on another host")
            if about.size is None or about.size > MAX_CONFIG_BYTES:
                limit = f"the config.json of {repo_id} is larger than {MAX_CONFIG_BYTES:,} bytes, or of unknown size"
                raise UserError("model.id", repo_id, limit)
            path = hf_hub_download(repo_id, "config.json", endpoint=self.endpoint, etag_timeout=self.timeout_s)
        except EntryNotFoundError as fault:
            raise UserError("model.id", repo_id, f"{repo_id} has no config.json") from fault
        except faults as fault:
            raise UserError(
                "model.id", repo_id, f"the hub does not give {repo_id}: paste its config.json or give its size"
            ) from fault
        with open(path, "rb") as file:  # noqa: PTH123
            return file.read(MAX_CONFIG_BYTES + 1)


def _as_config(content: bytes, repo_id: str) -> dict[str, Any]:
    try:
        found = json.loads(content[:MAX_CONFIG_BYTES], parse_float=_finite, parse_constant=str)
    except (ValueError, RecursionError) as fault:
        raise UserError("model.config", repo_id, f"the config.json of {repo_id} is no JSON") from fault
    if not isinstance(found, dict):
        raise UserError("model.config", repo_id, f"the config.json of {repo_id} is no JSON object")
    return found


def with_file(question: str, path: Path) -> str:
    """The question with the model that a file describes, as if its `config.json` had been pasted; of a GGUF file the header is read.

    The format of a GGUF file stands in its name ("…-Q4_K_M.gguf"); it is added where the question names none itself.

    Raises:
        UserError: no such file, or neither a `config.json` nor a GGUF file.
    """
    try:
        with path.open("rb") as file:
            shape = shape_in(file, path.name)
    except OSError as fault:
        raise UserError("model.config", path.name, f"{path.name} cannot be read: {fault.strerror}") from fault
    return " ".join(part for part in (question, format_unsaid(shape, question), json.dumps(shape.config)) if part)


@dataclass(frozen=True)
class Shape:
    """What a file tells of a model: its `config.json`, and the format of its weights where that stands in a GGUF file's name."""

    config: dict[str, Any]
    is_gguf: bool
    weights: str | None = None


def shape_in(file: BinaryIO, name: str, *, cut: bool = False) -> Shape:
    """The model that a file describes; `cut`: only its beginning is there.

    Raises:
        UserError: neither a `config.json` nor a GGUF file.
    """
    is_gguf = is_gguf_file(file.read(len(_GGUF_MAGIC)))
    file.seek(0)
    config = gguf_config(file, name, cut=cut) if is_gguf else _as_config(file.read(MAX_CONFIG_BYTES + 1), name)
    if not _CONFIG_KEYS & config.keys():
        raise UserError("model.config", name, f"{name} does not describe the shape of a model")
    written = _FORMAT_IN_NAME.search(name) if is_gguf else None
    return Shape(config, is_gguf, written[1] if written else None)


def is_gguf_file(content: bytes) -> bool:
    return content.startswith(_GGUF_MAGIC)


def format_unsaid(shape: Shape, question: str) -> str | None:
    """The format of a file's weights, where the question names none itself."""
    return None if _FORMAT_SAID.search(question) else shape.weights


def gguf_config(file: BinaryIO, name: str = "file.gguf", *, cut: bool = False) -> dict[str, Any]:
    """A `config.json`-like object from the header of a GGUF file; tensors are not read.

    Of a file that is `cut` the header may end early, behind what describes the model: a vocabulary and its merges come last
    and may take 10 MB.

    Raises:
        UserError: no GGUF file, or a header that is damaged or oversized.
    """
    try:
        return _config_of(_metadata(file, cut), name)
    except (struct.error, UnicodeDecodeError, EOFError, OverflowError) as fault:
        raise UserError("model.config", name, f"the GGUF header of {name} is damaged") from fault


def _metadata(file: BinaryIO, cut: bool) -> dict[str, Any]:
    if file.read(4) != _GGUF_MAGIC:
        raise UserError("model.config", None, "this is no GGUF file")
    version, _tensors, pairs = struct.unpack("<IQQ", _exactly(file, 20))
    if version not in (2, 3) or pairs > _MOST_PAIRS:
        raise EOFError
    found: dict[str, Any] = {}
    try:
        for _ in range(pairs):
            key = _string(file)
            found[key] = _value(file, _number(file, "<I"))
    except EOFError:
        if not cut:
            raise
    return found


def _exactly(file: BinaryIO, size: int) -> bytes:
    content = file.read(size)
    if len(content) != size:
        raise EOFError
    return content


def _number(file: BinaryIO, form: str) -> Any:
    return struct.unpack(form, _exactly(file, struct.calcsize(form)))[0]


def _string(file: BinaryIO) -> str:
    size = _number(file, "<Q")
    if size > _MOST_STRING_BYTES:
        raise EOFError
    return _exactly(file, size).decode("utf-8")


def _value(file: BinaryIO, kind: int) -> Any:
    """A value of the header; of an array only the length counts (a vocabulary has its size)."""
    if kind == _STRING:
        return _string(file)
    if kind == _ARRAY:
        return _array(file)
    if kind not in _SCALARS:
        raise EOFError
    return _number(file, _SCALARS[kind])


def _array(file: BinaryIO) -> list[Any] | int:
    kind, size = _number(file, "<I"), _number(file, "<Q")
    if size > _MOST_ITEMS or kind == _ARRAY:
        raise EOFError
    if kind == _STRING:
        for _ in range(size):
            _string(file)
        return int(size)
    width = struct.calcsize(_SCALARS[kind]) if kind in _SCALARS else 0
    if not width:
        raise EOFError
    content = _exactly(file, width * size)
    if size > _MOST_KEPT:
        return []
    return [part[0] for part in struct.iter_unpack(_SCALARS[kind], content)]


def _config_of(metadata: Mapping[str, Any], name: str) -> dict[str, Any]:
    kind = str(metadata.get("general.architecture") or "")
    if not kind:
        raise UserError("model.config", name, f"{name} does not say its architecture")
    config: dict[str, Any] = {"model_type": kind}
    for field, target in _GGUF_FIELDS.items():
        value = metadata.get(f"{kind}.{field}")
        value = max(value) if isinstance(value, list) and value else value
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            config[target] = value
    tokens = metadata.get("tokenizer.ggml.tokens")
    if isinstance(tokens, int):
        config.setdefault("vocab_size", tokens)
    return config
