"""Parts of the page Datasets."""
