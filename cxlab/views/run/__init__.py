"""Parts of the page Run."""
