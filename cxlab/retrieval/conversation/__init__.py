"""A retriever made for conversations: who says it, and whether early or late.

    found = ConversationRetriever().fit(texts).scores("users who grow more frustrated over time")

A text is a conversation, or a part of one, with a speaker in front of each message (`user:`, `assistant:`); one without
speakers is read as one message that anybody may have said. What it is made of, and why, stands in `retriever.py`.
"""

from cxlab.retrieval.conversation.question import ConversationQuery, State, read_question
from cxlab.retrieval.conversation.retriever import ConversationRetriever

__all__ = ["ConversationQuery", "ConversationRetriever", "State", "read_question"]
