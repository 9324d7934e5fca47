//! Threads of one party, among which the points of a chunk are divided.

use duologue::{Error, Result};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::ops::Range;
use std::sync::Arc;

/// Points of a block, of which as many are computed side by side as anywhere: two registers.
const BLOCK: usize = 16;

/// The threads of a party: the caller's alone, or a pool of its own. What is sent does not depend on their number.
#[derive(Clone, Default)]
pub struct Threads(Option<Arc<ThreadPool>>);

impl Threads {
    /// So many of them.
    ///
    /// # Errors
    /// [`Error::Io`] if they do not start.
    pub fn new(count: usize) -> Result<Self> {
        if count <= 1 {
            return Ok(Threads(None));
        }
        let pool = ThreadPoolBuilder::new().num_threads(count).thread_name(|i| format!("private-{i}")).build();
        let why = |why| Error::Io { what: "starting threads".into(), source: std::io::Error::other(why) };
        Ok(Threads(Some(Arc::new(pool.map_err(why)?))))
    }

    /// Divides so many items among the threads: what `work` makes of each part, in order.
    pub(crate) fn parts<T: Send>(&self, len: usize, work: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
        let pool = match &self.0 {
            Some(pool) if len > BLOCK => pool,
            _ => return vec![work(0..len)],
        };
        let part = len.div_ceil(pool.current_num_threads()).next_multiple_of(BLOCK);
        let parts =
            (0..len.div_ceil(part)).into_par_iter().map(|number| work(part * number..len.min(part * (number + 1))));
        pool.install(|| parts.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_all_in_order() {
        for count in [1, 2, 3, 7] {
            let threads = Threads::new(count).unwrap();
            for len in [0, 1, 16, 17, 100, 512] {
                let parts = threads.parts(len, |part| part);
                assert!(parts.len() <= count && parts.iter().cloned().flatten().eq(0..len), "{parts:?}");
            }
        }
    }
}
