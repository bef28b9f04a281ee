"""The page Conversations: people's conversations searched by what happens in them, with CDR's retrievers."""
