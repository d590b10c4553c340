"""The lab's tokenizer beside the libraries that read its files."""

from __future__ import annotations

import json
import random
import subprocess

import pytest

from specctl.lab.chat import render
from specctl.lab.checkpoints import write_model
from specctl.lab.corpus import CATEGORIES, read_documents
from specctl.lab.tokenizer import SPECIAL, load_tokenizer
from tests.live.conftest import PYTHON

pytestmark = [pytest.mark.live, pytest.mark.timeout(120)]
ASK = """
import json, sys
from transformers import AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
asked = json.load(sys.stdin)
print(json.dumps({
    "ids": [tokenizer.encode(text, add_special_tokens=False) for text in asked["texts"]],
    "texts": [tokenizer.decode(ids, skip_special_tokens=True) for ids in asked["ids"]],
    "chat": tokenizer.apply_chat_template(
        asked["messages"], add_generation_prompt=True, tokenize=False),
    "eos": tokenizer.eos_token_id,
}))
"""
LETTERS = [*"abc XYZ 0129 \n\t\r.,!?'é漢😀\u00a0\u0301\u2028", *SPECIAL, "    ", "\n\n"]
MESSAGES = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "What is a <tag> & why?\n"},
]


def test_transformers_reads_the_directory_and_agrees(tmp_path):
    rng = random.Random(4)
    write_model(tmp_path / "kimi-k2.5")
    documents = [text for category in CATEGORIES for text in read_documents(category)]
    noise = ["".join(rng.choices(LETTERS, k=rng.randint(1, 60))) for _ in range(2000)]
    tokenizer = load_tokenizer()
    ids = [[rng.randrange(tokenizer.size) for _ in range(12)] for _ in range(500)]
    texts = [*documents, *noise]
    asked = {"texts": texts, "ids": ids, "messages": MESSAGES}
    ran = subprocess.run(
        [PYTHON, "-c", ASK, tmp_path / "kimi-k2.5"],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=True,
    )
    answered = json.loads(ran.stdout.splitlines()[-1])
    assert answered["ids"] == [tokenizer.encode(text) for text in texts]
    assert answered["texts"] == [tokenizer.decode(one) for one in ids]
    assert answered["chat"] == render(MESSAGES)
    assert answered["eos"] == tokenizer.eos_id
