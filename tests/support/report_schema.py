"""The JSON schema of the report, made from its types and the words that stand beside their fields.

Run as a script it writes ``schema.json`` anew.
"""

import ast
import inspect
import json
from pathlib import Path
from textwrap import dedent

import msgspec

from invertgate import model, trend_model
from invertgate.report import document, store

_MODULES = (document, model, trend_model)
PATH = Path(store.__file__).parent / "schema.json"


def schema() -> str:
    """Return the schema as it has to be in ``schema.json``."""
    made = msgspec.json.schema(document.Report)
    for name, definition in made["$defs"].items():
        described = {**_field_words(name)}
        for field, words in described.items():
            definition["properties"][field].setdefault("description", words)
    top = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "report.json"}
    return json.dumps(top | made, indent=2) + "\n"


def _field_words(name: str) -> dict[str, str]:
    """Return the string that stands below each field of a class."""
    owner = next(getattr(each, name) for each in _MODULES if hasattr(each, name))
    [made] = ast.parse(dedent(inspect.getsource(owner))).body
    assert isinstance(made, ast.ClassDef)
    words = {}
    for field, below in zip(made.body, made.body[1:], strict=False):
        match field, below:
            case (
                ast.AnnAssign(target=ast.Name(id=field_name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                words[field_name] = " ".join(text.split())
            case _:
                pass
    return words


if __name__ == "__main__":
    PATH.write_text(schema(), encoding="utf-8")
