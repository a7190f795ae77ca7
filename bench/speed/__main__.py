"""`python -m bench.speed [PNG]`: the accuracy table, and the picture where a path is given."""

from __future__ import annotations

from bench.speed.accuracy import main

if __name__ == "__main__":
    main()
