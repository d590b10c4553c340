"""Files of a workspace, written by a test."""

from __future__ import annotations

BASE = """description = "One line"
model = "org/model"

[arguments]
tp-size = 2
json-model-override-args = { a = "b c" }
api-key = "secret:serving"

[env]
NAME = "it's"

[placement]
gpus = [0, 1]
"""


def write(workspace, name, text):
    (workspace / f"{name}.toml").write_text(text)
