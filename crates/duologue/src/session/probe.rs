//! The choice of a session's maker of correlations when the first base OTs are made, by what is measured meanwhile.
//!
//! A probe travels with the first messages of the base OTs, and what was found with the second. Base OTs depend on no
//! maker, so the choice costs bytes and no round trip:
//!
//! ```text
//! exchange 1, both    the demand, 24 bytes; a probe of 4 to 64 kB in eight pieces; the message of the base OTs, if there is one
//! exchange 2, both    the findings, 32 bytes; the message of the base OTs, if there is one
//! ```
//!
//! The line's rate is the median of the pieces': where a transport that has just begun pauses between bursts, most pieces
//! still follow their predecessor at once. A party that reads when most pieces are there already cannot tell; the other
//! direction's rate is taken then, or, if neither party can, what both probes took bounds it. The round trip is the sum of
//! both parties' times from sending to receiving in one exchange, which needs no common clock; of two exchanges the smaller
//! one. Nothing secret is used, and what the peer claims is bounded ([`conditions`](crate::conditions)).

use super::wire::Wire;
use crate::agreement::Fields;
use crate::channel::Channel;
use crate::clock::{Clock, Instant};
use crate::conditions::{Conditions, Findings, REFERENCE_SPEED, merged, per_second};
use crate::correlation::choice::{Decision, PIECES, PROBE_HEAD, choose};
use crate::correlation::{Demand, MakerTerm, Stock};
use crate::cost::choice::Candidate;
use crate::cost::draft::Measuring;
use crate::ot::{Extension, Missing};
use crate::{Error, Party, Result};
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
    pub demand: Demand,
    pub findings: Findings,
}

/// What is measured before a maker is chosen for a demand, or, for none, a protocol.
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
        // What is here already came at a time that nobody knows.
        let late = channel.pending()? > 0;
        channel.send(&head(&self.demand))?;
        let sent = self.send(channel)?;
        channel.send(ours)?;
        // A channel that cannot write takes in what comes: pieces that are here already came as fast as nobody knows.
        let late = late || channel.pending()? >= PROBE_HEAD + self.piece();
        self.check_head(&channel.recv(PROBE_HEAD)?)?;
        let turn = channel.clock().now() - sent;
        let findings = self.receive(channel, sent, [self.turn, turn])?.or_late(late);
        Ok((channel.recv(expect)?, Found { demand: self.demand, findings }))
    }

    /// The exchange of terms, with the probes and the messages of the base OTs after them. The peer's message, and what was found.
    /// `hello` is this party's turn in the exchange of hellos. Who does not agree has sent more than terms, so that the session
    /// is over.
    fn after_terms(
        &self,
        wire: &mut Wire,
        (fields, hello): (&Fields, Duration),
        (ours, expect): (&[u8], usize),
    ) -> Result<(Vec<u8>, Findings)> {
        let sent = self.send_after_terms(wire, fields, ours);
        let (sent, late) = sent.map_err(|error| wire.why_ended(error, fields))?;
        let turn = wire.await_terms(fields, sent)?;
        let findings = self.receive(&mut wire.channel, sent, [hello, turn])?.or_late(late);
        Ok((wire.channel.recv(expect)?, findings))
    }

    /// When the first piece went, and whether some of the peer's came at a time that nobody knows.
    fn send_after_terms(&self, wire: &mut Wire, fields: &Fields, ours: &[u8]) -> Result<(Instant, bool)> {
        let late = wire.channel.pending()? > 0;
        wire.send_terms(fields)?;
        let sent = self.send(&mut wire.channel)?;
        wire.channel.send(ours)?;
        wire.channel.flush()?;
        Ok((sent, late || wire.channel.pending()? >= TERMS + self.piece()))
    }

    fn piece(&self) -> usize {
        self.length / PIECES
    }

    /// Sends what was to be sent, then the pieces of the probe: when the first of them went.
    fn send(&self, channel: &mut Channel) -> Result<Instant> {
        let filler = filler(self.length);
        channel.flush()?;
        let sent = channel.clock().now();
        for piece in filler.chunks(self.piece()) {
            channel.send(piece)?;
            channel.flush()?;
        }
        Ok(sent)
    }

    /// Reads the peer's probe, whatever its bytes are: what was found, where ours was sent then.
    fn receive(&self, channel: &mut Channel, sent: Instant, turns: [Duration; 2]) -> Result<Findings> {
        let mut before = channel.clock().now();
        let (mut times, mut there) = ([Duration::ZERO; PIECES], 0);
        for time in &mut times {
            there += usize::from(channel.pending()? >= self.piece());
            channel.recv(self.piece())?;
            let now = channel.clock().now();
            (*time, before) = (now - before, now);
        }
        times.sort_unstable();
        let received = per_second(self.piece() as u128, times[PIECES / 2]);
        let (probes, length, late) = (before - sent, self.length as u32, there > PIECES / 2);
        Ok(Findings { turns, probes, length, received, late, speed: self.speed })
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

/// Bytes that terms have at least, and a good deal more.
const TERMS: usize = 512;

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

/// AES blocks a second of one thread, as costs are counted: by the fastest of many short loops, so that interruptions do not
/// count. In virtual time, which does not pass while a thread computes, the reference speed.
pub(crate) fn blocks_per_second(clock: &Clock) -> u64 {
    if !clock.passes_by_itself() {
        return REFERENCE_SPEED;
    }
    let (mut generator, mut blocks) = (Generator::from_seed(Block::ZERO), vec![Block::ZERO; LOOP]);
    let rate =
        rate_of(|| clock.now(), || (0..4).for_each(|_| generator.fill_blocks(std::hint::black_box(&mut blocks))));
    (u128::from(rate) * COUNTED.0 / COUNTED.1) as u64
}

/// The costs of makers and programs are counted in blocks of a machine whose speed another program measured. Where our loop
/// computes 1,342 million blocks a second, runs take as long as by 750 million of these.
const COUNTED: (u128, u128) = (750, 1342);

/// Blocks a second of a loop that computes four times as many as [`LOOP`]. Where a clock is too coarse to time a loop,
/// those of all loops together.
fn rate_of(now: impl Fn() -> Instant, mut compute: impl FnMut()) -> u64 {
    let (start, mut loops, mut fastest) = (now(), 0, Duration::MAX);
    let mut end = start;
    while end - start < MEASURED {
        let begun = now();
        compute();
        end = now();
        (loops, fastest) = (loops + 1, fastest.min(end - begun));
    }
    let (loops, time) = if fastest.is_zero() { (loops, end - start) } else { (1, fastest) };
    per_second(loops * 4 * LOOP as u128, time)
}

/// Measures the line of a channel that has no session yet, and the processors, one core each; what both parties find is
/// the same.
///
/// # Errors
/// If the peer does not measure for as many bytes.
pub fn measure(channel: &mut Channel, us: Party, length: usize) -> Result<Conditions> {
    let length = whole_pieces(length);
    let speed = blocks_per_second(channel.clock());
    let probe = Probe { demand: Demand::NONE, length, speed, turn: Duration::MAX };
    let (_, mut found) = probe.exchange(channel, &[], 0)?;
    // There was no other exchange.
    found.findings.turns[0] = found.findings.turns[1];
    channel.send(&found.findings.encode())?;
    channel.flush()?;
    let mut theirs = [0; Findings::LEN];
    channel.recv_into(&mut theirs)?;
    Ok(merged(us, &found.findings, &Findings::decode(&theirs)))
}

/// The length of a probe of so many bytes or a few more.
fn whole_pieces(length: usize) -> usize {
    length.div_ceil(PIECES) * PIECES
}

impl Wire {
    /// Measures the line and the processors for nothing that is made, with a probe of so many bytes: what both parties find is the same.
    pub fn measure(&mut self, length: usize) -> Result<Conditions> {
        let probe = self.probe_of(Demand::NONE, whole_pieces(length));
        let (_, found) = probe.exchange(&mut self.channel, &[], 0)?;
        self.learn(&found.findings, &[])
    }

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
            (Some(named), ..) => Decision::Chosen(named, None),
            (None, Some(pools), _) => Decision::Chosen(pools, None),
            (None, None, Some(Chosen { extension, conditions })) => Decision::Chosen(extension, conditions),
            (None, None, None) => term.decide(&self.planned),
        };
        match known {
            Decision::Chosen(extension, conditions) => {
                self.chosen = Some(Chosen { extension, conditions });
                None
            }
            Decision::Measure(length) => Some(self.probe_of(self.planned, length)),
        }
    }

    /// Trades the first messages of the base OTs, with a probe if there is one.
    pub fn trade_with(&mut self, probe: Option<Probe>, ours: &[u8], expect: usize) -> Result<(Vec<u8>, Option<Found>)> {
        let Some(probe) = probe else { return Ok((self.trade(ours, expect)?, None)) };
        let (theirs, found) = probe.exchange(&mut self.channel, ours, expect)?;
        Ok((theirs, Some(found)))
    }

    /// Sends what we have found, with the second message of the base OTs: the conditions that follow for both. What belongs to
    /// the peer's second message comes next.
    pub fn learn(&mut self, findings: &Findings, ours: &[u8]) -> Result<Conditions> {
        self.channel.send(&findings.encode())?;
        self.channel.send(ours)?;
        let mut theirs = [0; Findings::LEN];
        self.channel.recv_into(&mut theirs)?;
        let conditions = merged(self.party, findings, &Findings::decode(&theirs));
        tracing::debug!(%conditions, "measured");
        self.conditions = Some(conditions);
        Ok(conditions)
    }

    /// Takes the maker that was chosen for these conditions, unless it was known before.
    pub fn take_maker(&mut self, extension: Extension, conditions: Conditions) -> Chosen {
        let known = self.term.extension.is_some() || self.maker_of_pool().is_some();
        let conditions = Some(conditions).filter(|_| !known);
        tracing::debug!(%extension, "chosen for what was measured");
        *self.chosen.get_or_insert(Chosen { extension, conditions })
    }

    /// Chooses the maker for so many before there are base OTs.
    pub fn choose_for(&mut self, term: MakerTerm, demand: Demand) -> Result<Chosen> {
        self.term = term;
        self.plan_new(demand);
        let probe = self.probe();
        let (_, found) = self.trade_with(probe, &[], 0)?;
        if let Some(Found { demand, findings }) = found {
            let conditions = self.learn(&findings, &[])?;
            self.take_maker(choose(demand, &conditions), conditions);
        }
        self.chosen.ok_or_else(|| Error::usage("no maker of correlations was chosen"))
    }

    /// Compares the terms of a choice and measures, and ranks candidates by what both have found. If base OTs are made their first
    /// messages go with the terms, and what was found with the second; the best candidate's maker is taken with them.
    pub fn measure_and_rank(
        &mut self,
        fields: &Fields,
        measuring: Measuring,
        rank: impl FnOnce(&Conditions) -> Result<Vec<Candidate>>,
    ) -> Result<(Vec<Candidate>, Conditions)> {
        let (length, demand) = match measuring {
            Measuring::WithBaseOts(length, demand) => (length, demand),
            Measuring::Alone(length) => (length, Demand::NONE),
            Measuring::Nothing => return Err(Error::usage("nothing is measured")),
        };
        let (probe, terms) = (self.probe_of(Demand::NONE, length), (fields, self.hello));
        let Some(Missing::All(directions)) = self.based.missing(&demand) else {
            let (_, findings) = probe.after_terms(self, terms, (&[], 0))?;
            let conditions = self.learn(&findings, &[])?;
            return Ok((rank(&conditions)?, conditions));
        };
        let (setup, ours, secrets) = self.start_base_ots(directions)?;
        let (theirs, findings) = probe.after_terms(self, terms, (&ours, setup.expect()))?;
        let mut ranked = None;
        self.base_ots_after((setup, secrets), (&theirs, &findings), |conditions| {
            let candidates = rank(conditions)?;
            let maker = candidates[0].cost.maker;
            ranked = Some((candidates, *conditions));
            Ok(maker)
        })?;
        ranked.ok_or_else(|| Error::usage("nothing was measured"))
    }

    fn probe_of(&self, demand: Demand, length: usize) -> Probe {
        let speed = blocks_per_second(self.channel.clock()).saturating_mul(self.threads as u64);
        Probe { demand, length, speed, turn: self.turn }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// The rate by a clock with such ticks, of loops that take 10 µs and every third time 70.
    fn rate_by(tick: Duration) -> u64 {
        let (origin, time, calls) = (Instant::now(), Cell::new(Duration::ZERO), Cell::new(0));
        let now = || origin + tick * (time.get().as_nanos() / tick.as_nanos()) as u32;
        rate_of(now, || {
            calls.set(calls.get() + 1);
            time.set(time.get() + Duration::from_micros(if calls.get() % 3 == 0 { 70 } else { 10 }));
        })
    }

    /// By a fine clock the fastest loop counts, by a coarse one all of them: no loop of zero length makes a processor
    /// infinitely fast.
    #[test]
    fn a_coarse_clock_makes_no_processor_fast() {
        let blocks = 4 * LOOP as u64;
        assert_eq!(rate_by(Duration::from_nanos(100)), blocks * 100_000);
        for tick in [50, 100, 1000, 15_000].map(Duration::from_micros) {
            // 30 µs a loop on average; the last loop may begin just before the end.
            let loops = rate_by(tick) / blocks;
            assert!((20_000..=50_000).contains(&loops), "{tick:?}: {loops} loops a second");
        }
    }
}
