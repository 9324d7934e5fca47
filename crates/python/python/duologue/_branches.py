"""What to write where Python would need the value of a word."""

from __future__ import annotations

import ast
import linecache
import os
import sys
import warnings
from types import CodeType, FrameType

from .errors import SecretBranch
from .types import PACKAGE

_FOR_NAME = {
    "int": "Write duo.cast(x, i64), which stays a word.",
    "float": "Write duo.cast(x, f64), which stays a word.",
    "index": "Write duo.lookup(x, table) instead of table[x], and x << y by a word as it is.",
    "hash": "It is no member of a set and no key of a dict: write duo.lookup(x, table), or compare with ==.",
    "iteration": "Write duo.unstack(x) for its lanes, or x[0], x[1] for its bits.",
    "in": "Write (x == a) | (x == b).",
    "str": "repr(x) shows its type and lanes.",
    "format": "f'{x!r}' shows its type and lanes.",
    "array": "Write the function of duo: duo.where, duo.minimum, duo.sum and so on take words and arrays.",
    "len": "How many lanes there are is public: write Public(u64, lanes=1) as an input, or a number for lanes.",
    "round": "Write duo.cast(x, T): to fixed-point it rounds, and from floats to integers it goes towards zero.",
    "divmod": "Write x // y and x % y.",
    "power": "Write duo.u32(1) << x for a power of two, or duo.lookup(x, table) for powers of another number.",
}

_WHAT = {
    "bool": "cannot branch on a secret",
    "int": "cannot make a plain number of a secret",
    "float": "cannot make a plain number of a secret",
    "index": "cannot use a secret as an index or a count",
    "hash": "cannot hash a secret",
    "iteration": "cannot go through a secret",
    "in": "cannot look into a secret",
    "str": "cannot make text of a secret",
    "format": "cannot make text of a secret",
    "array": "cannot make an array of a secret",
    "len": "cannot count the lanes of a word",
    "round": "cannot round a secret",
    "divmod": "cannot divide by divmod",
    "power": "cannot raise to a secret power",
}

_FOR_MATCH = "Instead of match write duo.where(x == 1, a, duo.where(x == 2, b, c))."

_CALLS = {
    "min": "duo.minimum(a, b)",
    "max": "duo.maximum(a, b)",
    "sorted": "duo.sort(words)",
    "any": "a | b",
    "all": "a & b",
    "bool": "x != 0, which stays a word",
}


# What goes through one word: its lanes, by functions over lanes.
_OVER_LANES = {
    "sum": "x.sum()",
    "max": "x.max()",
    "min": "x.min()",
    "any": "x.any()",
    "all": "x.all()",
    "sorted": "duo.sort(x)",
}

_ATTRIBUTES = {
    "mean": "x.sum() // n, or duo.cast(x, f64).sum() / n",
    "astype": "duo.cast(x, T)",
    "view": "duo.cast(x, T)",
    "cumsum": "duo.scan(f, state, x)",
    "sort": "duo.sort(x)",
    "bit_count": "duo.count_ones(x)",
    "clip": "duo.minimum(duo.maximum(x, a), b)",
    "dot": "duo.dot(xs, ys), or (x * y).sum()",
    "prod": "duo.reduce(lambda a, b: a * b, x)",
}

_UFUNCS = {
    "logical_and": "a & b",
    "logical_or": "a | b",
    "logical_not": "~a",
    "logical_xor": "a ^ b",
    "sign": "duo.where(x < 0, -1, duo.where(x > 0, 1, 0))",
    "clip": "duo.minimum(duo.maximum(x, a), b)",
    "divmod": "x // y and x % y",
    "bitwise_count": "duo.count_ones(x)",
    "sqrt": "duo.blocks.fp_sqrt_ieee(x), or duo.blocks.square_root(x)",
    "isnan": "x != x",
    "dot": "duo.dot(xs, ys), or (x * y).sum()",
    "matmul": "(x * y).sum()",
    "prod": "duo.reduce(lambda a, b: a * b, x)",
    "mean": "x.sum() // n, or duo.cast(x, f64).sum() / n",
}


def here() -> str:
    """The line of the caller."""
    frame = _caller(sys._getframe(1))
    return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"


def refusal(what: str) -> SecretBranch:
    """The error for what needs a value, at the line of the caller."""
    if what.startswith("np."):
        return SecretBranch(f"{here()}: {what} does not take secrets. {_for_numpy(what[3:])}")
    frame = _caller(sys._getframe(1))
    if what == "bool":
        advice = _for_branch(frame)
    elif what == "iteration":
        advice = _for_iteration(frame)
    elif what == "len" and isinstance(_node(frame), ast.pattern):
        return SecretBranch(f"{here()}: the program cannot take a secret apart. {_FOR_MATCH}")
    else:
        advice = _for_range(frame) if what == "index" else _FOR_NAME[what]
    return SecretBranch(f"{here()}: the program {_WHAT[what]}. {advice}")


def no_attribute(name: str) -> AttributeError:
    """The error for what arrays have and words do not."""
    advice = f": write {_ATTRIBUTES[name]}" if name in _ATTRIBUTES else ""
    return AttributeError(f"{here()}: a word has no {name!r}{advice}")


def _for_numpy(name: str) -> str:
    from . import functions

    if name in functions.__all__:
        return f"Write duo.{name}, which takes words and arrays."
    if name in _UFUNCS:
        return f"Write {_UFUNCS[name]}."
    return "Write the function of duo if there is one, or the block: dir(duo.blocks) lists them."


def _for_iteration(frame: FrameType) -> str:
    node = _node(frame)
    name = _name(node.func) if isinstance(node, ast.Call) else ""
    return f"Write {_OVER_LANES[name]} for all lanes." if name in _OVER_LANES else _FOR_NAME["iteration"]


def warn_large(file: str, line: int) -> None:
    """Says which line is under way when a program becomes a large one."""
    text = (
        "the program has more than 10,000,000 gates a lane by now, and this line adds to them: is a loop unrolled that "
        "could go over lanes (duo.reduce, duo.scan)?"
    )
    warnings.warn_explicit(text, RuntimeWarning, file, line)


def _caller(frame: FrameType) -> FrameType:
    """The first one that is neither in this package nor in NumPy."""
    numpy = sys.modules.get("numpy")
    folder = os.path.dirname(numpy.__file__ or "") if numpy else ""
    inner = (PACKAGE, os.path.join(folder, "")) if folder else PACKAGE
    while frame.f_code.co_filename.startswith(inner) and frame.f_back is not None:
        frame = frame.f_back
    return frame


def _for_range(frame: FrameType) -> str:
    node = _node(frame)
    if isinstance(node, ast.Call) and _name(node.func) == "range":
        return "How often a loop runs is public: write range(most), and duo.where(i < x, new, old) in it."
    return _FOR_NAME["index"]


def _for_branch(frame: FrameType) -> str:
    node = _node(frame)
    if node is None:
        return "Write duo.where(condition, a, b): both are computed, one is chosen; and &, |, ~ for and, or, not."
    if isinstance(node, ast.Assert):
        return f"Return {_text(frame, node.test)} as an output instead."
    text = _text(frame, node)
    if isinstance(node, ast.Call) and _name(node.func) in _CALLS:
        return f"Write {_CALLS[_name(node.func)]} instead of {_name(node.func)}(...)."
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
        return f"Instead of {text} write (x == a) | (x == b), a comparison for each."
    return _for_parent(frame, node, text)


def _for_parent(frame: FrameType, node: ast.AST, text: str) -> str:
    # Of a connective the instruction is one side's, or its own.
    parent = node if _is_connective(node) else getattr(node, "parent", None)
    match parent:
        case ast.BoolOp(op=ast.And()):
            return f"Instead of {_text(frame, parent)} write (a) & (b), with each side in brackets."
        case ast.BoolOp():
            return f"Instead of {_text(frame, parent)} write (a) | (b), with each side in brackets."
        case ast.UnaryOp():
            return f"Write ~({_text(frame, parent.operand)}) instead of not."
        case ast.Compare() if len(parent.ops) > 1:
            return f"Instead of {_text(frame, parent)} write (a < b) & (b < c)."
        case ast.While():
            return (
                f"How often a loop runs is public: write for _ in range(most), and duo.where({text}, new, old) in it."
            )
        case ast.Assert():
            return f"Return {text} as an output instead."
        case ast.match_case() | ast.MatchValue() | ast.Match():
            return _FOR_MATCH
        case _:
            return f"Write duo.where({text}, a, b): both are computed, one is chosen."


def _is_connective(node: ast.AST) -> bool:
    is_not = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    return is_not or isinstance(node, ast.BoolOp) or isinstance(node, ast.Compare) and len(node.ops) > 1


def _name(function: ast.expr) -> str:
    return function.id if isinstance(function, ast.Name) else ""


def _node(frame: FrameType) -> ast.AST | None:
    """The part of the source that is under way, if there is a source."""
    positions = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    tree = _tree(frame.f_code)
    if tree is None or None in positions:
        return None
    line, end, column, last = positions
    found = None
    for node in ast.walk(tree):
        place = (getattr(node, "lineno", 0), getattr(node, "end_lineno", 0))
        if place == (line, end) and (node.col_offset, node.end_col_offset) == (column, last):  # type: ignore[attr-defined]
            found = node
    return found


def _tree(code: CodeType) -> ast.AST | None:
    try:
        tree = ast.parse("".join(linecache.getlines(code.co_filename)))
    except (SyntaxError, ValueError):
        return None
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            child.parent = node  # type: ignore[attr-defined]
    return tree


def _text(frame: FrameType, node: ast.AST) -> str:
    text = ast.get_source_segment("".join(linecache.getlines(frame.f_code.co_filename)), node) or "the condition"
    return " ".join(text.split())
