"""`twins`: statements restated in other letters and words are found, different ones are not, and each pair once."""

from __future__ import annotations

from mathamr.posts.post import Post
from mathamr.search.twins import twins
from tests.cases import cases


def statement(identifier: str, body: str) -> Post:
    return Post(identifier, "lemma", body, markup="markdown")


def verdicts(*bodies: str) -> list[tuple[str, str, str]]:
    posts = [statement(str(number), body) for number, body in enumerate(bodies)]
    return [(pair.first.post.id, pair.second.post.id, pair.verdict) for pair in twins(posts)]


FILLER = (
    "Every subgroup of a cyclic group is cyclic.",
    "The series $\\sum 1/n$ diverges.",
    "A compact set is closed.",
)


@cases(
    ("one", "other", "verdict"),
    [
        (
            "For all $x,y$ we have $(x+y)^2 = x^2+2xy+y^2$.",
            "For all $a,b$ we have $(a+b)^2 = a^2+2ab+b^2$.",
            "same statement",
        ),
        (
            "For all $x,y$ we have $(x+y)^2 = x^2+2xy+y^2$.",
            "The binomial formula says $(a+b)^2 = a^2+2ab+b^2$.",
            "same formula",
        ),
        ("We have $(x+y)^2 = x^2+2xy+y^2$.", "So $1+(a+b)^2 \\geq 1$ is contained.", None),
        ("If $n > 2$, then $a^n + b^n = c^n$ fails.", "Then $x^k + y^k = z^k + 1$ holds.", "near"),
        ("Let $p$ be a prime.", "A function $f$ is continuous if $f(x_n)$ converges.", None),
        ("A group of prime order is cyclic.", "A group of prime order is cyclic.", "same statement"),
        ("A group of prime order is cyclic.", "Groups of prime order are cyclic groups.", "near"),
    ],
)
def test_a_restated_statement_gets_its_verdict(one: str, other: str, verdict: str | None) -> None:
    expected = [("0", "1", verdict)] if verdict else []
    assert [each for each in verdicts(one, other, *FILLER) if each[1] == "1"] == expected


def test_one_renaming_must_fit_the_whole_statement() -> None:
    same = verdicts("Let $x<y$ and $f(x) = y$.", "Let $a<b$ and $f(a) = b$.", *FILLER)
    crossed = verdicts("Let $x<y$ and $f(x) = y$.", "Let $b<a$ and $f(a) = b$.", *FILLER)
    assert same[0] == ("0", "1", "same statement")
    assert ("0", "1", "same statement") not in crossed


def test_a_statement_that_stands_there_a_thousand_times_is_told_each_time() -> None:
    text = "For all $a, b$ we have $(a+b)^2 = a^2 + 2ab + b^2$ in a ring."
    posts = [Post(f"p{number}", "lemma", text, markup="markdown") for number in range(1_000)]
    other = Post("other", "lemma", text.replace("a ring", "each ring"), markup="markdown")
    found = list(twins([*posts, other]))
    assert len(found) == 1_000
    assert {pair.verdict for pair in found} == {"same statement"}
    assert {pair.second.post.id for pair in found} | {pair.first.post.id for pair in found} == {
        *(post.id for post in posts), "other"
    }  # fmt: skip


def test_a_word_in_place_of_another_makes_another_statement() -> None:
    one = "Let $f : X \\to Y$ be continuous and $K \\subset X$ compact. Then $f(K)$ is compact."
    posts = [
        Post("a", "lemma", one, markup="markdown"),
        Post("b", "lemma", one.replace("compact", "connected"), markup="markdown"),
    ]
    assert [pair.verdict for pair in twins(posts)] == ["same formula"]
