"""Draws formulas as the page does, beside KaTeX, as pictures for visual inspection.

    npm install --prefix /tmp/katex katex
    python scripts/formula_pictures.py --katex /tmp/katex/node_modules/katex --out docs/images/formulas.png

Chromium and playwright must be installed. Without `--katex` only our side is drawn.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from html import escape
from pathlib import Path

from mathamr.formulas.latex.display.formula import display_mathml
from mathamr.formulas.mathml.styles import style_sheet

FOLDER = Path(__file__).resolve().parent.parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")

FORMULAS = {
    "letters and spaces": [
        r"\Gamma(n+1)=n!,\ \Delta x\to 0,\ \Omega\subset\mathbb{R}^n",
        r"\mathrm{d}x,\ \mathrm{Hom}(A,B),\ \mathbf{v}\cdot\boldsymbol{\alpha},\ \mathcal{L}\,\mathfrak{g}\,\mathscr{F}",
        r"a/b + x^{1/2} - 3/4",
        r"-x,\ a=-b,\ (-1)^n,\ x^{-1},\ 2\cdot(-3)",
        r"a\,b\:c\;d\ e\quad f\!g",
        r"|x|\le\|y\|,\ \{x\mid x>0\},\ f\colon A\to B",
        r"\sin^2\theta+\cos 2x=\log|x|+\ln x",
        r"f'(x)+g''-h'^2+y'_0",
        r"1{,}000.5+3.14\times10^{-3}",
        r"a\equiv b\pmod{n},\ a\bmod b,\ a\mod c",
        r"x\in A\setminus B,\ \neg p\lor q\implies r,\ \forall\varepsilon>0\,\exists\delta",
        r"a_1,\dots,a_n;\ x_1+\cdots+x_n;\ \ldots",
        r"\not\in,\ \not\equiv,\ \not\subset,\ \ne,\ \nleq",
        r"\text{if } n \text{ is odd and } \textbf{bold}, \textit{italic}",
        r"\hbar,\ell,\partial_t u,\nabla\times F,\aleph_0,\infty,\emptyset,\varnothing",
    ],
    "fractions and roots": [
        r"\frac{a+b}{c}+\tfrac12\dfrac{x}{y}-\frac{\frac12}{x}",
        r"\cfrac{1}{1+\cfrac{1}{1+\cfrac{1}{x}}}",
        r"\binom{n}{k}+{n\choose k}+\tbinom nk",
        r"\sqrt{x^2+y^2},\ \sqrt[3]{\frac{a}{b}}",
        r"x^{\frac12}+e^{-\frac{x^2}{2}}+2^{2^{2^x}}",
        r"\textstyle\sum_{i=1}^n\frac1i\quad\displaystyle\sum_{i=1}^n\frac1i",
        r"{a\over b}+{x\atop y}",
    ],
    "operators": [
        r"\sum_{n=1}^\infty\frac{1}{n^2}=\frac{\pi^2}{6}",
        r"\int_0^\infty e^{-x^2}\,dx=\frac{\sqrt\pi}{2}",
        r"\lim_{x\to0}\frac{\sin x}{x}=1,\ \max_{i\in I}x_i,\ \operatorname*{arg\,max}_x f",
        r"\iint_D f\,dA,\ \oint_\gamma f(z)\,dz,\ \int\limits_a^b",
        r"\prod_{p}\frac{1}{1-p^{-s}},\ \bigcup_{i=1}^n A_i,\ \bigoplus_k V_k",
        r"\sum_{\substack{0\le i\le m\\ 0<j<n}}P(i,j)",
        r"\operatorname{tr}(AB)=\operatorname{rank}A,\ \limsup_{n\to\infty}a_n",
        r"\sideset{_a^b}{_c^d}\sum_{i=1}^n,\ {}^{14}_{6}\mathrm{C},\ {}_2F_1",
    ],
    "delimiters": [
        r"\left(\frac{a}{b}\right)^2+\left[\sum_i x_i\right]",
        r"\bigl(\Bigl(\biggl(\Biggl(x\Biggr)\biggr)\Bigr)\bigr)",
        r"\left\{x\,\middle|\,\frac{x}{2}\in\mathbb{Z}\right\}",
        r"\left.\frac{dy}{dx}\right|_{x=0},\ \Big|_0^1",
        r"\lfloor x\rfloor,\lceil x\rceil,\langle u,v\rangle,\left\langle\frac ab\right\rangle",
        r"(\frac{a}{b}),\ |\frac{a}{b}|,\ (x^2)^3",
    ],
    "accents and lines": [
        r"\overline{AB}+\overline{z+w},\ \bar{x},\ \underline{abc}",
        r"\hat{x},\widehat{ABC},\tilde{x},\widetilde{xyz},\vec{v},\dot{x},\ddot{x}",
        r"\overrightarrow{AB},\ \overbrace{a+\cdots+z}^{26},\ \underbrace{1+1}_{n}",
        r"\cancel{x+y},\ \bcancel{a},\ \xcancel{abc},\ \boxed{E=mc^2}",
        r"\overset{?}{=},\ \underset{x\to0}{\lim},\ \stackrel{\text{def}}{=},\ \underset{x}{\operatorname{argmin}}",
        r"A\xrightarrow{f}B\xrightarrow[\text{below}]{\text{a long label}}C\xleftarrow{}D",
        r"\overline{\overline{X}\cup Y},\ \overline{x}^2,\ \overline{\frac{a}{b}}",
    ],
    "tables": [
        r"\begin{pmatrix}a&b\\c&d\end{pmatrix}\begin{bmatrix}1&-20\\300&4\end{bmatrix}\begin{vmatrix}x&y\\z&w\end{vmatrix}",
        r"\begin{pmatrix}1&\cdots&n\\\vdots&\ddots&\vdots\\n&\cdots&1\end{pmatrix}",
        r"f(x)=\begin{cases}x^2&\text{if }x>0\\0&\text{otherwise}\end{cases}",
        r"\begin{aligned}(a+b)^2&=a^2+2ab+b^2\\c&=\frac{d}{e}\\&<f\end{aligned}",
        r"\begin{array}{l|rc}x&100&a\\\hline xyz&1&bbb\\x&-10&c\end{array}",
        r"\left[\begin{array}{cc|c}1&2&3\\4&5&6\end{array}\right]",
        r"\begin{array}{|c|c|}\hline a&b\\\hline c&d\\\hline\end{array}",
        r"\begin{gathered}a=b\\x+y+z=1\end{gathered}",
        r"\begin{alignedat}{2}x+&y&&=1\\10x-&2y&&=20\end{alignedat}",
        r"\bigl(\begin{smallmatrix}a&b\\c&d\end{smallmatrix}\bigr)",
        r"x+y=1\tag{3.1}",
        r"a=b\\c=d+e",
        r"\begin{align}a&=b&c&=d\\aa&=bb&cc&=dd\end{align}",
        r"\begin{rcases}a\\b\end{rcases}\Rightarrow c",
    ],
    "boxes and colours": [
        r"\color{red}x+\color{blue}y=\textcolor{green}{z}+\colorbox{yellow}{w}",
        r"a\phantom{xyz}b\hphantom{xy}c,\ x^{\vphantom{A^A}}",
        r"\sum_{\mathclap{1\le i\le j\le n}}x_{ij}",
        r"a\hspace{1em}b\kern2em c\mathrel{R}d\mathbin{\#}e",
        r"\sqrt{\smash[b]{y}}+\raisebox{2pt}{up}",
    ],
    "whole formulas": [
        r"x=\frac{-b\pm\sqrt{b^2-4ac}}{2a}",
        r"f(x)=\frac{1}{\sigma\sqrt{2\pi}}e^{-\frac12\left(\frac{x-\mu}{\sigma}\right)^2}",
        r"\zeta(s)=\sum_{n=1}^\infty\frac1{n^s}=\prod_p\frac1{1-p^{-s}}",
        r"\frac{\partial^2u}{\partial t^2}=c^2\nabla^2u",
        r"\mathbb{P}(X>t\mid Y)\le\frac{\mathbb{E}[X^2]}{t^2}",
        r"0\to A\xrightarrow{\alpha}B\xrightarrow{\beta}C\to0",
        r"\forall x\in\mathbb{R}\colon\quad x^2\ge0",
        r"\int_{-\infty}^{\infty}\left|\hat f(\xi)\right|^2d\xi=\|f\|_2^2",
    ],
}  # fmt: skip
"""Our own formulas, grouped by what can go wrong with them."""

STYLE = """
body { font: 15px/1.5 sans-serif; margin: 10px; width: WIDTHpx; }
.columns { columns: COLUMNS; column-gap: 18px; }
h2 { font-size: 13px; margin: 6px 0 2px; color: #555; }
.pair { display: grid; grid-template-columns: 1fr 1fr; border-bottom: 1px solid #ddd; align-items: center; break-inside: avoid; }
.pair > div { padding: 2px 6px; font-size: 15px; overflow: hidden; }
.pair > div + div { border-left: 1px solid #ddd; }
div.theirs .katex { font-size: 1.08em; } .katex-display { margin: 0; } math[display=block] { margin: 0; }
.alone { grid-template-columns: 1fr; }
"""


def page_of(katex: Path | None, names: list[str], width: int, columns: int) -> str:
    """Return the HTML page with all formulas."""
    page_css = FOLDER / "src" / "mathamr" / "serve" / "page"
    lines = (page_css / "base.css").read_text(encoding="utf-8").splitlines()
    own = "\n".join(line for line in lines if line.startswith("math "))
    style = STYLE.replace("WIDTH", str(width)).replace("COLUMNS", str(columns))
    parts = ["<!doctype html><meta charset=utf-8>", f"<style>{style}{own}\n{style_sheet()}</style>"]
    if katex is not None:
        parts.append(f'<link rel=stylesheet href="{(katex / "dist/katex.min.css").as_uri()}">')
        parts.append(f'<script src="{(katex / "dist/katex.min.js").as_uri()}"></script>')
    parts.append("<div class=columns>")
    for name in names:
        parts.append(f"<h2>{escape(name)}: ours{' and KaTeX' if katex else ''}</h2>")
        for latex in FORMULAS[name]:
            drawn = display_mathml(latex, display=True, styling="classes")
            theirs = f'<div class=theirs data-latex="{escape(latex)}"></div>' if katex else ""
            parts.append(f'<div class="pair{"" if katex else " alone"}"><div>{drawn}</div>{theirs}</div>')
    parts.append("</div>")
    if katex is not None:
        parts.append(
            "<script>for (const place of document.querySelectorAll('.theirs'))"
            " katex.render(place.dataset.latex, place, {displayMode: true, throwOnError: false, strict: false});</script>"
        )
    return "".join(parts)


def main() -> None:
    """Write one picture of all formulas, or one per chapter."""
    parser = argparse.ArgumentParser(description="Draw formulas beside KaTeX.")
    parser.add_argument("--katex", type=Path, help="folder of the npm package katex")
    parser.add_argument("--out", type=Path, required=True, help="the picture, or a folder for one a chapter")
    parser.add_argument("--width", type=int, default=1500)
    parser.add_argument("--columns", type=int, default=2)
    parser.add_argument("--scale", type=float, default=1.0)
    given = parser.parse_args()
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        sys.exit("no Chromium on this machine: see scripts/setup_browser.sh")
    from PIL import Image
    from playwright.sync_api import sync_playwright

    whole = given.out.suffix == ".png"
    pictures = (
        {given.out: list(FORMULAS)}
        if whole
        else {given.out / f"{name.replace(' ', '-')}.png": [name] for name in FORMULAS}
    )
    with sync_playwright() as started:
        running = started.chromium.launch(executable_path=browser, args=["--headless=new", "--no-sandbox"])
        for target, names in pictures.items():
            target.parent.mkdir(parents=True, exist_ok=True)
            written = target.with_suffix(".html")
            written.write_text(page_of(given.katex, names, given.width, given.columns), encoding="utf-8")
            page = running.new_page(
                viewport={"width": given.width + 20, "height": 400}, device_scale_factor=given.scale
            )
            page.goto(written.resolve().as_uri())
            page.evaluate("document.fonts.ready.then(() => null)")
            page.screenshot(path=target, full_page=True)
            written.unlink()
            with Image.open(target) as drawn:
                drawn.convert("RGB").quantize(128, Image.Quantize.FASTOCTREE).save(target, optimize=True)
            print(f"{target}: {target.stat().st_size // 1000} kB", file=sys.stderr)
        running.close()


if __name__ == "__main__":
    main()
