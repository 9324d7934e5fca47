//! Work on a thread of its own, off the interpreter lock, while the thread that asked for it looks for signals.

use crate::errors::raised;
use duologue::channel::Canceller;
use duologue::{Error, Phase, Progress, Result};
use pyo3::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How often a signal is looked for.
const TICK: Duration = Duration::from_millis(20);

/// How far the work is: the threads that do it write here, and none of them takes the interpreter lock.
#[derive(Default)]
pub struct Meter {
    /// Of the phase, and whether that is online.
    done: [AtomicU64; 2],
    total: [AtomicU64; 2],
    phase: AtomicU64,
}

impl Meter {
    pub fn set(&self, &Progress { phase, done, total, .. }: &Progress) {
        let place = usize::from(phase == Phase::Online);
        self.done[place].store(done, Ordering::Relaxed);
        self.total[place].store(total, Ordering::Relaxed);
        self.phase.store(place as u64, Ordering::Relaxed);
    }

    fn begin(&self) {
        self.done.iter().chain(&self.total).chain([&self.phase]).for_each(|number| number.store(0, Ordering::Relaxed));
    }

    /// The phase, how much of it is done, and of how much.
    fn read(&self) -> (&'static str, u64, u64) {
        let place = (self.phase.load(Ordering::Relaxed) as usize).min(1);
        (
            ["setup", "online"][place],
            self.done[place].load(Ordering::Relaxed),
            self.total[place].load(Ordering::Relaxed),
        )
    }
}

/// Who is told how far the work is.
pub struct Watcher {
    /// Called with phase, done and total.
    pub callback: Py<PyAny>,
    /// When it first hears of the work, and how often then.
    pub first: Duration,
    pub again: Duration,
}

impl Watcher {
    pub fn clone_ref(&self, py: Python<'_>) -> Self {
        Watcher { callback: self.callback.clone_ref(py), ..*self }
    }
}

/// What the thread that waits for the work tells somebody, if there is somebody.
pub struct Watch<'a> {
    pub meter: &'a Meter,
    pub watcher: Option<Watcher>,
}

impl Watch<'_> {
    /// Tells it if it is time; nobody who fails to listen is told again. An interruption is raised.
    fn tell(&mut self, py: Python<'_>, next: &mut Instant) -> PyResult<()> {
        let Some(watcher) = self.watcher.as_ref().filter(|_| Instant::now() >= *next) else { return Ok(()) };
        *next = Instant::now() + watcher.again;
        match watcher.callback.call1(py, self.meter.read()) {
            Err(why) if !why.is_instance_of::<pyo3::exceptions::PyException>(py) => Err(why),
            Err(_) => {
                self.watcher = None;
                Ok(())
            }
            Ok(_) => Ok(()),
        }
    }
}

/// What `work` gives. A signal whose handler raises, such as Ctrl-C, cancels the work and is raised when that has ended;
/// only the main thread of the interpreter hears of signals.
pub fn beside<T: Send>(py: Python<'_>, canceller: &Canceller, work: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    watched(py, canceller, Watch { meter: &Meter::default(), watcher: None }, work)
}

/// The same, while somebody may watch.
pub fn watched<T: Send>(
    py: Python<'_>,
    canceller: &Canceller,
    mut watch: Watch<'_>,
    work: impl FnOnce() -> Result<T> + Send,
) -> PyResult<T> {
    watch.meter.begin();
    let mut next = Instant::now() + watch.watcher.as_ref().map_or(Duration::ZERO, |watcher| watcher.first);
    interruptible(py, |py| watch.tell(py, &mut next), || canceller.cancel(), work)?.map_err(raised)
}

/// What `work` gives, while `tick` is called now and then. If that or a signal's handler raises, `stop` is called, and what it
/// raised is raised when the work has ended.
pub fn interruptible<T: Send>(
    py: Python<'_>,
    mut tick: impl FnMut(Python<'_>) -> PyResult<()>,
    stop: impl Fn(),
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let (ended, changed) = (Mutex::new(false), Condvar::new());
    thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let _says_so = SaysSo(&ended, &changed);
            work()
        });
        let mut interrupted = None;
        while !py.detach(|| wait(&ended, &changed)) {
            if interrupted.is_none()
                && let Err(why) = py.check_signals().and_then(|()| tick(py))
            {
                stop();
                interrupted = Some(why);
            }
        }
        let done = py.detach(|| worker.join());
        match (interrupted, done) {
            (_, Err(panic)) => std::panic::resume_unwind(panic),
            (Some(why), Ok(_)) => Err(why),
            (None, Ok(result)) => Ok(result),
        }
    })
}

/// What work gives that nobody can stop: a signal's handler that raises, or the canceller, leaves it to end by itself, and what it
/// gives is dropped then.
pub fn left<T: Send + 'static>(
    py: Python<'_>,
    canceller: &Canceller,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> PyResult<T> {
    let (sender, mut receiver) = mpsc::channel();
    let worker = thread::spawn(move || drop(sender.send(work())));
    loop {
        let receiver = &mut receiver;
        match py.detach(move || receiver.recv_timeout(TICK)) {
            Ok(done) => return done.map_err(raised),
            Err(RecvTimeoutError::Timeout) if canceller.is_cancelled() => return Err(raised(Error::Cancelled)),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                let panic = worker.join().err().unwrap_or_else(|| Box::new("the work ended without a result"));
                std::panic::resume_unwind(panic)
            }
        }
    }
}

/// Says that the work has ended, also by a panic.
struct SaysSo<'a>(&'a Mutex<bool>, &'a Condvar);

impl Drop for SaysSo<'_> {
    fn drop(&mut self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.1.notify_all();
    }
}

/// Whether the work has ended, after a tick at the latest.
fn wait(ended: &Mutex<bool>, changed: &Condvar) -> bool {
    let before = ended.lock().unwrap_or_else(PoisonError::into_inner);
    let waited = changed.wait_timeout_while(before, TICK, |ended| !*ended);
    *waited.unwrap_or_else(PoisonError::into_inner).0
}
