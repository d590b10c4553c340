"""Prompts on which the tiny models go on with well-formed Python for 128 tokens and more.

Each is the beginning of a function or class of the standard library of the Python that runs this;
the models were trained on that of Python 3.11.
"""

from __future__ import annotations

import calendar
import cmd
import csv
import gettext
import inspect
import json.decoder
import queue
import random
import shlex
import shutil
import string
import textwrap


def opening(source: type | object) -> str:
    """The first lines, six or half of them, without a line break at the end."""
    lines = inspect.getsource(source).rstrip().split("\n")  # type: ignore[arg-type]
    return "\n".join(lines[: min(6, len(lines) // 2)])


KNOWN = [
    opening(json.decoder.JSONArray),
    opening(queue.Queue.join),
    opening(queue.Queue.empty),
    opening(shlex.split),
    opening(shlex.shlex.push_source),
    opening(textwrap.TextWrapper.__init__),
    opening(textwrap.TextWrapper._handle_long_word),
    opening(textwrap.TextWrapper._wrap_chunks),
]
"""From modules that target, draft model and EAGLE head have all learnt."""

FOREIGN = [
    opening(calendar.Calendar.itermonthdays),
    opening(cmd.Cmd.columnize),
    opening(csv.Sniffer.sniff),
    opening(gettext.find),
    opening(random.Random.sample),
    opening(shutil.chown),
    opening(shutil.copystat),
    opening(shutil.move),
]
"""From modules that only the target has learnt: a drafter on traffic it was not made for."""

REPETITIVE = [
    opening(calendar.HTMLCalendar),
    opening(calendar.TextCalendar.formatmonth),
    opening(gettext.NullTranslations),
    opening(gettext._expand_lang),
    opening(random.Random.__init_subclass__),
    opening(shutil.disk_usage),
    opening(string.Formatter.convert_field),
    opening(textwrap.TextWrapper._split),
]
"""Text that repeats itself most, which is what n-grams live on."""
