"""Lines of keys, against tomllib on generated texts."""

from __future__ import annotations

import json
import tomllib

from hypothesis import given
from hypothesis import strategies as st

from specctl.adapters.toml_positions import positions

TEXT = '''# top
model = "m" # = [no]
"quoted key" = 1
dotted . "a.b".c = """
[not a table]
still = "text"
"""

[arguments]   # [x]
tp-size = 8
json = { a = 1, "b c" = { d = [1, { e = 2 }] } }
list = [
  1,  # one
  "two]",
  [3],
  { x = 1 },
]

[[corpora]]
name = 'a'
[corpora.more]
k = 1
[[corpora]]
name = \'\'\'b\'\'\'
[ on . gpu8 . "arguments" ]
tp-size = 1979-05-27T07:32:00Z
'''


def test_every_way_to_write_a_key():
    found = positions(TEXT)
    expected = {
        ("model",): 2,
        ("quoted key",): 3,
        ("dotted",): 4,
        ("dotted", "a.b"): 4,
        ("dotted", "a.b", "c"): 4,
        ("arguments",): 9,
        ("arguments", "tp-size"): 10,
        ("arguments", "json"): 11,
        ("arguments", "json", "a"): 11,
        ("arguments", "json", "b c"): 11,
        ("arguments", "json", "b c", "d"): 11,
        ("arguments", "json", "b c", "d", 0): 11,
        ("arguments", "json", "b c", "d", 1): 11,
        ("arguments", "json", "b c", "d", 1, "e"): 11,
        ("arguments", "list"): 12,
        ("arguments", "list", 0): 13,
        ("arguments", "list", 1): 14,
        ("arguments", "list", 2): 15,
        ("arguments", "list", 2, 0): 15,
        ("arguments", "list", 3): 16,
        ("arguments", "list", 3, "x"): 16,
        ("corpora",): 19,
        ("corpora", 0): 19,
        ("corpora", 0, "name"): 20,
        ("corpora", 0, "more"): 21,
        ("corpora", 0, "more", "k"): 22,
        ("corpora", 1): 23,
        ("corpora", 1, "name"): 24,
        ("on",): 25,
        ("on", "gpu8"): 25,
        ("on", "gpu8", "arguments"): 25,
        ("on", "gpu8", "arguments", "tp-size"): 26,
    }
    assert found == expected


def paths(value, path=()):
    if path:
        yield path
    if isinstance(value, dict):
        for name, item in value.items():
            yield from paths(item, (*path, name))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from paths(item, (*path, i))


KEYS = st.text(st.sampled_from("ab-_. \"'#=[]é\\\n"), max_size=4)
STRINGS = st.text(st.sampled_from("ab\"'#=[]{},\n\\ é"), max_size=8)
SCALARS = STRINGS | st.integers(-9, 9) | st.booleans() | st.floats(-2, 2)
INLINE = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)
BLANKS = st.sampled_from(["", "\n", "# c = [1]\n", "  \n"])


def string(text, draw):
    if "'" not in text and "\n" not in text and draw(st.booleans()):
        return f"'{text}'"
    if "'''" not in text and not text.endswith("'") and draw(st.booleans()):
        return f"'''\n{text}'''"
    quoted = json.dumps(text, ensure_ascii=False)
    if draw(st.booleans()):
        return f'""{quoted}""' if not text.startswith('"') else quoted
    return quoted


def key(text, draw):
    plain = text.replace("-", "a").replace("_", "a")
    if text and plain.isascii() and plain.isalnum() and draw(st.booleans()):
        return text
    return json.dumps(text)


def inline(value, draw):
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return string(value, draw)
    if isinstance(value, dict):
        pairs = ", ".join(f"{key(k, draw)} = {inline(v, draw)}" for k, v in value.items())
        return f"{{ {pairs} }}"
    if isinstance(value, list):
        gap = draw(st.sampled_from(["", "\n", " # x ]\n"]))
        return "[" + "".join(f"{gap}{inline(v, draw)}," for v in value) + f"{gap}]"
    return repr(value)


@st.composite
def toml_texts(draw):
    text = ""
    plain = draw(st.lists(KEYS, unique=True, max_size=3))
    for name in plain:
        text += draw(BLANKS) + f"{key(name, draw)} = {inline(draw(INLINE), draw)}\n"
    for name in draw(st.lists(KEYS, unique=True, max_size=3)):
        if name in plain:
            continue
        is_array = draw(st.booleans())
        for _ in range(draw(st.integers(1, 3)) if is_array else 1):
            header = key(name, draw)
            text += f"[[{header}]]\n" if is_array else f"[ {header} ] # [x]\n"
            for inner in draw(st.lists(KEYS, unique=True, max_size=3)):
                text += draw(BLANKS)
                text += f"{key(inner, draw)} = {inline(draw(INLINE), draw)}\n"
    return text


@given(toml_texts())
def test_the_paths_are_those_tomllib_finds_and_lines_never_go_back(text):
    found = positions(text)
    assert set(found) == set(paths(tomllib.loads(text)))
    lines = text.split("\n")
    for path, line in found.items():
        if isinstance(path[-1], str):
            written = lines[line - 1]
            assert json.dumps(path[-1]) in written or path[-1] in written


@given(toml_texts())
def test_a_key_is_on_its_line(text):
    """Cutting the text before a top-level key's line takes the key away."""
    for path, line in positions(text).items():
        if len(path) == 1:
            head = "\n".join(text.split("\n")[: line - 1])
            assert path[0] not in tomllib.loads(head)
