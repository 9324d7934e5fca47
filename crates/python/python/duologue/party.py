"""One party: it meets its peer, runs programs with it, and ends in good order."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, Unpack, overload

from . import _core, notebook
from ._settings import Settings, complete
from ._values import pack
from .columns import columns_of
from .errors import Incompatible, UsageError
from .folders import Pool, Runs, place
from .program import Port, Program, bind, check_lanes
from .report import PrivateRuns
from .results import Prepared, Result, result_of
from .tables import Query, QueryResult

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["Party"]

T = TypeVar("T")


class Party:
    """This party, and its session with the peer: `duo.connect` and `duo.listen` make one.

    It meets the peer when it is entered (`with`, `async with`), by `open`, or by its first run. Both parties make the
    same calls in the same order. One thread uses it at a time. It stays in its process: a forked one must connect
    again.
    """

    def __init__(
        self, party: str, meeting: _core.Meeting, address: str, threads: int, pool: tuple[str, str | None] | None
    ) -> None:
        self.party = party
        """`alice` or `bob`."""
        self.address = address
        """Where it connects to, or listens: with the port that the system chose, if it was asked for port 0."""
        # None once the party has ended: it keeps the port.
        self._meeting: _core.Meeting | None = meeting
        self._threads = threads
        self._pool = pool
        self._canceller = _core.Canceller()
        self._session: _core.Party | None = None
        self._is_closed = False
        self._is_private = False
        self._is_meeting = threading.Lock()
        self._process = os.getpid()

    def open(self) -> Self:
        """Meets the peer, and waits until it is there. Nothing happens if it is there already."""
        self._met()
        return self

    def close(self) -> None:
        """Ends the session in good order: both parties have said all. It is closed whatever comes of it."""
        session, self._is_closed, self._meeting = self._session, True, None
        if session is not None:
            session.close()

    def cancel(self) -> None:
        """Ends what the party waits for or does, from another thread, and the session with it; the peer is told."""
        self._check_process()
        self._canceller.cancel()

    @overload
    def run(
        self,
        program: Program,
        inputs: Mapping[str, object] | None = None,
        *,
        sizes: Mapping[str, int] | None = None,
        **settings: Unpack[Settings],
    ) -> Result: ...
    @overload
    def run(
        self, program: Query, inputs: Mapping[str, Any], *, pad: Mapping[str, int] | None = None
    ) -> QueryResult: ...
    def run(
        self,
        program: Program | Query,
        inputs: Mapping[str, Any] | None = None,
        *,
        sizes: Mapping[str, int] | None = None,
        pad: Mapping[str, int] | None = None,
        **settings: Unpack[Settings],
    ) -> Result | QueryResult:
        """Runs a program or a query with the peer, which makes the same call with its own inputs.

        `inputs` has this party's, the public ones, and its shares of shared ones: arrays with a row for each lane, or
        single values. They are copied before anything is sent. Sizes follow from the rows where they can; `sizes` gives
        the others.

        Of a query the input is this party's table by its name: a frame, or a mapping of arrays, whose other columns are
        not looked at. `pad` fills it up to so many rows, so that the peer hears this number and not the true one.
        """
        if isinstance(program, Query):
            if sizes or settings:
                raise UsageError("a query has neither sizes nor settings")
            table = {} if inputs is None else inputs
            return program._run(lambda: self._shown(self._ready(), program), self.party, table, pad)
        if pad is not None:
            raise UsageError("pad is for queries: a program has sizes")
        return self._run(program, _given(inputs), sizes, settings)

    def _run(
        self,
        program: Program,
        given: Mapping[str, object],
        sizes: Mapping[str, int] | None,
        settings: Settings,
        leaky: bool = False,
    ) -> Result:
        everything = complete(settings)
        binding, matrices = bind(program, given, sizes, self._wanted(program, given, self._holders))
        with self._shown(self._ready(), program) as session:
            outputs, report = session.run(binding, everything, matrices, leaky)
        return result_of(program, outputs, report)

    def argmin(
        self,
        values: object,
        arguments: object = None,
        *,
        bits: int = 32,
        argument_bits: int | None = None,
        form: Literal["shared", "halves", "xor"] = "shared",
        method: str = "auto",
        ots: Literal["both", "one"] | None = None,
        schedule: str | None = None,
        leaky: bool = False,
        sizes: Mapping[str, int] | None = None,
        **settings: Unpack[Settings],
    ) -> Result:
        """The `least` of many values of 1 to 128 `bits`, and its `index`, or its `argument` of `argument_bits` bits: of
        equal ones the first. Neither party learns anything else; the peer makes the same call.

        `form` says how the values are held. `shared`: `values` are this party's numbers, of one bit more; Alice's and
        Bob's add up to the values modulo 2^(bits + 1), and so do both results `least`. `halves`: `values` are this
        party's own, and `sizes` says how many the peer has (`{"bob": 10}`); both learn the result. `xor`: `values` is a
        `Share`, as a run gives it, and so are the results.
        Arguments are whole numbers of this party's own values, or a `Share` of `bits`; the index and the argument of
        shared values are shares.

        `method`, `ots`, `schedule` (a line) and `leaky` are those of `duologue run app:argmin`: the method `auto` is the
        fastest by prediction of those that tell nothing else; `leaky` is consent to one that does.
        """
        from ._argmin import Argmin

        asked = {"bits": bits, "argument": argument_bits, "form": form, "method": method, "ots": ots}
        asked |= {"schedule": schedule, "leaky": leaky, "has_pool": self._pool is not None}
        argmin = Argmin(self.party, values, arguments, asked, settings)
        result = self._run(argmin.program, argmin.inputs, sizes, argmin.settings, leaky)
        return Result(argmin.outputs(dict(result)), result.report)

    def prepare(
        self,
        program: Program,
        public: Mapping[str, object] | None = None,
        *,
        sizes: Mapping[str, int] | None = None,
        **settings: Unpack[Settings],
    ) -> Prepared:
        """Does whatever of a run needs no secret inputs; `online` does the rest. `sizes` gives the sizes that do not
        follow from public inputs."""
        everything, given = complete(settings), _given(public)
        binding, matrices = bind(program, given, sizes, self._wanted(program, given, ("public",)))
        with self._shown(self._ready(), program) as session:
            return Prepared(session.prepare(binding, everything, matrices), program)

    def online(self, prepared: Prepared, inputs: Mapping[str, object] | None = None) -> Result:
        """Runs what was prepared, with this party's inputs and shares; it is used up. Both parties take what they
        prepared in the same order."""
        program, given = prepared.program, _given(inputs)
        wanted = self._wanted(program, given, (self.party, "shared"))
        for port in wanted:
            if port.name not in given:
                raise UsageError(f"the input '{port.name}' is missing: {port.lanes} × {port.type}")
        matrices = {port.name: pack(port, given[port.name]) for port in wanted}
        check_lanes(prepared._core.binding, matrices)
        with self._shown(self._ready(), program) as session:
            outputs, report = session.online(prepared._core, matrices)
        return result_of(program, outputs, report)

    def fill_pool(
        self, *, triples: int = 0, cots: int = 0, correlations: str = "auto", assume_link: str | None = None
    ) -> Pool:
        """Makes correlations with the peer, which makes the same call, until the pool of `connect` or `listen` has this
        many that are not used: `triples` for GMW, `cots` of either party for Yao. If the pool is not there yet it is made,
        by this call, which comes first in the session then: by `correlations`, or what is chosen for the line, which
        is measured unless it is assumed."""
        if self._pool is None:
            raise UsageError("this party has no pool: give pool= to connect or listen")
        for name, number in (("triples", triples), ("cots", cots)):
            _check_number(name, number, 0)
        filling = {"triples": triples, "cots": cots, "correlations": correlations, "assume_link": assume_link}
        with self._shown(self._met(), None) as session:
            return Pool._of(self._pool[0], session.fill_pool(self._pool, filling))

    def prepare_to(
        self,
        folder: str | os.PathLike[str],
        program: Program,
        public: Mapping[str, object] | None = None,
        *,
        times: int = 1,
        sizes: Mapping[str, int] | None = None,
        key: str | os.PathLike[str] | None = None,
        **settings: Unpack[Settings],
    ) -> Runs:
        """Prepares runs of a program by Yao for later sessions, until `times` of them are ready in a folder, which is
        made if it is not there; it goes on where it was interrupted. `key` is the file of a key that seals it."""
        everything, given = complete(settings), _given(public)
        _check_number("times", times, 1)
        binding, matrices = bind(program, given, sizes, self._wanted(program, given, ("public",)))
        with self._shown(self._ready(), program) as session:
            status = session.prepare_to(place(folder, key), binding, everything, matrices, times)
        return Runs._of(folder, status)

    def online_from(
        self,
        folder: str | os.PathLike[str],
        program: Program,
        inputs: Mapping[str, object] | None = None,
        *,
        sizes: Mapping[str, int] | None = None,
        key: str | os.PathLike[str] | None = None,
    ) -> Result:
        """Runs a program with the next run that `prepare_to` put into a folder, in this session or an earlier one; it is
        used up. Public inputs are those of the preparation."""
        given = _given(inputs)
        binding, matrices = bind(program, given, sizes, self._wanted(program, given, self._holders))
        with self._shown(self._ready(), program) as session:
            outputs, report = session.online_from(place(folder, key), binding, matrices)
        return result_of(program, outputs, report)

    async def open_async(self) -> Self:
        """As `open`, for coroutines: cancelling the task ends the wait."""
        await self._beside(self._met)
        return self

    @overload
    async def run_async(
        self,
        program: Program,
        inputs: Mapping[str, object] | None = None,
        *,
        sizes: Mapping[str, int] | None = None,
        **settings: Unpack[Settings],
    ) -> Result: ...
    @overload
    async def run_async(
        self, program: Query, inputs: Mapping[str, Any], *, pad: Mapping[str, int] | None = None
    ) -> QueryResult: ...
    async def run_async(self, program: Any, inputs: Any = None, **more: Any) -> Result | QueryResult:
        """As `run`, for coroutines: on a thread of its own. Cancelling the task cancels the run, and the peer is
        told."""
        return await self._beside(lambda: self.run(program, inputs, **more))

    def private(
        self,
        given: Program | str | object,
        *,
        own: Mapping[str, object] | None = None,
        runs: int = 1,
        method: Literal["auto", "universal", "dh", "elgamal", "bfv", "djn"] = "auto",
        allow_linear: bool = False,
        gates: int | None = None,
        additions: int | None = None,
        assume_link: str | None = None,
        most_gates: int = 1 << 20,
    ) -> PrivateRuns:
        """A function that is Alice's secret, on data that are Bob's: he alone learns the result, and of the function how
        many bits it takes and gives, and how many gates it has. It is all that the party does: it meets the peer for it,
        and is closed then.

        Alice gives a program that is one circuit, or a name that `duologue private --function` takes, such as
        `app:scorecard:FILE`; `own` has inputs of hers, which are as secret as the function; Bob may run it `runs` times;
        `gates` and `additions` pad it. Bob gives the data, a row for each run: `uint8` arrays of bytes, lowest bit
        first, or of 0 and 1; or a list of columns of integers, whose bytes come after one another, as the function
        takes them: arrays with a dtype. A function of more than `most_gates` gates, or 8 additions for each of these, is
        refused. What does not fit the function is known when the parties have met, and the peer hears `Aborted`. If the runs
        end before their time, `.runs` of the error has the results that Bob has.

        `method` is `universal`, `dh`, `elgamal`, `bfv`, `djn` or `auto`; all but the first are safe only if both parties
        follow the protocol, and `auto` takes one only if both give `allow_linear`. `assume_link` is a line for which
        `auto` chooses without measuring. Both parties give the same of these.
        """
        from ._private import Alice, Bob, PrivateWords

        words = PrivateWords(method, allow_linear, assume_link, self._threads)
        if self.party == "alice":
            asked: Alice | Bob = Alice(given, own, words.of_alice(runs, gates, additions))
        elif (own, runs, gates, additions) == (None, 1, None, None):
            asked = Bob(given, words, most_gates)
        else:
            raise UsageError("own, runs, gates and additions are Alice's")
        meeting = self._alone()
        try:
            return asked.run(meeting, self._canceller)
        finally:
            self._is_private, self._meeting = False, None

    def _alone(self) -> _core.Meeting:
        """How a party meets its peer that has not met it yet, and is closed from now on."""
        self._check_process()
        meeting = self._meeting
        if self._is_closed or meeting is None:
            raise UsageError("this party is closed: connect again")
        if self._session is not None or self._pool is not None or not self._is_meeting.acquire(blocking=False):
            raise UsageError("a private function is all that its party does: connect for it alone, without a pool")
        self._is_closed = self._is_private = True
        return meeting

    async def private_async(self, given: Program | str | object, **more: Any) -> PrivateRuns:
        """As `private`, for coroutines."""
        return await self._beside(lambda: self.private(given, **more))

    async def fill_pool_async(self, **more: Any) -> Pool:
        """As `fill_pool`, for coroutines."""
        return await self._beside(lambda: self.fill_pool(**more))

    async def prepare_to_async(
        self,
        folder: str | os.PathLike[str],
        program: Program,
        public: Mapping[str, object] | None = None,
        **more: Any,
    ) -> Runs:
        """As `prepare_to`, for coroutines."""
        return await self._beside(lambda: self.prepare_to(folder, program, public, **more))

    async def online_from_async(
        self,
        folder: str | os.PathLike[str],
        program: Program,
        inputs: Mapping[str, object] | None = None,
        **more: Any,
    ) -> Result:
        """As `online_from`, for coroutines."""
        return await self._beside(lambda: self.online_from(folder, program, inputs, **more))

    async def argmin_async(self, values: object, arguments: object = None, **more: Any) -> Result:
        """As `argmin`, for coroutines."""
        return await self._beside(lambda: self.argmin(values, arguments, **more))

    async def prepare_async(
        self,
        program: Program,
        public: Mapping[str, object] | None = None,
        *,
        sizes: Mapping[str, int] | None = None,
        **settings: Unpack[Settings],
    ) -> Prepared:
        """As `prepare`, for coroutines, like `run_async`."""
        return await self._beside(lambda: self.prepare(program, public, sizes=sizes, **settings))

    async def online_async(self, prepared: Prepared, inputs: Mapping[str, object] | None = None) -> Result:
        """As `online`, for coroutines, like `run_async`."""
        return await self._beside(lambda: self.online(prepared, inputs))

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
        else:
            self._abandon()

    async def __aenter__(self) -> Self:
        return await self.open_async()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            await self._beside(self.close)
        else:
            self._abandon()

    def __repr__(self) -> str:
        state = "open" if self._session is not None else "not open yet"
        state = "in a private function" if self._is_private else "closed" if self._is_closed else state
        return f"<Party {self.party}, {self.address}, {state}>"

    def __reduce_ex__(self, protocol: object) -> Any:
        raise TypeError(
            "a party holds a connection and secrets: it cannot be pickled or copied; connect where it is needed"
        )

    @property
    def _holders(self) -> tuple[str, ...]:
        return (self.party, "public", "shared")

    def _wanted(self, program: Program, given: Mapping[str, object], holders: tuple[str, ...]) -> list[Port]:
        """The inputs that these supply; none may be given that others do."""
        for port in program.inputs:
            if port.name in given and port.who not in holders:
                whose = "is public: it was given to prepare" if port.who == "public" else f"belongs to {port.who}"
                whose = "is shared: it is given online" if port.who == "shared" else whose
                raise UsageError(f"the input '{port.name}' {whose}, so it is not given here")
        return [port for port in program.inputs if port.who in holders]

    def _check_process(self) -> None:
        if self._process != os.getpid():
            raise UsageError(
                "this process was forked from the one that made the party: a party stays in its process"
                ", connect in this one"
            )

    @contextmanager
    def _shown(self, session: _core.Party, program: Program | Query | None) -> Generator[_core.Party]:
        """In a notebook what the session does is shown while it does it. Where the peer's program is another one, the error
        says at which lines."""
        progress = notebook.progress("correlations" if program is None else program.name)
        if progress is not None:
            session.watch(progress.tell, (notebook.FIRST, notebook.AGAIN))
        try:
            yield session
        except Incompatible as why:
            if isinstance(program, Program) and session.apart is not None:
                why._at(program._place(*session.apart))
            raise
        finally:
            if progress is not None:
                session.watch(None, (0, 0))
                progress.end()

    def _ready(self) -> _core.Party:
        """The session for a run, which takes from the pool if there shall be one."""
        if self._pool is None:
            return self._met()
        if not _core.has_pool(self._pool):
            raise UsageError(f"no pool is in {self._pool[0]!r}: party.fill_pool makes one with the peer")
        session = self._met()
        if not session.has_pool:
            raise UsageError(
                f"the pool in {self._pool[0]!r} was not there when this party met its peer, and is not used: connect again"
            )
        return session

    def _met(self) -> _core.Party:
        """The session; if there is none yet, the peer is waited for."""
        self._check_process()
        meeting = self._meeting
        if self._is_closed or meeting is None:
            raise UsageError("this party is closed: connect again")
        if self._session is not None:
            return self._session
        if not self._is_meeting.acquire(blocking=False):
            raise UsageError("another thread waits for the peer already")
        try:
            supply = (self._threads, self._pool)
            session = _core.Party.meet(meeting, self.party, self._canceller, supply)
            if self._is_closed:
                session.abandon()
                raise UsageError("this party is closed: connect again")
            self._session = session
            return session
        finally:
            self._is_meeting.release()

    def _abandon(self) -> None:
        session, self._is_closed, self._meeting = self._session, True, None
        if session is not None and self._process == os.getpid():
            session.abandon()

    async def _beside(self, work: Callable[[], T]) -> T:
        """Does work on a thread of its own, for whatever event loop runs. A cancelled task waits until the work has
        ended."""
        # They take as long to import as the rest of the package.
        import asyncio
        from concurrent.futures import Future

        future: Future[T] = Future()

        def run() -> None:
            try:
                result = work()
            except BaseException as why:
                future.set_exception(why)
            else:
                future.set_result(result)

        threading.Thread(target=run, name=f"duologue {self.party}", daemon=True).start()
        waited = asyncio.wrap_future(future)
        try:
            return await asyncio.shield(waited)
        except asyncio.CancelledError:
            self._canceller.cancel()
            await asyncio.wait([waited])
            # Whatever came of it, somebody has seen it.
            if not waited.cancelled():
                waited.exception()
            raise


def _given(inputs: object) -> Mapping[str, object]:
    return {} if inputs is None else columns_of(inputs)


def _check_number(name: str, number: int, least: int) -> None:
    if isinstance(number, bool) or not isinstance(number, int) or not least <= number < 1 << 63:
        raise UsageError(f"{name}: expected a number of at least {least}")
