"""Fuzzes LaTeX to trees with atheris: `python scripts/fuzz_formulas.py [CORPUS] -max_total_time=300`.

Any bytes must give a tree or a `FormulaError`; anything else is a crash that atheris saves. Half of the
inputs are plain text, half are made of LaTeX's own tokens, which reach much deeper. Install it with:
pip install atheris
"""

from __future__ import annotations

import sys

try:
    import atheris
except ImportError:
    sys.exit("atheris is not installed; install it with: pip install atheris")

with atheris.instrument_imports(include=["mathamr.formulas"]):
    from mathamr.formulas.latex.commands import COMMANDS
    from mathamr.formulas.latex.symbols import SYMBOLS
    from mathamr.formulas.notation import opt_from_string, slt_from_string, to_string
    from mathamr.formulas.parse import FormulaError, parse

PIECES = sorted({*SYMBOLS, *COMMANDS, *"{}[]()^_'&|<>,.!?%$#~ x12", "\\left", "\\right", "\\over", "\\choose", "\\\\",
                 "\\begin{matrix}", "\\end{matrix}", "\\begin{cases}", "\\end{cases}", "\\begin{array}{cc}", "\\end{array}",
                 "\\begin{align}", "\\end{align}", "\\def\\x#1{", "\\newcommand{\\x}[1]{", "\\x"})  # fmt: skip


def one_input(data: bytes) -> None:
    """Check that a formula gives a tree that can be written and read back, or a `FormulaError`."""
    provider = atheris.FuzzedDataProvider(data)
    if provider.ConsumeBool():
        latex = provider.ConsumeUnicode(4096)
    else:
        latex = "".join(
            PIECES[provider.ConsumeIntInRange(0, len(PIECES) - 1)]
            for _ in range(provider.ConsumeIntInRange(0, 200))
        )
    try:
        formula = parse(latex)
    except FormulaError:
        return
    if slt_from_string(to_string(formula.slt)) != formula.slt:
        raise AssertionError("the layout tree does not survive its notation")
    if opt_from_string(to_string(formula.opt)) != formula.opt:
        raise AssertionError("the operator tree does not survive its notation")
    formula.presentation_mathml()


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
