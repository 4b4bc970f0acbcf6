"""How long the texts are: `python scripts/count_words.py` prints words and lines of what people write, by kind."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[1]
GENERATED = "written by scripts/generate_pages.py"
KINDS = {
    "user docs": ("README.md", "docs/*.md", "packages/*/README.md"),
    "laboratory notes": ("lab/notes/*.md",),
    "code of the product": ("src/**/*.py",),
    "code of the laboratory": ("lab/src/**/*.py",),
    "tests": ("tests/**/*.py",),
}


def main() -> None:
    """Print a line for each kind: words, lines and files; pages that the code writes are counted by themselves."""
    generated: list[str] = []
    for kind, patterns in KINDS.items():
        texts = [file.read_text("utf-8") for pattern in patterns for file in ROOT.glob(pattern)]
        generated += [text for text in texts if GENERATED in text and kind == "user docs"]
        _print(kind, [text for text in texts if text not in generated])
    _print("generated docs", generated)


def _print(kind: str, texts: list[str]) -> None:
    words = sum(len(text.split()) for text in texts)
    lines = sum(text.count("\n") for text in texts)
    print(f"{kind:24}{words:>9,} words {lines:>8,} lines {len(texts):>5} files")


if __name__ == "__main__":
    main()
