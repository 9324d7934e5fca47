"""Queries between two processes, against pandas; and what is wrong with a query or a table, which is said first."""

from __future__ import annotations

import copy
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any

import duologue as duo
import numpy as np
import pytest
import questions
from duologue import Alice, Bob, key, text
from test_runs import party

pd = pytest.importorskip("pandas")


def joined(seed: int) -> Any:
    ads, shop = questions.tables(seed)
    return pd.DataFrame(ads).merge(pd.DataFrame(shop), on="email")


def expected(seed: int) -> dict[str, Any]:
    both = joined(seed)
    often = both[(both.views >= 10) & ~((both.region == "south") | (both.amount < -2.5))]
    late = both[(both.amount > 0) | (both.score != 3)]

    def told(frame: Any, column: str, what: str, minimum: int = 0) -> Any:
        if len(frame) < max(minimum, what == "mean"):
            return None
        if what == "count":
            return len(frame)
        # Exact: the amounts are multiples of 2^-16.
        total = sum((Fraction(float(value)) for value in frame[column]), Fraction(0))
        if what == "sum":
            return total
        scale = 1 << (32 if column == "amount" else 16)
        units = total * scale / len(frame)
        rounded = (2 * abs(units.numerator) + units.denominator) // (2 * units.denominator)
        return Fraction(rounded if units >= 0 else -rounded, scale)

    def groups(frame: Any, by: str, values: list[Any], column: str, what: str, minimum: int = 0) -> Any:
        return {value: told(frame[frame[by] == value], column, what, minimum) for value in values}

    return {
        "buyers": told(both, "", "count"),
        "turnover": told(both, "amount", "sum"),
        "often": told(often, "amount", "sum", 20),
        "often mean": told(often, "amount", "mean"),
        "views": groups(often, "region", questions.REGIONS, "views", "sum", 3),
        "by score": groups(late, "score", [-3, 0, 3, 50], "amount", "mean", 2),
        "late": groups(late, "score", [-3, 0, 3, 50], "", "count"),
    }


def same(result: Any, wanted: dict[str, Any]) -> bool:
    return dict(result) == wanted and list(result) == list(wanted)


@pytest.mark.parametrize("how", ["pandas", "numpy", "polars", "pyarrow"])
def test_figures_are_those_of_pandas(other, how: str) -> None:
    bob = other("""
        import questions
        with listen() as party:
            for seed in questions.SEEDS:
                result = party.run(questions.turnover, {"shop": questions.tables(seed)[1]})
                assert result and result.rows == questions.sizes(seed), result
    """)
    with party(bob.line()) as alice:
        for seed in questions.SEEDS:
            frame: Any = questions.tables(seed)[0]
            if how == "pandas":
                frame = pd.DataFrame(frame)
            elif how != "numpy":
                library = pytest.importorskip(how)
                frame = library.DataFrame(frame) if how == "polars" else library.table(frame)
            result = alice.run(questions.turnover, {"ads": frame})
            assert result.rows == questions.sizes(seed)
            assert same(result, expected(seed)), (dict(result), expected(seed))
            assert result.report.protocol == "gmw"
    bob.end()


def test_padding_keyed_addresses_and_repeated_rows(other) -> None:
    bob = other("""
        import questions
        with listen() as party:
            shop = {"mail": [" a@X.org", "B@x.org", "b@x.org", "c@x.org"], "amount": [1.5, -2.0, 0.25, 9], "extra": "abcd"}
            result = party.run(questions.addresses, {"shop": shop}, pad={"shop": 64})
            assert not result and result.rows == (3, 64)
    """)
    ads = pd.DataFrame({"email": ["A@x.org ", "b@x.org", "z@x.org"], "views": [3, 4, 5]})
    with party(bob.line()) as alice:
        result = alice.run(questions.addresses, {"ads": ads})
    bob.end()
    assert dict(result) == {"n": 2, "sum": -0.25, "of three": {3: None, 4: None}}
    frame = pd.DataFrame({"n": [2], "sum": [-0.25]})
    only = duo.QueryResult({"n": 2, "sum": -0.25}, result.rows, result.report)
    assert only.to_pandas().astype(float).equals(frame.astype(float))
    grouped = duo.QueryResult({"n": {3: None, 4: 7}}, result.rows, result.report).to_pandas()
    assert grouped.index.tolist() == [3, 4] and grouped["n"].isna().tolist() == [True, False]
    with pytest.raises(duo.UsageError, match="different groups"):
        result.to_pandas()
    assert "7" not in repr(grouped.columns) and "0.25" not in repr(result)


def test_queries_take_from_a_pool(other, tmp_path: Any) -> None:
    bob = other("""
        import questions
        for fills in (True, False):
            with listen(pool="bob.pool") as party:
                if fills:
                    party.fill_pool(triples=100_000, cots=200_000, correlations="softspoken4")
                for _ in range(2):
                    party.run(questions.turnover, {"shop": questions.tables(4)[1]})
    """)
    pool = tmp_path / "alice.pool"
    ads = questions.tables(4)[0]
    for fills in (True, False):
        with duo.connect(bob.line(), party="alice", insecure_plaintext=True, wait=60, pool=pool) as alice:
            if fills:
                alice.fill_pool(triples=100_000, cots=200_000, correlations="softspoken4")
            for _ in range(2):
                result = alice.run(questions.turnover, {"ads": ads})
                assert same(result, expected(4)), dict(result)
    bob.end()
    assert duo.pool(pool).used.triples > 0


def test_text_may_be_empty(other) -> None:
    bob = other("""
        import questions
        with listen() as party:
            shop = {"email": ["a", "b", "c", "d", "x"], "region": ["", "north", "", " ", ""]}
            print(dict(party.run(questions.nowhere, {"shop": shop})), flush=True)
    """)
    with party(bob.line()) as alice:
        result = alice.run(questions.nowhere, {"ads": {"email": list("abcde"), "views": [1, 2, 4, 8, 16]}})
    assert dict(result) == {"empty": 5, "said": 2, "by": {"": 2, "north": 1}}
    assert bob.line() == str(dict(result))
    bob.end()


def test_different_queries_are_not_computed(other) -> None:
    bob = other("""
        import questions
        with listen() as party:
            try:
                party.run(questions.turnover, {"shop": questions.tables(1)[1]})
            except duo.Incompatible as why:
                assert why.what == "the program", why
            else:
                raise AssertionError("it ran")
    """)
    with party(bob.line()) as alice, pytest.raises(duo.Incompatible):
        alice.run(questions.addresses, {"ads": {"email": ["a@b"], "views": [1]}})
    bob.end()


def query(**more: Any) -> duo.Query:
    """Of which every part has its place in the text."""

    @duo.query(
        ads=Alice.table(email=key, views="uint(16)"),
        shop=Bob.table(email=key, views="int(8)", amount="fixed(48, 16)", region=text),
        to=more.get("to", Alice),
    )
    def asked(ads: Any, shop: Any) -> Any:
        both = ads.join(shop, on="email")
        return more["of"](both)

    return asked


def test_a_query_is_text_that_both_compare() -> None:
    asked = query(of=lambda both: {"n": both[both.amount >= 0.3][~(both["ads.views"] < 7)].count(minimum=5)})
    assert str(asked).splitlines() == [
        "query  'asked'",
        "alice learns",
        'alice key "as it is, repeated: refuse"',
        'bob key "as it is, repeated: refuse"',
        'n = count where (bob.amount:"fixed(48, 16)" > "19660" and not alice.views:"uint(16)" < "7") with 5 rows or more',
    ]
    assert query(to=(Bob, Alice), of=lambda both: {"n": both.count()}).learns == "both"


def others() -> Any:
    """Rows of another query."""
    rows = []
    query(of=lambda both: rows.append(both) or {"n": both.count()})
    return rows[0]


def test_conditions_joined_alike_are_one_list() -> None:
    def of(both: Any) -> Any:
        some = both.amount == 0
        for value in range(1, 70):
            some = some | (both.amount == value)
        return {"n": both[some][both["ads.views"] > 1][both["ads.views"] < 9].count()}

    text = query(of=of).text
    assert text.count("(") - text.count("fixed(") - text.count("uint(") == 2 and text.count(" or ") == 69 and text.count(" and ") == 2


def test_rows_are_copied() -> None:
    rows = others()
    assert copy.copy(rows).count().of is None and copy.deepcopy(rows).amount.sum().what == "sum"


@pytest.mark.parametrize(
    ("of", "error", "why"),
    [
        (lambda both: {"n": both[both.amount > 3 and both.amount < 5].count()}, TypeError, "write & | ~"),
        (lambda both: {"n": both[both.amount > 3 or both.amount < 5].count()}, TypeError, "write & | ~"),
        (lambda both: {"n": both[not both.amount > 3].count()}, TypeError, "write & | ~"),
        (lambda both: {"n": both[3 < both.amount < 5].count()}, TypeError, "with each comparison in parentheses"),
        (lambda both: {"n": both.count() if both.amount > 3 else 0}, TypeError, r"rows\[condition\] in place of if"),
        (lambda both: {"n": both.count() if both.amount else 0}, TypeError, "compare it, as in"),
        (lambda both: {"n": both.amount.sum() if both.count() > 3 else 0}, TypeError, "known after the run"),
        (lambda both: {"n": both.amount.sum() if both.count() == 3 else 0}, TypeError, "known after the run"),
        (lambda both: {"n": both.count() or both.amount.sum()}, TypeError, "known after the run"),
        (lambda both: {"n": both[others().amount > 3].count()}, duo.UsageError, "rows of another query"),
        (lambda both: {"n": both.group_by(others().amount, [1]).count()}, duo.UsageError, "rows of another query"),
        (lambda both: {"n": others().count()}, duo.UsageError, "a figure of another query"),
        (
            lambda both: {"n": both.amount.sum(), "by": both.group_by(both.region, ["x", "y"]).amount.sum(minimum=3)},
            duo.UsageError,
            "one tells what the minimum of the other withholds",
        ),
        (lambda both: {"n": both.views.sum()}, duo.UsageError, "both tables have a column 'views'"),
        (lambda both: {"n": both.clicks.sum()}, duo.UsageError, "no column 'clicks' was declared"),
        (lambda both: {"n": both.region.sum()}, duo.UsageError, "is text, which is not added up"),
        (lambda both: {"n": both[both.region < "n"].count()}, duo.UsageError, "compared by == and != alone"),
        (lambda both: {"n": both[both.amount == 0.3].count()}, duo.UsageError, "no value of fixed"),
        (lambda both: {"n": both[both.amount > "x"].count()}, duo.UsageError, "expected a number to compare"),
        (lambda both: {"n": both[both.amount > 1e30].count()}, duo.UsageError, "beyond all values"),
        (lambda both: {"n": both.group_by(both.region, ["a", "a"]).count()}, duo.UsageError, "comes twice"),
        (lambda both: {"n": both.count(minimum=-1)}, duo.UsageError, "expected a number of rows"),
        (lambda both: {"n": len(both)}, TypeError, "is a secret"),
        (lambda both: {"n": 3}, duo.UsageError, "returns figures by name"),
        (lambda both: {}, duo.UsageError, "1 to 256 figures, not 0"),
        (lambda both: {"n": both[3].count()}, duo.UsageError, "expected a condition"),
    ],
)
def test_what_is_no_query_is_refused(of: Any, error: Any, why: str) -> None:
    with pytest.raises(error, match=why):
        query(of=of)


def test_tables_are_declared_with_one_key_and_types() -> None:
    for columns, why in [
        ({"views": "uint(8)"}, "0 key columns"),
        ({"a": key, "b": key}, "2 key columns"),
        ({"a": key, "b": "uint(64)"}, "up to 64 bits, not"),
        ({"a": key, "b": "float(32, 8)"}, "up to 64 bits"),
        ({"a": key, "b": 3}, "expected key, text"),
    ]:
        with pytest.raises(duo.UsageError, match=why):
            Alice.table(**columns)
    with pytest.raises(duo.UsageError, match="there is email"):
        key(normalise="phone")
    with pytest.raises(duo.UsageError, match="'refuse', 'first' or 'sum'"):
        key(repeated="last")


class Colour(int, Enum):
    RED = 1
    BLUE = 2


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"email": None}, "has no column 'email'"),
        ({"amount": None}, "has no column 'amount'"),
        ({"email": ["a", "b", None]}, "row 2: expected text, bytes or an integer as a key"),
        ({"email": ["a", "", "c"]}, "row 1: expected a key, not an empty one"),
        ({"email": [1.0, 2.0, 3.0]}, "row 0: expected text, bytes or an integer"),
        ({"email": ["a", "b", "a"]}, "rows 0 and 2 have the same key"),
        ({"email": ["a", "b", "secret\ud800"]}, "row 2: expected text in UTF-8"),
        ({"email": [Colour.RED, Colour.BLUE, 7]}, "row 0: expected text, bytes or an integer as a key"),
        ({"email": [1, 2, 10**5000]}, "row 2: expected an integer of fewer digits"),
        ({"region": np.array([["a", "b"], ["c", "d"], ["e", "f"]])}, "region: it has 2 dimensions"),
        ({"region": np.array("a")}, "region: it has 0 dimensions"),
        ({"amount": [1.0, float("nan"), 2.0]}, "row 1"),
        ({"amount": [1.0, 2.0]}, "'amount' has 2 rows, and the key 3"),
        ({"amount": [1.0, 2.0, 1e12]}, "row 2: expected a number that fixed"),
        ({"region": ["a", "b", 3]}, "row 2: expected text"),
    ],
)
def test_a_table_is_checked_before_the_peer_is_met(change: dict[str, Any], why: str) -> None:
    shop = {"email": ["a", "b", "c"], "amount": [1.0, 2.0, 3.0], "region": ["x", "y", "z"]} | change
    shop = {name: column for name, column in shop.items() if column is not None}

    def of(both: Any) -> Any:
        some = both[both.amount > 1]
        return {"n": some.group_by(some.region, ["x"]).count(), "m": some.amount.mean()}

    bob = duo.connect("127.0.0.1:9", party="bob", insecure_plaintext=True, wait=1)
    with pytest.raises(duo.UsageError, match=why) as raised:
        bob.run(query(of=of), {"shop": shop})
    assert "secret" not in str(raised.value) and (raised.value.__context__ is None or raised.value.__suppress_context__)
    assert "1e12" not in str(raised.value) and "1000000000000" not in str(raised.value)


def test_runs_of_queries_take_a_table_of_ones_own() -> None:
    asked = query(of=lambda both: {"n": both.count()})
    alice = duo.connect("127.0.0.1:9", party="alice", insecure_plaintext=True, wait=1)
    table = {"email": ["a"]}
    for arguments, more, why in [
        ({}, {}, "the table 'ads' is missing"),
        ({"shop": table}, {}, "this party's table is 'ads'"),
        ({"ads": table}, {"pad": {"shop": 5}}, "this party's table is 'ads'"),
        ({"ads": table}, {"pad": {"ads": 0}}, "expected a number of rows"),
        ({"ads": table}, {"pad": 100}, "by the table's name"),
        ({"ads": {"email": ["a", "b"]}}, {"pad": {"ads": 1}}, "more than the 1"),
        ({"ads": table}, {"sizes": {"n": 3}}, "neither sizes nor settings"),
        ({"ads": 5}, {}, "expected a frame"),
    ]:
        with pytest.raises(duo.UsageError, match=why):
            alice.run(asked, arguments, **more)  # type: ignore[call-overload]
    with pytest.raises(duo.UsageError, match="pad is for queries"):
        alice.run(duo.program("block:add:8"), {"a": [1]}, pad={"a": 3})  # type: ignore[call-overload]


def test_repeated_rows_are_added_where_sums_are_asked() -> None:
    def asked(of: Any) -> duo.Query:
        @duo.query(
            ads=Alice.table(email=key),
            shop=Bob.table(email=key(repeated="sum"), amount="int(8)", size="int(8)", region=text),
            to=Alice,
        )
        def some(ads: Any, shop: Any) -> Any:
            return {"n": of(ads.join(shop, on="email"))}

        return some

    shop = {"email": ["b", "a", "a"], "amount": [1, 100, 28], "size": [1, 2, 3], "region": ["x", "y", "z"]}
    bob = duo.connect("127.0.0.1:9", party="bob", insecure_plaintext=True, wait=1)
    another = "it is another one than in an earlier row of its key"
    for of, why in [
        (lambda both: both.amount.sum(), r"shop.amount: row 1: the numbers of its key, added up, have more bits"),
        (lambda both: both[both["size"] > 1].count(), f"shop.size: row 2: {another}"),
        (lambda both: both.group_by(both["size"], [1]).count(), f"shop.size: row 2: {another}"),
        (lambda both: both[both.region == "x"].count(), f"shop.region: row 2: {another}"),
    ]:
        with pytest.raises(duo.UsageError, match=why):
            bob.run(asked(of), {"shop": shop})


def test_constants_are_exact() -> None:
    for number in (np.int64(2**40), np.uint64(2**40), np.int8(3), True + 1, 2**40):
        wanted = f'"{int(number) << 16}"'
        assert wanted in query(of=lambda both, v=number: {"n": both[both.amount < v].count()}).text
    for value in (Decimal("1.5"), Fraction(3, 2), 1.5, np.float64(1.5)):
        assert '"98304"' in query(of=lambda both, v=value: {"n": both[both.amount == v].count()}).text


def test_columns_that_cannot_be_cut_are_taken_whole() -> None:
    from collections import deque

    from duologue._rows import _parts

    assert list(_parts(deque([1, 2, 3]))) == list(_parts({1: "a", 2: "b", 3: "c"}.keys())) == [[1, 2, 3]]
    assert [len(part) for part in _parts(np.zeros(20_000))] == [16_384, 3_616]
