//! Runs that are made ahead and kept in a folder by each party, each used once, in whatever session with the same peer.
//!
//! ```text
//! made    Bob → Alice   3, A                     for each run that Alice allows
//!         both          queries and tables, as in any run, and then no labels
//! used    Bob → Alice   3
//!         both          which run it is, and that it is marked as used (`duologue::storage`)
//!         Bob → Alice   the labels of x
//!         Alice → Bob   the labels of the outputs
//! ```
//!
//! | | Alice | Bob |
//! |---|---|---|
//! | the folder's secret | the seed of the blinding numbers | none |
//! | of a run | a digest of the function under that seed (32), A (32) | a (32), the queries of the outputs (32 each) |
//! | tables of a run | 99 bytes a gate | none |
//!
//! Both folders have the offer and, of it, one identity. Labels are what a run makes of data, so whatever is sent before both
//! parties have marked the run says nothing of it; a that is marked is never taken again, and no other run has it. The
//! blinding numbers serve all runs of a folder, as they serve all of a session, and no other folder.

use super::{Alice, Bob, Exchange, announced, tables_of};
use crate::Threads;
use crate::dh::{AnnouncedRun, Garbling, POINT, Padding, TABLE, Wired};
use crate::guarded::{Guarded, KEPT, strange};
use crate::offer::{CHUNK, Hello, Offer};
use crate::proposal::Method;
use duologue::channel::{Channel, Counters};
use duologue::circuit::private::{Function, Node};
use duologue::storage::{Counts, Found, KeptRun, KeptRuns, NewRuns, SealKey};
use duologue::{Block, Error, Party, Result};
use std::ops::ControlFlow;
use std::path::Path;
use zeroize::Zeroizing;

/// Names of terms.
const METHOD: &str = "the method";
const OFFER: &str = "the offer";

/// Bytes that Alice keeps of a run besides its tables.
const ALICES: usize = 32 + POINT;

impl Alice<'_> {
    /// Makes all runs that the peer asks for into a folder: how many there are.
    ///
    /// # Errors
    /// As [`serve`](Self::serve), and what the disk says. Runs that are complete stay.
    pub fn prepare_to(&mut self, folder: NewRuns) -> Result<Counts> {
        let (secret, offer) = (self.wired.seed.to_bytes(), self.offer.clone());
        let mut runs = self.line.guarded(|line| found(folder, &offer, Party::Alice, line, secret))?;
        loop {
            self.ask()?;
            let Alice { line, wired, offer, threads, done, queries, sent } = self;
            let mut exchange = Exchange { offer, queries: queries.take(), sent };
            let more = line.serve(offer.runs, done, |line, number, kind| {
                if kind != KEPT {
                    return Err(strange(kind));
                }
                let run = announced(line, (wired, offer), number, threads)?;
                let secrets = Zeroizing::new([digest(wired), *run.announcement()].concat());
                let batch = batch(offer, number, run.announcement());
                let mut writer = runs.begin(number.into(), batch, &secrets, offer.sizes.gates * TABLE as u64)?;
                exchange.tables(line, |_, tables| writer.tables(&tables))?;
                runs.complete(writer)
            })?;
            if !more {
                return Ok(runs.counts());
            }
        }
    }
}

impl Bob {
    /// Makes all runs that are wanted into a folder: how many there are. None is left to ask for then.
    ///
    /// # Errors
    /// As [`run`](Self::run), and what the disk says. Runs that are complete stay.
    pub fn prepare_to(&mut self, folder: NewRuns) -> Result<Counts> {
        let offer = self.offer.clone();
        let mut runs = self.line.guarded(|line| found(folder, &offer, Party::Bob, line, [0; 16]))?;
        for number in self.done..self.most {
            let garbling = self.garble(KEPT, |_| Vec::new())?;
            let batch = batch(&offer, number, garbling.announcement());
            self.line.guarded(|_| {
                let writer = runs.begin(number.into(), batch, &garbling.keep(), 0)?;
                runs.complete(writer)
            })?;
        }
        Ok(runs.counts())
    }
}

fn found(folder: NewRuns, offer: &Offer, party: Party, line: &Guarded, secret: [u8; 16]) -> Result<KeptRuns> {
    let hex = offer.to_bytes(Method::Dh).iter().map(|byte| format!("{byte:02x}")).collect();
    let terms = vec![(METHOD.to_owned(), Method::Dh.name().to_owned()), (OFFER.to_owned(), hex)];
    let found = Found { identity: identity(offer), party, bulk: party == Party::Alice, terms };
    folder.found(found, &line.channel, secret)
}

/// What both parties call the folders of one offer.
fn identity(offer: &Offer) -> [u8; 32] {
    blake3::derive_key("duologue v1 private function: identity of a folder", &offer.to_bytes(Method::Dh))
}

/// What both parties call one run.
fn batch(offer: &Offer, number: u32, announcement: &[u8; POINT]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("duologue v1 private function: batch of a folder");
    hasher.update(&offer.to_bytes(Method::Dh)).update(&number.to_le_bytes()).update(announcement);
    *hasher.finalize().as_bytes()
}

/// Of the function, which a folder does not have: under the seed, so that guesses cannot be tested.
fn digest(wired: &Wired) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("duologue v1 private function: which one a folder is for");
    hasher.update(&*Zeroizing::new(wired.seed.to_bytes()));
    let function = &wired.function;
    for node in function.nodes() {
        let (kind, numbers) = match *node {
            Node::False => (0, [0; 3]),
            Node::Input => (1, [0; 3]),
            Node::Majority(bits) => (2, bits.map(number)),
            Node::Parity(gate) => (3, [gate.into(), 0, 0]),
            Node::Rest(gate, operand) => (4, [gate.into(), operand.into(), 0]),
            Node::Either(gate) => (5, [gate.into(), 0, 0]),
            Node::Choice([x, y]) => (6, [number(x), number(y), 0]),
        };
        hasher.update(&[kind]).update(numbers.map(u64::to_le_bytes).as_flattened());
    }
    for &output in function.outputs() {
        hasher.update(&number(output).to_le_bytes());
    }
    *hasher.finalize().as_bytes()
}

fn number(bit: duologue::circuit::Bit) -> u64 {
    2 * u64::from(bit.node()) + u64::from(bit.complemented())
}

/// A folder of runs of one function with one peer.
pub struct Kept {
    runs: KeptRuns,
    offer: Offer,
}

impl Kept {
    /// Opens a folder, with the key if and only if it was made with one; that of this party, if one is given.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is none, it is the other party's, another process has it, or the key is another;
    /// [`Error::Malformed`], which names the file, if something is missing, damaged or from elsewhere.
    pub fn open(folder: &Path, seal: Option<SealKey>, party: impl Into<Option<Party>>) -> Result<Kept> {
        let (runs, party) = (KeptRuns::open(folder, seal)?, party.into());
        if let Some(party) = party.filter(|&party| party != runs.party()) {
            let (whose, folder) = (runs.party(), folder.display());
            return Err(Error::usage(format!("{folder} has {whose}'s half of runs made ahead, not {party}'s")));
        }
        let (method, hex) = (runs.term(METHOD)?, runs.term(OFFER)?);
        let offer = bytes(hex).and_then(|bytes| match Hello::from_bytes(&bytes, Method::Dh) {
            Ok(Hello::Offer(offer)) => Some(offer),
            _ => None,
        });
        match offer {
            Some(offer) if method == Method::Dh.name() && identity(&offer) == runs.identity() => {
                Ok(Kept { runs, offer })
            }
            _ => Err(runs.malformed("it is of no run that this version knows")),
        }
    }

    /// What is offered: the sizes of the function.
    pub fn offer(&self) -> &Offer {
        &self.offer
    }

    /// What both parties call it.
    pub fn identity(&self) -> [u8; 32] {
        self.runs.identity()
    }

    /// How many runs there are.
    pub fn counts(&self) -> Counts {
        self.runs.counts()
    }

    /// Whose half it is.
    pub fn party(&self) -> Party {
        self.runs.party()
    }

    /// Whether it is sealed with a key from elsewhere.
    pub fn is_sealed(&self) -> bool {
        self.runs.is_sealed()
    }

    /// Reads all runs that are left.
    ///
    /// # Errors
    /// [`Error::Malformed`] that names the first file that is not as it was written.
    pub fn verify(&self) -> Result<()> {
        self.runs.verify()
    }

    /// Reads all of the run that comes next.
    ///
    /// # Errors
    /// [`Error::Malformed`] that names what is not as it was written; [`Error::Usage`] if no run is left.
    pub fn verify_next(&mut self) -> Result<()> {
        self.runs.next(0).map(drop)
    }

    /// Alice's function as it was wired for these runs, of which one at least is left.
    ///
    /// # Errors
    /// [`Error::Usage`] if it is another, or no run is left; [`Error::Malformed`] if the next one is not as it was written.
    pub fn wired(&mut self, function: Function) -> Result<Wired> {
        let (_, secrets) = self.runs.next(ALICES)?;
        let Offer { sizes, id, .. } = self.offer;
        let padding = Padding { gates: Some(sizes.gates), additions: Some(sizes.additions) };
        let seed = Zeroizing::new(Block::from_bytes(*self.runs.secret()));
        let wired = Wired::with(function, padding, id, seed);
        let wired = wired.ok().filter(|wired| wired.sizes == sizes && digest(wired)[..] == secrets[..32]);
        wired.ok_or_else(|| {
            Error::usage("the runs were prepared for another function than this one, in another form, or with other data of alice's")
        })
    }
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    let digits = hex.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).ok());
    digits.map(|pair| u8::from_str_radix(pair.filter(|pair| pair.len() == 2)?, 16).ok()).collect()
}

/// The party that holds the function, with runs made ahead.
pub struct KeptAlice<'a> {
    line: Guarded,
    kept: Kept,
    wired: &'a Wired,
    threads: Threads,
    ready: Option<(u64, AnnouncedRun<'a>)>,
    done: u32,
}

/// What Alice computes before she meets Bob: of the next run all that needs no label.
pub struct Ready<'a> {
    kept: Kept,
    wired: &'a Wired,
    threads: Threads,
    next: (u64, AnnouncedRun<'a>),
}

impl<'a> Ready<'a> {
    /// Computes it.
    ///
    /// # Errors
    /// [`Error::Malformed`] if the next run is not as it was written; [`Error::Usage`] if no run is left.
    pub fn new(mut kept: Kept, wired: &'a Wired, threads: &Threads) -> Result<Self> {
        let (number, secrets) = kept.runs.next(ALICES)?;
        let next = (number, prepared(&kept.offer, wired, number, &secrets, threads)?);
        Ok(Ready { kept, wired, threads: threads.clone(), next })
    }

    /// Begins with a peer that has the other half.
    ///
    /// # Errors
    /// [`Error::Usage`] if it is another peer.
    pub fn connect(self, channel: Channel) -> Result<KeptAlice<'a>> {
        let Ready { kept, wired, threads, next } = self;
        let line = line_of(&kept, channel)?;
        Ok(KeptAlice { line, kept, wired, threads, ready: Some(next), done: 0 })
    }
}

fn line_of(kept: &Kept, channel: Channel) -> Result<Guarded> {
    let mut line = Guarded::new(channel);
    line.guarded(|line| kept.runs.check(&line.channel)).map(|()| line)
}

/// All of a run that needs no label but the tables.
fn prepared<'a>(
    offer: &Offer,
    wired: &'a Wired,
    number: u64,
    secrets: &[u8],
    threads: &Threads,
) -> Result<AnnouncedRun<'a>> {
    let announcement = secrets.last_chunk().ok_or_else(|| Error::usage("secrets of a run that are none"))?;
    wired.announce(announcement)?;
    let mut announced = AnnouncedRun::new(wired, offer, number as u32, announcement, threads)?;
    (0..offer.sizes.queries().div_ceil(CHUNK)).for_each(|chunk| announced.prepare(chunk));
    Ok(announced)
}

impl KeptAlice<'_> {
    /// Sets who sees how far a run is, in points done and in all, and may end it.
    pub fn observe(&mut self, observer: impl FnMut(u64, u64) -> ControlFlow<()> + Send + 'static) {
        self.line.observe(observer);
    }

    /// Takes part in the next run that the peer asks for; false if it asks for none.
    ///
    /// # Errors
    /// [`Error::Usage`] if no run is left; [`Error::Incompatible`] if the halves do not belong together, and
    /// [`Error::Malformed`] if ours is damaged: nothing is used up then. [`Error::Peer`] if the peer sends what no honest
    /// party does.
    pub fn serve(&mut self) -> Result<bool> {
        let KeptAlice { line, kept, wired, threads, ready, done } = self;
        let served = line.serve(u32::MAX, done, |line, _, kind| {
            if kind != KEPT {
                return Err(strange(kind));
            }
            let mut run = kept.runs.take(&mut line.channel)?;
            let labels = line.channel.recv(POINT * kept.offer.sizes.inputs as usize)?;
            let announced = match ready.take() {
                Some((number, announced)) if number == run.number => announced,
                _ => prepared(&kept.offer, wired, run.number, &run.secrets(ALICES)?, threads)?,
            };
            let outputs = evaluate(line, &kept.offer, announced, &mut run, &labels)?;
            line.channel.send(&outputs)?;
            line.channel.flush()
        });
        erase(&mut kept.runs);
        served
    }

    /// How many runs there are.
    pub fn counts(&self) -> Counts {
        self.kept.counts()
    }

    /// Says goodbye: what travelled in all.
    ///
    /// # Errors
    /// If the peer is not at its end.
    pub fn close(self) -> Result<Counters> {
        self.line.close()
    }
}

fn evaluate(
    line: &mut Guarded,
    offer: &Offer,
    announced: AnnouncedRun,
    run: &mut KeptRun,
    labels: &[u8],
) -> Result<Vec<u8>> {
    let (mut evaluation, total, mut from) = (announced.begin(labels)?, offer.sizes.queries(), 0);
    for number in 0..total.div_ceil(CHUNK) {
        let mut tables = vec![0; tables_of(offer, number)];
        run.tables(from, &mut tables)?;
        evaluation.chunk(&tables)?;
        from += tables.len() as u64;
        line.tell(crate::chunk(total, number).end, total)?;
    }
    evaluation.finish()
}

/// Whether a run went well or not, it is erased; what cannot be is when the folder is opened.
fn erase(runs: &mut KeptRuns) {
    let _ = runs.erase_used();
}

/// The party that holds the data, with runs made ahead.
pub struct KeptBob {
    line: Guarded,
    kept: Kept,
    threads: Threads,
}

impl KeptBob {
    /// Begins with a peer that has the other half.
    ///
    /// # Errors
    /// [`Error::Usage`] if it is another peer.
    pub fn connect(channel: Channel, kept: Kept, threads: &Threads) -> Result<Self> {
        Ok(KeptBob { line: line_of(&kept, channel)?, kept, threads: threads.clone() })
    }

    /// What was offered.
    pub fn offer(&self) -> &Offer {
        &self.kept.offer
    }

    /// Sets who sees how far a run is, in points done and in all, and may end it.
    pub fn observe(&mut self, observer: impl FnMut(u64, u64) -> ControlFlow<()> + Send + 'static) {
        self.line.observe(observer);
    }

    /// Evaluates the function on this data by the next run.
    ///
    /// # Errors
    /// [`Error::Usage`] if it has other bits than announced, or no run is left; [`Error::Incompatible`] if the halves do not
    /// belong together, and [`Error::Malformed`] if ours is damaged: nothing is used up then. [`Error::Peer`] if the peer
    /// sends what no honest party does.
    pub fn run(&mut self, x: &[bool]) -> Result<Vec<bool>> {
        let KeptBob { line, kept, threads } = self;
        kept.offer.takes(x)?;
        let result = line.guarded(|line| {
            line.channel.send(&[KEPT])?;
            let mut run = kept.runs.take(&mut line.channel)?;
            let outputs = POINT * kept.offer.sizes.outputs as usize;
            let secrets = run.secrets(POINT + outputs)?;
            let garbling = Garbling::restore(&kept.offer, run.number as u32, &secrets, threads)
                .ok_or_else(|| kept.runs.malformed("a run has secrets that are none"))?;
            line.channel.send(&garbling.input_labels(x))?;
            line.channel.flush()?;
            garbling.finish(&line.channel.recv(outputs)?)
        });
        erase(&mut kept.runs);
        result
    }

    /// How many runs there are.
    pub fn counts(&self) -> Counts {
        self.kept.counts()
    }

    /// Asks for no more runs: what travelled in all.
    ///
    /// # Errors
    /// If the peer is not at its end.
    pub fn close(mut self) -> Result<Counters> {
        self.line.end()?;
        self.line.close()
    }
}
