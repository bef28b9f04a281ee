"""Parts of the page SOP paths."""
