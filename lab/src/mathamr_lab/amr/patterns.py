"""Sentences of mathematical prose with their graphs, written for this project because no general corpus contains them.

`F` stands for a formula (numbered from left to right), `N`, `A` for a noun and an adjective of mathematics; in the
graphs `F0`, `F1`…, `N0`… and `A0`… are the same ones. Every pattern is filled several times at random.
"""

from __future__ import annotations

import re
from random import Random

import penman
from penman.models.amr import model as amr_model

from mathamr_lab.amr.corpus import Gold


def _words(listing: str) -> list[str]:
    return listing.split()


NOUNS = _words("""
    sequence function set group matrix map number ring field space series integral limit polynomial graph vector
    equation solution value subset point element integer basis operator ideal prime derivative sum product interval
    norm root line term variable constant theorem lemma curve surface manifold kernel eigenvalue determinant
""")
ADJECTIVES = _words("""
    continuous finite infinite real complex compact bounded positive linear convergent prime differentiable smooth
    open convex measurable trivial rational abelian cyclic discrete injective surjective normal constant odd even
""")
FILLINGS = 10

PATTERNS = """
Let F be a N . | (l / let-01 :ARG1 (n / N0 :domain (f / F0)))
Let F be an A N . | (l / let-01 :ARG1 (n / N0 :mod (a / A0) :domain (f / F0)))
Let F be a N of A N . | (l / let-01 :ARG1 (n / N0 :domain (f / F0) :poss (m / N1 :mod (a / A0))))
Let F . | (l / let-01 :ARG1 (f / F0))
Let F and F be two N . | (l / let-01 :ARG1 (n / N0 :quant 2 :domain (a / and :op1 (f / F0) :op2 (g / F1))))
Let F denote the N of F . | (l / let-01 :ARG1 (d / denote-01 :ARG0 (f / F0) :ARG1 (n / N0 :poss (g / F1))))
Let F be such that F . | (l / let-01 :ARG1 (f / F0 :condition (g / F1)))
Let F be a N such that F . | (l / let-01 :ARG1 (n / N0 :domain (f / F0) :condition (g / F1)))
Let F be a N such that F converges to F . | (l / let-01 :ARG1 (n / N0 :domain (f / F0) :condition (c / converge-01 :ARG0 (g / F1) :ARG2 (h / F2))))
Suppose that F is A . | (s / suppose-01 :ARG1 (a / A0 :domain (f / F0)) :mode imperative :ARG0 (y / you))
Suppose F is a A N . | (s / suppose-01 :ARG1 (n / N0 :mod (a / A0) :domain (f / F0)) :mode imperative :ARG0 (y / you))
Assume that F for all F . | (s / assume-02 :ARG1 (f / F0 :prep-for (g / F1 :mod (a / all))) :mode imperative :ARG0 (y / you))
Show that F . | (s / show-01 :ARG1 (f / F0) :mode imperative :ARG0 (y / you))
Show that F is A . | (s / show-01 :ARG1 (a / A0 :domain (f / F0)) :mode imperative :ARG0 (y / you))
Prove that F is a A N . | (s / prove-01 :ARG1 (n / N0 :mod (a / A0) :domain (f / F0)) :mode imperative :ARG0 (y / you))
Prove that every A N is A . | (s / prove-01 :ARG1 (b / A1 :domain (n / N0 :mod (a / A0) :mod (e / every))) :mode imperative :ARG0 (y / you))
Prove that F is A if and only if F is A . | (s / prove-01 :ARG1 (q / equivalent-01 :ARG1 (a / A0 :domain (f / F0)) :ARG2 (b / A1 :domain (g / F1))) :mode imperative :ARG0 (y / you))
F if and only if F . | (q / equivalent-01 :ARG1 (f / F0) :ARG2 (g / F1))
F is A if and only if F is A . | (q / equivalent-01 :ARG1 (a / A0 :domain (f / F0)) :ARG2 (b / A1 :domain (g / F1)))
every A N is A if and only if it is A . | (q / equivalent-01 :ARG1 (a / A1 :domain (n / N0 :mod (c / A0) :mod (e / every))) :ARG2 (b / A2 :domain n))
F iff F . | (q / equivalent-01 :ARG1 (f / F0) :ARG2 (g / F1))
If F is A , then F is A . | (b / A1 :domain (g / F1) :condition (a / A0 :domain (f / F0)))
If F then F . | (g / F1 :condition (f / F0))
If F and F , then F is a N . | (n / N0 :domain (h / F2) :condition (a / and :op1 (f / F0) :op2 (g / F1)))
F whenever F . | (f / F0 :condition (g / F1))
F where F is a N . | (f / F0 :topic (n / N0 :domain (g / F1)))
where F is the N of F . | (n / N0 :domain (f / F0) :poss (g / F1))
F for all F . | (f / F0 :prep-for (g / F1 :mod (a / all)))
F for every F . | (f / F0 :prep-for (g / F1 :mod (a / every)))
F for some F . | (f / F0 :prep-for (g / F1 :mod (a / some)))
For every F there exists F such that F . | (e / exist-01 :ARG1 (g / F1 :condition (h / F2)) :prep-for (f / F0 :mod (v / every)))
For all F , F is A . | (a / A0 :domain (g / F1) :prep-for (f / F0 :mod (v / all)))
For any F we have F . | (h / have-03 :ARG0 (w / we) :ARG1 (g / F1) :prep-for (f / F0 :mod (v / any)))
There exists a N F such that F . | (e / exist-01 :ARG1 (n / N0 :mod (f / F0) :condition (g / F1)))
There exist F and F such that F . | (e / exist-01 :ARG1 (a / and :op1 (f / F0) :op2 (g / F1) :condition (h / F2)))
There is a N F such that F . | (e / exist-01 :ARG1 (n / N0 :mod (f / F0) :condition (g / F1)))
Does there exist a A N ? | (e / exist-01 :ARG1 (n / N0 :mod (a / A0)) :polarity (u / amr-unknown))
Is F a A N ? | (n / N0 :mod (a / A0) :domain (f / F0) :polarity (u / amr-unknown))
Is F A ? | (a / A0 :domain (f / F0) :polarity (u / amr-unknown))
Find F . | (f / find-01 :ARG1 (g / F0) :mode imperative :ARG0 (y / you))
Find all N F such that F . | (f / find-01 :ARG1 (n / N0 :mod (a / all) :mod (g / F0) :condition (h / F1)) :mode imperative :ARG0 (y / you))
Find the N of F . | (f / find-01 :ARG1 (n / N0 :poss (g / F0)) :mode imperative :ARG0 (y / you))
Compute the N F . | (f / compute-01 :ARG1 (n / N0 :mod (g / F0)) :mode imperative :ARG0 (y / you))
Evaluate F . | (f / evaluate-01 :ARG1 (g / F0) :mode imperative :ARG0 (y / you))
Solve F for F . | (f / solve-01 :ARG1 (g / F0) :prep-for (h / F1) :mode imperative :ARG0 (y / you))
Consider the N F . | (c / consider-02 :ARG1 (n / N0 :mod (f / F0)) :mode imperative :ARG0 (y / you))
Note that F is A . | (s / note-01 :ARG1 (a / A0 :domain (f / F0)) :mode imperative :ARG0 (y / you))
How do I prove that F is A ? | (p / prove-01 :ARG0 (i / i) :ARG1 (a / A0 :domain (f / F0)) :manner (u / amr-unknown))
How can I show that F ? | (o / possible-01 :ARG1 (s / show-01 :ARG0 (i / i) :ARG1 (f / F0) :manner (u / amr-unknown)))
How to prove F ? | (p / prove-01 :ARG1 (f / F0) :manner (u / amr-unknown))
How to solve F | (p / solve-01 :ARG1 (f / F0) :manner (u / amr-unknown))
What is the N of F ? | (n / N0 :poss (f / F0) :domain (u / amr-unknown))
Why is F A ? | (c / cause-01 :ARG0 (u / amr-unknown) :ARG1 (a / A0 :domain (f / F0)))
Why does F converge ? | (c / cause-01 :ARG0 (u / amr-unknown) :ARG1 (v / converge-01 :ARG0 (f / F0)))
I want to prove that F is A . | (w / want-01 :ARG0 (i / i) :ARG1 (p / prove-01 :ARG0 i :ARG1 (a / A0 :domain (f / F0))))
I am trying to find the N of F . | (t / try-01 :ARG0 (i / i) :ARG1 (f / find-01 :ARG0 i :ARG1 (n / N0 :poss (g / F0))))
I know that F is a N . | (k / know-01 :ARG0 (i / i) :ARG1 (n / N0 :domain (f / F0)))
I do not know how to solve F . | (k / know-01 :polarity - :ARG0 (i / i) :ARG1 (t / thing :manner-of (s / solve-01 :ARG0 i :ARG1 (f / F0))))
We have F . | (h / have-03 :ARG0 (w / we) :ARG1 (f / F0))
We have that F is A . | (h / have-03 :ARG0 (w / we) :ARG1 (a / A0 :domain (f / F0)))
Then F is A . | (a / A0 :domain (f / F0) :time (t / then))
Then F . | (f / F0 :time (t / then))
Hence F . | (c / cause-01 :ARG1 (f / F0))
Thus F is A . | (c / cause-01 :ARG1 (a / A0 :domain (f / F0)))
Therefore , F . | (c / cause-01 :ARG1 (f / F0))
So F is a A N . | (c / cause-01 :ARG1 (n / N0 :mod (a / A0) :domain (f / F0)))
Since F , we get F . | (g / get-01 :ARG0 (w / we) :ARG1 (f / F1) :ARG1-of (c / cause-01 :ARG0 (h / F0)))
It follows that F is A . | (f / follow-04 :ARG1 (a / A0 :domain (g / F0)))
F implies F . | (i / imply-01 :ARG0 (f / F0) :ARG1 (g / F1))
This implies that F is A . | (i / imply-01 :ARG0 (t / this) :ARG1 (a / A0 :domain (f / F0)))
F converges to F as F . | (c / converge-01 :ARG0 (f / F0) :ARG2 (g / F1) :time (h / F2))
The N F converges . | (c / converge-01 :ARG0 (n / N0 :mod (f / F0)))
The A N F diverges . | (c / diverge-01 :ARG0 (n / N0 :mod (a / A0) :mod (f / F0)))
F satisfies F . | (s / satisfy-01 :ARG0 (f / F0) :ARG1 (g / F1))
The N F is A . | (a / A0 :domain (n / N0 :mod (f / F0)))
The N of F is A . | (a / A0 :domain (n / N0 :poss (f / F0)))
The N of F is F . | (g / F1 :domain (n / N0 :poss (f / F0)))
The N of the N of F is a N . | (n / N2 :domain (m / N0 :poss (o / N1 :poss (f / F0))))
F is a A N . | (n / N0 :mod (a / A0) :domain (f / F0))
F is A and A . | (c / and :op1 (a / A0) :op2 (b / A1) :domain (f / F0))
F is not A . | (a / A0 :polarity - :domain (f / F0))
F is A in F . | (a / A0 :domain (f / F0) :location (g / F1))
F is equal to F . | (e / equal-01 :ARG1 (f / F0) :ARG2 (g / F1))
F equals F . | (e / equal-01 :ARG1 (f / F0) :ARG2 (g / F1))
F is a N of F over F . | (n / N0 :domain (f / F0) :poss (g / F1) :prep-over (h / F2))
a N from F to F | (n / N0 :source (f / F0) :destination (g / F1))
the N of F with respect to F | (n / N0 :poss (f / F0) :topic (g / F1))
F is the greatest lower bound of F . | (b / greatest-lower-bound :domain (f / F0) :poss (g / F1))
F is the least upper bound of the N F . | (b / least-upper-bound :domain (f / F0) :poss (n / N0 :mod (g / F1)))
F has at most F N . | (h / have-03 :ARG0 (f / F0) :ARG1 (n / N0 :quant (m / at-most :op1 (g / F1))))
There are at least F A N . | (e / exist-01 :ARG1 (n / N0 :mod (a / A0) :quant (m / at-least :op1 (f / F0))))
F is one-to-one . | (o / one-to-one :domain (f / F0))
F and F are linearly independent . | (l / linearly-independent :domain (a / and :op1 (f / F0) :op2 (g / F1)))
Taking the N of F , we obtain F . | (o / obtain-01 :ARG0 (w / we) :ARG1 (f / F1) :manner (t / take-01 :ARG0 w :ARG1 (n / N0 :poss (g / F0))))
By the N theorem , F is A . | (a / A0 :domain (f / F0) :ARG1-of (c / cause-01 :ARG0 (t / theorem :mod (n / N0))))
F is defined by F . | (d / define-01 :ARG1 (f / F0) :ARG2 (g / F1))
Define F by F . | (d / define-01 :ARG1 (f / F0) :ARG2 (g / F1) :mode imperative :ARG0 (y / you))
F is called A if F . | (c / call-01 :ARG1 (f / F0) :ARG2 (a / A0) :condition (g / F1))
Substituting F into F gives F . | (g / give-01 :ARG0 (s / substitute-01 :ARG1 (f / F0) :ARG3 (h / F1)) :ARG1 (k / F2))
F is divisible by F . | (d / divide-02 :ARG1 (f / F0) :ARG2 (g / F1) :ARG1-of (p / possible-01))
a N that contains F | (n / N0 :ARG0-of (c / contain-01 :ARG1 (f / F0)))
Any help would be appreciated . | (a / appreciate-02 :ARG1 (h / help-01 :mod (n / any)))
My attempt : F | (a / attempt-01 :ARG0 (i / i) :ARG1 (f / F0))
Can someone explain why F is A ? | (p / possible-01 :ARG1 (e / explain-01 :ARG0 (s / someone) :ARG1 (c / cause-01 :ARG1 (a / A0 :domain (f / F0)))) :polarity (u / amr-unknown))
the integral of F from F to F | (i / integral :poss (f / F0) :source (g / F1) :destination (h / F2))
F is a N from F to F . | (n / N0 :domain (f / F0) :source (g / F1) :destination (h / F2))
Does there exist a A N from F to F ? | (e / exist-01 :ARG1 (n / N0 :mod (a / A0) :source (g / F0) :destination (h / F1)) :polarity (u / amr-unknown))
F is isomorphic to F . | (i / isomorphic :domain (f / F0) :prep-to (g / F1))
The N F is parallel to F . | (i / parallel :domain (n / N0 :mod (f / F0)) :prep-to (g / F1))
F holds for every N F . | (h / hold-01 :ARG1 (f / F0) :prep-for (n / N0 :mod (g / F1) :mod (e / every)))
F holds for each A N F . | (h / hold-01 :ARG1 (f / F0) :prep-for (n / N0 :mod (g / F1) :mod (a / A0) :mod (e / each)))
If F then find the N of F . | (f / find-01 :ARG1 (n / N0 :poss (g / F1)) :condition (h / F0) :mode imperative :ARG0 (y / you))
the N of F for which F is A | (n / N0 :poss (f / F0) :condition (a / A0 :domain (g / F1)))
F , which implies F . | (i / imply-01 :ARG0 (f / F0) :ARG1 (g / F1))
F and hence F . | (c / cause-01 :ARG0 (f / F0) :ARG1 (g / F1))
Since F is A , F is A . | (b / A1 :domain (g / F1) :ARG1-of (c / cause-01 :ARG0 (a / A0 :domain (f / F0))))
F is A because F is A . | (b / A0 :domain (f / F0) :ARG1-of (c / cause-01 :ARG0 (a / A1 :domain (g / F1))))
where F and F are N . | (n / N0 :domain (a / and :op1 (f / F0) :op2 (g / F1)))
F , F and F are A . | (x / A0 :domain (a / and :op1 (f / F0) :op2 (g / F1) :op3 (h / F2)))
Applying the N to F , we get F . | (g / get-01 :ARG0 (w / we) :ARG1 (f / F1) :manner (a / apply-02 :ARG0 w :ARG1 (n / N0) :ARG2 (h / F0)))
The N F is a N of the N F . | (n / N1 :domain (m / N0 :mod (f / F0)) :poss (o / N2 :mod (g / F1)))
Determine the N of F . | (d / determine-01 :ARG1 (n / N0 :poss (f / F0)) :mode imperative :ARG0 (y / you))
How many N does F have ? | (h / have-03 :ARG0 (f / F0) :ARG1 (n / N0 :quant (u / amr-unknown)))
Is it true that F is A ? | (t / true-01 :ARG1 (a / A0 :domain (f / F0)) :polarity (u / amr-unknown))
Hint : F . | (h / hint-01 :ARG1 (f / F0))
Now F is A . | (a / A0 :domain (f / F0) :time (n / now))
""".strip().splitlines()


def pattern_graphs(seed: int, fillings: int = FILLINGS) -> list[Gold]:
    """Fill the patterns with random nouns and adjectives."""
    random = Random(seed)
    made = []
    for line in PATTERNS:
        text, _, graph = line.partition(" | ")
        for _ in range(fillings):
            made.append(_fill(text, graph, random))
    return made


def _fill(text: str, graph: str, random: Random) -> Gold:
    counts = {"F": 0, "N": 0, "A": 0}
    values: dict[str, str] = {}
    first = random.randrange(8)
    words = text.split()
    for place, word in enumerate(words):
        if word in counts:
            slot = f"{word}{counts[word]}"
            counts[word] += 1
            concept = (
                f"FORMULA_{first + counts['F'] - 1}"
                if word == "F"
                else random.choice(NOUNS if word == "N" else ADJECTIVES)
            )
            values[slot] = concept
            plural = word == "N" and place > 0 and _is_plural_context(words, place)
            words[place] = concept + ("" if not plural or concept.endswith(("s", "x")) else "s")
    filled = re.sub(r"\b[FNA][0-9]\b", lambda slot: values[slot[0]], graph)
    return Gold("patterns", _articles(words), penman.decode(filled, model=amr_model))


def _is_plural_context(words: list[str], place: int) -> bool:
    before = [word for word in words[max(0, place - 2) : place] if word not in ADJECTIVES]
    return (bool(before) and before[-1] in ("two", "all", "are", "of")) or (
        len(before) > 0 and before[-1].startswith("FORMULA") and "at" in words[max(0, place - 4) : place]
    )


def _articles(words: list[str]) -> str:
    for place, word in enumerate(words[:-1]):
        if word in ("a", "an"):
            words[place] = "an" if words[place + 1][0] in "aeiou" else "a"
    return " ".join(words)
