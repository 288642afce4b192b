"""What a test really asserts: assertions that are reached, and the conditions before them."""

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum, auto

from invertgate.lanes.bindings import Axis, Values, axis, elements, substituted
from invertgate.lanes.constant import truth
from invertgate.lanes.normal import last_name, named, negated, split
from invertgate.lanes.statements import (
    as_expression,
    asserts,
    catches,
    is_skip,
    is_skip_error,
    marks_off,
    only_fails,
    swallows,
    target_names,
    without_message,
)
from invertgate.lanes.styles import of_call, raises

Guards = tuple[ast.expr, ...]
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Where:
    """When a statement runs."""

    guards: Guards = ()
    """Conditions under which it does."""
    axes: tuple[Axis, ...] = ()
    """Written lists that it is repeated for."""

    def under(self, *guards: ast.expr) -> "Where":
        """Add conditions; one that always holds is none."""
        return Where((*self.guards, *(one for one in guards if not truth(one))), self.axes)

    def over(self, axis: Axis) -> "Where":
        """Add a list."""
        return Where(self.guards, (*self.axes, axis))


@dataclass(frozen=True, slots=True)
class Found:
    """An assertion in its normal form."""

    test: ast.expr
    line: int
    where: Where
    call: ast.Call | None = None
    """What may turn out to be a call of a helper, whose own assertions then count instead."""


@dataclass(frozen=True, slots=True)
class Called:
    """A call that may lead to assertions."""

    call: ast.Call
    where: Where


@dataclass(slots=True)
class Live:
    """What a function asserts, and calls."""

    found: list[Found] = field(default_factory=list)
    called: list[Called] = field(default_factory=list)


class _End(Enum):
    """How a block of statements ends."""

    OPEN = auto()
    QUIET = auto()
    """The test is over, and green or skipped."""
    LOUD = auto()
    """The test fails."""


@dataclass(frozen=True, slots=True)
class _Block:
    end: _End = _End.OPEN
    leaves: Guards = ()
    """Conditions under which something in it has ended the test quietly."""


def live(function: Function | ast.Module, values: Values) -> Live:
    """Collect what a function asserts.

    Args:
        function: Or a module, whose functions and classes are left out.
        values: What names stand for.
    """
    walk = _Walk(function, values)
    walk.block(function.body, Where())
    return walk.live


class _Walk:
    def __init__(self, function: Function | ast.Module, values: Values) -> None:
        self.live = Live()
        self._values = values
        self._in_module = isinstance(function, ast.Module)
        names = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
        self._used = {node.id for node in names if isinstance(node.ctx, ast.Load)}
        self._local = {node.id for node in names if not isinstance(node.ctx, ast.Load)}

    def block(self, body: Iterable[ast.stmt], where: Where) -> _Block:
        leaves: Guards = ()
        for statement in body:
            done = self._statement(statement, where.under(*map(negated, leaves)))
            if done.end is not _End.OPEN:
                return _Block(done.end, leaves)
            leaves += done.leaves
        return _Block(_End.OPEN, leaves)

    def _statement(self, statement: ast.stmt, where: Where) -> _Block:
        match statement:
            case ast.Assert(test=test):
                self._found(split(test), statement, where)
                self._calls(test, where)
            case ast.Expr(value=value):
                return self._expression(value, where)
            case ast.Return() | ast.Continue() | ast.Break() | ast.Raise():
                return self._leave(statement, where)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                used = statement.name in self._used or statement.decorator_list
                if used and not self._in_module:
                    self.block(statement.body, where)
            case ast.ClassDef():
                pass
            case _:
                return self._compound(statement, where)
        return _Block()

    def _compound(self, statement: ast.stmt, where: Where) -> _Block:
        match statement:
            case ast.If():
                return self._if(statement, where)
            case ast.For() | ast.AsyncFor():
                return self._for(statement, where)
            case ast.With() | ast.AsyncWith():
                return self._with(statement, where)
            case ast.Try() | ast.TryStar():
                return self._try(statement, where)
            case ast.While() | ast.Match():
                return self._branches(statement, where)
            case _:
                return self._plain(statement, where)

    def _leave(
        self, statement: ast.Return | ast.Continue | ast.Break | ast.Raise, where: Where
    ) -> _Block:
        match statement:
            case ast.Return(value=ast.expr() as value):
                done = self._expression(value, where)
                return _Block(_End.QUIET if done.end is _End.OPEN else done.end)
            case ast.Raise(exc=raised) if not is_skip_error(raised):
                self._found([named("fail", [])], statement, where)
                return _Block(_End.LOUD)
            case _:
                return _Block(_End.QUIET)

    def _plain(self, statement: ast.stmt, where: Where) -> _Block:
        leaves: Guards = ()
        for part in ast.iter_child_nodes(statement):
            if isinstance(part, ast.expr):
                leaves += self._expression(part, where, bare=False).leaves
        return _Block(_End.OPEN, leaves)

    def _expression(self, value: ast.expr, where: Where, *, bare: bool = True) -> _Block:
        """Look into an expression; ``bare`` where nothing is done with its value."""
        inner = value.value if isinstance(value, ast.Await) else value
        self._calls(value, where)
        if not isinstance(inner, ast.Call):
            return _Block()
        if marks_off(inner):
            return _Block(leaves=(named(f"not {ast.unparse(inner)}", []),))
        if expected := raises(inner, []):
            self._found([expected], value, where)
        return self._bare_call(inner, where) if bare else _Block()

    def _bare_call(self, call: ast.Call, where: Where) -> _Block:
        if is_skip(call, self._local):
            return _Block(_End.QUIET)
        if last_name(call.func) == "assume" and call.args:
            return _Block(leaves=(negated(call.args[0]),))
        if last_name(call.func) == "fail":
            self._found([named("fail", [])], call, where)
            return _Block(_End.LOUD)
        asserted = of_call(call)
        if asserted is not None:
            self._found(asserted, call, where, call)
        elif asserts(call):
            self._found([without_message(call)], call, where, call)
        return _Block()

    def _if(self, statement: ast.If, where: Where) -> _Block:
        test = statement.test
        decided = truth(test)
        if decided is not None:
            return self.block(statement.body if decided else statement.orelse, where)
        self._calls(test, where)
        if only_fails(statement.body):
            self._found(split(negated(test)), statement, where)
            return self.block(statement.orelse, where)
        body = self.block(statement.body, where.under(test))
        orelse = self.block(statement.orelse, where.under(negated(test)))
        if body.end is not _End.OPEN and orelse.end is not _End.OPEN:
            return _Block(_End.QUIET)
        return _Block(leaves=(*_under(test, body), *_under(negated(test), orelse)))

    def _for(self, statement: ast.For | ast.AsyncFor, where: Where) -> _Block:
        listed = elements(statement.iter, self._values)
        self._calls(statement.iter, where)
        names = target_names(statement.target)
        broken = any(isinstance(node, ast.Break) for node in ast.walk(statement))
        source = substituted(statement.iter, self._values)
        loop = named("each", [statement.target, source, ast.Constant(value=broken)])
        if listed is not None and names and not broken:
            inner = where.over(axis(names, statement.iter, self._values))
        else:
            inner = where.under(loop)
        done = self.block(statement.body, inner)
        after = self.block(statement.orelse, where)
        return _Block(after.end, (*_left(statement, done), *after.leaves))

    def _branches(self, statement: ast.While | ast.Match, where: Where) -> _Block:
        if isinstance(statement, ast.Match):
            for case in statement.cases:
                pattern = ast.Constant(value=ast.unparse(case.pattern))
                self.block(case.body, where.under(named("case", [statement.subject, pattern])))
            return _Block(leaves=_left(statement, _Block(_End.QUIET)))
        done = _Block()
        if truth(statement.test) is not False:
            done = self.block(statement.body, where.under(statement.test))
        after = self.block(statement.orelse, where)
        return _Block(after.end, (*_left(statement, done), *after.leaves))

    def _with(self, statement: ast.With | ast.AsyncWith, where: Where) -> _Block:
        inner = where
        run = [as_expression(one) for one in statement.body]
        fails_itself = any(isinstance(one, ast.Raise) for one in statement.body)
        expects = False
        for item in statement.items:
            opened = item.context_expr
            self._calls(opened, where)
            if not isinstance(opened, ast.Call):
                continue
            expected = raises(opened, run)
            expects |= expected is not None
            if expected and not fails_itself:
                self._found([expected], statement, where)
            elif not expected and asserts(opened):
                listed = ast.keyword("body", ast.List(run, ast.Load()))
                call = ast.Call(opened.func, opened.args, [*opened.keywords, listed])
                self._found([call], statement, where, opened)
            if (expected or last_name(opened.func) == "suppress") and any(
                map(catches, opened.args)
            ):
                inner = inner.under(named("not caught by", [opened]))
        done = self.block(statement.body, inner)
        return _Block(_End.OPEN, done.leaves) if expects else done

    def _try(self, statement: ast.Try | ast.TryStar, where: Where) -> _Block:
        if any(isinstance(one, ast.Return) for one in statement.finalbody):
            where = where.under(named("not left from finally", []))
        swallowed = any(map(swallows, statement.handlers))
        inside = where.under(named("not caught by except", [])) if swallowed else where
        body = self.block(statement.body, inside)
        orelse = self.block(statement.orelse, where)
        ends = [orelse.end if body.end is _End.OPEN else body.end]
        for handler in statement.handlers:
            kind = handler.type or ast.Name("BaseException", ast.Load())
            ends.append(self.block(handler.body, where.under(named("except", [kind]))).end)
        last = self.block(statement.finalbody, where)
        leaves = (*body.leaves, *orelse.leaves, *last.leaves)
        if _End.OPEN not in ends:
            return _Block(_End.QUIET, leaves)
        quiet = (named("ended in try", []),) if _End.QUIET in ends else ()
        return _Block(last.end, (*leaves, *quiet))

    def _found(
        self,
        tests: Iterable[ast.expr],
        at: ast.stmt | ast.expr,
        where: Where,
        call: ast.Call | None = None,
    ) -> None:
        self.live.found += [Found(test, at.lineno, where, call) for test in tests]

    def _calls(self, value: ast.expr, where: Where) -> None:
        self.live.called += [
            Called(node, where) for node in ast.walk(value) if isinstance(node, ast.Call)
        ]


def _under(test: ast.expr, block: _Block) -> Guards:
    ended = (test,) if block.end is _End.QUIET else ()
    return (*ended, *(ast.BoolOp(ast.And(), [test, leave]) for leave in block.leaves))


def _left(statement: ast.stmt, block: _Block) -> Guards:
    """Say under what condition a loop or a choice has ended the test."""
    quiet = block.leaves or block.end is _End.QUIET
    returns = any(isinstance(node, ast.Return) for node in ast.walk(statement))
    first = ast.unparse(statement).partition("\n")[0].rstrip(":")
    return (named(f"left from {first}", []),) if quiet and returns else ()
