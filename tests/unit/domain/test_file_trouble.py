from __future__ import annotations

import errno

import pytest

from specctl.domain.file_trouble import next_step


@pytest.mark.parametrize(
    ("number", "step"),
    [
        (errno.ENOSPC, "Free some space"),
        (errno.EDQUOT, "Free some space"),
        (errno.EFBIG, "Raise the limit"),
        (errno.EACCES, "Give your user the right"),
        (errno.EROFS, "Give your user the right"),
    ],
)
def test_what_to_do_follows_from_the_reason(number, step):
    assert next_step(OSError(number, "words")).startswith(step)


def test_a_reason_that_says_it_all_needs_nothing_more():
    assert next_step(OSError(errno.ENOTDIR, "Not a directory")) == ""
