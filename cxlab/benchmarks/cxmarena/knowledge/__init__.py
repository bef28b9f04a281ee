"""The knowledge base: topics, articles, their formats, and the corpus for refinement."""
