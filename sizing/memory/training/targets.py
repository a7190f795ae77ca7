"""On which projections adapters sit, by the names that frameworks and models give them."""

from __future__ import annotations

from collections.abc import Mapping

from sizing.errors import UserError

Targets = tuple[str, ...] | None

_QKV = frozenset({"q", "k", "v"})
_GROUPS: Mapping[str, frozenset[str]] = {
    "q": frozenset({"q"}), "k": frozenset({"k"}), "v": frozenset({"v"}), "o": frozenset({"o"}),
    "q_proj": frozenset({"q"}), "k_proj": frozenset({"k"}), "v_proj": frozenset({"v"}), "o_proj": frozenset({"o"}),
    "wq": frozenset({"q"}), "wk": frozenset({"k"}), "wv": frozenset({"v"}), "wo": frozenset({"o"}), "out_proj": frozenset({"o"}),
    "query": frozenset({"q"}), "key": frozenset({"k"}), "value": frozenset({"v"}), "dense": frozenset({"o"}), "output": frozenset({"o"}),
    "q_a_proj": frozenset({"q"}), "q_b_proj": frozenset({"q"}), "kv_a_proj_with_mqa": frozenset({"k"}), "kv_b_proj": frozenset({"v"}),
    "c_attn": _QKV, "qkv": _QKV, "qkv_proj": _QKV, "query_key_value": _QKV, "wqkv": _QKV, "linear_qkv": _QKV,
    "c_proj": frozenset({"o", "down"}), "linear_proj": frozenset({"o"}), "w1": frozenset({"up"}), "w2": frozenset({"gate"}),
    "w3": frozenset({"down"}), "gate_proj": frozenset({"gate"}), "up_proj": frozenset({"up"}), "down_proj": frozenset({"down"}),
    "gate": frozenset({"gate"}), "up": frozenset({"up"}), "down": frozenset({"down"}), "gate_up_proj": frozenset({"gate", "up"}),
    "fc1": frozenset({"up"}), "fc2": frozenset({"down"}), "linear_fc1": frozenset({"gate", "up"}), "linear_fc2": frozenset({"down"}),
    "dense_h_to_4h": frozenset({"up"}), "dense_4h_to_h": frozenset({"down"}),
    "mlp": frozenset({"gate", "up", "down"}), "attention": _QKV | {"o"}, "attn": _QKV | {"o"},
}  # fmt: skip
_EVERY = frozenset({"all-linear", "all", "all linear", "linear", "all_linear", "default"})
_HEAD = frozenset({"head", "lm_head"})


def targets_of(asked: str | list[str] | None) -> Targets:
    """The names one by one; None where nothing is said.

    Raises:
        UserError: a name that no projection has.
    """
    if asked is None:
        return None
    names = [asked] if isinstance(asked, str) else asked
    found = tuple(part.strip().lower() for name in names for part in name.replace("+", ",").split(",") if part.strip())
    for name in found:
        if name not in _GROUPS and name not in _EVERY and name not in _HEAD:
            message = f"no projection is called {name!r}; all-linear, attention, mlp, or names such as q_proj and up_proj work"
            raise UserError("training.lora_targets", name, message, ("all-linear", "q_proj", "up_proj"))
    return found


def targeted(targets: Targets, projection: str) -> bool:
    """Whether adapters sit on that projection; unsaid means all linear layers."""
    if targets is None or not _EVERY.isdisjoint(targets):
        return True
    return any(projection in _GROUPS.get(name, frozenset()) for name in targets)


def on_the_head(targets: Targets) -> bool:
    """Whether the output layer has an adapter: only where it is named."""
    return targets is not None and not _HEAD.isdisjoint(targets)
