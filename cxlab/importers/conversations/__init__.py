"""Conversations as people have them: guess what the columns mean, look at some, correct it, read all.

    mapping = guess(path)                            # which column is what, and whose names mean whom
    preview(path, mapping)                           # the first conversations, and what would not be taken
    mapping = correct(mapping, roles={"bob": "agent"})
    found = read(path, mapping)                      # found.conversations, found.rejected, found.notices
    found = read_conversations(folder)               # all files below a folder, each by a guess of its own

Files: JSON Lines, JSON, Parquet, CSV, ABCD's dialogues, ParlAI's text, and plain transcripts as text. A row is a
conversation with its messages (role and content), a conversation as one text with speakers in front of its messages, or
one message.
"""

from cxlab.importers.conversations.folder import (
    FolderConversations,
    MappingOptions,
    read_conversations,
    read_folder_in_steps,
)
from cxlab.importers.conversations.mapping import ConversationMapping, correct, guess
from cxlab.importers.conversations.packed import PackedConversations
from cxlab.importers.conversations.read import COLUMNS, ReadConversations, preview, read
from cxlab.importers.conversations.transcript_text import ROLES, split_transcript

__all__ = [
    "COLUMNS",
    "ROLES",
    "ConversationMapping",
    "FolderConversations",
    "MappingOptions",
    "PackedConversations",
    "ReadConversations",
    "correct",
    "guess",
    "preview",
    "read",
    "read_conversations",
    "read_folder_in_steps",
    "split_transcript",
]
