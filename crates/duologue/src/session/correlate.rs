//! Correlations without a program: to fill a pool, to measure makers.

use super::outcome::Mark;
use super::wire::Wire;
use super::{PhaseReport, Progress, Session, Unit};
use crate::agreement::Fields;
use crate::channel::Link;
use crate::correlation::{Demand, MakerTerm, Stock};
use crate::executor::{Link as _, Phase};
use crate::ot::Extension;
use crate::session::fields;
use crate::{Conditions, Error, Result};
use kernels::Block;

/// Correlations of a kind that are in memory at once.
const BLOCK: u64 = 1 << 20;

impl Session {
    /// Makes correlations and hands them over block by block: `take` gets the stock with a block in it. A block has at
    /// most 2²⁰ of a kind, or what one batch of the maker has, if that is more: up to 15 million for the silent ones,
    /// which make whole batches and so more than is asked for. What `take` leaves in the stock stays there for programs.
    ///
    /// With no maker the session's own is taken, or chosen [by demand, line and processor](crate::correlation::choice).
    ///
    /// # Errors
    /// [`Error::Usage`] if the session has another maker; [`Error::Incompatible`] if the peer does not call for the
    /// same. Any other error ends the session.
    pub fn correlate(
        &mut self,
        extension: impl Into<Option<Extension>>,
        demand: Demand,
        mut take: impl FnMut(&mut Stock) -> Result<()>,
    ) -> Result<PhaseReport> {
        self.alive()?;
        let term = MakerTerm::new(extension);
        self.wire.check_extension(term.extension)?;
        let fields = self.correlations_called_for(fields::CORRELATIONS, &term, &demand);
        self.guarded(|session| {
            session.wire.agree(&fields)?;
            session.wire.plan_new(demand.missing_from(&session.wire.left_in_pool()));
            session.make_blocks(term, demand, Wire::add, |_, stock| take(stock))
        })
    }

    /// Chooses the maker of so many correlations, which the session then has, by the conditions of this session: an assumed
    /// line, or what both parties measure now. A pool or another session can be given it.
    ///
    /// # Errors
    /// [`Error::Incompatible`] if the peer does not choose for the same. Any other error ends the session.
    pub fn choose_maker(&mut self, demand: Demand, link: impl Into<Option<Link>>) -> Result<Extension> {
        self.alive()?;
        let term = MakerTerm { extension: None, link: link.into() };
        let fields = self.correlations_called_for(fields::CHOICE, &term, &demand);
        self.guarded(|session| {
            session.wire.agree(&fields)?;
            Ok(session.wire.choose_for(term, demand)?.extension)
        })
    }

    /// The line and the processors as both parties find them now, by a probe of so many bytes in each direction, or have found them
    /// before in this session; the same at both. For calls that name a maker by them.
    ///
    /// # Errors
    /// [`Error::Incompatible`] if the peer does not measure by as many bytes. Any other error ends the session.
    #[doc(hidden)]
    pub fn measure(&mut self, length: usize) -> Result<Conditions> {
        self.alive()?;
        if let Some(known) = self.wire.conditions {
            return Ok(known);
        }
        let fields = fields::measuring(&self.moment(false, self.ordinal), length);
        self.guarded(|session| {
            session.wire.agree(&fields)?;
            session.wire.measure(length)
        })
    }

    pub(super) fn correlations_called_for(&self, call: &str, term: &MakerTerm, demand: &Demand) -> Fields {
        fields::correlations(&self.moment(true, self.ordinal), call, term, demand)
    }

    /// Makes the correlations that the parties agreed on: `add` puts each block into the stock, `take` does something with it.
    pub(super) fn make_blocks(
        &mut self,
        term: MakerTerm,
        demand: Demand,
        add: fn(&mut Wire, &mut Stock, Demand) -> Result<()>,
        mut take: impl FnMut(&mut Wire, &mut Stock) -> Result<()>,
    ) -> Result<PhaseReport> {
        let Session { wire, stock, .. } = self;
        wire.term = term;
        wire.begin(&demand)?;
        let start = Mark::new(wire);
        let (mut left, total) = (demand, demand.total());
        while left != Demand::NONE {
            let before = stock.available();
            add(wire, stock, block_of(&left))?;
            left = left.missing_from(&stock.available().missing_from(&before));
            let done = total - left.total();
            wire.tell(Progress { phase: Phase::Setup, unit: Unit::Correlations, done, total })?;
            take(wire, stock)?;
        }
        Ok(start.until_now(wire))
    }

    /// Shows the peer every correlation in stock and Δ, and checks that the two halves belong together: how many were
    /// checked. For benchmarks and tests: the session is over, for its Δ is known. Random OTs that were made before hide
    /// nothing any more.
    ///
    /// # Errors
    /// [`Error::Usage`] if the session has a pool, whose Δ outlives it, or ran or prepared a program: under Δ, the labels
    /// that the peer has seen would be inputs. [`Error::Peer`] if the halves do not belong together.
    pub fn open_correlations(&mut self) -> Result<Demand> {
        self.alive()?;
        if self.wire.pool.is_some() {
            return Err(Error::usage("the correlations of a session with a pool cannot be shown: its Δ is the pool's"));
        }
        if self.programs > 0 {
            return Err(Error::usage("correlations cannot be shown after a program: Δ would reveal its inputs"));
        }
        let counts = self.stock.available();
        let whole = self.guarded(|session| session.open_all(&counts))?;
        self.destroy_with("its correlations were shown");
        if whole { Ok(counts) } else { Err(Error::peer("its correlations do not belong to ours")) }
    }

    fn open_all(&mut self, counts: &Demand) -> Result<bool> {
        self.wire.agree(&fields::opening(&self.moment(true, self.ordinal)))?;
        let ours = self.revealed(counts)?;
        self.wire.send(&ours)?;
        self.wire.flush()?;
        let theirs = self.wire.channel.recv(self.revealed_len(counts))?;
        let (us, them) = (self.party, self.party.peer());
        let [ours, theirs] = [(&ours, us), (&theirs, them)].map(|(bytes, party)| Revealed::new(bytes, counts, party));
        self.wire.channel.finish()?;
        Ok(ours.sent_matches(&theirs) && theirs.sent_matches(&ours) && ours.triples_match(&theirs))
    }

    /// Δ, the blocks that we send, those that we receive, and the three shares of triples.
    fn revealed(&mut self, counts: &Demand) -> Result<Vec<u8>> {
        let [sent, received] = [self.party, self.party.peer()].map(|party| counts.cots_by(party) as usize);
        let mut bytes = self.wire.delta()?.to_bytes().to_vec();
        bytes.extend_from_slice(bytemuck::cast_slice(&self.stock.draw_cot_sender(sent)?));
        bytes.extend_from_slice(bytemuck::cast_slice(&self.stock.draw_cot_receiver(received)?.t));
        let triples = self.stock.draw_triples(counts.triples as usize)?;
        for share in [&triples.a, &triples.b, &triples.c] {
            bytes.extend_from_slice(bytemuck::cast_slice(share));
        }
        Ok(bytes)
    }

    fn revealed_len(&self, counts: &Demand) -> usize {
        let words = 3 * counts.triples.div_ceil(64) as usize;
        16 * (1 + counts.cots_by_alice as usize + counts.cots_by_bob as usize) + 8 * words
    }
}

/// The correlations that a party showed.
struct Revealed {
    delta: Block,
    sent: Vec<Block>,
    received: Vec<Block>,
    shares: [Vec<u64>; 3],
}

impl Revealed {
    fn new(bytes: &[u8], counts: &Demand, party: crate::Party) -> Self {
        let mut rest = bytes;
        let mut blocks = |count: u64| -> Vec<Block> {
            let (taken, others) = rest.split_at(16 * count as usize);
            rest = others;
            taken.as_chunks().0.iter().map(|&block| Block::from_bytes(block)).collect()
        };
        let delta = blocks(1)[0];
        let (sent, received) = (blocks(counts.cots_by(party)), blocks(counts.cots_by(party.peer())));
        let words: Vec<u64> = rest.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word)).collect();
        let share = |i: usize| words[i * words.len() / 3..(i + 1) * words.len() / 3].to_vec();
        Revealed { delta, sent, received, shares: [share(0), share(1), share(2)] }
    }

    /// t = q ⊕ b·Δ, with b in the lowest bit of t and none in that of q.
    fn sent_matches(&self, other: &Self) -> bool {
        let matches = |(&q, &t): (&Block, &Block)| !q.lsb() && t == q ^ (self.delta & Block::mask(t.lsb()));
        self.delta.lsb() && self.sent.iter().zip(&other.received).all(matches)
    }

    fn triples_match(&self, other: &Self) -> bool {
        let [a, b, c] = [0, 1, 2].map(|i| self.shares[i].iter().zip(&other.shares[i]).map(|(x, y)| x ^ y));
        a.zip(b).zip(c).all(|((a, b), c)| a & b == c)
    }
}

/// The next block of what is left.
pub(crate) fn block_of(left: &Demand) -> Demand {
    left.at_most(&Demand { cots_by_alice: BLOCK, cots_by_bob: BLOCK, triples: BLOCK })
}
