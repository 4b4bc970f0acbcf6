"""A hook of MkDocs: runs the notebooks of `examples/` and shows them in the site with their output."""

from __future__ import annotations

from base64 import b64encode
from html import escape
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "examples"


def on_files(files: Any, *, config: Any) -> Any:
    """Add a page for each notebook."""
    from mkdocs.structure.files import File

    for path in sorted(FOLDER.glob("*.ipynb")):
        files.append(File.generated(config, f"examples/{path.stem}.md", content=page(executed(path))))
    return files


def executed(path: Path) -> Any:
    """Return a notebook with the output of its cells."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    return notebook


def page(notebook: Any) -> str:
    """Return a notebook as Markdown: text, code, and what the code shows."""
    parts = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
        elif cell.cell_type == "code":
            parts.append(f"```python\n{cell.source}\n```")
            parts += [shown for output in cell.outputs if (shown := _shown(output))]
    return "\n\n".join(parts) + "\n"


def _shown(output: Any) -> str:
    """Return an output as a block of HTML: a table, a picture, or text; progress and warnings are left out."""
    if output.output_type == "stream":
        return _text(output.text) if output.name == "stdout" else ""
    data = output.get("data", {})
    if "image/svg+xml" in data:  # a file of its own: its styles must not reach other pictures of the page
        encoded = b64encode(data["image/svg+xml"].encode()).decode()
        return f'<img style="max-width:100%" src="data:image/svg+xml;base64,{encoded}" alt="">'
    if "text/html" in data:
        lines = (line for line in data["text/html"].splitlines() if line.strip())
        return '<div style="overflow-x:auto">' + "\n".join(lines) + "</div>"
    return _text(data["text/plain"]) if "text/plain" in data else ""


def _text(text: str) -> str:
    return f"<pre>{escape(text.rstrip())}</pre>"
