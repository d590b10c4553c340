"""Which release answers what, and who may ask."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.lab.dialects import read_dialect_data
from specctl.lab.server.control import Control, failed, not_found, unauthorized
from specctl.lab.server.generation import Generation
from specctl.lab.server.information import Information
from specctl.lab.server.metrics import MetricsPage
from specctl.lab.server.openai import OpenAi
from specctl.lab.server.state import Phase
from specctl.lab.server.web import Answer, Asked

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from specctl.lab.server.state import ServerState

_ANY = (0, 0, 0)
_ADMIN_SINCE = (0, 5, 8)
_HTTP_METERS_SINCE = (0, 5, 7)
_OPEN = ("/health", "/ready", "/metrics")


@dataclass(frozen=True)
class Route:
    """One endpoint."""

    methods: str
    path: str
    answer: Callable[[Asked], Awaitable[Answer]]
    since: tuple[int, ...] = _ANY
    until: tuple[int, ...] | None = None
    """The first release without it."""

    is_admin: bool = False
    instead: str | None = None
    """Deprecated since 0.5.6: what the warning names."""


class App:
    """Answers what is asked."""

    def __init__(self, state: ServerState) -> None:
        self._state = state
        self._page = MetricsPage(state)
        numbers = state.launch.numbers
        routes = [r for r in self._routes() if r.since <= numbers and _lasts(r, numbers)]
        self._found = {(method, r.path): r for r in routes for method in r.methods.split()}
        self._paths = {route.path for route in routes}

    def _routes(self) -> list[Route]:
        state = self._state
        generation = Generation(state)
        chat, told, told_of = OpenAi(state, generation), Control(state), Information(state)
        both = "GET POST"
        return [
            Route("GET", "/health", told.health),
            Route("GET", "/health_generate", told.health),
            Route("GET", "/ready", told.ready, (0, 5, 20)),
            Route("GET", "/metrics", self._metrics),
            Route("GET", "/server_info", told_of.server_info, (0, 5, 6)),
            Route("GET", "/get_server_info", told_of.server_info, instead="/server_info"),
            Route("GET", "/model_info", told_of.model_info, (0, 5, 6)),
            Route("GET", "/get_model_info", told_of.model_info, instead="/model_info"),
            Route("GET", "/v1/models", told_of.models),
            Route("GET", "/v1/loads", told_of.loads, (0, 5, 8)),
            Route("GET", "/get_load", told_of.get_load, _ANY, (0, 5, 21), instead="/v1/loads"),
            Route("POST PUT", "/generate", generation.generate),
            Route("POST", "/v1/completions", chat.completions),
            Route("POST", "/v1/chat/completions", chat.chat),
            Route(both, "/flush_cache", told.flush, is_admin=True),
            Route("POST", "/abort_request", told.abort, is_admin=True),
            Route(both, "/freeze_gc", told.freeze_gc, (0, 5, 23), is_admin=True),
            Route("POST PUT", "/set_internal_state", told.set_internal_state, is_admin=True),
            Route("POST", "/add_external_corpus", told.add_corpus, (0, 5, 11), is_admin=True),
            Route("POST", "/remove_external_corpus", told.remove_corpus, (0, 5, 11), is_admin=True),
            Route("GET", "/list_external_corpora", told.list_corpora, (0, 5, 11), is_admin=True),
        ]

    async def answer(self, asked: Asked) -> Answer:
        """The answer to any request, counted."""
        labels = {"endpoint": asked.path, "method": asked.method}
        active = self._state.meters.active
        key = tuple(sorted(labels.items()))
        has_meters = self._state.launch.numbers >= _HTTP_METERS_SINCE
        if has_meters:
            self._state.meters.count("http_requests_total", labels)
            active[key] = active.get(key, 0) + 1
        answer = await self._answer(asked)
        if has_meters:
            active[key] -= 1
            answered = {**labels, "status_code": str(answer.status)}
            self._state.meters.count("http_responses_total", answered)
        return answer

    async def _answer(self, asked: Asked) -> Answer:
        route = self._found.get((asked.method, asked.path))
        if not self._may_ask(asked, route):
            return unauthorized()
        if route is None:
            is_known = asked.path in self._paths
            return Answer(405, b'{"detail":"Method Not Allowed"}') if is_known else not_found()
        if route.instead and self._state.launch.numbers >= (0, 5, 6):
            self._state.log.say(
                f"Endpoint '{route.path}' is deprecated and will be removed in a future version. "
                f"Please use '{route.instead}' instead."
            )
        try:
            return await route.answer(asked)
        except (ValueError, TypeError, KeyError) as error:
            return failed(error)

    def _may_ask(self, asked: Asked, route: Route | None) -> bool:
        state = self._state
        is_serving = state.phase is not Phase.STARTING
        if is_serving and state.launch.lab_host.fault("unauthorized") is not None:
            return False
        if asked.path.startswith(_OPEN):
            return True
        key, admin = state.launch.args.api_key, state.launch.args.admin_api_key
        has_classes = state.launch.numbers >= _ADMIN_SINCE
        wanted = (admin or key) if route is not None and route.is_admin and has_classes else key
        return not wanted or asked.headers.get("authorization") == f"Bearer {wanted}"

    async def _metrics(self, _asked: Asked) -> Answer:
        if not self._state.launch.args.enable_metrics:
            return not_found()
        kind = "text/plain; version=1.0.0; charset=utf-8"
        return Answer(200, self._page.text().encode(), kind)


def _lasts(route: Route, numbers: tuple[int, ...]) -> bool:
    return route.until is None or numbers < route.until


def families_of(version: str) -> list[dict[str, object]]:
    """The metrics of a release."""
    found: list[dict[str, object]] = read_dialect_data(version, "metrics")
    return found
