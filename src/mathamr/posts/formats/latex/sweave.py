r"""Sweave and knitr: LaTeX with chunks of R between `<<options>>=` and `@`, as LaTeX of the same lines."""

from __future__ import annotations

import re

_OPENS = re.compile(r"<<(.*)>>=")
_CLOSES = re.compile(r"@(?:[ \t].*)?")
_NOT_SHOWN = re.compile(r"\b(?:echo|include)\s*=\s*F(?:ALSE)?\b")
_EXPRESSION = re.compile(r"\\Sexpr\{(?:[^{}\n]|\{[^{}\n]*\})*\}")


def as_latex(text: str) -> str:
    r"""Return the document with its chunks as verbatim text; a chunk that a reader does not see is a comment.

    The value of `\Sexpr{…}` is not known before R has run, so dots stand for it.

    >>> as_latex("Let\n<<>>=\nx <- 2\n@\nbe $p = \\Sexpr{x}$.")
    'Let\n\\begin{verbatim}\nx <- 2\n\\end{verbatim}\nbe $p = \\ldots{}$.'
    >>> as_latex("Let\n<<plot, echo=FALSE>>=\nplot(x)\n@\nbe.")
    'Let\n%\n%\n%\nbe.'
    """
    lines: list[str] = []
    chunk = ""
    for line in text.split("\n"):
        bare = line.rstrip("\r")
        if not chunk and (opening := _OPENS.fullmatch(bare.rstrip())):
            chunk = "hidden" if _NOT_SHOWN.search(opening[1]) else "shown"
            lines.append("%" if chunk == "hidden" else "\\begin{verbatim}")
        elif chunk and _CLOSES.fullmatch(bare):
            lines.append("%" if chunk == "hidden" else "\\end{verbatim}")
            chunk = ""
        elif chunk:
            lines.append("%" if chunk == "hidden" else line)
        else:
            lines.append(_EXPRESSION.sub(r"\\ldots{}", line).replace("\\SweaveInput{", "\\input{"))
    if chunk == "shown":
        lines.append("\\end{verbatim}")
    return "\n".join(lines)
