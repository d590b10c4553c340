"""HTTP/1.1 as far as a model server needs it: keep-alive, bodies by length, chunked streams."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from email.utils import formatdate
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    Handler = Callable[["Asked"], Awaitable["Answer"]]
    Access = Callable[[str], None]

_MOST_HEAD_BYTES = 64 * 1024
_CHUNK_END = b"0\r\n\r\n"


@dataclass(frozen=True)
class Asked:
    """One request."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes
    client: str
    is_gone: Callable[[], bool] = bool
    """Whether the caller has hung up."""

    @property
    def path(self) -> str:
        """Without the query."""
        return urlsplit(self.target).path

    @property
    def query(self) -> dict[str, str]:
        """The last of each parameter."""
        return dict(parse_qsl(urlsplit(self.target).query))

    def json(self) -> Any:
        """The body; raises ValueError where it is none."""
        return json.loads(self.body or b"null")


@dataclass
class Answer:
    """What goes back; `stream` takes the place of `body`."""

    status: int = 200
    body: bytes = b""
    kind: str = "text/plain; charset=utf-8"
    headers: dict[str, str] = field(default_factory=dict)
    stream: AsyncIterator[bytes] | None = None


def json_answer(value: Any, status: int = 200) -> Answer:
    """`value` as JSON."""
    body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    return Answer(status, body, "application/json")


def error_answer(message: str, status: int = 400) -> Answer:
    """In the shape of SGLang's own endpoints."""
    return json_answer({"error": {"message": message}}, status)


async def serve_connection(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, handle: Handler, access: Access
) -> None:
    """Answer one connection's requests until either side is done with it."""
    try:
        while (asked := await _read(reader, _name(writer))) is not None:
            answer = await handle(asked)
            if asked.is_gone():
                break
            line = f'{asked.client} - "{asked.method} {asked.target} HTTP/1.1"'
            access(f"{line} {answer.status} {HTTPStatus(answer.status).phrase}")
            await _write(writer, answer)
            if asked.headers.get("connection", "").lower() == "close":
                break
    except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
        pass
    finally:
        writer.close()


def _name(writer: asyncio.StreamWriter) -> str:
    address = writer.get_extra_info("peername") or ("", 0)
    return f"{address[0]}:{address[1]}"


async def _read(reader: asyncio.StreamReader, client: str) -> Asked | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ", 2)
    pairs = (line.partition(":") for line in lines if line)
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    if headers.get("transfer-encoding", "").lower() == "chunked":
        body = await _read_chunks(reader)
    else:
        body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Asked(method, target, headers, body, client, reader.at_eof)


async def _read_chunks(reader: asyncio.StreamReader) -> bytes:
    body = b""
    while size := int(await reader.readline(), 16):
        body += await reader.readexactly(size)
        await reader.readline()
    await reader.readline()
    return body


async def _write(writer: asyncio.StreamWriter, answer: Answer) -> None:
    headers = {"date": formatdate(usegmt=True), "server": "uvicorn", **answer.headers}
    if answer.stream is None:
        headers["content-length"] = str(len(answer.body))
    else:
        headers["transfer-encoding"] = "chunked"
    if answer.body or answer.stream is not None:
        headers["content-type"] = answer.kind
    lines = [f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    writer.write("\r\n".join([*lines, "", ""]).encode() + answer.body)
    if answer.stream is not None:
        await _write_stream(writer, answer.stream)
    await writer.drain()


async def _write_stream(writer: asyncio.StreamWriter, stream: AsyncIterator[bytes]) -> None:
    try:
        async for part in stream:
            if writer.is_closing():
                raise ConnectionResetError
            writer.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
            await writer.drain()
    finally:
        await stream.aclose()  # type: ignore[attr-defined]
    writer.write(_CHUNK_END)
