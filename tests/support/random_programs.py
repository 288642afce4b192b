"""Random functions that can be run: what they meet is drawn from a tape, what they do is logged."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random

LIMIT = 120
"""Events after which a program is stopped."""


class Stop(BaseException):
    """The tape has come to its end."""


class One(Exception):  # noqa: N818 (it goes into the text of programs)
    """What a program raises."""


class Two(One):
    """A special case of it."""


class Three(Exception):  # noqa: N818
    """Another one."""


@dataclass(slots=True)
class Driver:
    """Decides by a tape and logs what it is asked."""

    tape: Random
    log: list[str] = field(default_factory=list)

    def note(self, event: str) -> None:
        """Log an event.

        Raises:
            Stop: There were too many.
        """
        self.log.append(event)
        if len(self.log) > LIMIT:
            raise Stop

    def test(self, number: int) -> bool:
        """Decide a test."""
        self.note(f"test {number}")
        return self.tape.random() < 0.5

    def value(self, number: int) -> object:
        """Return the subject of a ``match``."""
        self.note(f"value {number}")
        return self.tape.choice((1, 2, [1, 2], None))

    def items(self, number: int) -> Iterator[int]:
        """Return what a loop runs over."""
        self.note(f"items {number}")
        yield from range(self.tape.randrange(3))

    def type(self, number: int, expected: object) -> object:
        """Return what a handler expects."""
        self.note(f"type {number}")
        return expected

    def act(self, number: int) -> None:
        """Do something, which may fail."""
        self.note(f"act {number}")
        if self.tape.random() < 0.35:
            raise self.tape.choice((One, Two, Three))(number)


def program(random: Random) -> str:
    """Write a function ``f(d)`` full of decisions."""
    return "def f(d):\n" + _block(_Writer(random), 0, 1)


@dataclass(slots=True)
class _Writer:
    random: Random
    number: int = 0
    in_while: bool = False

    def next(self) -> int:
        self.number += 1
        return self.number

    def test(self) -> str:
        calls = [f"d.test({self.next()})" for _ in range(3)]
        forms = (
            "{0}", "not {0}", "({0})", "{0} and {1}", "{0} or {1}", "({0} or {1})", "a := {0}",
            "(\n  {0}\n  and {1} # )\n )", "{0} if {1} else {2}", "{0} \\\n   or {1}",
            "[b for b in (1, 2) if {0} or {1}]", "({0}) == ({1})", "(lambda: 0) and {0}",
        )  # fmt: skip
        return self.random.choice(forms).format(*calls)


def _block(writer: _Writer, depth: int, indent: int) -> str:
    count = writer.random.choice((1, 2, 2, 3))
    return "".join(_statement(writer, depth, indent) for _ in range(count))


def _statement(writer: _Writer, depth: int, indent: int) -> str:
    makers = (_if, _try, _try, _match, _loop) if depth < 2 else (_act,)
    make: Callable[[_Writer, int, int], str] = writer.random.choice((*makers, _act))
    return make(writer, depth, indent)


def _act(writer: _Writer, _: int, indent: int) -> str:
    return f"{' ' * indent}d.act({writer.next()})\n"


def _if(writer: _Writer, depth: int, indent: int) -> str:
    pad = " " * indent
    text = f"{pad}if {writer.test()}:\n" + _block(writer, depth + 1, indent + 1)
    if writer.random.random() < 0.4:
        text += f"{pad}elif {writer.test()}:\n" + _block(writer, depth + 1, indent + 1)
    return text + _else(writer, depth, indent)


def _else(writer: _Writer, depth: int, indent: int) -> str:
    if writer.random.random() < 0.5:
        return ""
    note = writer.random.choice(("", " " * indent + "# else:\n"))
    return f"{note}{' ' * indent}else:\n" + _block(writer, depth + 1, indent + 1)


def _try(writer: _Writer, depth: int, indent: int) -> str:
    pad, star = " " * indent, writer.random.random() < 0.3
    text = f"{pad}try:\n" + _block(writer, depth + 1, indent + 1)
    for _ in range(writer.random.choice((1, 2))):
        kind = writer.random.choice(("One", "Two", "(Two, Three)", "d.type({0}, One)"))
        kind = writer.random.choice(("{0}", "({0})", "{0} as e")).format(kind)
        kind = kind.format(writer.next())
        text += f"{pad}except{'*' if star else ''} {kind}:\n" + _block(
            writer, depth + 1, indent + 1
        )
    if not star and not writer.in_while and writer.random.random() < 0.3:
        text += f"{pad}except:\n" + _block(writer, depth + 1, indent + 1)
    text += _else(writer, depth, indent)
    if writer.random.random() < 0.4:
        text += f"{pad}finally:\n" + _block(writer, depth + 1, indent + 1)
    return text


def _match(writer: _Writer, depth: int, indent: int) -> str:
    pad = " " * indent
    text = f"{pad}match d.value({writer.next()}):\n"
    for _ in range(writer.random.choice((1, 2, 3))):
        pattern = writer.random.choice(("1", "[a, *_]", "1, 2", "(\n1 # :\n)", "2 | None"))
        guard = f" if {writer.test()}" if writer.random.random() < 0.4 else ""
        text += f"{pad} case {pattern}{guard}:\n" + _block(writer, depth + 1, indent + 2)
    return text


def _loop(writer: _Writer, depth: int, indent: int) -> str:
    pad = " " * indent
    if writer.random.random() < 0.5:
        head = f"{pad}for i in d.items({writer.next()}):\n"
        return head + _block(writer, depth + 1, indent + 1) + _else(writer, depth, indent)
    head = f"{pad}while {writer.test()}:\n"
    before, writer.in_while = writer.in_while, True
    body = _block(writer, depth + 1, indent + 1)
    writer.in_while = before
    return head + body + _else(writer, depth, indent)
