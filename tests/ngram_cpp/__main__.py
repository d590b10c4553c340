"""Record again what the real matcher answers: `python -m tests.ngram_cpp PATH-OF-THE-PACKAGE`."""

from __future__ import annotations

import json
import sys
import tempfile
from functools import partial
from pathlib import Path

from tests.ngram_cpp.goldens import RECORD, record_all
from tests.ngram_cpp.real import RealMatcher, compile_matcher

with tempfile.TemporaryDirectory() as folder:
    library = compile_matcher(Path(sys.argv[1]), Path(folder))
    record = record_all(partial(RealMatcher, library))
lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in record.items())
RECORD.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
