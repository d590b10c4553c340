"""What an item of the `sample` stream changes of the one before: few of its fields.

Asked for with `"changes": true`, every item says its place in the stream and whether it is whole:

    {"full": true, "seq": 0, "t": .., "mono": .., "host": {..}, "gpus": [row, ..], ..}
    {"full": false, "seq": 1, "t": .., "mono": .., "host": {..}, "gpus": [{..}, null, ..], ..}

In the second form `host` holds the fields that changed, and each element of `gpus` the values of
that GPU's `v` that changed (null: none did). What is not a changed value (a field that came or
went, a reason, a process, a GPU lost) brings the GPU's whole row, under its position in `rows`.
Everything else that changes brings a whole item. One applies to the item whose `seq` is one less,
and to no other.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional

FULL_EVERY = 60
"""Items from one whole item to the next, whatever changes."""

_TIMES = ("t", "mono", "cost_ms", "driver_ms")
_IN_PARTS = (*_TIMES, "host", "gpus")
_ROW_IN_PARTS = ("v", "latency_us")

Row = Dict[str, Any]


class Changes:
    """Turns the items of one stream into changes."""

    def __init__(self, full_every: int = FULL_EVERY) -> None:
        self._full_every = full_every
        self._seq = -1
        self._before: Optional[Row] = None

    def of(self, item: Row) -> Row:
        """The item as it is sent."""
        before, self._before = self._before, item
        self._seq += 1
        if before is None or self._seq % self._full_every == 0 or not _is_like(before, item):
            return {"full": True, "seq": self._seq, **item}
        sent = {"full": False, "seq": self._seq, **{name: item[name] for name in _TIMES}}
        sent["host"] = _changed(before["host"], item["host"])
        sent["gpus"], rows = _changed_rows(before["gpus"], item["gpus"])
        if rows:
            sent["rows"] = rows
        return sent


def _is_like(before: Row, item: Row) -> bool:
    """Only what can be sent in parts differs."""
    return (
        len(before["gpus"]) == len(item["gpus"])
        and _are_same(before, item, _IN_PARTS)
        and before["host"].keys() == item["host"].keys()
        and before["host"]["missing"] == item["host"]["missing"]
    )


def _are_same(before: Row, now: Row, but: Any) -> bool:
    return before.keys() == now.keys() and all(
        before[name] == value for name, value in now.items() if name not in but
    )


def _changed(before: Row, now: Row) -> Row:
    return {
        name: value
        for name, value in now.items()
        if before[name] != value or type(before[name]) is not type(value)  # True == 1
    }


def _changed_rows(before: List[Row], now: List[Row]) -> Any:
    """(the values of each GPU that changed, the whole rows of those that changed otherwise)."""
    values: List[Optional[Row]] = []
    rows: Dict[str, Row] = {}
    for index, row in enumerate(now):
        changed = _changed_values(before[index], row)
        if changed is None:
            rows[str(index)] = row
        values.append(changed or None)
    return values, rows


def _changed_values(before: Row, row: Row) -> Optional[Row]:
    """None when the whole row has to be sent."""
    if before["v"].keys() != row["v"].keys() or not _are_same(before, row, _ROW_IN_PARTS):
        return None
    changed = _changed(before["v"], row["v"])
    return None if None in changed.values() else changed
