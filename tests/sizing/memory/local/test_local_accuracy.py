"""The regression gate on what local engines print, and the bench that withholds what one source alone taught."""

from bench.memory_local.left_out import RULES, own_rules, without
from bench.memory_local.run import failures, rows, rows_left_out


def test_errors_stay_within_their_bounds() -> None:
    assert failures(rows()) == []


def test_every_rule_moves_a_figure_and_comes_back() -> None:
    """A rule that moves nothing is held by no log, and one that stays switched off would falsify what follows."""
    before = [row[2] for row in rows()]
    unmoved = []
    for rule in RULES:
        with without([rule]):
            if [row[2] for row in rows()] == before:
                unmoved.append(rule.name)
    # Of the indexer the one log says no more than that memory ran out; logs of several cards print copies that no spec can name.
    assert set(unmoved) == {"scores of the indexer", "inputs are copied for pipelining"}
    assert [row[2] for row in rows()] == before


def test_a_source_is_predicted_without_what_it_alone_taught() -> None:
    found = rows()
    own = own_rules([row[1]["source"] for row in found], lambda: [row[2] for row in rows()])
    left_out = rows_left_out(found)
    assert own
    assert [(row[0], row[1]["id"]) for row in left_out] == [(row[0], row[1]["id"]) for row in found]
    changed = {one[1]["source"] for one, two in zip(found, left_out, strict=True) if one[2] != two[2]}
    assert changed == set(own)
