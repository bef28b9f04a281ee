"""Parts of the page Failures."""
