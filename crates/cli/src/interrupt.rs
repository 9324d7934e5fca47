//! Ctrl-C from the moment on at which the peer is waited for: the wait or the run stops, a peer that is there hears of
//! it, and there is no output. The second one, and the first before that moment, end the command at once.

use crate::failure::{Exit, Failure};
use duologue::channel::Canceller;
use std::process;
use std::sync::{Mutex, Once, PoisonError};

static INSTALL: Once = Once::new();
/// Ends the wait for the peer, or what goes on with it.
static CANCELLER: Mutex<Option<Canceller>> = Mutex::new(None);

/// What Ctrl-C, and a request to terminate, call from now on: to open a channel with.
pub fn canceller() -> Result<Canceller, Failure> {
    let canceller = Canceller::new();
    *CANCELLER.lock().unwrap_or_else(PoisonError::into_inner) = Some(canceller.clone());
    let mut installed = Ok(());
    INSTALL.call_once(|| installed = ctrlc::set_handler(handle));
    installed.map_err(|why| Failure::new(Exit::Machine, format!("handling Ctrl-C: {why}")))?;
    Ok(canceller)
}

/// What Ctrl-C calls now; one that nothing calls if there is none.
pub fn current() -> Canceller {
    CANCELLER.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default()
}

/// The channel is done with. Whoever has stopped it hears so here at the latest.
pub fn settle() -> Result<(), Failure> {
    match CANCELLER.lock().unwrap_or_else(PoisonError::into_inner).take() {
        Some(canceller) if canceller.is_cancelled() => Err(duologue::Error::Cancelled.into()),
        _ => Ok(()),
    }
}

/// Called in a thread of its own.
fn handle() {
    let canceller = CANCELLER.lock().unwrap_or_else(PoisonError::into_inner);
    match &*canceller {
        Some(canceller) if !canceller.is_cancelled() => canceller.cancel(),
        _ => process::exit(Exit::Cancelled as i32),
    }
}
