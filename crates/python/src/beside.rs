//! Work on a thread of its own, off the interpreter lock, while the thread that asked for it looks for signals.

use crate::errors::raised;
use duologue::Result;
use duologue::channel::Canceller;
use pyo3::prelude::*;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How often a signal is looked for.
const TICK: Duration = Duration::from_millis(20);

/// What `work` gives. A signal whose handler raises, such as Ctrl-C, cancels the work and is raised when that has ended;
/// only the main thread of the interpreter hears of signals.
pub fn beside<T: Send>(py: Python<'_>, canceller: &Canceller, work: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    let (ended, changed) = (Mutex::new(false), Condvar::new());
    thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let _says_so = SaysSo(&ended, &changed);
            work()
        });
        let mut interrupted = None;
        while !py.detach(|| wait(&ended, &changed)) {
            if interrupted.is_none()
                && let Err(why) = py.check_signals()
            {
                canceller.cancel();
                interrupted = Some(why);
            }
        }
        let done = py.detach(|| worker.join());
        match (interrupted, done) {
            (_, Err(panic)) => std::panic::resume_unwind(panic),
            (Some(why), Ok(_)) => Err(why),
            (None, Ok(result)) => result.map_err(raised),
        }
    })
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
