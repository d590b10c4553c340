from __future__ import annotations

import json
import time
from typing import Any

import pytest

from specctl.facts.log import LogReader
from specctl.facts.redact import (
    MASK,
    redact_argv,
    redact_command,
    redact_environment,
    redact_json,
    redact_text,
)
from specctl.facts.server_info import parse_server_info
from tests.unit.facts.captures import case

SENTINEL = "SENTINEL-KEY"


def test_a11_the_fixture_keeps_no_key() -> None:
    info, log, listing = case("A11").split("\n")[:3]
    read = parse_server_info(info)
    (line,) = LogReader().feed(f"{log}\n".encode())
    argv = redact_argv(listing.split(" ")[3:])
    assert SENTINEL not in f"{read!r}{line!r}{argv!r}{redact_text(listing)}"
    assert read.arguments["model_path"] == "/models/m"
    assert f"--api-key '{MASK}'" in (read.launch_command or "")


def test_a11_set_and_unset_can_be_told_apart() -> None:
    redacted = redact_json({"api_key": "k", "admin_api_key": None, "ssl_keyfile_password": ""})
    assert redacted == {"api_key": MASK, "admin_api_key": None, "ssl_keyfile_password": ""}
    text = "server_args=ServerArgs(api_key=None, admin_api_key='x')"
    assert redact_text(text) == "server_args=ServerArgs(api_key=None, admin_api_key='***')"


@pytest.mark.parametrize(
    "text",
    [
        f"api_key='{SENTINEL}', tp_size=1",
        f"{{'api_key': '{SENTINEL}', 'tp_size': 1}}",
        f'{{"api_key": "{SENTINEL}"}}',
        f"ssl_keyfile_password='{SENTINEL}",
        f"--api-key {SENTINEL} --port 1",
        f"--api-key={SENTINEL}",
        f"--api {SENTINEL}",
        f"--admin-api-key '{SENTINEL} with a blank'",
        f"HF_TOKEN={SENTINEL} python -m sglang.launch_server",
        f"OPENAI_API_KEY={SENTINEL}",
        f"AWS_SECRET_ACCESS_KEY={SENTINEL}",
        f"Authorization: Bearer {SENTINEL}",
        f"https://user:{SENTINEL}@example.org/x",
        f"watermark_key='{SENTINEL}'",
        f'{{"api_key":"{SENTINEL}"}}',
        f'{{\\"hf_token\\": \\"{SENTINEL}\\"}}',
        f'"token":"{SENTINEL}"',
        f"['--api-key', '{SENTINEL}', '--port', '1']",
        f"api_key=a,{SENTINEL}",
        f"x-api-key:{SENTINEL}",
        f"Authorization: {SENTINEL}",
        f"Authorization: Token {SENTINEL}",
        f"authorization=Bearer%20{SENTINEL}",
        f"Cookie: a=b; session={SENTINEL}",
        f"--token {SENTINEL}",
        f"https://h/x?token={SENTINEL}&x=1",
        f"https://b/x?X-Amz-Signature={SENTINEL}",
        f"https://{SENTINEL}@example.org/x",
        f"https://user:p@{SENTINEL}@example.org/x",
        f"redis://:{SENTINEL}@cache:6379/0",
        f"DB_PASS={SENTINEL} OPENAI_KEY={SENTINEL} TOKEN={SENTINEL}",
        f"HF_TOKEN:{SENTINEL}",
        f"curl -u me:{SENTINEL} http://h",
        f"curl -ume:{SENTINEL} http://h",
        f"curl --user='me:{SENTINEL} {SENTINEL}' http://h",
        f"['curl', '-u', 'me:a,{SENTINEL}', 'http://h']",
        f'["curl", "-s", "--user", "me:{SENTINEL}", "http://h"]',
        f"sshpass -p {SENTINEL} ssh gpu8",
        f"sshpass -p{SENTINEL} ssh gpu8",
        f"sshpass -p 'a {SENTINEL}' ssh gpu8",
        f"['sshpass', '-p', '{SENTINEL}', 'ssh']",
        f"curl -u me:'a {SENTINEL}' http://h",
        f"TOKEN = {SENTINEL}",
        f"AUTH: {SENTINEL} SIGNATURE = {SENTINEL}",
        f"token: {SENTINEL}",
        f"Token: '{SENTINEL}'",
        f"using token: {SENTINEL}, port 1",
        f"{{token: {SENTINEL}}}",
        f"-----BEGIN RSA PRIVATE KEY-----\n{SENTINEL}\n-----END RSA PRIVATE KEY-----",
        f"key: -----BEGIN PRIVATE KEY-----\\n{SENTINEL}",
    ],
)
def test_places_where_secrets_stand(text: str) -> None:
    assert SENTINEL not in redact_text(text)


@pytest.mark.parametrize(
    "token",
    [
        "hf_AbCdEfGhIjKlMnOpQrSt",
        "sk-abcdefghijklmnop1234",
        "github_pat_11ABCDEFG0abcdefghijkl_abcdefgh",
        "glpat-abcdEFGH1234567890ab",
        "xoxb-1234567890-abcdefghijkl",
        "ASIAABCDEFGHIJKLMNOP",
        "nvapi-abcdefghijklmnopqrstuvwxyz",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0",
    ],
)
def test_tokens_known_by_their_shape(token: str) -> None:
    assert token not in redact_text(f"could not download with {token}.")


@pytest.mark.parametrize(
    "text",
    [
        "Decode batch, #running-req: 1, #token: 77, token usage: 0.00, gen throughput (token/s): 8",
        "max_total_num_tokens=20000, chunked_prefill_size=4096, max_prefill_tokens=16384",
        "speculative_token_map=None, tokenizer_path='/models/m', speculative_num_draft_tokens=4",
        "--speculative-num-draft-tokens 4 --speculative-token-map /models/map.pt",
        "--ssl-keyfile /etc/ssl/key.pem --ssl-certfile /etc/ssl/cert.pem",
        'File "/opt/sglang/srt/mem_cache/radix_cache.py", line 9, in match_prefix',
        "Prefill batch, #new-seq: 1, #new-token: 9, #cached-token: 0, token usage: 0.00",
        "unexpected token: foo; eos token: </s>; special token: x; token: 77; token: <|end|>",
        "docker run --user 1000:1000 image curl http://h",
        "-----BEGIN CERTIFICATE-----",
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "KeyError: 'model.layers.0.self_attn.k_proj.weight'",
        "docker run --user 1000:1000 -e NVIDIA_VISIBLE_DEVICES=all lmsysorg/sglang:v0.5.23",
        "GET /generate?rid=7 http://127.0.0.1:30000/x [::1]:30000 alice@example.org",
        "TOKENIZERS_PARALLELISM=false SGLANG_MAX_TOKENS=4 --tokenizer-mode auto",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert redact_text(text) == text


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["--api-key", "k", "--port", "1"], ("--api-key", MASK, "--port", "1")),
        (["--api-key=k"], (f"--api-key={MASK}",)),
        (["--api-k", "k"], ("--api-k", MASK)),
        (["--admin", "k"], ("--admin", MASK)),
        (["--ssl-keyfile-pass", "k"], ("--ssl-keyfile-pass", MASK)),
        (["--ssl-keyfile", "/x"], ("--ssl-keyfile", "/x")),
        (["--api-key", "--port", "1"], ("--api-key", "--port", "1")),
        (["HF_TOKEN=hf_x", "python"], ("HF_TOKEN=***", "python")),
        (["--tokenizer-path", "/t"], ("--tokenizer-path", "/t")),
        (["/usr/bin/curl", "-u", "me:k", "u"], ("/usr/bin/curl", "-u", f"me:{MASK}", "u")),
        (["curl", "--user=me:k"], ("curl", f"--user=me:{MASK}")),
        (["curl", "-ume:k"], ("curl", f"-ume:{MASK}")),
        (["curl", "-u", "me"], ("curl", "-u", "me")),
        (["sshpass", "-p", "k", "ssh", "-p", "22"], ("sshpass", "-p", MASK, "ssh", "-p", "22")),
        (["/usr/bin/sshpass", "-pk", "ssh"], ("/usr/bin/sshpass", f"-p{MASK}", "ssh")),
        (["docker", "run", "--user", "1000:1000"], ("docker", "run", "--user", "1000:1000")),
    ],
)
def test_argv(argv: list[str], expected: tuple[str, ...]) -> None:
    assert redact_argv(argv) == expected


@pytest.mark.parametrize(
    "line",
    ["MIIEpAIBAAKCAQEA7x3vB9y2Zf0qLkTn5dPpVhXo1sWmRgCuJeYiNtOaQbKlDzFw",
     "  b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW",
     "QyNTUxOQAAACB7kF9aXw=="],
)  # fmt: skip
def test_a_line_of_a_key_block_by_itself(line: str) -> None:
    assert redact_text(line) == MASK


def test_a_command_line_that_cannot_be_split_is_still_redacted() -> None:
    assert SENTINEL not in redact_command(f"sglang serve --api-key {SENTINEL} 'open")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"tp_size": 8, "enable_metrics": True}, {"tp_size": 8, "enable_metrics": True}),
        ({"attention_backend": "fa3"}, {"attention_backend": "fa3"}),
        ({"some_future_option": "text"}, {"some_future_option": MASK}),
        ({"model_loader_extra_config": '{"token": "x"}'}, {"model_loader_extra_config": MASK}),
        ({"cuda_graph_config": {"decode": {"backend": "full", "bs": [1, 2]}}},) * 2,
        ({"internal_states": [{"api_key": "k"}]}, {"internal_states": [{"api_key": MASK}]}),
    ],
)
def test_server_info_is_shown_by_allow_list(value: Any, expected: Any) -> None:
    assert redact_json(value) == expected


def test_a_secret_is_masked_wherever_it_appears_again() -> None:
    payload = {"api_key": SENTINEL, "model_path": f"/m/{SENTINEL}", "dtype": SENTINEL}
    assert SENTINEL not in json.dumps(redact_json(payload))


def test_redacting_twice_changes_nothing() -> None:
    line = f"server_args=ServerArgs(api_key='{SENTINEL}', hf_token=\"{SENTINEL}\") --api-key x"
    assert redact_text(redact_text(line)) == redact_text(line)


@pytest.mark.parametrize(
    "line",
    [
        "--admin api_key='{}' x",
        '--token api_key="{}',
        "--api-key key='{}'b -x",
        "bearer api_key='{}'",
        "--admin Bearer {}",
        "--api --api-key {}",
        "--admin --hf-token '{}'",
    ],
)
def test_an_assignment_where_a_value_is_due_is_masked_whole(line: str) -> None:
    assert SENTINEL not in redact_text(line.format(SENTINEL))


@pytest.mark.parametrize("line", ['{"#gpu token": false}', "gpu token: None, 7"])
def test_a_token_that_is_unset_is_shown_as_it_is(line: str) -> None:
    assert redact_text(line) == line


@pytest.mark.parametrize(
    "part", ["='", "-", "a-", "A_", '"', "\\", "a://b:", "@", "--api-key ", "eyJ"]
)
def test_long_lines_take_a_time_in_proportion(part: str) -> None:
    begun = time.process_time()
    redact_text(f"key http://a:{part * (50_000 // len(part))}")
    assert time.process_time() - begun < 10


@pytest.mark.parametrize("name", ["OPENAI_KEY", "DB_PASS", "NPM_TOKEN", "TOKEN", "MYSQL_PWD"])
def test_environment(name: str) -> None:
    assert redact_environment({name: SENTINEL, "PWD": "/x"}) == {name: MASK, "PWD": "/x"}
