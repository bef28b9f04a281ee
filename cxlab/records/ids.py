"""Short ids: by content where the same thing must get the same id, by time where it must not."""

import hashlib
import json
import secrets
import time


def content_id(*parts: object, length: int = 12) -> str:
    """Hex digest of the parts as canonical JSON: equal content, equal id."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()[:length]


def new_id(prefix: str) -> str:
    """`prefix-YYMMDD-HHMMSS-xxxxxxxx`: sorts by time (UTC), safe as a file name."""
    return f"{prefix}-{time.strftime('%y%m%d-%H%M%S', time.gmtime())}-{secrets.token_hex(4)}"
