"""What a server answers may be anything."""

from __future__ import annotations

import pytest

from specctl.adapters.sglang import Answer
from specctl.domain.errors import ServerAnswerError


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 200_000, b"1" * 5000])
def test_what_is_no_json_is_an_error_of_the_server(body):
    with pytest.raises(ServerAnswerError, match="other than JSON"):
        Answer(200, body, "/server_info").json()
