"""Syntax as text: equal for equal trees on every Python, whatever their layout and comments."""

import ast
from typing import Final

_SILENT: Final = frozenset({"ctx", "kind", "type_comment", "type_ignores", "str"})
"""Fields that say nothing of what the code does, or repeat what other fields say."""

_WITH_DOCSTRING: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)


def plain(node: ast.AST | list[ast.AST]) -> str:
    """Write trees as text; positions, comments, docstrings and empty fields are left out.

    Unlike ``ast.dump`` it does not name fields that a Python has and another lacks, as long as
    they are empty (``type_params``), and it spells characters out that a Python may not know.

    Raises:
        RecursionError: A tree is too deep.
    """
    return _text(node)


def without_docstring(node: ast.AST) -> list[ast.stmt]:
    """Return the statements of a function, a class or a module but its docstring."""
    if not isinstance(node, _WITH_DOCSTRING):
        return []
    return node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body


def _text(value: object) -> str:
    match value:
        case ast.Constant(value=constant):
            return _constant(constant)
        case ast.JoinedStr(values=values):
            return f"JoinedStr({', '.join(_pieces(values))})"
        case ast.AST():
            fields = [f"{name}={text}" for name, text in _fields(value)]
            return f"{type(value).__name__}({', '.join(fields)})"
        case None:
            return "-"  # unlike a constant: `{**more}` has no key where `{None: more}` has one
        case list():
            return f"[{', '.join(map(_text, value))}]"
        case _:
            return _constant(value)


def _fields(node: ast.AST) -> list[tuple[str, str]]:
    found = []
    for name, value in ast.iter_fields(node):
        said = without_docstring(node) if name == "body" and _has_docstring(node) else value
        if name not in _SILENT and said is not None and said != []:
            found.append((name, _text(said)))
    return found


def _has_docstring(node: ast.AST) -> bool:
    return isinstance(node, _WITH_DOCSTRING)


def _pieces(values: list[ast.expr]) -> list[str]:
    """Write what a formatted string is made of; neighbouring texts are one, empty ones none."""
    pieces: list[str | ast.FormattedValue] = []
    for value in values:
        match value, pieces[-1:]:
            case ast.Constant(value=str(text)), [str(before)]:
                pieces[-1] = before + text
            case ast.Constant(value=str(text)), _:
                pieces.append(text)
            case ast.FormattedValue(), _:
                pieces.append(value)
            case _:
                pieces.append(_text(value))
    return [_piece(piece) for piece in pieces if piece != ""]


def _piece(piece: str | ast.FormattedValue) -> str:
    if isinstance(piece, str):
        return ascii(piece)
    spec = piece.format_spec
    written = ", ".join(_pieces(spec.values)) if isinstance(spec, ast.JoinedStr) else ""
    return f"Field({_text(piece.value)}, {piece.conversion}, [{written}])"


def _constant(value: object) -> str:
    """Write a constant with its type: ``1``, ``1.0`` and ``True`` are three."""
    if type(value) is int:
        return f"int {value:#x}"  # there is a limit on the digits of a decimal number
    return f"{type(value).__name__} {value!a}"
