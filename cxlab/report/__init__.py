"""A report: what runs came to as one HTML file that needs no network, made from what `cxlab.read` says."""
