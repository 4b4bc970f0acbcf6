"""Symbols as a person draws them on a pad of 100 by 100, stroke by stroke."""

from __future__ import annotations

from math import cos, radians, sin

Points = list[tuple[float, float]]


def arc(x: float, y: float, radius: float, start: float, end: float, steps: int = 24) -> Points:
    angles = [radians(start + (end - start) * step / steps) for step in range(steps + 1)]
    return [(x + radius * cos(angle), y - radius * sin(angle)) for angle in angles]


DRAWINGS: dict[str, list[Points]] = {
    "\\in": [arc(50, 50, 40, 60, 300), [(12, 50), (75, 50)]],
    "\\forall": [[(10, 10), (50, 95), (90, 10)], [(27, 50), (73, 50)]],
    "\\sum": [[(90, 10), (10, 10), (55, 50), (10, 95), (95, 95)]],
    "\\oplus": [arc(50, 50, 40, 0, 360), [(10, 50), (90, 50)], [(50, 10), (50, 90)]],
    "\\to": [[(0, 50), (100, 50)], [(75, 30), (100, 50), (75, 70)]],
    "\\nabla": [[(10, 10), (90, 10), (50, 90), (10, 10)]],
}
