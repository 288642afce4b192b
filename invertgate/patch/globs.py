"""Match paths against globs as gitignore reads them: whole segments, ``**`` for any depth."""

import re
from collections.abc import Iterable
from functools import lru_cache


def first_match(path: str, globs: Iterable[str]) -> str | None:
    """Give the first glob that matches a path, or a folder that it lies in.

    Args:
        path: Relative to the top of the repository, with slashes.
        globs: Without a slash, or with one only at the end, a glob matches at any depth
            (``build/``); with one elsewhere it starts at the top (``src/*_pb2.py``).
    """
    return next((glob for glob in globs if _compiled(glob).fullmatch(path)), None)


@lru_cache(maxsize=1024)
def _compiled(glob: str) -> re.Pattern[str]:
    folder_only = glob.endswith("/")
    body = glob.strip("/")
    floating = "/" not in glob.removesuffix("/")
    start = "(?:.*/)?" if floating else ""
    end = "/.*" if folder_only else "(?:/.*)?"
    return re.compile(start + "".join(_translated(body)) + end, re.DOTALL)


_TOKENS = re.compile(r"(?P<any_depth>(?:(?<=/)|^)\*\*/)|(?P<below>(?:(?<=/)|^)\*\*$)"
                     r"|(?P<star>\*+)|(?P<one>\?)|\[(?P<not>!?)(?P<set>\]?[^\]]*)\]|(?P<text>.)",
                     re.DOTALL)  # fmt: skip


def _translated(glob: str) -> Iterable[str]:
    for token in _TOKENS.finditer(glob):
        match token.lastgroup:
            case "any_depth":
                yield "(?:.*/)?"
            case "below":
                yield ".+"
            case "star":
                yield "[^/]*"
            case "one":
                yield "[^/]"
            case "set":
                members = re.sub(r"([\\\[&~|^])", r"\\\1", token["set"])
                yield f"(?!/)[{'^' if token['not'] else ''}{members}]"
            case _:
                yield re.escape(token[0])
