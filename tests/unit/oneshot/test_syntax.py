from __future__ import annotations

import ast
from pathlib import Path

import pytest

import specctl.agent.oneshot

FILES = sorted(Path(specctl.agent.oneshot.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_parses_as_python_3_8(file):
    ast.parse(file.read_text(), feature_version=(3, 8))
