"""Files that no reader takes: their type, and advice for the user."""

from __future__ import annotations

from pathlib import Path

from mathamr.posts.inputs import bare_name

_ADVICE = {
    "pictures are not read": ".png .jpg .jpeg .gif .svg .bmp .tif .tiff .webp .eps .ico .heic",
    "save it as .docx, or export it to PDF": ".doc .odt .rtf .pages .wpd .fodt",
    "export it to PDF with its text, or to LaTeX": ".djvu .dvi .ps .xps",
    "export it to LaTeX": ".lyx .tm .mw .nb .wxmx .tex~",
    "export it to Markdown or HTML": ".one .enex .textile .wiki .creole .typ .t2t .pod .texi .man",
    "unpack it, and name the folder": ".zip .tar .tgz .rar .7z .jar .whl .deb",
    "read with the documents that use it": ".sty .cls .bst .def .cfg .clo .ldf",
    "code and data are not read; text in comments is read of Lean and Coq": ".py .c .h .cpp .js .ts .css .java .hs"
    " .ml .agda .thy .r .jl .m .sh .csv .tsv .xlsx .xls .json .yaml .yml .toml .xml .sql .db .npy .npz .pkl .lock",
    "slides: export them to PDF": ".ppt .pptx .odp .key",
    "sound and films are not read": ".mp3 .mp4 .avi .mov .wav .webm .ogg .mkv",
}
_ADVICE_BY_SUFFIX = {suffix: advice for advice, suffixes in _ADVICE.items() for suffix in suffixes.split()}


def file_type(path: Path) -> str:
    """Return the type of a file, for a summary: its suffix.

    >>> file_type(Path("a/Scan.PNG.gz")), file_type(Path("Makefile"))
    ('.png files', 'files without a suffix')
    """
    suffix = Path(bare_name(path)).suffix
    return f"{suffix[:20]} files" if suffix else "files without a suffix"


def advice_for(path: Path) -> str:
    """Return why a file is ignored, or how to make it readable."""
    return _ADVICE_BY_SUFFIX.get(
        Path(bare_name(path)).suffix, "no reader knows this type of file; name its format with --format"
    )
