"""Two notebooks talk to each other, in two kernels."""

from __future__ import annotations

import asyncio
import os
import socket
from pathlib import Path
from typing import Any

import pytest

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")

EXAMPLES = Path(__file__).parents[3] / "examples" / "python"


def outputs(book: Any) -> list[dict[str, Any]]:
    """What the last cells show."""
    return [
        output["data"] for cell in book.cells if cell.cell_type == "code" for output in cell.outputs if "data" in output
    ]


def test_alice_and_bob(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        monkeypatch.setenv("DUOLOGUE_ADDRESS", f"127.0.0.1:{free.getsockname()[1]}")
    books = [nbformat.read(EXAMPLES / f"{name}.ipynb", as_version=4) for name in ("alice", "bob")]

    async def run() -> None:
        clients = [
            nbclient.NotebookClient(book, timeout=240, resources={"metadata": {"path": str(tmp_path)}})
            for book in books
        ]
        await asyncio.gather(*(client.async_execute(env=dict(os.environ)) for client in clients))

    asyncio.run(run())
    for book in books:
        shown = outputs(book)
        assert shown[-1]["text/plain"] == "[True, False, True, False, False]"
        assert "text/html" in shown[0] and "<svg" in shown[0]["text/html"]
        assert "bool[5]" in shown[-2]["text/html"]
        errors = [
            output
            for cell in book.cells
            if cell.cell_type == "code"
            for output in cell.outputs
            if output.output_type == "stream"
        ]
        assert not errors
