"""Wishes about the answer before: a launch line, a load test, something cheaper, an export."""

from __future__ import annotations

from bot.compose import own_hardware, topics
from bot.compose.draft import Draft
from bot.compose.labels import option_label
from bot.compose.launching import launch_commands, load_commands
from bot.compose.options import MOST_ROWS, options_table
from bot.compose.prices import price_cell
from bot.compose.recommended import options_for, strictly_better
from bot.heard import Wish
from bot.sized import Sized, size
from bot.thread import Turn
from sizing.defaults import Defaults
from sizing.sensitivity import flips


def granted(draft: Draft, wish: Wish, turn: Turn, defaults: Defaults) -> None:
    """Fills the draft with what was wished for the last sized turn."""
    sized = size(turn.specs[0], defaults)
    draft.sized = [sized]
    if wish == "cheaper":
        _cheaper(draft, sized, defaults)
    elif wish == "export":
        draft.headline = draft.words.text("commands", "export")
        draft.actions = ("export",)
    else:
        _commands(draft, wish, sized, defaults)


def _commands(draft: Draft, wish: Wish, asked: Sized, defaults: Defaults) -> None:
    """Commands for what was asked about; where that does not fit, for the first option that does."""
    words = draft.words
    chosen = asked if asked.estimate.fits else _instead(asked, defaults)
    draft.sized = [asked] if chosen is asked else [chosen, asked]
    make = launch_commands if wish == "launch" else load_commands
    draft.commands = make(chosen, words, defaults) if chosen.estimate.ok else ()
    figures = {**chosen.figures, "label": option_label(chosen, words)}
    if not draft.commands:
        draft.headline = words.text("commands", "none", engine=figures.get("engine") or "")
        return
    draft.headline = words.text("commands", wish if chosen is asked else f"{wish}_other", **figures)
    if wish == "loadtest":
        topics.say_thresholds(draft, chosen)


def _instead(asked: Sized, defaults: Defaults) -> Sized:
    """What runs on the hardware asked about; else the first option that does."""
    found = flips(asked.parsed, asked.estimate, defaults) if asked.parsed is not None else ()
    own = own_hardware.ways_of(asked, found, defaults)
    return own[0].sized if own else next(iter(options_for(asked.spec, defaults).good), asked)


def _cheaper(draft: Draft, asked: Sized, defaults: Defaults) -> None:
    """The options by price; whether the hardware asked about is already the cheapest."""
    words = draft.words
    options = options_for(asked.spec, defaults)
    draft.options = strictly_better(options.good, asked)
    draft.considered = [*options.good]
    if not draft.options:
        draft.headline = words.text("headline", "recommend_none", model=asked.figures["model"])
        return
    if options.good[0].hardware == asked.hardware:
        draft.headline = words.text("headline", "cheapest_already", label=option_label(asked, words))
    else:
        best = draft.options[0]
        price = price_cell(best.estimate.cost or {}, words)
        draft.headline = words.text("headline", "cheapest", label=option_label(best, words), price=price)
    rows = [asked, *draft.options[:MOST_ROWS]] if asked.estimate.fits and asked.spec.get("hardware") else draft.options
    draft.table = options_table(rows, words, labels=own_hardware.row_labels(rows[: MOST_ROWS + 1], asked, (), words))
    draft.actions = ("compare", "export")
