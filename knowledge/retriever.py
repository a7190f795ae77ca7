"""Search as LangChain's `BaseRetriever`, for chains of other makers; the bot itself uses `Knowledge`."""

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict

from knowledge.analyse import Language
from knowledge.records import SHARED_TEAM
from knowledge.service import Knowledge


class KnowledgeRetriever(BaseRetriever):
    """The k best places for a question as LangChain documents; none where nothing answers it."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    knowledge: Knowledge
    k: int = 5
    lang: Language | None = None
    team: str = SHARED_TEAM

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        del run_manager
        found = self.knowledge.search(query, lang=self.lang, k=self.k, team=self.team)
        return [
            Document(
                h.text,
                id=h.chunk_id,
                metadata={"source": h.source, "title": h.title, "section": h.section, "score": h.score, "kind": h.kind},
            )
            for h in found.hits
            if found.by_kind.get(h.kind)
        ]
