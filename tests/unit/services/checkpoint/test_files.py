"""What is read of the files, and those that cannot be."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest

from specctl.services.host_files import MOST_BYTES, FileReader
from tests.checkpoints import (
    DRAFT_VOCABULARY,
    eagle3_config,
    model_tensors,
    target_config,
)
from tests.unit.services.checkpoint.rows import ERROR, HINT, finding, troubles


async def test_no_weight_is_read_and_every_byte_is_counted(models, check, connection, monkeypatch):
    asked = []
    call = connection.agent.call

    async def counting(op, **params):
        answer = await call(op, **params)
        if op == "read":
            asked.append((Path(params["path"]), params["offset"], params["length"]))
        return answer

    monkeypatch.setattr(connection.agent, "call", counting)
    target, draft = models.target(), models.draft()
    checked = await check(target, draft)
    assert checked.table_bytes == 8 * DRAFT_VOCABULARY
    assert checked.bytes_read + checked.table_bytes == sum(length for _, _, length in asked)
    assert checked.bytes_read <= MOST_BYTES
    file = Path(draft, "model.safetensors")
    header = 8 + struct.unpack("<Q", file.read_bytes()[:8])[0]
    tables = {t.name: t for t in checked.pairing.draft.tensors if t.name in ("d2t", "t2d")}
    allowed = {
        (0, 8), (8, header - 8),
        *((header + t.begin, t.size_bytes) for t in tables.values()),
    }  # fmt: skip
    assert {(start, size) for path, start, size in asked if path == file} == allowed
    assert not [path for path, _, _ in asked if path == Path(target, "model.safetensors")]


@pytest.mark.parametrize("file", ["pytorch_model.bin", "draft.gguf"])
async def test_what_cannot_be_checked_is_said(models, check, file):
    draft = models.make("draft", eagle3_config())
    Path(draft, file).write_bytes(b"PK\3\4")
    checked = await check(models.target(), draft)
    assert finding(checked, "weights").severity is HINT
    assert "cannot be checked" in finding(checked, "weights").means
    assert troubles(checked).keys() <= {"weights", "special-tokens", "memory"}
    assert "d2t" in checked.pairing.draft.missing


async def test_a_gguf_file_by_itself_cannot_be_checked(models, check):
    draft = Path(models.make("gguf", None), "draft-q4.gguf")
    draft.write_bytes(b"GGUF")
    target = models.target()
    checked = await check(target, str(draft), "STANDALONE")
    assert troubles(checked) == {"architecture": HINT, "weights": HINT, "tokenizer": HINT}
    assert finding(checked, "architecture").words == "a GGUF file brings no config.json"


async def test_a_directory_without_weights_or_that_is_not_there(models, check):
    target = models.target()
    empty = await check(target, models.make("draft", eagle3_config()))
    assert finding(empty, "weights").severity is ERROR
    gone = await check(target, "/nowhere/at/all")
    assert "/nowhere/at/all is not there" in finding(gone, "architecture").words
    assert [f.key for f in gone.findings] == ["architecture"]
    neither = await check("/nowhere/at/all", "/nowhere/else")
    assert [f.key for f in neither.findings] == ["target", "architecture"]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (struct.pack("<Q", 1 << 62) + b"{}", "header would be 4611686018427387904 bytes"),
        (struct.pack("<Q", 2) + b"[]", "no object"),
        (b"\0", "ends after 1 bytes"),
        (struct.pack("<Q", 1 << 19) + b" " * (1 << 19), "524,288 bytes, 393,216 are read"),
    ],
    ids=["endless", "list", "short", "long"],
)
async def test_a_hostile_header_is_a_row_and_little_is_read(models, check, data, words):
    draft = models.make("draft", eagle3_config())
    Path(draft, "model.safetensors").write_bytes(data)
    checked = await check(models.target(), draft)
    assert words in finding(checked, "weights").words
    assert checked.bytes_read < 100_000


async def test_a_download_that_was_broken_off_is_said(models, check):
    draft = models.make("draft", target_config(hidden_size=32), model_tensors(2, 32))
    file = Path(draft, "model.safetensors")
    file.rename(file.with_name("model-00002-of-00003.safetensors"))
    row = finding(await check(models.target(), draft), "weights")
    assert row.severity is ERROR
    assert "model-00001-of-00003.safetensors and 1 more: not there" in row.words


async def test_an_index_of_ten_megabytes_is_read_at_its_ends(models, check):
    config = target_config(
        architectures=["DeepseekV3ForCausalLM"], num_nextn_predict_layers=1, num_hidden_layers=61
    )
    names = [f"model.layers.{n // 1500}.mlp.experts.{n}.down_proj.weight" for n in range(91_500)]
    first, second = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
    index = dict.fromkeys(names, first)
    last = {"model.layers.61.eh_proj.weight": np.zeros((4, 4), np.float16)}
    model = models.make("model", config, last)
    Path(model, "model.safetensors").rename(Path(model, second))
    Path(model, first).write_bytes(struct.pack("<Q", 2) + b"{}")
    Path(model, "model.safetensors.index.json").write_text(
        json.dumps({"metadata": {"total_size": 9}, "weight_map": index})
    )
    checked = await check(model, model)
    assert Path(model, "model.safetensors.index.json").stat().st_size > 7_000_000
    assert finding(checked, "mtp-layers").words.startswith("there: at least 1 tensors")
    assert checked.bytes_read < 200_000
    Path(model, second).write_bytes(struct.pack("<Q", 2) + b"{}")
    row = finding(await check(model, model), "mtp-layers")
    assert row.severity is HINT
    assert "its two ends" in row.words


async def test_repositories_are_found_in_the_hosts_cache(models, check, tmp_path):
    hub = tmp_path / "hub"
    target = models.target()
    draft = Path(models.draft("blobs"))
    for name, source in (("org/target", Path(target)), ("org/draft", draft)):
        repository = hub / f"models--{name.replace('/', '--')}"
        snapshot = repository / "snapshots" / "9d1c"
        snapshot.mkdir(parents=True)
        (repository / "refs").mkdir()
        (repository / "refs/main").write_text("9d1c\n")
        for file in source.iterdir():
            (snapshot / file.name).symlink_to(file)
    environment = {"HF_HUB_CACHE": str(hub)}
    checked = await check("org/target", "org/draft", environment=environment)
    assert troubles(checked) == {}
    assert checked.pairing.draft.commit == "9d1c"
    lost = await check("org/target", "org/none", environment=environment)
    assert "org/none is not in" in finding(lost, "architecture").words


async def test_a_reader_stops_at_its_limit(connection, tmp_path):
    file = tmp_path / "file"
    file.write_bytes(b"x" * 3_000_000)
    reader = FileReader(connection, most_bytes=1_000_000)
    first = await reader.read(str(file), 0, 900_000)
    assert isinstance(first, bytes)
    assert len(first) == reader.bytes_read == 900_000
    assert "beyond what is read" in str(await reader.read(str(file), 0, 200_000))
    assert await reader.read(str(file), 2_999_999, 100) == b"x"
    assert reader.bytes_read == 900_001
    assert "not a file" in str(await reader.read(str(tmp_path), 0, 1))
