//! Time that passes only while everybody waits: what a test measures by it depends on no machine.
//!
//! Every thread that takes part is an [`Actor`]. As long as one of them runs, no time passes; when all of them wait, it
//! jumps to the first moment for which one waits.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::Instant;

#[derive(Clone)]
pub struct VirtualTime(Arc<Shared>);

struct Shared {
    start: Instant,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    now: Duration,
    running: usize,
    sleepers: Vec<Sleeper>,
    raised: Vec<bool>,
    names: usize,
}

struct Sleeper {
    name: usize,
    signal: usize,
    until: Duration,
    /// It is counted as running again, though its thread may not have noticed.
    awake: bool,
}

impl State {
    fn wake(&mut self, which: impl Fn(&Sleeper) -> bool) {
        for sleeper in self.sleepers.iter_mut().filter(|sleeper| !sleeper.awake && which(sleeper)) {
            sleeper.awake = true;
            self.running += 1;
        }
    }

    /// Lets time pass until somebody runs.
    fn pass(&mut self) {
        let asleep = self.sleepers.iter().filter(|sleeper| !sleeper.awake);
        if let (0, Some(next)) = (self.running, asleep.map(|sleeper| sleeper.until).min()) {
            self.now = self.now.max(next);
            let now = self.now;
            self.wake(|sleeper| sleeper.until <= now);
        }
    }
}

impl VirtualTime {
    pub fn new() -> Self {
        let shared = Shared { start: Instant::now(), state: Mutex::default(), changed: Condvar::new() };
        VirtualTime(Arc::new(shared))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn since_start(&self) -> Duration {
        self.state().now
    }

    pub fn now(&self) -> Instant {
        self.0.start + self.since_start()
    }

    /// Counts one more thread, from now on until the actor is dropped.
    pub fn enter(&self) -> Actor {
        self.state().running += 1;
        Actor(self.clone())
    }

    pub fn signal(&self) -> Signal {
        let raised = &mut self.state().raised;
        raised.push(false);
        Signal(self.clone(), raised.len() - 1)
    }

    /// Lets the thread of an actor sleep.
    pub fn sleep(&self, time: Duration) {
        self.wait(&self.signal(), time);
    }

    /// Lets the thread of an actor wait for a signal, which is taken down again; false if it did not come in time.
    pub fn wait(&self, Signal(_, signal): &Signal, time: Duration) -> bool {
        let mut state = self.state();
        if !state.raised[*signal] && !time.is_zero() {
            state.names += 1;
            let (name, until) = (state.names, state.now + time);
            state.sleepers.push(Sleeper { name, signal: *signal, until, awake: false });
            state.running -= 1;
            state.pass();
            self.0.changed.notify_all();
            let asleep = |state: &mut State| state.sleepers.iter().any(|one| one.name == name && !one.awake);
            state = self.0.changed.wait_while(state, asleep).unwrap_or_else(PoisonError::into_inner);
            state.sleepers.retain(|sleeper| sleeper.name != name);
        }
        std::mem::take(&mut state.raised[*signal])
    }
}

/// A thread for which time waits.
pub struct Actor(VirtualTime);

impl Actor {
    pub fn since_start(&self) -> Duration {
        self.0.since_start()
    }

    pub fn sleep(&self, time: Duration) {
        self.0.sleep(time);
    }

    pub fn wait(&self, signal: &Signal, time: Duration) -> bool {
        self.0.wait(signal, time)
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.running -= 1;
        state.pass();
        self.0.0.changed.notify_all();
    }
}

/// Ends a wait before its time.
#[derive(Clone)]
pub struct Signal(VirtualTime, usize);

impl Signal {
    pub fn raise(&self) {
        let mut state = self.0.state();
        state.raised[self.1] = true;
        state.wake(|sleeper| sleeper.signal == self.1);
        self.0.0.changed.notify_all();
    }
}

/// Raises a signal when it is dropped.
pub struct AtDrop(pub Signal);

impl Drop for AtDrop {
    fn drop(&mut self) {
        self.0.raise();
    }
}
