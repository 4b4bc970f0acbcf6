"""From the HTML of posts to their formulas and sentences: MB/s, against lxml's text of the same HTML."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from mathamr.posts.markup import formulas_of
from mathamr.posts.passage import passage
from mathamr.posts.post import Post

POSTS = 1000
WORDS = [
    "let",
    "be",
    "the",
    "of",
    "in",
    "we",
    "that",
    "is",
    "function",
    "sequence",
    "group",
    "ring",
    "limit",
    "proof",
    "matrix",
    "continuous",
    "bounded",
    "every",
    "integer",
    "prime",
    "finite",
    "compact",
    "converges",
    "therefore",
    "suppose",
    "hence",
    "open",
    "closed",
    "set",
    "map",
    "degree",
    "root",
]
FORMULAS = (
    "x^2+1",
    r"\frac{a}{b}",
    r"\sum_{n=1}^\infty \frac{1}{n^2}",
    r"f\colon X\to Y",
    "a&lt;b",
    r"\mathbb{Z}/p",
)


def posts(number: int, seed: int = 0) -> list[Post]:
    """Generate posts with the shape of a forum's: paragraphs, a list now and then, a formula in four words."""
    draw = random.Random(seed)

    def sentence() -> str:
        words = draw.choices(WORDS, k=draw.randint(6, 20))
        for place in range(3, len(words), 5):
            formula = draw.choice(FORMULAS)
            marked = draw.random() < 0.5
            words[place] = f'<span class="math-container">${formula}$</span>' if marked else f"${formula}$"
        return " ".join(words).capitalize() + draw.choice([".", ".", "?"])

    def paragraph() -> str:
        text = " ".join(sentence() for _ in range(draw.randint(1, 5)))
        return f"<ul><li>{text}</li></ul>" if draw.random() < 0.1 else f"<p>{text}</p>"

    bodies = ("\n".join(paragraph() for _ in range(draw.randint(1, 8))) for _ in range(number))
    return [Post(str(place), "answer", body) for place, body in enumerate(bodies)]


def speed(work: Callable[[Post], object], made: list[Post]) -> float:
    """Return megabytes of HTML per processor second, the best of three rounds."""
    best = float("inf")
    for _ in range(3):
        started = time.process_time()
        for post in made:
            work(post)
        best = min(best, time.process_time() - started)
    return sum(len(post.body) for post in made) / best / 1e6


def run() -> None:
    """Print the rates and their ratios."""
    from lxml import html

    made = posts(POSTS)
    peer = speed(lambda post: html.fromstring(f"<div>{post.body}</div>").text_content(), made)
    found = speed(lambda post: formulas_of(post.id, post.title, post.body, "html"), made)
    cut = speed(passage, made)
    print(f"   lxml, text without formulas or offsets {peer:6.1f} MB/s")
    print(f"   formulas_of                            {found:6.1f} MB/s   {found / peer:.2f} of lxml")
    print(f"   passage: formulas and sentences        {cut:6.1f} MB/s   {cut / peer:.2f} of lxml")
