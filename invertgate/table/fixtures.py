"""What test code says of fixtures and names; syntax only."""

import ast

from invertgate.table.sources import Function, Module, last_name, strings


def is_docstring(statement: ast.AST) -> bool:
    """Tell whether a statement only says something."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def defined_in(module: Module) -> set[str]:
    """Name the functions of a module."""
    return {function.name for function in module.functions}


def fixture_name(function: Function) -> str:
    """Return the name by which a fixture is asked for."""
    for decorator in function.decorator_list:
        for keyword in decorator.keywords if isinstance(decorator, ast.Call) else ():
            if keyword.arg == "name" and isinstance(keyword.value, ast.Constant):
                return str(keyword.value.value)
    return function.name


def is_fixture(function: Function, name: str) -> bool:
    """Tell whether a function is the fixture of a name."""
    return is_any_fixture(function) and fixture_name(function) == name


def is_any_fixture(function: Function) -> bool:
    """Tell whether a function is a fixture."""
    return any(last_name(one).endswith("fixture") for one in function.decorator_list)


def comes_by_itself(function: Function) -> bool:
    """Tell whether a function is a fixture that need not be asked for."""
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call) and last_name(decorator).endswith("fixture"):
            for keyword in decorator.keywords:
                if keyword.arg == "autouse":
                    off = isinstance(keyword.value, ast.Constant) and keyword.value.value is False
                    return not off
    return False


def asked_for(function: Function) -> list[str]:
    """Name the fixtures that a test or a fixture may ask for."""
    arguments = function.args
    given = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    names = [argument.arg for argument in given]
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and last_name(node) == "getfixturevalue":
            names += strings(node)
    return list(dict.fromkeys((*names, *marked(function))))


def marked(node: ast.AST) -> list[str]:
    """Name the fixtures that ``usefixtures`` asks for in a tree."""
    return [
        text
        for call in ast.walk(node)
        if isinstance(call, ast.Call) and last_name(call) == "usefixtures"
        for text in strings(call)
    ]


def names_in(node: ast.AST) -> set[str]:
    """Name what a tree reads."""
    return {
        each.id
        for each in ast.walk(node)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)
    }


def attributes_in(node: ast.AST) -> set[str]:
    """Name the attributes in a tree."""
    return {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}


def bound_by(alias: ast.alias) -> str:
    """Return the name that an import gives."""
    return alias.asname or alias.name.partition(".")[0]
