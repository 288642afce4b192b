"""SARIF 2.1.0, for code scanning."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote

from invertgate.model import NotParsed, Verdict
from invertgate.report.document import Report, ReportRow
from invertgate.report.findings import headline, level_of, lines_of, reason, story, trouble
from invertgate.report.regions import Region, region
from invertgate.report.words import MEANINGS, NEXT_STEPS, ending_in_words, visible

VERSION: Final = "2.1.0"
SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"

NOT_PARSED: Final = "not_parsed"
RULES: Final = (
    *(verdict for verdict in Verdict if level_of(verdict) is not None),
    Verdict.WAIVED,
    NOT_PARSED,
)
"""Ids of all rules: each verdict that makes a result, and files that are no Python."""

Json = Mapping[str, object]


def render(report: Report) -> str:
    """Return a report as SARIF 2.1.0 (OASIS).

    A result is a row that does not let the patch pass, or that a waiver lets pass: then it carries
    the rule of what it would be without and a suppression. A patch that passes has an empty list.
    Regions are one line long and count Unicode code points. ``primaryLocationLineHash`` is made of
    the row's id, which does not depend on lines, so that code scanning knows a finding again.
    """
    results = [_unread(unread) for unread in report.not_parsed]
    results += [
        _result(row)
        for row in report.rows
        if level_of(row.verdict) is not None or row.verdict is Verdict.WAIVED
    ]
    run = {
        "tool": {"driver": _driver(report)},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"%SRCROOT%": {"description": {"text": "Top of the repository."}}},
        "invocations": [_invocation(report)],
        "results": results,
    }
    document = {"$schema": SCHEMA, "version": VERSION, "runs": [run]}
    return json.dumps(document, indent=2) + "\n"


def _driver(report: Report) -> Json:
    return {
        "name": "invertgate",
        "version": report.tool_version,
        "semanticVersion": report.tool_version,
        "rules": [_rule(rule) for rule in RULES],
    }


def _rule(rule: str) -> Json:
    if rule == NOT_PARSED:
        meaning = "a changed file is no Python"
        cure = "mend the file or exclude it: none of its outcomes was judged"
        level = "error"
    else:
        verdict = Verdict(rule)
        meaning = MEANINGS[verdict]
        cure = NEXT_STEPS.get(verdict, "nothing has to be done until the waiver expires")
        level = level_of(verdict) or "note"
    return {
        "id": rule,
        "name": "".join(part.title() for part in ("invertgate", *rule.split("_"))),
        "shortDescription": {"text": _sentence(meaning)},
        "fullDescription": {"text": f"{_sentence(meaning)} {_sentence(cure)}"},
        "help": {"text": _sentence(cure)},
        "defaultConfiguration": {"level": level},
    }


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _invocation(report: Report) -> Json:
    problem = trouble(report)
    told = [problem] if problem else []
    told += [f"{visible(one.path)} does not parse" for one in report.not_parsed]
    started = _utc(report.started)
    return {
        "executionSuccessful": not told,
        "exitCode": int(report.exit_code),
        "exitCodeDescription": ending_in_words(report.exit_code),
        "commandLine": visible(report.command),
        **({"startTimeUtc": started} if started else {}),
        "toolExecutionNotifications": [
            {"level": "error", "message": {"text": text}} for text in told
        ],
    }


def _utc(moment: str) -> str:
    try:
        when = datetime.fromisoformat(moment)
    except ValueError:
        return ""
    return when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if when.tzinfo else ""


def _result(row: ReportRow) -> Json:
    rule = row.beneath if row.beneath in RULES else row.verdict or Verdict.UNPROVEN
    level = level_of(rule) or "note"
    scope = {"logicalLocations": [{"fullyQualifiedName": visible(row.scope)}]} if row.scope else {}
    made: dict[str, object] = {
        "ruleId": rule.value,
        "ruleIndex": RULES.index(rule),
        "level": level,
        "message": {"text": "\n".join([headline(row), *story(row)])},
        "locations": [{"physicalLocation": _place(row), **scope}],
        "partialFingerprints": {"primaryLocationLineHash": f"{row.id}:1"},
        "properties": _properties(row),
    }
    if row.verdict is Verdict.WAIVED:
        made["suppressions"] = [_suppression(row)]
    return made


def _properties(row: ReportRow) -> Json:
    return {
        "row": visible(row.name),
        "verdict": row.verdict,
        "kind": row.kind,
        "side": row.side,
        "predicate": visible(row.predicate),
        "test": visible(row.test),
    }


def _suppression(row: ReportRow) -> Json:
    return {"kind": "external", "status": "accepted", "justification": visible(reason(row))}


def _place(row: ReportRow) -> Json:
    where = region(row) or Region(1)  # code scanning wants a line of what is gone, too
    part: dict[str, object] = {"startLine": where.line}
    if where.start is not None and where.end is not None:
        # a region's last column is the one after its end, and columns count from 1
        part |= {"endLine": where.line, "startColumn": where.start + 1, "endColumn": where.end + 1}
    return {"artifactLocation": _artifact(row.path), "region": part}


def _artifact(path: str) -> Json:
    try:
        uri = quote(path, errors="surrogateescape")  # names that are not UTF-8 get their own bytes
    except UnicodeEncodeError:
        uri = quote(path, errors="surrogatepass")
    return {"uri": uri, "uriBaseId": "%SRCROOT%"}


def _unread(unread: NotParsed) -> Json:
    return {
        "ruleId": NOT_PARSED,
        "ruleIndex": RULES.index(NOT_PARSED),
        "level": "error",
        "message": {"text": f"not parsed: {lines_of(unread.message)}"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": _artifact(unread.path),
                    "region": {"startLine": max(1, unread.line)},
                }
            }
        ],
    }
