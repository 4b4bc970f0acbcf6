"""Bar charts by topic as inline SVG: differences between two runs, or the values of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mathamr.core.drawing import escaped, shape

WIDTH, HEIGHT = 960.0, 240.0
_LEFT, _TOP, _BOTTOM = 44.0, 10.0, 14.0


@dataclass(frozen=True)
class Bar:
    """The bar of one topic; `hint` is its tooltip, `link` its target."""

    topic: str
    value: float
    hint: str
    link: str = ""


def bars(title: str, topics: Sequence[Bar]) -> str:
    """Bars around a line at zero, the largest first; positive and negative bars differ in colour."""
    ranked = sorted(topics, key=lambda bar: (-bar.value, bar.topic))
    top = _round_up(max([bar.value for bar in ranked] + [0.0]))
    bottom = -_round_up(max([-bar.value for bar in ranked] + [0.0]))
    if top == bottom:
        top = 1.0
    scale = (HEIGHT - _TOP - _BOTTOM) / (top - bottom)
    step = (WIDTH - _LEFT) / max(1, len(ranked))
    zero = _TOP + top * scale
    shapes = [
        _grid(value, _TOP + (top - value) * scale, has_sign=bottom < 0) for value in _ticks(bottom, top)
    ]
    for place, bar in enumerate(ranked):
        height = abs(bar.value) * scale
        y = zero - height if bar.value > 0 else zero
        kind = "better" if bar.value > 0 else "worse" if bar.value < 0 else "same"
        # A transparent bar of full height takes the pointer, so that small differences can be met.
        x, width = _LEFT + place * step, max(0.5, step * 0.82)
        parts = (
            shape("title", escaped(bar.hint)),
            shape("rect", class_="reach", x=x, y=0, width=step, height=HEIGHT),
            shape("rect", class_=kind, x=x, y=y, width=width, height=max(height, 0.6)),
        )
        shapes.append(shape("a", *parts, href=bar.link) if bar.link else shape("g", *parts))
    axis = shape("line", class_="axis", x1=_LEFT, x2=WIDTH, y1=zero, y2=zero)
    box = {"viewBox": f"0 0 {WIDTH:.0f} {HEIGHT:.0f}"}
    name = shape("title", escaped(title))
    return shape("svg", name, *shapes, axis, class_="chart", role="img", aria_label=title, **box)


def difference_bars(
    title: str,
    names: tuple[str, str],
    values: Mapping[str, float],
    baseline: Mapping[str, float],
    links: Mapping[str, str],
) -> str:
    """Bars of values - baseline by topic; `names` are those of the run and of the baseline."""
    return bars(
        title,
        [
            Bar(
                topic,
                value - baseline[topic],
                f"{topic}: {value - baseline[topic]:+.3f} ({names[0]} {value:.3f}, {names[1]} {baseline[topic]:.3f})",
                links.get(topic, ""),
            )
            for topic, value in values.items()
        ],
    )


def _grid(value: float, y: float, *, has_sign: bool) -> str:
    label = f"{value:+.2g}" if has_sign and value else f"{value:.2g}"
    line = shape("line", class_="grid", x1=_LEFT, x2=WIDTH, y1=y, y2=y)
    return line + shape("text", escaped(label), x=_LEFT - 6, y=y + 4, text_anchor="end")


def _ticks(bottom: float, top: float) -> list[float]:
    """Round values from bottom to top, including zero."""
    step = next(step for step in (0.05, 0.1, 0.2, 0.25, 0.5) if (top - bottom) / step <= 8 or step == 0.5)
    first, last = round(bottom / step), round(top / step)
    return [place * step for place in range(first, last + 1)]


def _round_up(value: float) -> float:
    """Return the value rounded up to a tenth, at most 1."""
    return min(1.0, -(-round(value * 1000) // 100) / 10) if value > 0 else 0.0
