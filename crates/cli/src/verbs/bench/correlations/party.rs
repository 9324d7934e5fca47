//! One party of the measurement of one figure: a session of its own.

use super::figures::{Figure, size};
use crate::failure::{Exit, Failure};
use duologue::channel::Channel;
use duologue::correlation::{Demand, Stock};
use duologue::session::PhaseReport;
use duologue::{Party, Session};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// What a party measured.
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
    let mut made = 0;
    let took = session.correlate(figure.maker, figure.kind.demand(count), |stock| {
        made += size(&stock.available());
        keep(stock, &Demand::NONE)
    })?;
    Ok((made, took))
}

/// Draws all but the last of them.
fn keep(stock: &mut Stock, last: &Demand) -> duologue::Result<()> {
    let (us, spent) = (stock.party(), stock.available().missing_from(last));
    stock.draw_cot_sender(spent.cots_by(us) as usize)?;
    stock.draw_cot_receiver(spent.cots_by(us.peer()) as usize)?;
    stock.draw_triples(spent.triples as usize)?;
    Ok(())
}

fn check(mut session: Session, figure: Figure) -> Result<(), Failure> {
    let shown = figure.kind.demand(SHOWN);
    session.correlate(figure.maker, shown, |stock| keep(stock, &shown))?;
    match session.open_correlations()? == shown {
        true => Ok(()),
        false => Err(Failure::new(Exit::Wrong, format!("{}: other correlations than were made", figure.name()))),
    }
}
