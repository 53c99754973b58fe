"""Reads mutated inputs for two hours, and keeps each that breaks the law in the corpus.

python -m tests.fuzz [--seconds S] [--seed N] [READER …]
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from pathlib import Path

from tests.fuzz.fuzzer import file_name, fuzz, fuzz_in_parts
from tests.fuzz.readers import FOUND

_MOST_BYTES = 6 << 30
"""Of addresses, of which libraries reserve much more than they use."""


def main() -> None:
    """Print what was read and what broke the law; exit 1 where something did."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("readers", nargs="*", help="only these; see tests/fuzz/readers.py")
    parser.add_argument("--seconds", type=float, default=7200.0)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--part", type=Path, help="a folder: read in this process, and print JSON")
    options = parser.parse_args()
    names = tuple(options.readers)
    if options.part is not None:
        resource.setrlimit(resource.RLIMIT_AS, (_MOST_BYTES, _MOST_BYTES))
        tally = fuzz(options.part, seed=options.seed, seconds=options.seconds, names=names)
        print(tally.to_json())  # noqa: T201
        return
    tally = fuzz_in_parts(seconds=options.seconds, seed=options.seed, names=names)
    for signature, (name, content, reason) in tally.broken.items():
        place = FOUND / signature.split(":")[0].replace(" ", "_")
        place.mkdir(parents=True, exist_ok=True)
        path = place / file_name(signature.partition(":")[2], name, content)
        path.write_bytes(content)
        print(f"{signature}\n{path}\n{reason[-1500:]}\n")  # noqa: T201
    ends = ", ".join(f"{n:,} {end}" for end, n in tally.ends.most_common())
    for name, n_inputs in sorted(tally.inputs.items()):
        print(f"{n_inputs:>9,} {name}")  # noqa: T201
    print(f"{tally.n_inputs:,} inputs: {ends}; {len(tally.broken)} broke the law")  # noqa: T201
    sys.exit(bool(tally.broken))


if __name__ == "__main__":
    main()
