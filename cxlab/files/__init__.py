"""YAML, TOML and JSON that people or models wrote, read strictly: a fault is one line that names the file and the line.

    read_yaml(path), read_toml(path), read_json(path)     # plain data, or BadFile
    parse_yaml(text, name), parse_toml, parse_json         # the same for a text that is no file
    read_json_lines(path)                                  # (line, value or BadFile) for each line
    read_json_list(path)                                   # the same for each entry of one JSON list, however large
    load_model(path, Model, form)                          # a pydantic model of a YAML file, or BadFile
    read_model(path, Model, form)                          # the same, or every Complaint about it
    lines_of(path), line_of(lines, where)                  # for complaints that only a later check can make
    fault_at(path, where, problem, fix)                    # such a one as BadFile
    grammar.say(line, rng, slots)                          # one wording of a phrase: (a|b) chooses, <slot> is filled in

Refused everywhere: too large, nested too deep, not UTF-8, a key given twice, numbers beyond 64 bits or not finite, NUL
and halves of surrogate pairs. In YAML also anchors, aliases, merge keys and tags: a file says what it says, in as
many bytes as it takes. What a reader needs grows with the size of the file alone, which is bounded.
"""

from cxlab.files.complaints import Complaint, line_of, plain
from cxlab.files.limits import DEEPEST, LARGEST, LONGEST_TEXT, Fault, find_fault, read_bytes, read_text
from cxlab.files.models import load_model, read_model
from cxlab.files.strict_json import parse_json, read_json, read_json_lines, read_json_list
from cxlab.files.strict_toml import parse_toml, read_toml, toml_lines
from cxlab.files.strict_yaml import dump_yaml, fault_at, lines_of, parse_yaml, read_yaml

__all__ = [
    "DEEPEST",
    "LARGEST",
    "LONGEST_TEXT",
    "Complaint",
    "Fault",
    "dump_yaml",
    "fault_at",
    "find_fault",
    "line_of",
    "lines_of",
    "load_model",
    "parse_json",
    "parse_toml",
    "parse_yaml",
    "plain",
    "read_bytes",
    "read_json",
    "read_json_lines",
    "read_json_list",
    "read_model",
    "read_text",
    "read_toml",
    "read_yaml",
    "toml_lines",
]
