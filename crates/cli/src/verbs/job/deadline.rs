//! An end to what a peer could draw out for as long as it likes, by a byte from time to time.

use crate::failure::{Exit, Failure};
use duologue::channel::Canceller;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

/// How often it looks whether the user has had enough.
const PAUSE: Duration = Duration::from_millis(50);

/// Cancels what it is given to when the time is over, or when the user does; dropped, it cancels nothing any more.
pub struct Deadline {
    canceller: Canceller,
    user: Canceller,
    limit: Duration,
    _end: Sender<()>,
}

impl Deadline {
    pub fn new(limit: Duration, user: &Canceller) -> Result<Deadline, Failure> {
        let (end, ended) = mpsc::channel::<()>();
        let canceller = Canceller::new();
        let (inner, outer, start) = (canceller.clone(), user.clone(), Instant::now());
        let watch = move || {
            while ended.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
                if outer.is_cancelled() || start.elapsed() >= limit {
                    return inner.cancel();
                }
            }
        };
        let thread = thread::Builder::new().name("duologue-deadline".into()).spawn(watch);
        thread.map_err(Failure::io("starting the thread of a deadline"))?;
        Ok(Deadline { canceller, user: user.clone(), limit, _end: end })
    }

    /// What a channel is to be cancelled by.
    pub fn canceller(&self) -> &Canceller {
        &self.canceller
    }

    /// Why it ended: it took too long, if that is so.
    pub fn cause(&self, why: impl Into<Failure>, what: &str, hint: &str) -> Failure {
        let why = why.into();
        if why.exit != Exit::Cancelled || self.user.is_cancelled() {
            return why;
        }
        Failure::new(Exit::Timeout, format!("{what} within {} s", self.limit.as_secs())).hint(hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use duologue::Error;

    fn wait_for(deadline: &Deadline) {
        while !deadline.canceller().is_cancelled() {
            thread::yield_now();
        }
    }

    #[test]
    fn it_tells_the_end_of_its_time_from_the_users_will() {
        let user = Canceller::new();
        let deadline = Deadline::new(Duration::ZERO, &user).unwrap();
        wait_for(&deadline);
        let why = deadline.cause(Error::Cancelled, "it did not end", "be patient");
        assert_eq!((why.exit, &*why.message), (Exit::Timeout, "it did not end within 0 s"));
        let deadline = Deadline::new(Duration::from_secs(1 << 30), &user).unwrap();
        user.cancel();
        wait_for(&deadline);
        assert_eq!(deadline.cause(Error::Cancelled, "it did not end", "be patient").exit, Exit::Cancelled);
    }
}
