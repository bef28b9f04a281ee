"""Frames in, Plotly figures out; nothing here reads the store or draws on a page."""
