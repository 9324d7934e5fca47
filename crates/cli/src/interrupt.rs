//! Ctrl-C while a peer is there: the run stops, the peer hears of it, and there is no output. The second one, and the
//! first when nobody is there, end the command at once.

use crate::failure::{Exit, Failure};
use duologue::channel::{Canceller, Channel};
use std::process;
use std::sync::{Mutex, Once, PoisonError};

static INSTALL: Once = Once::new();
/// The canceller of the channel that is in use.
static CHANNEL: Mutex<Option<Canceller>> = Mutex::new(None);

/// From now on Ctrl-C, and a request to terminate, stop what this channel does.
pub fn stops(channel: &Channel) -> Result<(), Failure> {
    *CHANNEL.lock().unwrap_or_else(PoisonError::into_inner) = Some(channel.canceller());
    let mut installed = Ok(());
    INSTALL.call_once(|| installed = ctrlc::set_handler(handle));
    installed.map_err(|why| Failure::new(Exit::Machine, format!("handling Ctrl-C: {why}")))
}

/// The channel is done with. Whoever has stopped it hears so here at the latest.
pub fn settle() -> Result<(), Failure> {
    match CHANNEL.lock().unwrap_or_else(PoisonError::into_inner).take() {
        Some(channel) if channel.is_cancelled() => Err(duologue::Error::Cancelled.into()),
        _ => Ok(()),
    }
}

/// Called in a thread of its own.
fn handle() {
    let channel = CHANNEL.lock().unwrap_or_else(PoisonError::into_inner);
    match &*channel {
        Some(channel) if !channel.is_cancelled() => channel.cancel(),
        _ => process::exit(Exit::Cancelled as i32),
    }
}
