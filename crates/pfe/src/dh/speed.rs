//! How fast this machine garbles, for those who choose a method by it.

use super::{Garbling, Padding, Queries, Wired};
use crate::threads::Threads;
use crate::{Offer, os_generator};
use duologue::Result;
use duologue::circuit::Builder;
use duologue::circuit::private::thresholds;
use std::time::{Duration, Instant};

/// Gates that are garbled to find out.
const TRIAL: u64 = 64;

/// Gates a second that this party would garble on these threads: the faster of two trials on padding.
///
/// # Errors
/// If the system has no randomness.
pub fn gates_per_second(threads: &Threads) -> Result<u64> {
    let mut c = Builder::new("padding");
    let x = c.bits("x", 1);
    c.output("y", &x);
    let wired = Wired::new(thresholds(&c.finish())?, Padding { gates: Some(TRIAL), additions: Some(0) })?;
    let offer = Offer { sizes: *wired.sizes(), runs: 1, id: wired.id };
    let (queries, mut secrets) = (Queries::new(&wired, threads).chunk(), os_generator()?);
    let mut fastest = Duration::MAX;
    for _ in 0..2 {
        let (mut garbling, begun) = (Garbling::new(&offer, 0, &mut secrets, threads), Instant::now());
        std::hint::black_box(garbling.chunk(&queries)?);
        fastest = fastest.min(begun.elapsed());
    }
    let rate = u128::from(TRIAL) * 1_000_000_000 / fastest.as_nanos().max(1);
    Ok(u64::try_from(rate).unwrap_or(u64::MAX))
}
