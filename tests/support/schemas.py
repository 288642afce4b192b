"""Published schemas, and whether a document keeps to them."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft4Validator, Draft7Validator, FormatChecker
from jsonschema.protocols import Validator

DATA = Path(__file__).parents[1] / "data"


@cache
def sarif() -> Validator:
    """Return what validates SARIF 2.1.0."""
    schema = json.loads(DATA.joinpath("sarif-schema-2.1.0.json").read_text(encoding="utf-8"))
    return Draft4Validator(schema, format_checker=FormatChecker())


@cache
def mutation_report() -> Validator:
    """Return what validates reports of mutation testing, version 2."""
    path = DATA / "mutation-testing-report-schema.json"
    schema = json.loads(path.read_text(encoding="utf-8"))
    return Draft7Validator(schema, format_checker=FormatChecker())


@cache
def code_quality() -> Validator:
    """Return what validates GitLab's code quality report.

    Written from GitLab's documentation of the format: these fields, and no other is read.
    """
    text = {"type": "string", "minLength": 1}
    location = {
        "type": "object",
        "required": ["path", "lines"],
        "additionalProperties": False,
        "properties": {
            "path": {"type": "string", "minLength": 1, "pattern": "^(?!/|\\./)"},
            "lines": {
                "type": "object",
                "required": ["begin"],
                "additionalProperties": False,
                "properties": {"begin": {"type": "integer", "minimum": 1}},
            },
        },
    }
    issue = {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "additionalProperties": False,
        "properties": {
            "description": text,
            "check_name": text,
            "fingerprint": text,
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": location,
        },
    }
    return Draft7Validator({"type": "array", "items": issue})


def faults(validator: Validator, document: Any) -> list[str]:  # noqa: ANN401 (it is JSON)
    """Return what is wrong with a document, each fault with its place."""
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(document)]
