"""Record ids: 15 characters that tell their object and number, and three that guard their case."""

from __future__ import annotations

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_GUARDS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ012345"


def make_id(prefix: str, number: int, instance: str = "Ws") -> str:
    """The 18-character id of the number-th record of an object: prefix, instance, number in base 62, checksum."""
    digits = ""
    while number:
        number, rest = divmod(number, 62)
        digits = _DIGITS[rest] + digits
    return complete_id(f"{prefix}{instance}{digits.rjust(15 - len(prefix) - len(instance), '0')}")


def complete_id(short: str) -> str:
    """The 18-character form of a 15-character id; each guard says which letters of five are capitals."""
    guards = ""
    for start in (0, 5, 10):
        bits = sum(1 << place for place, letter in enumerate(short[start : start + 5]) if "A" <= letter <= "Z")
        guards += _GUARDS[bits]
    return short + guards
