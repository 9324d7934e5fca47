//! One party's end of a session: it meets its peer, runs programs, ends.

use crate::beside::{Meter, Watch, Watcher, beside, watched};
use crate::errors::{raised, usage};
use crate::folders::{self, Filling, Folder};
use crate::matrix::Matrix;
use crate::meeting::{Canceller, Meeting};
use crate::program::{Binding, given, taken};
use crate::query::{Answers, Query, Rows, told};
use crate::report;
use crate::settings::{Settings, party};
use apps::argmin::encrypted::Keys;
use apps::join;
use duologue::channel;
use duologue::circuit::program::Place;
use duologue::{Inputs, Options, Outcome, Precomputation, Result, Scheme, Session, circuit, session};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::HashMap;
use std::mem;
use std::ops::ControlFlow;
use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

/// A step, and a gate of its circuit.
type Placed = (usize, Option<u32>);

fn placed(place: Place) -> Option<Placed> {
    match place {
        // Wiring has no line.
        Place::Size(_) | Place::Outputs(_) => None,
        Place::Step(step) => Some((step, None)),
        Place::Gate(step, gate) => Some((step, u32::try_from(gate).ok())),
    }
}

/// A session with the peer.
#[pyclass(frozen, module = "duologue._core")]
pub struct Party {
    /// The process that connected: another one, forked from it, must not use the session.
    process: u32,
    canceller: channel::Canceller,
    /// None once it is closed.
    session: Mutex<Option<Session>>,
    /// How far the session is with what it does.
    meter: Arc<Meter>,
    /// Whoever is told, if somebody is.
    watcher: Mutex<Option<Watcher>>,
}

#[pymethods]
impl Party {
    /// Meets the peer as this party.
    #[staticmethod]
    fn meet(
        py: Python<'_>,
        meeting: &Meeting,
        name: &str,
        canceller: &Canceller,
        supply: (usize, Option<Folder>),
    ) -> PyResult<Self> {
        let (threads, pool) = supply;
        let (us, canceller) = (party(name).map_err(raised)?, &canceller.0);
        let meter = Arc::new(Meter::default());
        let observed = Arc::clone(&meter);
        let session = beside(py, canceller, || {
            // What needs no peer is computed before one is there, and errors of a folder are found.
            let precomputation = Precomputation::new()?;
            let pool = pool.map_or(Ok(None), |folder| folder.pool())?;
            let mut session = Session::connect_with(meeting.channel(canceller)?, us, precomputation)?;
            session.register_all(&apps::calls());
            session.set_threads(threads);
            session.observe(move |progress| {
                observed.set(progress);
                ControlFlow::Continue(())
            });
            pool.map_or(Ok(()), |pool| session.use_pool(pool))?;
            Ok(session)
        })?;
        let canceller = session.canceller();
        let (session, watcher) = (Mutex::new(Some(session)), Mutex::new(None));
        Ok(Party { process: process::id(), canceller, session, meter, watcher })
    }

    /// Whether a thread uses the session just now.
    #[getter]
    fn is_busy(&self) -> bool {
        matches!(self.session.try_lock(), Err(TryLockError::WouldBlock))
    }

    /// Runs a program: outputs by port, and the report. This run alone may call what tells a party more than its results, if
    /// it is leaky.
    #[pyo3(signature = (binding, settings, inputs, leaky=false))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        binding: &Binding,
        settings: Settings,
        inputs: HashMap<String, Py<Matrix>>,
        leaky: bool,
    ) -> PyResult<(HashMap<String, Matrix>, Bound<'py, PyDict>)> {
        let inputs = given(&inputs);
        let outcome = self.using(py, |session| {
            if leaky {
                session.register_all(&apps::leaky_calls(&Keys::none()));
            }
            let outcome =
                decide(session, binding, &settings).and_then(|(job, options)| session.run(&job, &options, &inputs));
            if leaky {
                // Consent was for this run.
                session.register_all(&apps::calls());
            }
            outcome
        })?;
        delivered(py, outcome, binding)
    }

    /// Setup of a program, of whose inputs only the public ones are given.
    fn prepare(
        &self,
        py: Python<'_>,
        binding: Py<Binding>,
        settings: Settings,
        public: HashMap<String, Py<Matrix>>,
    ) -> PyResult<Prepared> {
        let (public, bound) = (given(&public), binding.get());
        let prepared = self.using(py, |session| {
            let (job, options) = decide(session, bound, &settings)?;
            session.prepare(&job, &options, &public)
        })?;
        Ok(Prepared { binding, prepared: Mutex::new(Some(prepared)) })
    }

    /// Runs what was prepared, which is used up.
    fn online<'py>(
        &self,
        py: Python<'py>,
        prepared: &Prepared,
        inputs: HashMap<String, Py<Matrix>>,
    ) -> PyResult<(HashMap<String, Matrix>, Bound<'py, PyDict>)> {
        let inputs = given(&inputs);
        let outcome = self.using(py, |session| session.online(prepared.take(session, &inputs)?, &inputs))?;
        delivered(py, outcome, prepared.binding.get())
    }

    /// Makes correlations until the pool of the session has enough, in a new one if it has none: what the pool has then.
    fn fill_pool<'py>(&self, py: Python<'py>, folder: Folder, filling: Filling) -> PyResult<Bound<'py, PyDict>> {
        let (status, made) = self.using(py, |session| folder.fill(session, &filling))?;
        folders::of_pool(py, &status, Some(&made))
    }

    /// Prepares runs by Yao until a folder has enough: what it has then.
    fn prepare_to<'py>(
        &self,
        py: Python<'py>,
        folder: Folder,
        binding: &Binding,
        settings: Settings,
        public: HashMap<String, Py<Matrix>>,
        times: u64,
    ) -> PyResult<Bound<'py, PyDict>> {
        let public = given(&public);
        let (status, made) = self.using(py, |session| {
            let scheme = settings.scheme()?.unwrap_or(Scheme::Yao);
            let (mut runs, options) = (folder.new_runs()?, settings.options(scheme)?);
            let made = session.prepare_to(&mut runs, &binding.binding, &options, &public, times)?;
            Ok((runs.status()?, made))
        })?;
        folders::of_runs(py, &status, Some(&made))
    }

    /// Runs a program with the next run of a folder, which is used up.
    fn online_from<'py>(
        &self,
        py: Python<'py>,
        folder: Folder,
        binding: &Binding,
        inputs: HashMap<String, Py<Matrix>>,
    ) -> PyResult<(HashMap<String, Matrix>, Bound<'py, PyDict>)> {
        let inputs = given(&inputs);
        let outcome =
            self.using(py, |session| session.online_from(&mut folder.next_run()?, &binding.binding, &inputs))?;
        delivered(py, outcome, binding)
    }

    /// Where the program of the last run first differs from the peer's, if both were told: the steps, and gates of their
    /// circuits, between which it does.
    #[getter]
    fn apart(&self) -> Option<(Placed, Placed)> {
        // If another thread uses the session, what this one ran into is raised all the same.
        let session = self.session().ok()?;
        let apart = session.as_ref().and_then(Session::apart)?;
        Some((placed(apart.from)?, placed(apart.to)?))
    }

    /// Whether the session takes from a pool.
    #[getter]
    fn has_pool(&self) -> PyResult<bool> {
        Ok(self.session()?.as_ref().is_some_and(|session| session.pool().is_some()))
    }

    /// Has somebody told how far the party is with what it does, from the thread that waits: after so many seconds, and
    /// again after as many as the second number says.
    #[pyo3(signature = (watcher, times=(0.0, 0.0)))]
    fn watch(&self, watcher: Option<Py<PyAny>>, times: (f64, f64)) {
        let [first, again] = [times.0, times.1].map(|time| Duration::try_from_secs_f64(time).unwrap_or_default());
        let watcher = watcher.map(|callback| Watcher { callback, first, again });
        *self.watcher.lock().unwrap_or_else(PoisonError::into_inner) = watcher;
    }

    /// Computes a query: its answers, if this party learns them, both numbers of rows, and the report.
    fn query<'py>(
        &self,
        py: Python<'py>,
        query: &Query,
        rows: &Rows,
    ) -> PyResult<(Option<Answers>, [u64; 2], Bound<'py, PyDict>)> {
        let (outcome, sizes, answers) = self.using(py, |session| {
            let (outcome, sizes) = join::run(session, &query.0, rows.take()?)?;
            let answers = query.0.answers(&outcome.outputs)?;
            Ok((outcome, sizes, answers))
        })?;
        Ok((answers.map(told), sizes, report::of_run(py, &outcome.report)?))
    }

    /// Ends the session in good order. It is closed whatever comes of it.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let session = self.session()?.take();
        session.map_or(Ok(()), |session| beside(py, &self.canceller, || session.close()))
    }

    /// Ends the session at once: the peer is told that this party stopped. Another thread that uses it hears so.
    fn abandon(&self, py: Python<'_>) -> PyResult<()> {
        check_process(self.process)?;
        self.canceller.cancel();
        let session = self.session.try_lock().ok().and_then(|mut session| session.take());
        py.detach(|| drop(session));
        Ok(())
    }
}

impl Party {
    /// The session, for this thread alone.
    fn session(&self) -> PyResult<MutexGuard<'_, Option<Session>>> {
        check_process(self.process)?;
        match self.session.try_lock() {
            Ok(session) => Ok(session),
            Err(TryLockError::Poisoned(session)) => Ok(session.into_inner()),
            Err(TryLockError::WouldBlock) => {
                Err(usage("another thread uses this party: one run at a time, or a party for each thread"))
            }
        }
    }

    fn using<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut Session) -> Result<T> + Send) -> PyResult<T> {
        let mut guard = self.session()?;
        let Some(session) = guard.as_mut() else {
            return Err(usage("this party is closed: connect again"));
        };
        let watcher = self.watcher.lock().unwrap_or_else(PoisonError::into_inner);
        let watch = Watch { meter: &self.meter, watcher: watcher.as_ref().map(|watcher| watcher.clone_ref(py)) };
        drop(watcher);
        watched(py, &self.canceller, watch, || work(session))
    }
}

impl Drop for Party {
    /// A forked process has the same socket: if it dropped the session, the peer would hear that we stopped.
    fn drop(&mut self) {
        let session = self.session.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if process::id() != self.process {
            mem::forget(session);
        } else if session.is_some() {
            // Telling the peer may take a moment, in which other threads go on.
            Python::try_attach(|py| py.detach(|| drop(session)));
        }
    }
}

/// A program whose setup is done.
#[pyclass(frozen, module = "duologue._core")]
pub struct Prepared {
    binding: Py<Binding>,
    /// None once it is used up.
    prepared: Mutex<Option<session::Prepared>>,
}

#[pymethods]
impl Prepared {
    #[getter]
    fn is_left(&self) -> bool {
        self.prepared.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    #[getter]
    fn binding(&self, py: Python<'_>) -> Py<Binding> {
        self.binding.clone_ref(py)
    }
}

impl Prepared {
    /// Takes it, unless the inputs would not do.
    fn take(&self, session: &Session, inputs: &Inputs) -> Result<session::Prepared> {
        let mut prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(prepared) = &*prepared {
            session.check(prepared, inputs)?;
        }
        prepared.take().ok_or_else(|| duologue::Error::usage("this was run: what is prepared runs once"))
    }
}

fn check_process(process: u32) -> PyResult<()> {
    if process == process::id() {
        return Ok(());
    }
    let why = "this process was forked from the one that connected: a party stays in its process, connect in this one";
    Err(usage(why))
}

/// What is run, and how: where no protocol is named, what the parties choose.
fn decide(session: &mut Session, bound: &Binding, settings: &Settings) -> Result<(Arc<circuit::Binding>, Options)> {
    match settings.scheme()? {
        Some(scheme) => Ok((Arc::new(bound.binding.clone()), settings.options(scheme)?)),
        None => {
            let ranking = session.choose(&bound.choices(settings)?, settings.wish()?)?;
            let best = ranking.best();
            Ok((best.binding.clone(), best.options))
        }
    }
}

fn delivered<'py>(
    py: Python<'py>,
    outcome: Outcome,
    binding: &Binding,
) -> PyResult<(HashMap<String, Matrix>, Bound<'py, PyDict>)> {
    let report = report::of_run(py, &outcome.report)?;
    Ok((taken(outcome.outputs, &binding.binding), report))
}
