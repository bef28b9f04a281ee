"""One rendering of each prompt, as files that a person reads: a change of a prompt is seen in review.

python -m tests.goldens.prompts                  write them anew
python -m tests.goldens.prompts BENCHMARK        those of one benchmark
"""

import os
import re
import sys
import tempfile
from pathlib import Path

from cxlab.benchmarks import REGISTRY, get
from cxlab.benchmarks.prompt_renderings import render

HERE = Path(__file__).parent / "prompts"


def texts(benchmark: str) -> dict[str, str]:
    """File name → the rendering; the store must be an empty one, so that the samples are always the same."""
    return {f"{one.name}.md": _cut(benchmark, one.to_text()) for one in render(get(benchmark))}


# What stands in a corpus that people go on writing is no business of the prompt: from the first place to the second.
CORPUS = {
    "cdr": re.compile(r"(?<=They look for: ).*?(?=\n\n## |\Z)", re.DOTALL),
    "crmarena": re.compile(r"(?<=What holds for this task:\n).*?(?=\n\n## tools|\Z)", re.DOTALL),
}


def _cut(benchmark: str, text: str) -> str:
    return CORPUS[benchmark].sub("…", text) if benchmark in CORPUS else text


def recorded(benchmark: str) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in sorted((HERE / benchmark).glob("*.md"))}


def main(names: list[str]) -> None:
    with tempfile.TemporaryDirectory() as home:
        os.environ["CXLAB_HOME"] = home
        for benchmark in names or list(REGISTRY):
            folder = HERE / benchmark
            folder.mkdir(parents=True, exist_ok=True)
            for path in folder.glob("*.md"):
                path.unlink()
            for name, text in texts(benchmark).items():
                (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
