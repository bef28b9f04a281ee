"""Files as people, models and attackers write them: a name → the file's bytes, and what the complaint must say.

Run as a program it reads every one of them and prints the seconds that the slowest took and the peak of memory in MB.
"""

from __future__ import annotations

Table = dict[str, tuple[bytes, int, str]]
"""Name → (content, line of the complaint, a part of it)."""

_LAUGHS = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9) if n else 'lol'}]\n" for n in range(9))

YAML: Table = {
    name: (content if isinstance(content, bytes) else content.encode(), line, problem)
    for name, (content, line, problem) in {
        "billion laughs": (_LAUGHS, 1, "anchor &a0"),
        "alias of a list": ("id: &x [1]\nb: *x\n", 1, "anchor &x"),
        "alias that nothing has": ("id: x\nb: *nobody\n", 2, "alias *nobody"),
        "self-reference": ("id: x\nb: &b [*b]\n", 2, "anchor &b"),
        "merge key": ("id: x\nb:\n  <<: {c: 1}\n", 3, "merge key"),
        "tag of Python": ("id: !!python/object/apply:os.system [ls]\n", 1, "the tag"),
        "tag for bytes": ("id: x\nb: !!binary aGFsbG8=\n", 2, "the tag"),
        "tag of one's own": ("id: !mine x\n", 1, "the tag"),
        "key twice": ("id: x\nb: 1\nid: y\n", 3, "stands twice"),
        "inner key twice": ("id: x\nb:\n  c: 1\n  c: 2\n", 4, "stands twice"),
        "list as key": ("id: x\n? [a, b]\n: 1\n", 2, "key that is a list"),
        "mapping as key": ("id: x\n{a: 1}: 1\n", 2, "key that is a list or a mapping"),
        "fraction as key": ("id: x\n1.5: a\n", 2, "the number 1.5"),
        "empty key": ("id: x\n~: a\n", 2, "a key that is empty"),
        "huge key": ("k" * 900 + ": 1\n", 1, "900 characters"),
        "impossible date": ("id: x\nb: 2025-02-30\n", 2, "not in the calendar"),
        "impossible month": ("id: x\nb: 2025-13-01T10:00:00Z\n", 2, "not in the calendar"),
        "number of 10,000 digits": ("id: x\nb: " + "9" * 10_000 + "\n", 2, "beyond 64 bits"),
        "number beyond 64 bits": ("id: x\nb: 99999999999999999999\n", 2, "beyond 64 bits"),
        "fraction of 10,000 digits": ("id: x\nb: 0." + "1" * 10_000 + "\n", 2, "more than 40 characters"),
        "infinity": ("id: x\nb: -.inf\n", 2, "not finite"),
        "not a number": ("id: x\nb: .nan\n", 2, "not finite"),
        "too large a fraction": ("id: x\nb: 1.0e+999\n", 2, "not finite"),
        "escaped NUL": ('id: x\nb: "a\\0b"\n', 2, "NUL"),
        "raw NUL": ("id: x\nb: a\0b\n", 2, "U+0000"),
        "escape character": ("id: x\nb: \x1b[31mred\n", 2, "U+001B"),
        "half of a surrogate pair": ('id: x\nb: "\\ud800"\n', 2, "Unicode"),
        "surrogate as bytes": (b"id: x\nb: \xed\xa0\x80\n", 2, "not UTF-8"),
        "Latin-1": ("id: x\nb: café\n".encode("latin-1"), 2, "not UTF-8"),
        "UTF-16": ("id: x\n".encode("utf-16"), 1, "UTF-16"),
        "UTF-32": ("id: x\n".encode("utf-32"), 1, "UTF-32"),
        "mark in the middle": ("id: x\n\ufeffb: [\n", 2, "expected"),
        "tab as indentation": ("id: x\nb:\n\tc: 1\n", 3, "cannot start any token"),
        "flow nested 100,000 deep": ("id: x\nb: " + "[" * 100_000, 2, "nested more than"),
        "blocks nested 100,000 deep": ("- " * 100_000 + "x\n", 1, "nested more than"),
        "mappings nested deep": ("id: x\nb: " + "{a: " * 5_000, 2, "nested more than"),
        "huge scalar": ("id: x\nb: " + "x" * 300_000 + "\n", 2, "300,000 characters"),
        "huge file": (b"# " + b"x" * 3_000_000 + b"\nid: x\n", 1, "the limit is"),
        "list that never closes": ("id: x\nb: [" + "1," * 10_000 + "\n", 2, "expected"),
        "quote that never closes": ('id: x\nb: "abc\n', 2, "unexpected end"),
        "two documents": ("id: x\n---\nid: y\n", 2, "second document"),
        "a list": ("- a\n- b\n", 1, "not a mapping"),
        "one word": ("scenario\n", 1, "not a mapping"),
        "nothing": (b"", 1, "not a mapping"),
        "only a comment": ("# nothing\n", 1, "not a mapping"),
        "a picture": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 1, "not UTF-8"),
        "JSON that breaks off": ('{"id": "x",\n"b": {"c": 1', 2, "expected"),
        "text with a colon": ("id: x\nb: see: here\n", 2, "not allowed"),
        "unknown escape": ('id: x\nb: "\\q"\n', 2, "escape"),
        "directive": ("%YAML 9.9\n---\nid: x\n", 1, "incompatible"),
    }.items()
}

TOML: Table = {
    name: (content if isinstance(content, bytes) else content.encode(), line, problem)
    for name, (content, line, problem) in {
        "table that never closes": ("[endpoints.x\n", 1, "not TOML"),
        "key twice": ('[endpoints.x]\nmodel = "a"\nmodel = "b"\n', 3, "not TOML"),
        "table twice": ("[endpoints.x]\n[endpoints.x]\n", 2, "not TOML"),
        "no value": ("[endpoints.x]\nmodel =\n", 2, "not TOML"),
        "impossible date": ("[endpoints.x]\nas_of = 2025-02-30\n", 2, "not TOML"),
        "number of 10,000 digits": (f"[endpoints.x]\nattempts = {'9' * 10_000}\n", 2, "thousands of digits"),
        "number beyond 64 bits": ("[endpoints.x]\nattempts = 99999999999999999999\n", 2, "64 bits"),
        "not a number": ("[endpoints.x]\nprompt_usd = nan\n", 2, "not finite"),
        "infinity": ("[endpoints.x]\nread_timeout_s = inf\n", 2, "not finite"),
        "nested 100,000 deep": ("[endpoints.x]\nextra_body = " + "[" * 100_000, 2, "nested"),
        "inline tables nested deep": ("[endpoints.x]\nextra_body = " + "{a=" * 50_000, 2, "nested"),
        "key of 100,000 parts": ("a." * 100_000 + "a = 1\n", 1, "parts"),
        "Latin-1": ('[endpoints.x]\ndescription = "café"\n'.encode("latin-1"), 2, "not UTF-8"),
        "UTF-16": ("[endpoints.x]\n".encode("utf-16"), 1, "UTF-16"),
        "raw NUL": ("[endpoints.x]\nmodel = 'a\0'\n", 2, "U+0000"),
        "escaped NUL": ('[endpoints.x]\nmodel = "a\\u0000"\n', 2, "NUL"),
        "half of a surrogate pair": ('[endpoints.x]\nmodel = "\\ud800"\n', 2, "not TOML"),
        "huge file": (b"# " + b"x" * 3_000_000, 1, "the limit is"),
        "text that never closes": ('[endpoints.x]\nmodel = """abc\n', 2, "not TOML"),
        "YAML": ("endpoints:\n  x:\n    model: a\n", 1, "not TOML"),
        "many items, then nothing": ("[endpoints.x]\nextra_body = [" + "1," * 10_000, 2, "not TOML"),
    }.items()
}

# What is TOML and no models.toml: these name the entry's line, and leave the other entries as they are.
MODELS: dict[str, tuple[str, int, str]] = {
    "a section that is a number": ("endpoints = 5\n", 1, "endpoints is not a table"),
    "an unknown section": ("[servers.x]\na = 1\n", 1, "unknown table [servers]"),
    "a list of tables": ('[[models]]\nname = "a"\n', 1, "models is not a table"),
    "an entry that is a number": ("[endpoints]\nx = 5\n", 2, "endpoints.x is not a table"),
    "nested too deep": ("[endpoints.x.y]\nmodel = 'a'\n", 1, "unknown key 'y'"),
    "an unknown key": ("[endpoints.x]\nretries = 3\n", 2, "unknown key 'retries'"),
    "a key": ('[endpoints.x]\napi_key = "sk-123"\n', 2, "holds a key"),
    "a name without a kind": ("[models.gpt]\nprompt_usd = 1.0\n", 1, "no name of a model"),
    "a price as text": ('[endpoints.x]\nprompt_usd = "cheap"\n', 2, "prompt_usd = 'cheap'"),
    "a price that is negative": ("[endpoints.x]\nprompt_usd = -1.0\n", 2, "prompt_usd = -1.0"),
    "a price beyond all": ("[endpoints.x]\ncompletion_usd = 1e300\n", 2, "completion_usd = 1e+300"),
    "a price that is true": ("[endpoints.x]\nprompt_usd = true\n", 2, "prompt_usd = True"),
    "a price in a list": ("[endpoints.x]\nprompt_usd = [1.0]\n", 2, "prompt_usd = [1.0]"),
    "a timeout as text": ('[endpoints.x]\nread_timeout_s = "60"\n', 2, "read_timeout_s = '60'"),
    "a timeout of nothing": ("[endpoints.x]\nconnect_timeout_s = 0\n", 2, "connect_timeout_s = 0"),
    "attempts as a fraction": ("[endpoints.x]\nattempts = 2.5\n", 2, "attempts = 2.5"),
    "no attempts": ("[endpoints.x]\nattempts = 0\n", 2, "attempts = 0"),
    "connections beyond all": ("[endpoints.x]\nmax_connections = 1_000_000\n", 2, "max_connections = 1000000"),
    "a switch as text": ('[endpoints.x]\nkey_required = "no"\n', 2, "key_required = 'no'"),
    "an address that is none": ('[endpoints.x]\nbase_url = "a/v1"\n', 2, "base_url = 'a/v1'"),
    "an address that is a number": ("[endpoints.x]\nbase_url = 8000\n", 2, "base_url = 8000"),
    "a variable with a key in it": ('[endpoints.x]\nkey_variable = "sk-abc-123"\n', 2, "key_variable"),
    "a body that is a list": ("[endpoints.x]\nextra_body = [1]\n", 2, "extra_body = [1]"),
    "a price of sound as text": ('[audio."openai:tts-1"]\nminute_usd = "x"\n', 2, "minute_usd = 'x'"),
    "a price of vectors below 0": ('[embeddings."openai:e"]\nprompt_usd = -0.1\n', 2, "prompt_usd = -0.1"),
    "a package that is a number": ("[providers.mine]\npackage = 3\n", 2, "package = 3"),
}

JSON_LINES: Table = {
    "breaks off": (b'{"a": 1}\n{"a": \n', 2, "not JSON"),
    "key twice": (b'{"a": 1}\n{"a": 1, "a": 2}\n', 2, "stands twice"),
    "not a number": (b'{"a": 1}\n{"a": NaN}\n', 2, "not finite"),
    "number of 10,000 digits": (b'{"a": 1}\n{"a": ' + b"9" * 10_000 + b"}\n", 2, "64 bits"),
    "half of a surrogate pair": (b'{"a": 1}\n{"a": "\\ud800"}\n', 2, "surrogate"),
    "NUL": (b'{"a": 1}\n{"a": "\\u0000"}\n', 2, "NUL"),
    "nested 100,000 deep": (b'{"a": 1}\n' + b"[" * 100_000 + b"\n", 2, "nested"),
    "nested 60 deep": (b'{"a": 1}\n' + b"[" * 60 + b"]" * 60 + b"\n", 2, "nested"),
    "Latin-1": (b'{"a": 1}\n{"a": "caf\xe9"}\n', 2, "not UTF-8"),
    "a huge line": (b'{"a": 1}\n"' + b"x" * 20_000_001 + b'"\n', 2, "a line of more than"),
}


def main() -> None:
    """Read all of them; a fault that is not refused ends the program."""
    import time
    import tracemalloc

    from cxlab import files
    from cxlab.errors import BadFile

    # Not the process's own peak: that begins with what whoever started it had.
    tracemalloc.start()
    slowest = 0.0
    for table, parse in ((YAML, files.parse_yaml), (TOML, files.parse_toml)):
        for content, _, _ in table.values():
            begun = time.process_time()
            try:
                text = content.decode("utf-8-sig")
                parse(text, "x")
            except (BadFile, UnicodeDecodeError):
                pass
            slowest = max(slowest, time.process_time() - begun)
    print(slowest, tracemalloc.get_traced_memory()[1] / 1e6)


if __name__ == "__main__":
    main()
