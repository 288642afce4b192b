"""A repository of tests whose verdicts are known by construction, and what was made of them."""

import json
import math
import random
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from string import Template
from typing import Any, Final

from _decisions import Decision, decision
from _kinds import AFTER, BEFORE, HEAD, KINDS, Kind

FEW: Final = 5
"""A kind that costs seconds has the fifth part of the instances."""
DOUBTFUL: Final = 0.001
"""A measured rate above the bound that is less likely than this is taken for more than chance."""
HEADINGS: Final = (
    "kind",
    "right",
    "rows",
    "right verdicts",
    "false bound",
    "other errors",
    "bound",
)


@dataclass(frozen=True, slots=True)
class Truth:
    """One row, and what is true of it."""

    kind: Kind
    decision: Decision
    test: str
    """The text of the test."""
    claim: str
    """The nodeid that the row names."""

    @property
    def path(self) -> str:
        """Name the file of the decision."""
        return f"steps/{self.kind.file}.py"


@dataclass(frozen=True, slots=True)
class Tally:
    """What the gate said of the rows of one kind."""

    kind: Kind
    verdicts: Counter[str]

    @property
    def rows(self) -> int:
        """Count the rows."""
        return self.verdicts.total()

    @property
    def right(self) -> int:
        """Count those that got a true verdict."""
        return sum(self.verdicts[verdict] for verdict in self.kind.right)

    @property
    def false_bound(self) -> int:
        """Count those that are called bound and are not."""
        return 0 if "bound" in self.kind.right else self.verdicts["bound"]

    @property
    def other_errors(self) -> int:
        """Count the other wrong verdicts."""
        return self.rows - self.right - self.false_bound

    @property
    def allowed(self) -> float:
        """Return how often a test of this kind may be called bound by chance, at two pairs."""
        return (self.kind.chance * (1 - self.kind.chance)) ** 2

    @property
    def is_clean(self) -> bool:
        """Tell whether no verdict is wrong, or by no more than the chance that is admitted to."""
        likely = at_least(self.false_bound, self.rows, self.allowed) >= DOUBTFUL
        return likely and not self.other_errors


def truths(instances: int, flaky: int, seed: int) -> list[Truth]:
    """Make rows of every kind.

    Args:
        instances: How many of each kind that is decided.
        flaky: How many of each kind that is left to chance.
        seed: Chooses their shapes.
    """
    chance = random.Random(seed)  # noqa: S311  no secret
    made: list[Truth] = []
    for kind in KINDS:
        number = flaky if kind.chance else instances
        number = max(2, number // FEW if kind.slow else number)
        numbers = range(len(made), len(made) + number)
        for n in numbers:
            following = n + 1 if n + 1 in numbers else numbers[0]
            made.append(_truth(kind, decision(n, chance), n, following))
    return made


def files_of(made: Sequence[Truth]) -> dict[str, str]:
    """Write the sources, the tests and the table."""
    files: dict[str, str] = {}
    for file in dict.fromkeys(truth.kind.file for truth in made):
        rows = [truth for truth in made if truth.kind.file == file]
        files[f"steps/{file}.py"] = "\n".join(truth.decision.source for truth in rows)
        head = Template(HEAD).substitute(file=file) + BEFORE.get(file, "")
        files[f"tests/test_{file}.py"] = "\n".join(
            [head, *(truth.test for truth in rows), AFTER.get(file, "")]
        )
    files["branch_rows.json"] = json.dumps([_row(truth) for truth in made], indent=1)
    return files


def tallies(made: Iterable[Truth], report: Mapping[str, Any]) -> list[Tally]:
    """Count what a report says of each kind."""
    said = {(row["path"], row["id"]): said_of(row) for row in report["rows"]}
    counts: dict[Kind, Counter[str]] = {}
    for truth in made:
        counts.setdefault(truth.kind, Counter())[
            said.get((truth.path, truth.decision.id), "no row")
        ] += 1
    return [Tally(kind, verdicts) for kind, verdicts in counts.items()]


def said_of(row: Mapping[str, Any]) -> str:
    """Return the verdict; a file that cannot be collected is our own mistake."""
    return "not collected" if "collection error" in row["reason"] else str(row["verdict"])


def joined(parts: Iterable[Sequence[Tally]]) -> list[Tally]:
    """Add up what several runs said."""
    counts: dict[Kind, Counter[str]] = {}
    for tally in (tally for part in parts for tally in part):
        counts.setdefault(tally.kind, Counter()).update(tally.verdicts)
    return [Tally(kind, verdicts) for kind, verdicts in counts.items()]


def at_least(hits: int, tries: int, chance: float) -> float:
    """Return how likely so many hits or more are."""
    return 1 - sum(
        math.comb(tries, k) * chance**k * (1 - chance) ** (tries - k) for k in range(hits)
    )


def markdown(counted: Sequence[Tally]) -> str:
    """Show what was counted as a table."""
    rows = [HEADINGS, ("---", "---", *["---:"] * (len(HEADINGS) - 2)), *map(_cells, counted)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def summary(counted: Sequence[Tally]) -> str:
    """Say all of it in one sentence."""
    decided = [tally for tally in counted if not tally.kind.chance]
    rows = sum(tally.rows for tally in decided)
    wrong = sum(tally.rows - tally.right for tally in decided)
    false = sum(tally.false_bound for tally in decided)
    flaky = [tally for tally in counted if tally.kind.chance]
    return (
        f"decided tests: {rows} rows, {wrong} wrong verdicts, {false} of them bound; "
        f"flaky tests: {sum(tally.rows for tally in flaky)} rows, "
        f"{sum(tally.false_bound for tally in flaky)} bound by chance, "
        f"{sum(tally.other_errors for tally in flaky)} other errors"
    )


def _cells(tally: Tally) -> tuple[str, ...]:
    rate = ""
    if tally.kind.chance and "bound" not in tally.kind.right:
        rate = f"{tally.false_bound / tally.rows:.1%} (at most {tally.allowed:.1%})"
    return (
        tally.kind.name,
        ", ".join(tally.kind.right),
        str(tally.rows),
        str(tally.right),
        str(tally.false_bound),
        str(tally.other_errors),
        rate,
    )


def _truth(kind: Kind, row: Decision, number: int, following: int) -> Truth:
    variant = kind.variants[number % len(kind.variants)]
    test = Template(variant.test).substitute(
        n=number,
        taking=row.taking,
        gives=row.gives,
        avoiding=row.avoiding,
        otherwise=row.otherwise,
    )
    claim = Template(variant.claim).substitute(n=number, next=following)
    whole = claim if claim.startswith("tests/") else f"tests/test_{kind.file}.py::{claim}"
    return Truth(kind, row, test, whole)


def _row(truth: Truth) -> dict[str, str]:
    row = truth.decision
    fields = {"id": row.id, "path": truth.path, "kind": row.kind, "predicate": row.predicate}
    return {**fields, "side": row.side, "test": truth.claim}


if __name__ == "__main__":
    sys.exit("this is a part of truth.py")
