"""Whether a JSON object follows the schema that is published for it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from specctl.cli.documents import DOCUMENTS, SCHEMAS

if TYPE_CHECKING:
    from collections.abc import Mapping


def assert_valid(document: Mapping[str, Any]) -> None:
    """Fail unless `document` names a published schema, follows it, and has no key beyond it."""
    label = document.get("schema")
    names = {one.label: name for name, one in DOCUMENTS.items()}
    assert label in names, f"no schema is published for {label!r}"
    error = best_match(_validator(names[str(label)]).iter_errors(document))
    assert error is None, f"{label} {error.json_path}: {error.message[:500]}"


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(closed(SCHEMAS[name]()))


def closed(schema: Any) -> Any:
    """The schema with every key that it does not name forbidden."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: closed(item) for key, item in schema.items()}
    if found.get("type") == "object" and "properties" in found:
        found.setdefault("additionalProperties", False)
    return found
