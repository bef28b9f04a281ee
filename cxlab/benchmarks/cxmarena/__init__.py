"""CXMArena: a brand's knowledge base, its conversations, and the tasks of a contact centre on them."""
