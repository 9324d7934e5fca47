//! The choice of a session's maker of correlations when the first base OTs are made, by what is measured meanwhile.
//!
//! A probe travels with the first messages of the base OTs, and what was found with the second. Base OTs depend on no
//! maker, so the choice costs bytes and no round trip:
//!
//! ```text
//! exchange 1, both    the demand, 24 bytes; a probe of 4 to 64 kB in eight pieces; the message of the base OTs, if there is one
//! exchange 2, both    the findings, 24 bytes; the message of the base OTs, if there is one
//! ```
//!
//! The line's rate is the median of the pieces': where a transport that has just begun pauses between bursts, most pieces
//! still follow their predecessor at once. The round trip is the sum of both parties' times from sending to receiving in one
//! exchange, which needs no common clock; of two exchanges the smaller one. Nothing secret is used, and what the peer
//! claims is bounded ([`conditions`](crate::conditions)).

use super::wire::Wire;
use crate::channel::Channel;
use crate::clock::Clock;
use crate::conditions::{Conditions, Findings, REFERENCE_SPEED, merged};
use crate::correlation::choice::{PIECES, PROBE_HEAD, choose};
use crate::correlation::{Demand, MakerTerm, Stock};
use crate::ot::Extension;
use crate::{Error, Result};
use kernels::Block;
use kernels::generator::Generator;
use std::time::Duration;

/// A session's maker of correlations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Chosen {
    pub extension: Extension,
    /// The conditions that it was chosen for; none where the demand alone decided, a pool, or the terms.
    pub conditions: Option<Conditions>,
}

/// What this party has found before a maker is chosen for a demand.
pub(super) struct Found {
    demand: Demand,
    findings: Findings,
}

/// What is measured before a maker is chosen for a demand.
pub(super) struct Probe {
    demand: Demand,
    /// Bytes in each direction.
    length: usize,
    /// AES blocks a second of this party.
    speed: u64,
    /// This party's turn in the exchange of terms.
    turn: Duration,
}

impl Probe {
    /// The exchange of the probes, with the messages of the base OTs after them. The peer's message, and what was found.
    fn exchange(&self, channel: &mut Channel, ours: &[u8], expect: usize) -> Result<(Vec<u8>, Found)> {
        let filler = filler(self.length);
        // What is here already came at a time that nobody knows.
        let late = channel.pending()? > 0;
        channel.send(&head(&self.demand))?;
        channel.flush()?;
        let sent = channel.clock().now();
        for piece in filler.chunks(self.piece()) {
            channel.send(piece)?;
            channel.flush()?;
        }
        channel.send(ours)?;
        self.check_head(&channel.recv(PROBE_HEAD)?)?;
        let turn = channel.clock().now() - sent;
        let received = self.receive(channel)?;
        let turns = [self.turn, turn];
        let findings = Findings { turns, received: Some(received).filter(|_| !late), speed: self.speed };
        Ok((channel.recv(expect)?, Found { demand: self.demand, findings }))
    }

    fn piece(&self) -> usize {
        self.length / PIECES
    }

    /// Reads the peer's probe, whatever its bytes are: how many came in a second.
    fn receive(&self, channel: &mut Channel) -> Result<u64> {
        let mut before = channel.clock().now();
        let mut times = [Duration::ZERO; PIECES];
        for time in &mut times {
            channel.recv(self.piece())?;
            let now = channel.clock().now();
            (*time, before) = (now - before, now);
        }
        times.sort_unstable();
        let nanoseconds = times[PIECES / 2].as_nanos().max(1);
        let rate = self.piece() as u128 * 1_000_000_000 / nanoseconds;
        Ok(u64::try_from(rate).unwrap_or(u64::MAX))
    }

    fn check_head(&self, theirs: &[u8]) -> Result<()> {
        if theirs == head(&self.demand) {
            return Ok(());
        }
        let numbers = |bytes: &[u8]| {
            let each = bytes.as_chunks().0.iter().map(|&number| u64::from_le_bytes(number).to_string());
            each.collect::<Vec<_>>().join(", ")
        };
        // Terms were equal, so an honest peer has the same demand.
        let (ours, theirs) = (numbers(&head(&self.demand)), numbers(theirs));
        Err(Error::peer(format!("it measures for other correlations than we: ours are {ours}, its {theirs}")))
    }
}

fn head(demand: &Demand) -> [u8; PROBE_HEAD] {
    let numbers = [demand.cots_by_alice, demand.cots_by_bob, demand.triples].map(u64::to_le_bytes);
    numbers.as_flattened().try_into().expect("three numbers")
}

/// Bytes that no line compresses; they mean nothing.
fn filler(length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    Generator::from_seed(Block::ZERO).fill(&mut bytes);
    bytes
}

/// Blocks of a loop: what is small beside an interruption, and fits the fastest cache.
const LOOP: usize = 1024;

/// How long a processor is measured.
const MEASURED: Duration = Duration::from_micros(200);

/// AES blocks a second of one thread: the fastest of many short loops, so that interruptions do not count. In virtual
/// time, which does not pass while a thread computes, the reference speed.
fn blocks_per_second(clock: &Clock) -> u64 {
    if !clock.passes_by_itself() {
        return REFERENCE_SPEED;
    }
    let (mut generator, mut blocks) = (Generator::from_seed(Block::ZERO), vec![Block::ZERO; LOOP]);
    let (start, mut fastest) = (clock.now(), Duration::MAX);
    while fastest == Duration::MAX || clock.now() - start < MEASURED {
        let begun = clock.now();
        (0..4).for_each(|_| generator.fill_blocks(std::hint::black_box(&mut blocks)));
        fastest = fastest.min(clock.now() - begun);
    }
    let rate = 4 * LOOP as u128 * 1_000_000_000 / fastest.as_nanos().max(1);
    u64::try_from(rate).unwrap_or(u64::MAX)
}

impl Wire {
    /// Says how many correlations will be drawn in all, of which the stock has some: what a choice of the maker is made
    /// for.
    pub fn plan(&mut self, demand: Demand, stock: &Stock) {
        self.planned = demand.missing_from(&stock.available()).missing_from(&self.left_in_pool());
    }

    /// The same for correlations that are made whatever the stock and a pool have.
    pub fn plan_new(&mut self, demand: Demand) {
        self.planned = demand;
    }

    /// What must be measured before a maker can be chosen; nothing if it is chosen.
    pub fn probe(&mut self) -> Option<Probe> {
        let term = self.term;
        let known = match (term.extension, self.maker_of_pool(), self.chosen) {
            (Some(named), ..) => Ok((named, None)),
            (None, Some(pools), _) => Ok((pools, None)),
            (None, None, Some(Chosen { extension, conditions })) => Ok((extension, conditions)),
            (None, None, None) => term.decide(&self.planned),
        };
        match known {
            Ok((extension, conditions)) => {
                self.chosen = Some(Chosen { extension, conditions });
                None
            }
            Err(length) => Some(Probe {
                demand: self.planned,
                length,
                speed: blocks_per_second(self.channel.clock()).saturating_mul(self.threads as u64),
                turn: self.turn,
            }),
        }
    }

    /// Trades the first messages of the base OTs, with a probe if there is one.
    pub fn trade_with(&mut self, probe: Option<Probe>, ours: &[u8], expect: usize) -> Result<(Vec<u8>, Option<Found>)> {
        let Some(probe) = probe else { return Ok((self.trade(ours, expect)?, None)) };
        let (theirs, found) = probe.exchange(&mut self.channel, ours, expect)?;
        Ok((theirs, Some(found)))
    }

    /// Trades the second messages, and chooses the maker by what both have found.
    pub fn trade_and_choose(&mut self, found: Option<Found>, ours: &[u8], expect: usize) -> Result<Vec<u8>> {
        let Some(Found { demand, findings }) = found else { return self.trade(ours, expect) };
        self.channel.send(&findings.encode())?;
        self.channel.send(ours)?;
        let mut theirs = [0; Findings::LEN];
        self.channel.recv_into(&mut theirs)?;
        let conditions = merged(self.party, &findings, &Findings::decode(&theirs));
        let extension = choose(demand, &conditions);
        tracing::debug!(%extension, %conditions, "chosen for what was measured");
        self.chosen = Some(Chosen { extension, conditions: Some(conditions) });
        self.channel.recv(expect)
    }

    /// Chooses the maker for so many before there are base OTs.
    pub fn choose_for(&mut self, term: MakerTerm, demand: Demand) -> Result<Chosen> {
        self.term = term;
        self.plan_new(demand);
        let probe = self.probe();
        let (_, found) = self.trade_with(probe, &[], 0)?;
        self.trade_and_choose(found, &[], 0)?;
        self.chosen.ok_or_else(|| Error::usage("no maker of correlations was chosen"))
    }
}
