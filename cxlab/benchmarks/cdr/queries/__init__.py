"""Queries on conversations, made from templates."""

from cxlab.benchmarks.cdr.queries.templates import FilledQuery, Template, Templates, load_templates

__all__ = ["FilledQuery", "Template", "Templates", "load_templates"]
