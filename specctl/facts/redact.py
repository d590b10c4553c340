"""What may leave a host: keys, tokens and passwords are masked before anything is kept.

A secret that is set becomes `***`; one that is unset stays `None` or empty, so that set and unset
can be told apart.
"""

from __future__ import annotations

import re
import shlex
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MASK = "***"

_WORD = (
    r"(?:[A-Za-z0-9_-]{0,60}?(?:api[._ -]?key|admin[_-]?key|passw(?:or)?d|passphrase|secret"
    r"|credentials?|private[_-]?key|access[_-]?key(?:[_-]id)?|encryption[_-]?key"
    r"|watermark[_-]key(?:[_-]b)?)"
    r"|(?:[A-Za-z0-9_-]{0,60}[_-])?(?:hf|hub|huggingface|auth|access|api|bearer|refresh|session"
    r"|security|github|gitlab|gh|modelscope|wandb|id)[_-]?token"
    r"|(?-i:(?:[A-Z0-9_]{1,60}_)?(?:TOKEN|AUTH|AUTHORIZATION|COOKIE|SIGNATURE|WEBHOOK)"
    r"|[A-Z0-9_]{1,60}_(?:KEY|PASS|PWD)))"
)
_SECRET_NAME = re.compile(_WORD, re.IGNORECASE)
_QUOTE = r"""(?:\\{0,3}["'])?"""
_VALUE = (
    r"""(?:'(?:[^'\\]|\\.)*(?:'|$)|"(?:[^"\\]|\\.)*(?:"|$)|\\{1,3}["'][^"'\\]*(?:\\{1,3}["']|$)"""
    r"""|(?:[^\s,)\]}'"\\]|[,)\]}](?=[A-Za-z0-9])|\\.|(?<==)(?:'[^']*(?:'|$)|"[^"]*(?:"|$)))+)"""
)
"""Quoted, quoted within a quoted text, or bare: a comma or bracket in it ends it before a blank.

A bare one may be an assignment, of which a text in quotes is the value.
"""

_ASSIGNED = re.compile(
    rf"""(?P<head>(?<![A-Za-z0-9_-]){_QUOTE}(?:{_WORD}{_QUOTE}\s*(?:=|:\s|(?<=["']):|(?<!secret):)"""
    rf"""|(?<=["'])token\\{{0,3}}["']\s*:(?=\s*\\{{0,3}}["'])|(?<=[?&;])(?:token|sig|signature"""
    rf"""|x-amz-signature|code|key)=))(?P<space>\s*)(?P<value>{_VALUE})""",
    re.IGNORECASE,
)
_FLAG = re.compile(
    rf"""(?P<head>--(?:{_WORD}|token|api(?:-k(?:e)?)?|admin(?:-a[a-z-]*)?|ssl-keyfile-p[a-z]*)"""
    rf"""(?:=|["']?,?\s+(?!["']?(?:--(?:{_WORD}|token|api|admin|ssl-keyfile-p)|(?:bearer|basic)\s))))"""
    rf"""(?P<value>{_VALUE})""",
    re.IGNORECASE,
)
_HEADER = re.compile(
    r"""(\bauthorization\\{0,3}["']?\s*[:=]\s*\\{0,3}["']?(?:[a-z]{2,12}(?:\s|%20)+(?=[^\s"'\\]))?)"""
    r"""[^\s"'\\]+""",
    re.IGNORECASE,
)
_COOKIE = re.compile(r"""(\b(?:set-)?cookie["']?:\s*["']?)[^"'\s][^"']*""", re.IGNORECASE)
_CURL_LOGIN = r"""\bcurl\b[^\n]{0,400}?[\s"'](?:-u|--user)"""
_LOGIN = re.compile(
    rf"""(\bsshpass["']?,?\s{{1,4}}["']?-p["']?,?\s{{0,4}}|{_CURL_LOGIN}[\s=]{{0,4}}[^\s:"',]{{1,64}}:)"""
    r"""(?:'[^']+'?|"[^"]+"?|\S+)"""
)
_QUOTED_LOGIN = re.compile(
    rf"""({_CURL_LOGIN}(?:["'],)?[\s=]{{0,4}}(?P<quote>["'])[^\s:"']{{1,64}}:)(?:(?!(?P=quote)).)+"""
)
_TOKEN = re.compile(
    r"""(?P<before>\b\w{1,24}\s{1,2})?(?P<head>(?<![\w#-])["']?token["']?:\s{1,4})"""
    rf"""(?P<value>{_VALUE})""",
    re.IGNORECASE,
)
_OPEN_TOKENS = frozenset({
    "unexpected", "special", "eos", "bos", "pad", "padding", "stop", "mask", "unk", "unknown",
    "next", "first", "last", "draft", "bonus", "accept", "accepted", "sep", "new", "cached",
    "input", "output", "sampled", "per", "end", "start", "think", "image",
})  # fmt: skip
"""Words before `token:` that make it one of a text."""

_PEM = re.compile(
    r"(-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----)(?:.*?(?=-----END )|.*)",
    re.IGNORECASE | re.DOTALL,
)
_PEM_BODY = re.compile(
    r"(?=[^\s]*[a-z])(?=[^\s]*[A-Z])(?=[^\s]*\d)(?:[A-Za-z0-9+][A-Za-z0-9+/]{59,75}"
    r"|[A-Za-z0-9+][A-Za-z0-9+/]{15,74}=)={0,2}"
)
"""A line of such a block by itself: of a log it comes without the line that begins the block."""

_PEM_LINE_MOST = 80
_PEM_WORD_CHARACTERS_MIN = 60
_PEM_WORD = re.compile(
    r"""(?<![^\s"'|>\]])[A-Za-z0-9+][A-Za-z0-9+/]{59,75}={0,2}(?=$|[\s"'\\])""", re.MULTILINE
)
"""A line of such a block behind what each line of a log begins with, such as a time."""

_PEM_LOWER_MOST, _PEM_UPPER_LEAST = 0.62, 0.2
"""Of a key 41 in 100 characters are small letters and as many capitals, give or take 6 in a line;
of a path or of joined words most are small ones."""

_BEARER = re.compile(r"(\b(?:bearer|basic)(?:\s+|%20))[A-Za-z0-9._~+/=-]{6,}", re.IGNORECASE)
_KNOWN_SHAPES = re.compile(
    r"\b(?:hf_[A-Za-z0-9]{16,}|sk-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}"
    r"|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abeprs]-[A-Za-z0-9-]{10,}|A[KS]IA[0-9A-Z]{12,}"
    r"|AIza[\w-]{30,}|nvapi-[\w-]{20,}|dckr_pat_[\w-]{16,}|pypi-AgE[\w-]{16,}|npm_[A-Za-z0-9]{30,}"
    r"|eyJ[\w-]{10,}\.eyJ[\w-]{10,}(?:\.[\w-]+)?)"
)
_IN_URL = re.compile(r"(\b[a-z][a-z0-9+.-]{0,20}://[^\s/@:]*:)[^\s/]+(@)", re.IGNORECASE)
_NAMELESS_IN_URL = re.compile(r"(\bhttps?://)[^\s/@:]{8,}(@)", re.IGNORECASE)
_HINTS = (
    "key", "passw", "passphrase", "secret", "credential", "_token", "-token", "hftoken", "hubtoken",
    "facetoken", "accesstoken", "apitoken", "bearer", "freshtoken", "sessiontoken",
    "githubtoken", "gitlabtoken", "ghtoken", "modelscopetoken", "wandbtoken", "idtoken", "--api",
    "--admin", "basic", "hf_", "sk-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "akia", "://",
    "token=", 'token"', "token'", "token\\", "token =", "auth", "cookie", "_pass", "_pwd",
    "sshpass", "signature", "sig=", "code=", "webhook", "curl", "asia", "github_pat", "glpat-",
    "xox", "aiza", "nvapi-", "dckr_", "pypi-", "npm_", "eyj", "private key", " token:", "'token:",
    "{token:", "(token:", ",token:",
)  # fmt: skip
"""A line without any of these, in lower case, holds no secret that could be recognised."""

_UNSET = ("None", "null", "''", '""', "False", "false", "True", "true")

_SECRET_FLAGS = ("api-key", "admin-api-key", "ssl-keyfile-password", "watermark-key")
_OPEN_FLAGS = frozenset({"ssl-keyfile", "ssl-key", "ssl"})

_OPEN_TEXT_KEY = re.compile(
    r"(?:[a-z0-9_]*_)?(?:path|name|names|dir|backend|backends|mode|dtype|format|policy|method|impl"
    r"|device|algorithm|parser|strategy|role|version|level|quantization|revision|status|layout"
    r"|compiler|type|defaults|source|addr|host|mode|template|frontend|accelerator|architectures"
    r"|ca_certs|certfile|keyfile)",
)
"""Server arguments whose text may be shown; every other text is masked."""

_MAX_DEPTH = 12
_SHORTEST = 3
"""Shorter secrets are masked where they stand, but not searched for elsewhere."""


def redact_text(line: str) -> str:
    """`line` with every secret in it masked: assignments, flags, headers, known token shapes."""
    if len(line) <= _PEM_LINE_MOST and _PEM_BODY.fullmatch(line.strip()):
        return MASK
    if len(line) >= _PEM_WORD_CHARACTERS_MIN:
        line = _PEM_WORD.sub(_mask_pem_word, line)
    lower = line.lower()
    if not lower.startswith("token:") and not any(hint in lower for hint in _HINTS):
        return line
    line = _ASSIGNED.sub(_mask_value, line)  # first: to the others its name would be a value
    line = _FLAG.sub(_mask_value, line)
    for pattern in (_PEM, _HEADER, _COOKIE, _QUOTED_LOGIN, _LOGIN, _BEARER):
        line = pattern.sub(rf"\1{MASK}", line)
    line = _TOKEN.sub(_mask_token, line)
    line = _ASSIGNED.sub(_mask_value, line)
    line = _KNOWN_SHAPES.sub(MASK, line)
    for pattern in (_IN_URL, _NAMELESS_IN_URL):
        line = pattern.sub(rf"\1{MASK}\2", line)
    return line


def _mask_pem_word(match: re.Match[str]) -> str:
    word = match[0]
    lower, upper = sum(map(str.islower, word)), sum(map(str.isupper, word))
    is_even = lower <= _PEM_LOWER_MOST * len(word) and upper >= _PEM_UPPER_LEAST * len(word)
    return MASK if lower and is_even and any(map(str.isdigit, word)) else word


def _mask_token(match: re.Match[str]) -> str:
    """Of `token: X`, unless it is one of a text, or a count of them."""
    before, value = match["before"] or "", match["value"]
    is_open = before.strip().lower() in _OPEN_TOKENS or value.strip("'\"")[:1] in ("<", "[", "")
    if is_open or value.rstrip(".;").isdecimal():
        return match[0]
    masked = _mask_value(match)
    return masked if masked == match[0] else before + masked


def _mask_value(match: re.Match[str]) -> str:
    value = match["value"]
    if value in _UNSET:
        return match[0]
    quote = match[0][-1] if value[0] == "\\" else value[0]
    quote = quote if quote in "'\"" else ""
    space = match.groupdict().get("space") or ""
    return f"{match['head']}{space}{quote}{MASK}{quote}"


def redact_argv(argv: Sequence[str]) -> tuple[str, ...]:
    """`argv` with the values of secret flags masked, in `--flag VALUE` and `--flag=VALUE` form."""
    masked: list[str] = []
    is_secret_next = is_curl = False
    for place, argument in enumerate(argv):
        if password := _masked_sshpass(argument, argv[max(0, place - 2) : place]):
            masked.append(password)
            continue
        is_curl = is_curl or argument.rpartition("/")[2] == "curl"
        if is_curl and (login := _masked_login(argument, argv[place - 1])):
            masked.append(login)
            continue
        if is_secret_next and not argument.startswith("--"):
            masked.append(MASK)
            is_secret_next = False
            continue
        flag, equals, _ = argument.partition("=")
        is_secret = is_secret_flag(flag)
        is_secret_next = is_secret and not equals
        masked.append(f"{flag}={MASK}" if is_secret and equals else redact_text(argument))
    return tuple(masked)


def _masked_login(argument: str, before: str) -> str:
    """`-u NAME:PASSWORD` of curl, in one word or two; empty where it is none."""
    flag = next((one for one in ("--user=", "-u") if argument.startswith(one)), "")
    if flag == "" and before not in {"-u", "--user"}:
        return ""
    name, colon, password = argument.removeprefix(flag).partition(":")
    return f"{flag}{name}:{MASK}" if colon and password else ""


def _masked_sshpass(argument: str, before: Sequence[str]) -> str:
    """The password after `sshpass -p`, in one word or two; empty where it is none."""
    *_, program, flag = ("", "", *before)
    if flag == "-p" and program.rpartition("/")[2] == "sshpass":
        return MASK
    is_joined = argument.startswith("-p") and argument != "-p"
    return f"-p{MASK}" if is_joined and flag.rpartition("/")[2] == "sshpass" else ""


def redact_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Variables with the values of secret ones masked."""
    return {
        name: MASK if value and is_secret_key(name) else redact_text(value)
        for name, value in environment.items()
    }


def is_secret_flag(flag: str) -> bool:
    """Whether `flag` carries a secret; argparse takes abbreviations, so they count too."""
    if not flag.startswith("--"):
        return False
    name = flag[2:].replace("_", "-").lower()
    if name in _OPEN_FLAGS:
        return False
    if len(name) >= len("api") and any(known.startswith(name) for known in _SECRET_FLAGS):
        return True
    return name == "token" or _SECRET_NAME.fullmatch(name) is not None


def redact_command(command: str) -> str:
    """A command line in one text, with its secrets masked."""
    try:
        words = shlex.split(command)
    except ValueError:
        return redact_text(command)
    return shlex.join(redact_argv(words))


def redact_json(value: Any) -> Any:
    """A server's own description with only what is known to be harmless left readable.

    Numbers and flags stay, text stays only under keys of the allow-list, and any text that
    equals a masked secret is masked wherever else it appears.
    """
    secrets = frozenset(text for text in _secret_texts(value, 0) if len(text) >= _SHORTEST)
    return _redacted(value, "", secrets, 0)


@lru_cache(maxsize=4096)
def is_secret_key(key: str) -> bool:
    """Whether the value of a key of server_info or of an environment is a secret."""
    return _SECRET_NAME.fullmatch(key) is not None


def _secret_texts(value: Any, depth: int) -> Iterator[str]:
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(inner, str) and is_secret_key(str(key)):
                yield inner
            yield from _secret_texts(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            yield from _secret_texts(inner, depth + 1)


def _redacted(value: Any, key: str, secrets: frozenset[str], depth: int) -> Any:
    if value is None or value == "":
        return value
    if is_secret_key(key) or depth > _MAX_DEPTH:
        return MASK
    if isinstance(value, dict):
        return _redacted_mapping(value, secrets, depth)
    if isinstance(value, list):
        return [_redacted(inner, key, secrets, depth + 1) for inner in value]
    if isinstance(value, str):
        return _redacted_text(value, key, secrets)
    return value


def _redacted_mapping(
    value: Mapping[str, Any], secrets: frozenset[str], depth: int
) -> dict[str, Any]:
    return {
        redact_text(str(key)): _redacted(inner, str(key), secrets, depth + 1)
        for key, inner in value.items()
    }


@lru_cache(maxsize=4096)
def _is_open(key: str) -> bool:
    return _OPEN_TEXT_KEY.fullmatch(key) is not None


def _redacted_text(text: str, key: str, secrets: frozenset[str]) -> str:
    if key == "launch_command":
        text = redact_command(text)
    elif not _is_open(key) or text in secrets:
        return MASK
    else:
        text = redact_text(text)
    for secret in secrets:
        text = text.replace(secret, MASK)
    return text
