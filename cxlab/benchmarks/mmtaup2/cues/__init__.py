"""The wordings by which dialogue acts are told, a file a kind, and what they find in a message."""
