"""What providers did not deliver and models did not answer, in words, where people read of them; the types are llm's
(`ask`)."""

_WORDS = {
    "auth": "key refused",
    "quota": "quota or credit spent",
    "not_found": "no such model or address",
    "rate_limited": "rate limit",
    "timeout": "no answer in time",
    "server_error": "server error",
    "connection": "connection lost",
    "bad_request": "request refused",
    "no_tools": "tools refused",
    "too_long": "longer than the model can read",
    "overlong": "longer than the model can read",
    "refused": "held back by a content filter",
    "filtered": "held back by a content filter",
    "truncated": "reply cut off at the token limit",
    "refusal": "the model declined",
    "bad_reply": "no usable reply",
}


def name_fault_type(type_: str) -> str:
    """A fault's type in words; an unknown one without its underscores."""
    return _WORDS.get(type_, type_.replace("_", " "))
