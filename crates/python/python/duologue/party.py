"""One party: it meets its peer, runs programs with it, and ends in good order."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack, overload

from . import _core, notebook
from ._settings import Settings, complete
from ._values import pack, unpack
from .columns import columns_of
from .errors import UsageError
from .folders import Pool, Runs, place
from .program import Port, Program, bind, check_lanes
from .report import Report
from .tables import Query, QueryResult

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["Party", "Prepared", "Result", "Settings", "connect", "listen"]

T = TypeVar("T")


class Result(Mapping[str, Any]):
    """The outputs of a run that this party learns, by name: a NumPy array, or a `Share` of a value that stays shared.

    It shows names, types and shapes; the values are in `result["name"]`.
    """

    __slots__ = ("_outputs", "report")

    def __init__(self, outputs: dict[str, Any], report: Report) -> None:
        self._outputs = outputs
        self.report = report
        """The terms and the cost of the run."""

    def __getitem__(self, name: str) -> Any:
        return self._outputs[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._outputs)

    def __len__(self) -> int:
        return len(self._outputs)

    def __repr__(self) -> str:
        shown = (f"{name}: {_shape(value)}" for name, value in self._outputs.items())
        return f"<Result {', '.join(shown)}>"

    def _repr_html_(self) -> str:
        return notebook.result([(name, _shape(value)) for name, value in self._outputs.items()], self.report)


def _shape(value: Any) -> str:
    return f"{value.dtype}{list(value.shape)}" if hasattr(value, "dtype") else repr(value)


class Prepared:
    """A program whose setup is done; it runs once, in the session that prepared it."""

    __slots__ = ("_core", "program")

    def __init__(self, core: _core.Prepared, program: Program) -> None:
        self._core = core
        self.program = program

    def __repr__(self) -> str:
        return f"<Prepared {self.program.name!a}{'' if self._core.is_left else ', used'}>"

    def __reduce_ex__(self, protocol: object) -> Any:
        raise TypeError("what is prepared holds secrets: it cannot be pickled or copied")


class Party:
    """This party, and its session with the peer: `duo.connect` and `duo.listen` make one.

    It meets the peer when it is entered (`with`, `async with`), by `open`, or by its first run. Both parties make the
    same calls in the same order. One thread uses it at a time. It stays in its process: a forked one must connect
    again.
    """

    def __init__(self, party: str, meet: Callable[[_core.Canceller], _core.Party], address: str) -> None:
        self.party = party
        """`alice` or `bob`."""
        self.address = address
        """Where it connects to, or listens: with the port that the system chose, if it was asked for port 0."""
        self._meet = meet
        self._pool: tuple[str, str | None] | None = None
        self._canceller = _core.Canceller()
        self._session: _core.Party | None = None
        self._is_closed = False
        self._meeting = threading.Lock()
        self._process = os.getpid()

    def open(self) -> Self:
        """Meets the peer, and waits until it is there. Nothing happens if it is there already."""
        self._met()
        return self

    def close(self) -> None:
        """Ends the session in good order: both parties have said all. It is closed whatever comes of it."""
        session, self._is_closed = self._session, True
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
        everything, given = complete(settings), _given(inputs)
        binding, matrices = bind(program, given, sizes, self._wanted(program, given, self._holders))
        with self._shown(self._ready(), program) as session:
            outputs, report = session.run(binding, everything, matrices)
        return _result(program, outputs, report)

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
        return _result(program, outputs, report)

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
        return _result(program, outputs, report)

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
        state = "closed" if self._is_closed else "open" if self._session is not None else "not open yet"
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
        """In a notebook what the session does is shown while it does it."""
        progress = notebook.progress("correlations" if program is None else program.name)
        if progress is None:
            yield session
            return
        session.watch(progress.tell, (notebook.FIRST, notebook.AGAIN))
        try:
            yield session
        finally:
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
        if self._is_closed:
            raise UsageError("this party is closed: connect again")
        if self._session is not None:
            return self._session
        if not self._meeting.acquire(blocking=False):
            raise UsageError("another thread waits for the peer already")
        try:
            session = self._meet(self._canceller)
            if self._is_closed:
                session.abandon()
                raise UsageError("this party is closed: connect again")
            self._session = session
            return session
        finally:
            self._meeting.release()

    def _abandon(self) -> None:
        session, self._is_closed = self._session, True
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


def _result(program: Program, outputs: dict[str, _core.Matrix], report: dict[str, Any]) -> Result:
    arrays: dict[str, Any] = {}
    for port in program.outputs:
        # Taken out one by one, so that no output is held twice for longer than it takes.
        matrix = outputs.pop(port.name, None)
        if matrix is not None:
            arrays[port.name] = unpack(port, matrix)
    return Result(arrays, Report._of(report))


def connect(
    address: str,
    *,
    party: str,
    key: str | os.PathLike[str] | None = None,
    peer: str | None = None,
    insecure_plaintext: bool = False,
    wait: float = 120,
    silence: float = 30,
    threads: int = 1,
    pool: str | os.PathLike[str] | None = None,
    pool_key: str | os.PathLike[str] | None = None,
    link: str | None = None,
) -> Party:
    """The party `alice` or `bob`, which connects to its peer at an address, `host:port`.

    `key` is the file of this party's private key (`duo.new_key`, or `duologue keys new`), by default that of the command;
    `peer` the public key that the peer must have. A name of `duologue peers` may stand for the key, and for the address,
    which brings the key along. `insecure_plaintext=True` takes no keys and encrypts nothing: for tests on one machine.
    The peer is waited for `wait` seconds, and may be silent for `silence`. `threads` of this machine share the work.
    Correlations come from the folder `pool` before others are made, sealed with the key in the file `pool_key`. `link`
    simulates a line, `"20ms,100Mbit"`, `lan`, `internet` or `transatlantic`: for tests, by both parties alike.
    """
    times = _times(party, wait, silence, threads)
    address, security = _security(address, key, peer, insecure_plaintext, listens=False)
    filled = _pool(pool, pool_key)

    def meet(canceller: _core.Canceller) -> _core.Party:
        return _core.Party.connect(address, party, security, times, canceller, (threads, filled, link))

    made = Party(party, meet, address)
    made._pool = filled
    return made


def listen(
    address: str,
    *,
    party: str,
    key: str | os.PathLike[str] | None = None,
    peer: str | None = None,
    insecure_plaintext: bool = False,
    wait: float = 120,
    silence: float = 30,
    threads: int = 1,
    pool: str | os.PathLike[str] | None = None,
    pool_key: str | os.PathLike[str] | None = None,
    link: str | None = None,
) -> Party:
    """The party `alice` or `bob`, which waits for its peer at an address, say `0.0.0.0:7000`; the rest is as for
    `connect`.

    It listens from now on: `Party.address` says where, with the port that the system chose for port 0.
    """
    times = _times(party, wait, silence, threads)
    address, security = _security(address, key, peer, insecure_plaintext, listens=True)
    filled, listener = _pool(pool, pool_key), _core.Listener(address)

    def meet(canceller: _core.Canceller) -> _core.Party:
        return _core.Party.accept(listener, party, security, times, canceller, (threads, filled, link))

    made = Party(party, meet, listener.address)
    made._pool = filled
    return made


def _security(
    address: str, key: str | os.PathLike[str] | None, peer: str | None, insecure_plaintext: bool, *, listens: bool
) -> tuple[str, _core.Security]:
    """The address, and how the connection is protected; names of peers are looked up."""
    if insecure_plaintext:
        if key is not None or peer is not None:
            raise UsageError("insecure_plaintext takes no keys: leave out one or the other")
        return address, _core.Security.plaintext()
    otherwise = "; or insecure_plaintext=True, for tests on one machine"
    if peer is None and (listens or ":" in address):
        raise UsageError(f"peer is missing: its public key{otherwise}")
    mine = _core.own_key() if key is None else os.fspath(key)
    if key is None and not os.path.exists(mine):
        raise UsageError(f"key is missing: the file of your private key{otherwise}")
    address, peer = _core.named_peer(address, listens, peer)
    return address, _core.Security.tls(mine, peer or "")


def _pool(folder: str | os.PathLike[str] | None, key: str | os.PathLike[str] | None) -> tuple[str, str | None] | None:
    if folder is None:
        if key is not None:
            raise UsageError("pool_key is the key of a pool: give pool=, too")
        return None
    pool = place(folder, key)
    # A folder of something else is refused; a pool may be made later.
    _core.has_pool(pool)
    return pool


def _times(party: str, wait: float, silence: float, threads: int) -> tuple[float, float]:
    if party not in ("alice", "bob"):
        raise UsageError(f"{party!r} is no party: write 'alice' or 'bob'")
    if not 1 <= threads <= 256:
        raise UsageError("threads: expected 1 to 256")
    return float(wait), float(silence)
