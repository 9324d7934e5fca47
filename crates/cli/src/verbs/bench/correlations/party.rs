//! One party of the measurement of one figure: a session of its own.

use super::figures::{Figure, Kind};
use crate::failure::{Exit, Failure};
use duologue::channel::Channel;
use duologue::correlation::{Demand, Stock};
use duologue::session::PhaseReport;
use duologue::{Party, Session};
use serde::{Deserialize, Serialize};
use std::hint::black_box;
use std::time::Instant;

/// The measurements of a party.
#[derive(Clone, Serialize, Deserialize)]
pub struct Measured {
    /// Seconds until the first batch is there: greeting, base OTs, bootstrap, and that batch.
    pub setup: f64,
    /// Correlations of the first batch.
    pub first: u64,
    pub runs: Vec<Run>,
    /// Bytes of memory that the process had at most, where the system tells.
    pub memory: Option<u64>,
}

/// One run of a session that is set up.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub struct Run {
    pub seconds: f64,
    /// Correlations that were made, of whichever kind and direction.
    pub made: u64,
    /// Bytes of the protocol in both directions.
    pub bytes: u64,
}

/// Correlations of each kind that are shown to the peer and checked, after the last run.
const SHOWN: u64 = 1 << 14;

/// The first batch, then `runs` times `count`; at last both parties show each other a few, and check them.
pub fn measure(channel: Channel, party: Party, figure: Figure, count: u64, runs: u32) -> Result<Measured, Failure> {
    let start = Instant::now();
    let mut session = Session::connect(channel, party)?;
    let (first, _) = make(&mut session, figure, 1)?;
    let setup = start.elapsed().as_secs_f64();
    let run = |_| {
        let (made, took) = make(&mut session, figure, count)?;
        Ok(Run { seconds: took.time.as_secs_f64(), made, bytes: took.sent + took.received })
    };
    let runs = (0..runs).map(run).collect::<Result<_, Failure>>()?;
    let memory = crate::verbs::run::peak_memory();
    check(session, figure)?;
    Ok(Measured { setup, first, runs, memory })
}

/// Makes at least so many, and forgets them block by block.
fn make(session: &mut Session, figure: Figure, count: u64) -> Result<(u64, PhaseReport), Failure> {
    if Kind::DERIVED.contains(&figure.kind) {
        return derive(session, figure, count);
    }
    let mut made = 0;
    let took = session.correlate(figure.maker, figure.kind.demand(count), |stock| {
        made += stock.available().total();
        keep(stock, &Demand::NONE)
    })?;
    Ok((made, took))
}

/// Derived correlations that are in memory at once.
const BLOCK: u64 = 1 << 17;

/// Makes so many in blocks, and forgets them; those that each party sends count, and so do those that it receives.
fn derive(session: &mut Session, figure: Figure, count: u64) -> Result<(u64, PhaseReport), Failure> {
    let (start, before, mut made) = (Instant::now(), session.counters(), 0);
    let mut left = count;
    while left > 0 {
        let block = left.min(BLOCK);
        made += derive_block(session, figure, block)?;
        left -= block;
    }
    let now = session.counters();
    let took = PhaseReport {
        time: start.elapsed(),
        sent: now.bytes_sent - before.bytes_sent,
        received: now.bytes_received - before.bytes_received,
        rounds: now.rounds - before.rounds,
    };
    Ok((made, took))
}

fn derive_block(session: &mut Session, Figure { maker, kind }: Figure, count: u64) -> duologue::Result<u64> {
    Ok(match kind {
        Kind::RandomBits => {
            let bits = black_box(session.random_bits(maker, count, count)?);
            (bits.sent_len + bits.received_len) as u64
        }
        Kind::OneOf16 => {
            let ots = session.random_ots(maker, 4 * count, 4 * count)?;
            let (sent, received) = (ots.sent.one_of(16)?, ots.received.one_of(16)?);
            let all = (0..sent.len()).flat_map(|i| (0..16).map(move |x| (i, x)));
            black_box(all.fold(false, |sum, (i, x)| sum ^ sent.message(i, x).lsb()));
            black_box((0..received.len()).fold(false, |sum, i| sum ^ received.message(i).lsb()));
            (sent.len() + received.len()) as u64
        }
        Kind::BitVectors => black_box(session.random_ots(maker, count, count)?.bit_vector_triples(128)).len as u64,
        _ => {
            let ots = black_box(session.random_ots(maker, count, count)?);
            (ots.sent.len() + ots.received.len()) as u64
        }
    })
}

/// Forgets all but the last of them.
fn keep(stock: &mut Stock, last: &Demand) -> duologue::Result<()> {
    let spent = stock.available().missing_from(last);
    stock.forget(&spent)
}

fn check(mut session: Session, figure: Figure) -> Result<(), Failure> {
    let shown = figure.kind.demand(SHOWN);
    session.correlate(figure.maker, shown, |stock| keep(stock, &shown))?;
    match session.open_correlations()? == shown {
        true => Ok(()),
        false => Err(Failure::new(Exit::Wrong, format!("{}: other correlations than were made", figure.name()))),
    }
}
