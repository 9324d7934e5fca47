//! The channel of a session with what setup needs: base OTs of each direction once, correlations when they are asked
//! for, agreement.

use super::outcome::Observer;
use super::pool::{Pool, never_again};
use super::precomputation::Correlating;
use super::probe::{Chosen, Found};
use super::{Progress, Unit};
use crate::agreement;
use crate::agreement::Fields;
use crate::channel::Channel;
use crate::clock::Instant;
use crate::conditions::{Conditions, Findings};
use crate::correlation::choice::choose;
use crate::correlation::{Demand, Maker, MakerTerm, Reading, Recipe, Refill, RefillStep, Stock};
use crate::executor::{Link, Phase};
use crate::ot::{AnsweredBaseOtSetup, BaseOtSetup, Based, CotBatch, CotOutput, Directions, Extension, Missing, Side};
use crate::outbox::{Inbox, Outbox};
use crate::threads::Threads;
use crate::{Error, Party, Result};
use circuit::program::Outline;
use kernels::Block;
use kernels::generator::Generator;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::time::Duration;
use zeroize::Zeroizing;

/// Correlations of a kind that are made at once when setup is streamed, at least.
const BLOCK: u64 = 1 << 19;

/// COTs of a direction that are made at once, at most, where 32 times as many are left: so many rounds of silent OT that sender and receiver
/// compute at the same time.
const MOST_COTS: u64 = 1 << 21;

/// The channel with what setup needs.
pub(super) struct Wire {
    pub channel: Channel,
    pub party: Party,
    pub id: [u8; 32],
    /// The secrets of base OTs and of the maker, which take them.
    pub correlating: Option<Correlating>,
    /// The directions that have base OTs.
    pub based: Based,
    pub maker: Option<Maker>,
    /// The session's pool of correlations that were made before, if it has one.
    pub pool: Option<Pool>,
    /// Δ of the session's COTs, which is the pool's if there is one with a Δ.
    pub delta: Option<Zeroizing<Block>>,
    /// What was agreed on of the maker.
    pub term: MakerTerm,
    /// What is going to be made, as far as is known: what the maker is chosen for.
    pub planned: Demand,
    /// Which maker; it does not change once there is one.
    pub chosen: Option<Chosen>,
    /// What was measured in this session.
    pub conditions: Option<Conditions>,
    pub awaited: AwaitedTerms,
    /// The time from sending our hello to the first bytes of the peer's.
    pub hello: Duration,
    /// The time from sending the last terms to the first bytes of the peer's.
    pub turn: Duration,
    /// How many threads share this party's work, and those that were started for it.
    pub threads: usize,
    pub started: Threads,
    pub observer: Option<Observer>,
    /// Bytes that came and went in the last exchange of a refill, kept since fresh memory for megabytes takes its time.
    pub buffers: [Vec<u8>; 2],
}

impl Wire {
    /// Whether correlations can be made by this maker: a session has one. Whoever names none takes that one.
    pub fn check_extension(&self, extension: Option<Extension>) -> Result<()> {
        match (&self.maker, self.chosen, extension) {
            (Some(_), Some(Chosen { extension: had, .. }), Some(extension)) if had != extension => {
                Err(Error::usage(format!("this session makes correlations by {had}, not {extension}: open another")))
            }
            _ => Ok(()),
        }
    }

    /// As many threads as were asked for.
    pub fn threads(&mut self) -> Result<Threads> {
        if self.started.count() != self.threads {
            self.started = Threads::new(self.threads)?;
        }
        Ok(self.started.clone())
    }

    /// Δ of the session's COTs.
    pub fn delta(&self) -> Result<Block> {
        self.delta.as_deref().copied().ok_or_else(|| Error::usage("the session has no Δ any more"))
    }

    /// Makes the base OTs that a demand calls for and that there are not.
    pub fn begin(&mut self, demand: &Demand) -> Result<()> {
        match self.based.missing(demand) {
            None => Ok(()),
            Some(Missing::All(directions)) => self.base_ots(directions),
            Some(Missing::Second { .. }) => self.second_base_ots(),
        }
    }

    /// The first base OTs of the session, and the maker on them, which is chosen meanwhile if it is not known.
    fn base_ots(&mut self, directions: Directions) -> Result<()> {
        let probe = self.probe();
        let (setup, ours, secrets) = self.start_base_ots(directions)?;
        let (theirs, found) = self.trade_with(probe, &ours, setup.expect())?;
        let (setup, ours) = setup.answer(&theirs).map_err(|why| never_again(&mut self.pool, why))?;
        let theirs = match found {
            None => self.trade(&ours, setup.expect())?,
            Some(Found { demand, findings }) => {
                let conditions = self.learn(&findings, &ours)?;
                self.take_maker(choose(demand, &conditions), conditions);
                self.channel.recv(setup.expect())?
            }
        };
        self.finish_base_ots(setup, &theirs, secrets)
    }

    /// The same for a choice, whose terms and probe went with the first messages: what was found travels with the second ones,
    /// and the maker is chosen by it.
    pub(super) fn base_ots_after(
        &mut self,
        (setup, secrets): (BaseOtSetup, Generator),
        (theirs, findings): (&[u8], &Findings),
        choose: impl FnOnce(&Conditions) -> Result<Extension>,
    ) -> Result<()> {
        let (setup, ours) = setup.answer(theirs).map_err(|why| never_again(&mut self.pool, why))?;
        let conditions = self.learn(findings, &ours)?;
        self.take_maker(choose(&conditions)?, conditions);
        let theirs = self.channel.recv(setup.expect())?;
        self.finish_base_ots(setup, &theirs, secrets)
    }

    /// The base OTs with our first message, and the secrets of the maker.
    pub(super) fn start_base_ots(&mut self, directions: Directions) -> Result<(BaseOtSetup, Vec<u8>, Generator)> {
        let correlating = self.correlating.take().ok_or_else(no_maker)?;
        let (rng, secrets) =
            (&mut correlating.secrets.derive(b"base OT ", 0), correlating.secrets.derive(b"makers  ", 0));
        let (ephemeral, session) = (|| correlating.ephemeral(), (self.party, &self.id));
        let (setup, ours) = BaseOtSetup::start_under(self.delta()?, ephemeral, rng, session, directions);
        Ok((setup, ours, secrets))
    }

    fn finish_base_ots(&mut self, setup: AnsweredBaseOtSetup, theirs: &[u8], secrets: Generator) -> Result<()> {
        let threads = self.threads()?;
        let seeds = setup.finish(theirs).map_err(|why| never_again(&mut self.pool, why))?;
        let Some(Chosen { extension, .. }) = self.chosen else { return Err(no_maker()) };
        self.maker = Some(Maker::on(seeds, Recipe { extension, secrets, threads }));
        Ok(())
    }

    /// The base OTs of the second direction, which was not called for when the first ones were made.
    fn second_base_ots(&mut self) -> Result<()> {
        let (maker, mut ours) = (self.maker.as_mut().ok_or_else(no_maker)?, Vec::new());
        let expect = maker.begin_second(&mut ours)?;
        let theirs = self.trade(&ours, expect)?;
        let maker = self.maker.as_mut().ok_or_else(no_maker)?;
        maker.end_second(&theirs).map_err(|why| never_again(&mut self.pool, why))
    }

    /// Sends these bytes and receives so many.
    pub fn trade(&mut self, ours: &[u8], expect: usize) -> Result<Vec<u8>> {
        self.channel.send(ours)?;
        if expect == 0 {
            return self.channel.flush().map(|()| Vec::new());
        }
        self.settle()?;
        self.channel.recv(expect)
    }

    /// Sends so many bytes and receives as many.
    pub fn swap(&mut self, ours: &[u8]) -> Result<Vec<u8>> {
        self.trade(ours, ours.len())
    }

    /// Exchanges terms, which must be equal.
    pub fn agree(&mut self, fields: &Fields) -> Result<()> {
        self.settle()?;
        self.send_terms(fields)?;
        self.channel.flush()?;
        let sent = self.channel.clock().now();
        self.turn = self.receive_terms(fields, sent)?;
        Ok(())
    }

    /// The same with more of ours under way behind our terms, which were sent at that time: the time until the peer's came. If
    /// they differ the session is over.
    pub fn await_terms(&mut self, fields: &Fields, sent: Instant) -> Result<Duration> {
        self.awaited.overtook = true;
        let turn = self.receive_terms(fields, sent)?;
        self.awaited.overtook = false;
        Ok(turn)
    }

    fn receive_terms(&mut self, fields: &Fields, sent: Instant) -> Result<Duration> {
        let length = self.channel.recv(4)?;
        let turn = self.channel.clock().now() - sent;
        compare(&mut self.channel, (fields, &mut self.awaited.outline), &length)?;
        Ok(turn)
    }

    /// Why sending more behind our terms failed. A peer whose terms differ stops as soon as it has read ours: what it sent before
    /// says what differs.
    pub fn why_ended(&mut self, error: Error, fields: &Fields) -> Error {
        self.awaited.overtook = true;
        if !matches!(error, Error::Aborted(_)) {
            return error;
        }
        let compared = self.channel.came_before_the_end(4).and_then(|length| {
            let theirs = self.channel.came_before_the_end(length_of(&length).ok()?)?;
            compare_terms((fields, &mut self.awaited.outline), &theirs).err()
        });
        compared.unwrap_or(error)
    }

    /// Sends terms that follow from what was agreed on, and compares the peer's before anything else of it is read.
    pub fn agree_later(&mut self, fields: Fields) -> Result<()> {
        self.settle()?;
        self.send_terms(&fields)?;
        self.awaited.fields = Some(fields);
        Ok(())
    }

    pub fn send_terms(&mut self, fields: &Fields) -> Result<()> {
        let ours = agreement::encode(fields);
        self.channel.send(&(ours.len() as u32).to_le_bytes())?;
        self.channel.send(&ours)
    }

    /// Reads so many bytes with which the peer opens a program, unless its terms are awaited: they come behind these.
    pub fn opening_now_or_later(&mut self, len: usize) -> Result<Option<Vec<u8>>> {
        if self.awaited.fields.is_none() {
            return self.channel.recv(len).map(Some);
        }
        self.awaited.openings.push(len);
        Ok(None)
    }

    /// Compares the peer's terms, if they are awaited.
    pub fn settle(&mut self) -> Result<()> {
        self.awaited.settle(&mut self.channel)
    }
}

/// Our terms that were sent with more of ours behind them, until the peer's have come.
#[derive(Default)]
pub(super) struct AwaitedTerms {
    fields: Option<Fields>,
    /// The lengths of what comes behind them and opens programs.
    openings: Vec<usize>,
    /// What opened programs that have not read it yet, in their order.
    opened: VecDeque<Vec<u8>>,
    /// Whether the peer's terms differed from ours when more was under way.
    pub overtook: bool,
    /// What the peer told of its program when its terms differed.
    pub outline: Option<Outline>,
}

impl AwaitedTerms {
    /// Compares the peer's terms, if they are awaited, and reads what comes behind them.
    fn settle(&mut self, channel: &mut Channel) -> Result<()> {
        let Some(fields) = self.fields.take() else { return Ok(()) };
        self.overtook = true;
        let length = channel.recv(4)?;
        compare(channel, (&fields, &mut self.outline), &length)?;
        self.overtook = false;
        for len in std::mem::take(&mut self.openings) {
            self.opened.push_back(channel.recv(len)?);
        }
        Ok(())
    }
}

/// Reads the peer's terms after their length, and compares them.
fn compare(channel: &mut Channel, ours: (&Fields, &mut Option<Outline>), length: &[u8]) -> Result<()> {
    let theirs = channel.recv(length_of(length)?)?;
    compare_terms(ours, &theirs)
}

/// Where they differ, what the peer tells of its program is kept.
fn compare_terms((fields, outline): (&Fields, &mut Option<Outline>), theirs: &[u8]) -> Result<()> {
    if theirs == agreement::encode(fields) {
        return Ok(());
    }
    agreement::compare(fields, theirs).inspect_err(|_| *outline = agreement::outline(theirs))
}

/// How long the peer's terms are, by what came before them.
fn length_of(bytes: &[u8]) -> Result<usize> {
    let length = u32::from_le_bytes(bytes.try_into().expect("4 bytes were read")) as usize;
    if length <= agreement::MOST_BYTES {
        Ok(length)
    } else {
        Err(Error::peer(format!("its terms have {length} bytes")))
    }
}

impl Link for Wire {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        if bytes.is_empty() { Ok(()) } else { self.channel.send(bytes) }
    }

    fn give(&mut self, outbox: &mut Outbox) -> Result<()> {
        if outbox.is_empty() { Ok(()) } else { self.channel.give(outbox) }
    }

    fn flush(&mut self) -> Result<()> {
        self.channel.flush()
    }

    fn receive(&mut self, count: usize, inbox: &mut Inbox) -> Result<()> {
        let room = inbox.only(count);
        if count == 0 {
            return Ok(());
        }
        self.settle()?;
        self.channel.recv_into(room)
    }

    fn receive_more(&mut self, count: usize, inbox: &mut Inbox) -> Result<()> {
        let room = inbox.only(count);
        if count == 0 {
            return Ok(());
        }
        self.settle()?;
        self.channel.recv_more(room)
    }

    fn supply(&mut self, stock: &mut Stock, demand: Demand, ahead: Demand) -> Result<()> {
        let available = stock.available();
        if demand != Demand::NONE && demand.missing_from(&available) == Demand::NONE {
            return Ok(());
        }
        self.add(stock, at_once(&demand, &ahead).missing_from(&available))
    }

    fn opening(&mut self) -> Result<Vec<u8>> {
        self.settle()?;
        self.awaited.opened.pop_front().ok_or_else(|| Error::usage("nothing opens a program later"))
    }

    fn progress(&mut self, phase: Phase, done: u64, total: u64) -> Result<()> {
        self.channel.beat_without_threads()?;
        self.tell(Progress { phase, unit: Unit::Ands, done, total })
    }
}

impl Wire {
    /// Tells the observer, who may cancel.
    pub fn tell(&mut self, progress: Progress) -> Result<()> {
        watch(&mut self.observer, progress)
    }

    /// Adds so many to the stock: of the pool what it has, and new ones.
    pub fn add(&mut self, stock: &mut Stock, wanted: Demand) -> Result<()> {
        let all = stock.available() + wanted;
        self.take_from_pool(stock, wanted)?;
        self.make(stock, all.missing_from(&stock.available()))
    }

    /// Adds new correlations to the stock.
    pub fn make(&mut self, stock: &mut Stock, missing: Demand) -> Result<()> {
        if missing == Demand::NONE {
            return Ok(());
        }
        self.begin(&missing)?;
        let threads = self.threads()?;
        let Wire { channel, maker: Some(maker), observer, pool, buffers, awaited, .. } = self else {
            return Err(no_maker());
        };
        threads.install(|| exchange(&mut maker.refill(stock, missing), (channel, awaited), buffers, observer, pool))
    }

    /// Makes random OTs, for nobody but the caller.
    pub fn random_ots(
        &mut self,
        stock: &mut Stock,
        output: CotOutput,
        demand: Demand,
    ) -> Result<Vec<(Side, CotBatch)>> {
        self.begin(&demand)?;
        let threads = self.threads()?;
        let Wire { channel, maker: Some(maker), observer, pool, buffers, awaited, .. } = self else {
            return Ok(Vec::new());
        };
        let mut refill = maker.random_ots(stock, output, demand);
        threads
            .install(|| exchange(&mut refill, (channel, awaited), buffers, observer, pool))
            .map(|()| refill.random_ots())
    }
}

fn no_maker() -> Error {
    Error::usage("no maker of correlations")
}

/// Goes through with a refill. Where a message fails its check, the pool's Δ is destroyed.
fn exchange(
    refill: &mut Refill,
    (channel, awaited): (&mut Channel, &mut AwaitedTerms),
    [inbox, outbox]: &mut [Vec<u8>; 2],
    observer: &mut Option<Observer>,
    pool: &mut Option<Pool>,
) -> Result<()> {
    inbox.clear();
    loop {
        outbox.clear();
        let flow = refill.step(inbox, outbox).map_err(|why| never_again(pool, why))?;
        let RefillStep::Exchange { expect, reading } = flow else { return Ok(()) };
        channel.send(outbox)?;
        awaited.settle(channel)?;
        receive(channel, inbox, expect, reading)?;
        let (done, total) = refill.progress();
        watch(observer, Progress { phase: Phase::Setup, unit: Unit::Correlations, done, total })?;
    }
}

/// The peer's next message, or nothing where that has not come and we can go on without it.
fn receive(channel: &mut Channel, inbox: &mut Vec<u8>, expect: usize, reading: Reading) -> Result<()> {
    if reading == Reading::Now {
        inbox.resize(expect, 0);
        return channel.recv_into(inbox);
    }
    channel.flush()?;
    if reading == Reading::Later && channel.pending()? < expect {
        inbox.clear();
        return Ok(());
    }
    inbox.resize(expect, 0);
    channel.recv_more(inbox)
}

/// Tells the observer, who may cancel.
fn watch(observer: &mut Option<Observer>, progress: Progress) -> Result<()> {
    match observer.as_mut().map_or(ControlFlow::Continue(()), |observer| observer(&progress)) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::Cancelled),
    }
}

/// All that is demanded, and a block of what will be.
pub(crate) fn at_once(demand: &Demand, ahead: &Demand) -> Demand {
    let cots = |demand: u64, ahead: u64| demand.max(ahead.min((ahead / 32).clamp(BLOCK, MOST_COTS)));
    Demand {
        cots_by_alice: cots(demand.cots_by_alice, ahead.cots_by_alice),
        cots_by_bob: cots(demand.cots_by_bob, ahead.cots_by_bob),
        triples: demand.triples.max(ahead.triples.min(BLOCK)),
    }
}
