"""Parts of the page Retrieval."""
