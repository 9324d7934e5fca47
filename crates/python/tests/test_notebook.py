"""What notebooks show: names are escaped, values are not there, and nothing is said outside of notebooks."""

from __future__ import annotations

import subprocess
import sys
from html.parser import HTMLParser
from types import SimpleNamespace
from typing import Any

import duologue as duo
import numpy as np
import pytest
from duologue import notebook

HOSTILE = "<script>alert(1)</script>&\"'\u202e\u05d0"
# A run over it takes many ticks of the clock, however fast the machine is.
LINK = "60ms,1Gbit"
VOID = {"rect", "path", "progress", "br"}


class Reader(HTMLParser):
    """Every element closes, and none is of a kind that runs."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in ("script", "img", "iframe", "a") and all(not name.startswith("on") for name, _ in attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in VOID

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def words(html: str) -> str:
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert not reader.open
    return " ".join(reader.words)


def test_a_program_is_a_table_and_a_picture() -> None:
    program = duo.program("app:social:16")
    html = program._repr_html_()
    shown = words(html)
    for port in program.inputs:
        assert port.name in shown and port.type in shown
    assert "bob supplies" in shown and "alice learns" in shown and program.digest[:16] in shown
    assert html.count("<rect") == len(program._core.steps) and "<path" in html and len(html) < 100_000


def test_names_of_somebody_else_are_escaped() -> None:
    port = duo.Port(HOSTILE, "alice", "uint(8)", HOSTILE, HOSTILE)
    fake: Any = SimpleNamespace(name=HOSTILE, digest="0" * 64, sizes={HOSTILE: (1, 2)}, inputs=[port], outputs=[port])
    html = notebook.program(fake, [("input", f"alice supplies {HOSTILE}", [], [0]), ("output", HOSTILE, [0], [])])
    assert "<script" not in html and not {"\u202e", "\u05d0"} & set(html)
    assert "<script>alert(1)</script>&\"'\\u{202e}\\u{5d0}" in words(html)
    shown = words(notebook.result([(HOSTILE, HOSTILE)], _report(HOSTILE)))
    assert "alert(1)" in shown
    value = duo.SeenValue(HOSTILE, HOSTILE, HOSTILE, None, None)
    words(notebook.step(duo.SeenStep(0, "map", HOSTILE, (value,))))
    progress = notebook.Progress(lambda html, display_id: html, lambda line: words(line), HOSTILE)
    progress.tell("setup", 1, 2)


def _report(name: str = "gmw") -> duo.Report:
    phase = duo.Phase(seconds=1.5, sent=10, received=20, rounds=3)
    common: dict[str, Any] = {
        "garbler": name,
        "garbling": None,
        "share_from": None,
        "ahead": True,
        "correlations": None,
    }
    return duo.Report(protocol=name, ands=1000, tile=64, setup=phase, online=phase, **common)


def test_many_steps_are_counted() -> None:
    steps = [("map", "map add(v0)", [number], [number + 1]) for number in range(1, 100)]
    assert words(notebook.picture([("input", "a", [], [0, 1]), *steps])).startswith("100 steps")


def test_costs_and_results_are_tables() -> None:
    costs = duo.program("block:multiply:32").cost(link="internet", sizes={"lanes": 500})
    shown = words(costs._repr_html_())
    for cost in costs:
        assert cost.protocol in shown and f"{cost.bytes:,}" in shown
    result = duo.Result({"secret": np.array([31337])}, _report())
    shown = words(result._repr_html_())
    assert "secret" in shown and "int64[1]" in shown and "31337" not in shown and "1,000 ANDs" in shown
    seen = duo.debug(duo.program("block:add:8"), alice={"a": [1]}, bob={"b": [2]}, protocol="gmw")
    seen.goto(2)
    assert "[3]" in words(seen._repr_html_())


def test_progress_is_told_in_a_notebook(other, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a kernel that is made up: what is displayed changes in its place, and ends with the time that it took."""
    lines: list[str] = []

    class Handle:
        def update(self, shown: str) -> None:
            lines.append(shown)

    def display(shown: str, display_id: bool) -> Handle:
        assert display_id and not lines
        lines.append(shown)
        return Handle()

    monkeypatch.setattr(notebook, "progress", lambda title: notebook.Progress(display, str, title))
    monkeypatch.setattr(notebook, "FIRST", 0)
    monkeypatch.setattr(notebook, "AGAIN", 0)
    bob = other("""
        with listen(link="60ms,1Gbit") as party:
            party.run(duo.program("block:multiply_low:64"), {"b": np.arange(1 << 13)}, protocol="yao", timing="streamed")
    """)
    with duo.connect(bob.line(), party="alice", insecure_plaintext=True, wait=60, link=LINK) as party:
        inputs = {"a": np.arange(1 << 13)}
        result = party.run(duo.program("block:multiply_low:64"), inputs, protocol="yao", timing="streamed")
    bob.end()
    assert (result["out"] == np.arange(1 << 13) ** 2).all()
    assert len(lines) > 2 and "s" in words(lines[-1]) and all("<progress" in line for line in lines[:-1])
    assert "<progress" not in lines[-1] and "online" in lines[-2]


def test_who_does_not_listen_is_not_told_again(other) -> None:
    bob = other("""
        with listen(link="60ms,1Gbit") as party:
            party.run(duo.program("block:multiply_low:64"), {"b": np.arange(1 << 13)}, protocol="yao", timing="streamed")
    """)
    told: list[tuple[str, int, int]] = []

    def deaf(phase: str, done: int, total: int) -> None:
        told.append((phase, done, total))
        raise ValueError("deaf")

    with duo.connect(bob.line(), party="alice", insecure_plaintext=True, wait=60, link=LINK) as party:
        party._met().watch(deaf, (0, 0))
        inputs = {"a": np.arange(1 << 13)}
        party.run(duo.program("block:multiply_low:64"), inputs, protocol="yao", timing="streamed")
    bob.end()
    assert len(told) == 1 and all(done <= total for _, done, total in told)


def test_nothing_is_said_outside_of_notebooks() -> None:
    assert notebook.progress("title") is None
    code = "import sys, duologue; assert 'IPython' not in sys.modules and duologue.notebook.progress('x') is None"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_terminal_of_ipython_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for shell in (None, SimpleNamespace()):
        monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda shell=shell: shell))
        assert notebook.progress("title") is None
