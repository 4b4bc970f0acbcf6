"""Reading a dump: posts/s, MB/s and peak memory over 1 GB of Stack Exchange style XML, against bare lxml.

The dump is generated from our own words, in a temporary folder, and deleted afterwards. Each reader runs in a
separate process, so that its peak memory is its own; seconds are processor seconds, which other work on the
machine affects less than the clock. `MATHAMR_BENCH_MB` makes the dump smaller.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path

MEGABYTES = int(os.environ.get("MATHAMR_BENCH_MB", "1000"))
WORDS = re.findall(
    r"\w+",
    "let be a the of in we that is function sequence group ring limit proof matrix continuous bounded every integer "
    "prime finite compact converges therefore suppose hence open closed set map degree root",
)
FORMULAS = (
    "x^2+1",
    "\\frac{a}{b}",
    "\\sum_{n=1}^\\infty \\frac{1}{n^2}",
    "f\\colon X\\to Y",
    "\\int_0^1 f(t)\\,dt",
    "a<b",
    "\\mathbb{Z}/p\\mathbb{Z}",
    "\\lim_{n\\to\\infty} a_n = L",
    "\\begin{pmatrix}a&b\\\\c&d\\end{pmatrix}",
)

READ_WITH_MATHAMR = """
import json, resource, sys, time
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
started, report, posts, formulas = time.process_time(), Report(), 0, 0
for post in read_posts(sys.argv[1], report):
    posts += 1
    formulas += len(post.formulas)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"posts": posts, "formulas": formulas, "seconds": time.process_time() - started,
                  "peak_mb": peak / 1024, "skipped": report.skipped.total()}))
"""
READ_ROWS_WITH_MATHAMR = """
import json, resource, sys, time
from pathlib import Path
from mathamr.posts.inputs import Input
from mathamr.posts.report import Report
from mathamr.posts.formats.stackexchange.dumprows import DumpRows
started, report, posts = time.process_time(), Report(), 0
with Input(Path(sys.argv[1]), report) as stream:
    rows = DumpRows(stream, sys.argv[1], report)
    for row in rows:
        attributes = {name: rows.text(value) for name, value in row.items()}
        posts += 1
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"posts": posts, "seconds": time.process_time() - started, "peak_mb": peak / 1024}))
"""
READ_WITH_LXML = """
import json, resource, sys, time
from lxml import etree
started, posts = time.process_time(), 0
for _, row in etree.iterparse(sys.argv[1], tag="row", resolve_entities=False):
    attributes = dict(row.attrib)
    posts += 1
    row.clear()
    while row.getprevious() is not None:
        del row.getparent()[0]
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"posts": posts, "seconds": time.process_time() - started, "peak_mb": peak / 1024}))
"""


def run() -> None:
    with tempfile.TemporaryDirectory(prefix="mathamr-bench-") as folder:
        path = Path(folder, "Posts.xml")
        written = write_dump(path, MEGABYTES << 20)
        size = path.stat().st_size / 1e6
        print(f"   a dump of {size:,.0f} MB, {written:,} posts")
        peer = _measured(READ_WITH_LXML, path)
        rows = _measured(READ_ROWS_WITH_MATHAMR, path)
        ours = _measured(READ_WITH_MATHAMR, path)
    for name, result in (
        ("lxml.iterparse, rows only", peer),
        ("mathamr, rows only", rows),
        ("mathamr, posts", ours),
    ):
        rate = result["posts"] / result["seconds"]
        print(
            f"   {name:28} {rate:10,.0f} posts/s {size / result['seconds']:8.1f} MB/s "
            f"{result['peak_mb']:7.0f} MB peak  ×{result['seconds'] / peer['seconds']:.2f} the time of lxml"
        )
    print(f"   {ours['formulas']:,.0f} formulas found; skipped {ours['skipped']:.0f}")
    if not ours["posts"] == rows["posts"] == peer["posts"] == written:
        raise AssertionError("the readers do not agree on the number of posts")
    if ours["peak_mb"] > 300:
        raise AssertionError("peak memory is over 300 MB")


def write_dump(path: Path, size: int) -> int:
    """Write rows as Stack Exchange does until the file is this large; return how many."""
    chance = random.Random(7)
    bodies = [escape(_body(chance)).replace("&#x27;", "'").replace("\n", "&#xA;") for _ in range(3000)]
    written, count = 0, 0
    with path.open("w", encoding="utf-8") as dump:
        written += dump.write('\ufeff<?xml version="1.0" encoding="utf-8"?>\n<posts>\n')
        while written < size:
            count += 1
            written += dump.write(_row(count, bodies[count * 7919 % len(bodies)], chance))
        dump.write("</posts>")
    return count


def _row(number: int, body: str, chance: random.Random) -> str:
    date = f"20{number % 14 + 10}-0{number % 9 + 1}-1{number % 10}T08:00:00.000"
    head = f'  <row Id="{number}" PostTypeId="{1 if number % 3 == 1 else 2}" CreationDate="{date}" '
    tail = f'LastActivityDate="{date}" CommentCount="{number % 7}" ContentLicense="CC BY-SA 4.0" />\n'
    middle = f'Score="{chance.randrange(-3, 60)}" Body="{body}" OwnerUserId="{number % 50000}" '
    if number % 3 != 1:
        return f'{head}ParentId="{number - (number - 1) % 3}" {middle}{tail}'
    title = escape(f"Why is ${chance.choice(FORMULAS)}$ {' '.join(chance.choices(WORDS, k=6))}?")
    return (
        f'{head}AcceptedAnswerId="{number + 1}" ViewCount="{number % 999}" {middle}Title="{title}" '
        f'Tags="&lt;calculus&gt;&lt;{chance.choice(WORDS)}&gt;" AnswerCount="2" {tail}'
    )


def _body(chance: random.Random) -> str:
    """Generate a body of some 1.5 kB with 11 formulas, as on a site for mathematics; one in ten without containers."""
    marked = chance.random() < 0.9
    paragraphs = []
    for _ in range(chance.randrange(2, 7)):
        words = [escape(word) for word in chance.choices(WORDS, k=chance.randrange(15, 70))]
        for place in range(4, len(words), chance.randrange(12, 24)):
            words[place] = _formula(chance, "$", marked=marked)
        paragraphs.append(f"<p>{' '.join(words)}.</p>")
    if chance.random() < 0.4:
        paragraphs.append(f"<p>{_formula(chance, '$$', marked=marked)}</p>")
    if chance.random() < 0.2:
        paragraphs.append("<pre><code>x = 1\n</code></pre>\n<ul>\n<li>one</li>\n<li><em>two</em></li>\n</ul>")
    return "\n\n".join(paragraphs) + "\n"


def _formula(chance: random.Random, delimiter: str, *, marked: bool) -> str:
    latex = escape(chance.choice(FORMULAS).replace("x", chance.choice("xyzuvw")), quote=False)
    formula = f"{delimiter}{latex}{delimiter}"
    return f'<span class="math-container">{formula}</span>' if marked else formula


def _measured(program: str, path: Path) -> dict[str, float]:
    finished = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True
    )
    result: dict[str, float] = json.loads(finished.stdout)
    return result
