//! Threads of one party that share its work.

use crate::clock::Instant;
use crate::{Error, Result};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The time for which a thread without work looks for more before it sleeps, and for which one that is done with its
/// half looks whether the other half is done. Waking a thread takes 20 to 50 µs, about as long as half a chunk of
/// tables. With 200 µs two threads garble 1.4 times as fast as one, and without this 0.8 times (VAES-512, two cores).
pub(crate) const AWAKE: Duration = Duration::from_micros(200);

/// Whether threads can be started; in WebAssembly they cannot.
pub(crate) const ARE_THERE: bool = !cfg!(target_family = "wasm");

/// The threads of one party: the caller's alone, or a pool of its own.
///
/// Results and messages do not depend on their number.
#[derive(Clone, Default)]
pub(crate) struct Threads(Option<Arc<ThreadPool>>);

impl Threads {
    /// A party with `count` threads; with one there is no pool.
    pub fn new(count: usize) -> Result<Threads> {
        Threads::placed(count, |_| {})
    }

    /// The same; each thread of a pool calls `place` with its number when it starts.
    pub fn placed(count: usize, place: fn(usize)) -> Result<Threads> {
        if count <= 1 {
            return Ok(Threads(None));
        }
        let pool = ThreadPoolBuilder::new().num_threads(count).thread_name(|i| format!("duologue-{i}"));
        let pool = pool
            .start_handler(place)
            .build()
            .map_err(|why| Error::io("starting threads")(std::io::Error::other(why)))?;
        Ok(Threads(Some(Arc::new(pool))))
    }

    pub fn count(&self) -> usize {
        self.0.as_ref().map_or(1, |pool| pool.current_num_threads())
    }

    /// Runs `work` on a thread of the pool, from which handing work to the others costs little. A panic is passed on to
    /// the caller.
    pub fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        match &self.0 {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }

    /// Runs `work` once on every thread, side by side; it gets the thread's number. A panic is passed on when all are done.
    pub fn on_all(&self, work: impl Fn(usize) + Sync) {
        match &self.0 {
            Some(pool) => drop(pool.broadcast(|thread| work(thread.index()))),
            None => work(0),
        }
    }

    /// Runs `work` on each item; the caller's thread always has the first ones.
    pub fn each<T: Send>(&self, items: &mut [T], work: impl Fn(&mut T) + Sync) {
        match &self.0 {
            Some(pool) if items.len() > 1 => pool.install(|| halves(items, &work)),
            _ => items.iter_mut().for_each(work),
        }
    }

    /// Hands the jobs out in their order, each to the next thread that is free. Each thread has one of the workers, of which
    /// there are as many as threads. A job may wait for those before it.
    pub fn share<W: Send, J>(
        &self,
        workers: &mut [W],
        jobs: impl Iterator<Item = J> + Send,
        work: impl Fn(&mut W, J) + Sync,
    ) {
        let jobs = Mutex::new(jobs);
        let next = || jobs.lock().unwrap_or_else(PoisonError::into_inner).next();
        self.each(workers, |worker| {
            while let Some(job) = next() {
                work(worker, job);
            }
        });
    }

    /// Runs both: the caller's thread runs the first and then, if no other thread has begun it, the second.
    pub fn both<T: Send, U: Send>(&self, ours: impl FnOnce() -> T + Send, theirs: impl FnOnce() -> U + Send) -> (T, U) {
        let Some(pool) = &self.0 else { return (ours(), theirs()) };
        pool.install(|| {
            let other = Other { asked_by: rayon::current_thread_index(), ..Other::default() };
            let ours = || {
                let done = ours();
                other.help_until_end();
                done
            };
            rayon::join(ours, || other.run(theirs))
        })
    }
}

/// Splits the items, and lets another thread have the right half if there is one that looks for work.
fn halves<T: Send>(items: &mut [T], work: &(impl Fn(&mut T) + Sync)) {
    match items {
        [] => {}
        [item] => work(item),
        _ => {
            let (left, right) = items.split_at_mut(items.len() / 2);
            let other = Other { asked_by: rayon::current_thread_index(), ..Other::default() };
            let ours = || {
                halves(left, work);
                other.await_end();
            };
            rayon::join(ours, || other.run(|| halves(right, work)));
        }
    }
}

/// The progress of the other half.
#[derive(Default)]
struct Other {
    asked_by: Option<usize>,
    begun: AtomicBool,
    ended: AtomicBool,
}

impl Other {
    fn run<T>(&self, work: impl FnOnce() -> T) -> T {
        self.begun.store(true, Ordering::Release);
        let done = work();
        self.ended.store(true, Ordering::Release);
        if rayon::current_thread_index() != self.asked_by {
            stay_awake();
        }
        done
    }

    /// Waits as [`await_end`](Self::await_end) does, and helps meanwhile: for long work, which may itself be shared
    /// out.
    fn help_until_end(&self) {
        let (since, before) = (Instant::now(), IS_AWAKE.replace(true));
        while self.is_worth_awaiting(since) {
            if rayon::yield_now() != Some(rayon::Yield::Executed) {
                thread::yield_now();
            }
        }
        IS_AWAKE.set(before);
    }

    /// Stays awake while another thread works on the other half. If none has begun it, returns at once: it is ours to
    /// do.
    fn await_end(&self) {
        let since = Instant::now();
        while self.is_worth_awaiting(since) {
            thread::yield_now();
        }
    }

    fn is_worth_awaiting(&self, since: Instant) -> bool {
        self.begun.load(Ordering::Acquire) && !self.ended.load(Ordering::Acquire) && since.elapsed() < AWAKE
    }
}

thread_local! {
    static IS_AWAKE: Cell<bool> = const { Cell::new(false) };
}

/// Lets this thread look for more work for the time [`AWAKE`] after it has done some.
fn stay_awake() {
    let Some(us) = rayon::current_thread_index().filter(|_| !IS_AWAKE.get()) else { return };
    rayon::spawn(move || {
        // A thread that waits for others may have taken this up, and must not stay here.
        if rayon::current_thread_index() != Some(us) || IS_AWAKE.replace(true) {
            return;
        }
        let mut since = Instant::now();
        while since.elapsed() < AWAKE {
            match rayon::yield_now() {
                Some(rayon::Yield::Executed) => since = Instant::now(),
                _ => thread::yield_now(),
            }
        }
        IS_AWAKE.set(false);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn each_item_is_worked_on_once() {
        for count in [0, 1, 2, 3, 7] {
            let threads = Threads::new(count).unwrap();
            assert_eq!(threads.count(), count.max(1));
            for len in [0, 1, 2, 5, 100] {
                let mut items = vec![0; len];
                threads.install(|| threads.each(&mut items, |item| *item += 1));
                threads.each(&mut items, |item| *item += 1);
                assert!(items.iter().all(|&item| item == 2));
            }
        }
    }

    #[test]
    fn one_thread_is_the_callers() {
        let here = thread::current().id();
        let one = Threads::new(1).unwrap();
        one.each(&mut [1, 2, 3], |_| assert!(thread::current().id() == here));
        assert!(one.install(|| thread::current().id()) == here);
        assert!(Threads::new(2).unwrap().install(|| thread::current().id()) != here);
    }

    #[test]
    fn both_are_done_and_may_share_out_more() {
        for count in [1, 2, 3] {
            let (threads, mut items) = (Threads::new(count).unwrap(), [0; 9]);
            for round in 1..50 {
                let mut shared = || threads.each(&mut items, |item| *item += 1);
                assert_eq!(threads.both(|| round, || (shared(), round + 1).1), (round, round + 1));
            }
            assert_eq!(items, [49; 9]);
        }
    }

    #[test]
    fn every_thread_has_its_turn() {
        for count in [1, 2, 5] {
            let (threads, turns) = (Threads::new(count).unwrap(), std::sync::Mutex::new(Vec::new()));
            threads.install(|| threads.on_all(|thread| turns.lock().unwrap().push(thread)));
            let mut turns = turns.into_inner().unwrap();
            turns.sort_unstable();
            assert!(turns.into_iter().eq(0..count));
        }
    }

    #[test]
    fn a_panic_comes_through_and_nobody_hangs() {
        let threads = Threads::new(3).unwrap();
        let broken = || threads.install(|| threads.each(&mut [1, 2, 3, 4, 5], |&mut item| assert!(item != 4)));
        assert!(catch_unwind(AssertUnwindSafe(broken)).is_err());
        let mut items = [1, 2, 3, 4, 5];
        threads.install(|| threads.each(&mut items, |item| *item += 1));
        assert_eq!(items, [2, 3, 4, 5, 6], "the pool goes on");
    }
}
