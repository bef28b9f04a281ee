"""A live Salesforce organisation in place of a stored one, read and never changed.

`connection.py` holds the credentials and the requests, `organisation.py` asks, `uploads.py` pairs ids. The package
simple-salesforce is an optional extra and only imported when something is asked.
"""

from cxlab.benchmarks.crmarena.live.organisation import Live

__all__ = ["Live"]
