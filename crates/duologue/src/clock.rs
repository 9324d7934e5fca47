//! The time that this crate goes by: the system's, or in tests of channels one that passes only while everybody waits.
//!
//! Nothing else in the crate asks for the time: in a browser there is no clock of the standard library's, and JavaScript's
//! takes its place.

#[cfg(test)]
pub(crate) mod virtual_time;

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub(crate) use std::time::Instant;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
use std::time::{SystemTime, UNIX_EPOCH};
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
pub(crate) use web_time::Instant;
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
use web_time::{SystemTime, UNIX_EPOCH};

#[cfg(test)]
use virtual_time::{Actor, AtDrop, Signal, VirtualTime};

/// Waits shorter than this are beyond the precision of a timer.
const SPIN: Duration = Duration::from_micros(60);

/// A source of time that can also be waited for.
#[derive(Clone, Default)]
pub(crate) enum Clock {
    #[default]
    System,
    #[cfg(test)]
    Virtual(VirtualTime),
}

impl Clock {
    pub fn now(&self) -> Instant {
        match self {
            Clock::System => Instant::now(),
            #[cfg(test)]
            Clock::Virtual(time) => time.now(),
        }
    }

    /// Time since 1970, on which all processes of one machine agree; it may jump.
    pub fn since_epoch(&self) -> Duration {
        match self {
            Clock::System => SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default(),
            #[cfg(test)]
            Clock::Virtual(time) => time.since_start(),
        }
    }

    /// Whether time passes while a thread computes, so that it may wait without giving the processor away.
    pub fn passes_by_itself(&self) -> bool {
        matches!(self, Clock::System)
    }

    pub fn sleep(&self, time: Duration) {
        match self {
            Clock::System => thread::sleep(time),
            #[cfg(test)]
            Clock::Virtual(virtual_time) => virtual_time.sleep(time),
        }
    }

    /// Sleeps, then spins: a timer alone oversleeps by half of a local network's latency.
    pub fn sleep_exactly(&self, time: Duration) {
        let until = self.now() + time;
        let spin = if self.passes_by_itself() { SPIN } else { Duration::ZERO };
        if time > spin {
            self.sleep(time - spin);
        }
        while self.now() < until {
            std::hint::spin_loop();
        }
    }

    /// Two ends of a thread's interval: dropping the first ends the thread's wait for the second.
    pub fn interval(&self) -> (Stop, Interval) {
        match self {
            Clock::System => {
                let (stop, stopped) = mpsc::channel();
                (Stop::System(stop), Interval::System(stopped))
            }
            #[cfg(test)]
            Clock::Virtual(time) => {
                let signal = time.signal();
                (Stop::Virtual(AtDrop(signal.clone())), Interval::Virtual(time.enter(), signal))
            }
        }
    }
}

/// Ends the wait of its [`Interval`] when it is dropped.
#[allow(dead_code, reason = "each variant is held only to be dropped")]
pub(crate) enum Stop {
    System(mpsc::Sender<()>),
    #[cfg(test)]
    Virtual(AtDrop),
}

/// The pauses of a thread that does something from time to time.
pub(crate) enum Interval {
    System(mpsc::Receiver<()>),
    #[cfg(test)]
    Virtual(Actor, Signal),
}

impl Interval {
    /// Waits; false if the thread is to end.
    pub fn pause(&self, time: Duration) -> bool {
        match self {
            Interval::System(stopped) => stopped.recv_timeout(time) == Err(RecvTimeoutError::Timeout),
            #[cfg(test)]
            Interval::Virtual(actor, stopped) => !actor.wait(stopped, time),
        }
    }
}
