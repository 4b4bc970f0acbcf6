"""reStructuredText with dollars, which are formulas where the project's settings name the extension."""

from __future__ import annotations

from pathlib import Path

import pytest

from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report

TEXT = r"""
About $\sigma$-algebras
=======================

Let $x_1 \le \alpha^2$ and $f(n) = 0 \text{ if $n$ is prime}$; it costs \$5, or $5 and $6.

$$\int_0^1 x\,dx$$

``$literal$`` and \*escaped\*, wrapped $a +
b$ over lines, :math:`c`.

.. code::

   $ ls $x$
"""


def _read(folder: Path, settings: str | None) -> Post:
    (folder / "deep").mkdir()
    (folder / "deep" / "a.rst").write_text(TEXT, encoding="utf-8")
    if settings is not None:
        (folder / "conf.py").write_text(settings, encoding="utf-8")
    (post,) = read_posts(folder, Report())
    return post


def test_dollars_are_formulas_with_the_extension(tmp_path: Path) -> None:
    post = _read(tmp_path, 'extensions = ["sphinx.ext.autodoc", "sphinx_math_dollar"]\n')
    assert post.title == r"About $\sigma$-algebras"
    assert [(formula.latex, formula.display) for formula in post.formulas] == [
        (r"\sigma", False),
        (r"x_1 \le \alpha^2", False),
        (r"f(n) = 0 \text{ if $n$ is prime}", False),
        (r"\int_0^1 x\,dx", True),
        ("a +\nb", False),
        ("c", False),
    ]
    assert r"costs \$5, or \$5 and \$6." in post.body
    assert "*escaped*" in post.body
    assert "<code>$literal$</code>" in post.body


@pytest.mark.parametrize("settings", [None, 'extensions = ["sphinx.ext.mathjax"]\n'])
def test_dollars_are_text_without_the_extension(tmp_path: Path, settings: str | None) -> None:
    formulas = _read(tmp_path, settings).formulas
    assert [formula.latex for formula in formulas if formula.id != "deep/a.rst:0"] == ["c"]
