"""An option that would have no effect is refused, with a sentence that says why; ruff's ARG finds options that nobody reads."""

from __future__ import annotations

from typer.testing import CliRunner

from mathamr.cli import app
from tests.cases import cases


@cases(
    ("words", "said"),
    [
        ("index --check x --watch", "--check reads no input"),
        ("index --check x --without y", "--check reads no input"),
        ("index --check --out x --ray local", "leave --ray out"),
        ("index x --no-repair", "--no-repair belongs to --check"),
        ("open x y --print --editor vi", "--print opens no editor"),
        ("graph . --workers 2", "--workers acts on a store"),
        ("graph . --structure global", "--structure and --auxiliary act on a store or a picture"),
        ("graph . --linear --mode slt", "leave --mode out"),
        ("graph . --post 1 --limit 3", "--post and --limit exclude each other"),
        ("run . --task answers --topics . --out x --rerank . --approximate", "--approximate has no effect"),
        ("formula x --jsonl", "--jsonl reads standard input"),
        ("formula --jsonl --svg x", "--jsonl reads standard input"),
        ("amr --alignments --jsonl", "--alignments marks words in Penman text"),
        ("amr --alignments --svg x", "--alignments marks words in Penman text"),
        (
            "evaluate --qrels . --run mine.run --posts .",
            "--topics and --posts have an effect only on baselines",
        ),
        ("evaluate --qrels . --run mine.run --strata formulas", "give --topics as well"),
        ("evaluate --qrels . --run mine.run --html x", "--html writes what --show shows"),
    ],
)
def test_an_option_without_effect_is_refused(words: str, said: str) -> None:
    result = CliRunner().invoke(app, words.split(), terminal_width=300)
    assert result.exit_code == 2
    assert said in " ".join(result.output.replace("│", " ").split())
