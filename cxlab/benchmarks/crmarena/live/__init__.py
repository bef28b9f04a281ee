"""A live Salesforce organisation in place of a stored one: agents read it and never change it.

`connection.py` holds the credentials and the requests, `organisation.py` asks, `uploads.py` pairs ids, `upload.py`
fills an organisation and `removal.py` undoes that. The package simple-salesforce is an optional extra and only imported
when something is asked.
"""

from cxlab.benchmarks.crmarena.live.organisation import LiveOrganisation

__all__ = ["LiveOrganisation"]
