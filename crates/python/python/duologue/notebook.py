"""What notebooks show: HTML made of names that may come from somebody else, so all of them are escaped."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .debug import SeenStep
    from .program import Port, Program
    from .report import Cost, Costs, Phase, Report

__all__ = ["Progress", "costs", "program", "progress", "report", "result", "step"]

# Steps that are drawn at most.
_MOST_STEPS = 60
_COLOURS = {"alice": "#4e79a7", "bob": "#f28e2b", "public": "#9c9c9c", "shared": "#b07aa1", "both": "#59a14f"}
_PHASES = ("#a0cbe8", "#4e79a7")
_BOX = (170, 24)
_GAP = (40, 10)


def text(words: object) -> str:
    """Words as HTML. What cannot be seen, or turns around what stands beside it, is written by its number, and so are
    letters that are written from right to left."""
    from html import escape

    shown = (one if _is_plain(one) else f"\\u{{{ord(one):x}}}" for one in str(words))
    return escape("".join(shown))


def _is_plain(one: str) -> bool:
    from unicodedata import bidirectional

    return one.isascii() and one.isprintable() or one.isprintable() and bidirectional(one) not in ("R", "AL")


def table(head: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """A table; cells are HTML."""
    top = "".join(f"<th style='text-align:left'>{cell}</th>" for cell in head)
    lines = ("".join(f"<td style='text-align:left'>{cell}</td>" for cell in row) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table>{f'<caption>{caption}</caption>' if caption else ''}<tr>{top}</tr>{body}</table>"


def program(shown: Program, steps: list[tuple[str, str, list[int], list[int]]]) -> str:
    """Who supplies and who learns what, and the steps as a picture."""
    inputs = [_port(port, _SUPPLIES[port.who]) for port in shown.inputs]
    outputs = [_port(port, _LEARNS[port.who]) for port in shown.outputs]
    sizes = "".join(f"<br>{text(name)} = {least} to {most}" for name, (least, most) in shown.sizes.items())
    caption = f"<b>{text(shown.name)}</b> <code>{shown.digest[:16]}</code>{sizes}"
    return table(("", "name", "type", "lanes", ""), inputs + outputs, caption) + picture(steps)


_SUPPLIES = {"alice": "alice supplies", "bob": "bob supplies", "public": "both know", "shared": "both hold a share"}
_LEARNS = {"alice": "alice learns", "bob": "bob learns", "both": "both learn", "shared": "both get a share"}


def _port(port: Port, who: str) -> tuple[str, ...]:
    colour = _COLOURS[port.who]
    return (f"<span style='color:{colour}'>■</span> {who}", *map(text, (port.name, port.type, port.lanes, port.about)))


def picture(steps: list[tuple[str, str, list[int], list[int]]]) -> str:
    """The steps from left to right, each behind those that it reads."""
    if len(steps) > _MOST_STEPS:
        return f"<p>{len(steps):,} steps: <code>duologue inspect</code> lists them.</p>"
    places: list[tuple[int, int]] = []
    columns, maker = [0] * (len(steps) + 1), dict[int, int]()
    for number, (_, _, reads, defines) in enumerate(steps):
        column = max((places[maker[value]][0] + 1 for value in reads), default=0)
        places.append((column, columns[column]))
        columns[column] += 1
        maker |= dict.fromkeys(defines, number)
    corners = [(10 + column * (_BOX[0] + _GAP[0]), 10 + row * (_BOX[1] + _GAP[1])) for column, row in places]
    lines = [
        _line(corners[maker[value]], corners[number])
        for number, (_, _, reads, _) in enumerate(steps)
        for value in dict.fromkeys(reads)
    ]
    boxes = [_box(corner, kind, words) for corner, (kind, words, _, _) in zip(corners, steps, strict=True)]
    wide, high = (10 + max((corner[axis] + _BOX[axis] for corner in corners), default=0) for axis in (0, 1))
    head = f"<svg xmlns='http://www.w3.org/2000/svg' width='{wide}' height='{high}' font-size='11' font-family='sans-serif'>"
    return head + "".join(lines + boxes) + "</svg>"


def _line(start: tuple[int, int], end: tuple[int, int]) -> str:
    (x, y), (to_x, to_y) = (start[0] + _BOX[0], start[1] + _BOX[1] // 2), (end[0], end[1] + _BOX[1] // 2)
    bend = (to_x - x) // 2
    return f"<path d='M{x} {y} C{x + bend} {y} {to_x - bend} {to_y} {to_x} {to_y}' fill='none' stroke='#9c9c9c'/>"


def _box(corner: tuple[int, int], kind: str, words: str) -> str:
    who = next((who for who in ("alice", "bob", "public", "shared", "both") if f"{who} " in f"{words} "), "")
    colour = _COLOURS.get(who, "#76b7b2") if kind in ("input", "output") else "#d9d9d9"
    short = words if len(words) <= 28 else words[:27] + "…"
    (x, y), (wide, high) = corner, _BOX
    box = (
        f"<rect x='{x}' y='{y}' width='{wide}' height='{high}' rx='4' fill='white' stroke='{colour}' stroke-width='2'/>"
    )
    label = f"<text x='{x + 6}' y='{y + 16}' fill='black'>{text(short)}</text>"
    return f"<g><title>{text(words)}</title>{box}{label}</g>"


def costs(all: Costs) -> str:
    """A row for each protocol, with a bar for each phase."""
    longest = max((cost.seconds for cost in all), default=0) or 1
    head = ("protocol", "ANDs", "depth", "setup and online", "seconds", "bytes", "rounds", "memory")
    return table(head, [_cost(cost, longest) for cost in all])


def _cost(cost: Cost, longest: float) -> tuple[str, ...]:
    bars = "".join(
        f"<div style='display:inline-block;height:10px;width:{200 * phase.seconds / longest:.0f}px;background:{colour}'"
        f" title='{name} {phase.seconds:.3g} s'></div>"
        for name, phase, colour in (("setup", cost.setup, _PHASES[0]), ("online", cost.online, _PHASES[1]))
    )
    seconds = f"{cost.setup.seconds:.3g} + {cost.online.seconds:.3g}"
    rounds = cost.setup.rounds + cost.online.rounds
    return (
        text(cost.protocol),
        f"{cost.ands:,}",
        f"{cost.depth:,}",
        bars,
        seconds,
        f"{cost.bytes:,}",
        f"{rounds:,}",
        f"{cost.memory:,}",
    )


def report(shown: Report) -> str:
    """A row for each phase."""

    def row(name: str, phase: Phase) -> tuple[str, ...]:
        return (name, f"{phase.seconds:.3g}", f"{phase.sent:,}", f"{phase.received:,}", f"{phase.rounds:,}")

    by = f"{text(shown.protocol)}, {shown.ands:,} ANDs" + (f", {text(shown.garbler)} garbles" if shown.garbler else "")
    head = ("", "seconds", "bytes sent", "received", "rounds")
    return table(head, [row("setup", shown.setup), row("online", shown.online)], by)


def result(shapes: Iterable[tuple[str, str]], shown: Report) -> str:
    """Names and shapes, without values."""
    return table(("output", "shape"), [(text(name), text(shape)) for name, shape in shapes]) + report(shown)


def step(shown: SeenStep) -> str:
    """A step of a debugger: values, and both shares of them."""
    rows = [tuple(text(cell) for cell in (v.name, v.type, v.value, v.alice, v.bob)) for v in shown.values]
    return table(("", "type", "value", "alice's share", "bob's share"), rows, f"{shown.number}: {text(shown.text)}")


# After how many seconds a run says how far it is, and how often then.
FIRST, AGAIN = 1.0, 0.25


class Progress:
    """How far a run is, in a notebook: one line that changes in its place."""

    def __init__(self, display: Any, html: Any, title: str) -> None:
        self._display, self._html, self._title = display, html, title
        self._handle: Any = None
        self._start = time.monotonic()

    def tell(self, phase: str, done: int, total: int) -> None:
        """Shows a phase, how much of it is done, and of how much."""
        part = done / total if total else 0
        bar = f"<progress value='{part:.3f}' max='1'></progress>"
        self._show(f"{text(self._title)} {phase} {bar} {part:.0%}, {time.monotonic() - self._start:.0f} s")

    def end(self) -> None:
        """Says how long it took, if anything was shown."""
        if self._handle is not None:
            self._show(f"{text(self._title)}: {time.monotonic() - self._start:.1f} s")

    def _show(self, line: str) -> None:
        shown = self._html(line)
        if self._handle is None:
            self._handle = self._display(shown, display_id=True)
        else:
            self._handle.update(shown)


def progress(title: str) -> Progress | None:
    """What shows progress, if this is a notebook; IPython is not imported for it."""
    shell = sys.modules.get("IPython")
    running = shell.get_ipython() if shell is not None and hasattr(shell, "get_ipython") else None
    if running is None or not hasattr(running, "kernel"):
        return None
    from IPython.display import HTML, display  # type: ignore[import-not-found,unused-ignore]

    return Progress(display, HTML, title)
