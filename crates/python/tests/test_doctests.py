"""What the documentation of the package says runs."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import duologue


def test_examples_in_documentation() -> None:
    attempted = 0
    for module in pkgutil.iter_modules(duologue.__path__, "duologue."):
        if module.name.rsplit(".", 1)[1] not in ("__main__", "_core"):
            done = doctest.testmod(importlib.import_module(module.name))
            assert done.failed == 0, module.name
            attempted += done.attempted
    assert attempted >= 8
