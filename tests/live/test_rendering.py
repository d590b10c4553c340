"""Chat rendered by the tokenizer and template of a real model, with the real library."""

from __future__ import annotations

import pytest

from specctl.adapters.oneshot import run_oneshot
from specctl.domain.errors import RemoteFailedError
from specctl.domain.host import Host
from specctl.services.fleet import open_host
from tests.live.conftest import MODELS, PYTHON

pytestmark = [pytest.mark.live, pytest.mark.timeout(120)]
TALK = [{"role": "user", "content": "def f(x):"}]


@pytest.fixture
async def render():
    connection = await open_host(Host("here", transport="local", python=str(PYTHON)))

    async def ask(tokenizer: str):
        request = {"tokenizer": tokenizer, "conversations": [TALK]}
        return await run_oneshot(
            connection.session, (str(PYTHON),), "render_chat", request, timeout_s=100
        )

    yield ask
    await connection.agent.close()
    await connection.session.close()


async def test_the_models_own_template(render):
    answer = await render(str(MODELS / "target"))
    (ids,) = answer["ids"]
    assert len(ids) > 3
    assert len(answer["template_sha256"]) == 64
    again = await render(str(MODELS / "target"))
    assert again == answer


async def test_a_tokenizer_that_is_not_there_is_said(render):
    with pytest.raises(RemoteFailedError, match="nobody/nothing cannot be loaded"):
        await render("nobody/nothing")
