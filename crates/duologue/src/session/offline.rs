//! Runs by Yao that are prepared in one session and used in another.
//!
//! ```text
//! prepare_to     setup of whole programs, until there are as many as wanted
//! online_from    in any later session with the same peer: the online phase alone
//! ```
//!
//! Before they use a run, the parties look for the first that both have (8 bytes each way, as often as they differ),
//! compare its batch, mark it as used on disk, and tell each other that they have (32 bytes each way). Only then comes
//! what depends on inputs: a run of which anything was ever sent is marked at *both* parties.

use super::{Engine, Mark, Outcome, PhaseReport, Report, Session, digest, nobody};
use crate::channel::PublicKey;
use crate::data::{Inputs, Outputs};
use crate::executor::shelf::{self as later, Shelved};
use crate::executor::{Executor, Feeds};
use crate::garble::{Base, Evaluator, Garbler};
use crate::prepared::{PreparedRuns, RunReader, Secrets};
use crate::storage::LIMIT;
use crate::terms::{self, Fields, Options, Scheme, Terms, Timing};
use crate::{Error, Party, Result};
use circuit::Schedule;
use circuit::program::{Binding, Owner};
use kernels::Block;
use std::sync::Arc;

/// The keys by which the parties know one another, Alice's first; none on a channel without keys.
pub type Keys = Option<[PublicKey; 2]>;

/// A program whose runs are prepared.
struct Job {
    terms: Terms,
    binding: Arc<Binding>,
    schedule: Arc<Schedule>,
    public: Feeds,
    /// The description of what they are prepared for.
    fields: Fields,
}

impl Session {
    /// Prepares runs of a program by Yao for later sessions, until this many are ready. Of the inputs
    /// only the public ones are used, and they are part of what is prepared. Tables are made, sent and written piece by
    /// piece: memory does not grow with the program. Both parties call this alike.
    ///
    /// A run counts when both have it on disk. If this is interrupted, the runs that are complete stay, and the next
    /// call goes on.
    ///
    /// # Errors
    /// [`Error::Usage`] if the protocol is not Yao, setup shall be streamed, or the folder was made for something else;
    /// [`Error::Incompatible`] if the parties differ. Any other error ends the session.
    pub fn prepare_to(
        &mut self,
        runs: &mut PreparedRuns,
        keys: Keys,
        binding: &Binding,
        options: &Options,
        public: &Inputs,
        times: u64,
    ) -> Result<PhaseReport> {
        self.alive()?;
        let public = public.feeds(binding, |owner| owner == Owner::Public)?;
        let job = self.job(binding, &options.for_shelf()?, public)?;
        self.wire.check_extension(job.terms.extension)?;
        runs.check(self.party, keys, &lines(&job.fields))?;
        if times > LIMIT {
            return Err(Error::usage(format!("{times} runs are more than a folder can count: 2^47")));
        }
        if !runs.is_sealed() && self.wire.pool.as_ref().is_some_and(|pool| pool.status().sealed) {
            return Err(Error::usage("the pool is sealed, but the prepared runs would keep its Δ unsealed: seal both"));
        }
        let start = Mark::new(&self.wire);
        let moment = self.moment(true, self.ordinal);
        let fields = terms::shelf(terms::PREPARE_TO, &moment, runs.identity(), &job.fields);
        let fields = terms::prepare_to(fields, &moment, job.terms.extension, times);
        self.guarded(|session| {
            session.wire.agree(&fields)?;
            session.wire.extension = job.terms.extension;
            // No other folder of this session is called the same.
            let identity = session.name_of("duologue v1 identity of a shelf", session.ordinal);
            session.ordinal += 1;
            if runs.is_new() {
                runs.found(identity, session.party, keys, lines(&job.fields), job.terms.garbler != session.party)?;
            }
            let [ready, next] = session.level(runs)?;
            let numbers = next..next + times.saturating_sub(ready);
            if numbers.end > LIMIT {
                return Err(Error::usage("this folder has counted to its end: make another"));
            }
            numbers.clone().try_for_each(|number| session.prepare_one(runs, &job, number))?;
            // Both have completed the same runs.
            let end = numbers.end.to_le_bytes();
            if session.wire.swap(&end)? == end {
                Ok(())
            } else {
                Err(Error::peer("it has prepared other runs than we"))
            }
        })?;
        Ok(start.until_now(&self.wire))
    }

    /// Runs a program online with what was prepared for it. It is used up once both parties have said that they are
    /// about to begin, whatever happens then. The inputs are this party's and the public ones, which must be those of the
    /// preparation.
    ///
    /// # Errors
    /// [`Error::Usage`] if an input is missing or misshapen, the folder was made for something else, or no run is left;
    /// [`Error::Incompatible`] if the folders or runs are not two halves: nothing is used up then. Any other error ends
    /// the session; [`Error::Malformed`], if the run on disk is not what was written, uses nothing up either.
    pub fn online_from(
        &mut self,
        runs: &mut PreparedRuns,
        keys: Keys,
        binding: &Binding,
        inputs: &Inputs,
    ) -> Result<Outcome> {
        self.alive()?;
        let feeds = self.feeds(binding, inputs)?;
        let public = inputs.feeds(binding, |owner| owner == Owner::Public)?;
        let job = self.job(binding, &options_of(runs)?, public)?;
        runs.check(self.party, keys, &lines(&job.fields))?;
        let moment = self.moment(false, self.ordinal);
        let fields = terms::shelf(terms::ONLINE_FROM, &moment, runs.identity(), &job.fields);
        let number = self.guarded(|session| {
            session.wire.agree(&fields)?;
            session.common_run(runs)
        })?;
        let number = number.ok_or_else(|| runs.empty())?;
        let outcome = self.guarded(|session| {
            let engine = session.resume(&job, runs.checked(number)?)?;
            let batch = runs.batch(number)?;
            session.wire.agree(&terms::which_run(&moment, number, &batch))?;
            runs.advance(number + 1)?;
            tracing::debug!(number, "a prepared run is used up");
            // What the peer sends after this depends on its inputs; it has marked the run before.
            if session.wire.swap(&batch)? != batch {
                return Err(Error::peer("it did not say that it has marked the prepared run as used"));
            }
            session.online_once(&job, engine, &feeds)
        });
        // Whether it went well or not: the run is never used again. What cannot be erased now is when the folder is opened;
        // outputs do not wait for that.
        if let Err(error) = runs.erase_used() {
            tracing::warn!(%error, "a used run could not be erased");
        }
        outcome
    }

    fn job(&mut self, binding: &Binding, options: &Options, public: Feeds) -> Result<Job> {
        let (terms, schedule) = self.resolve(binding, options)?;
        let fields = terms::shelved(binding, &terms, &schedule, &digest(&public))?;
        Ok(Job { terms, binding: Arc::new(binding.clone()), schedule, public, fields })
    }

    /// The name that both parties give the thing of this number.
    fn name_of(&self, what: &str, number: u64) -> [u8; 32] {
        *blake3::Hasher::new_derive_key(what).update(&self.id).update(&number.to_le_bytes()).finalize().as_bytes()
    }

    /// Both folders get the larger cursor, and lose the runs after the last that the other has. The smaller number of
    /// runs that are ready, and the number of the next one. Of runs in between that one party has lost neither hears
    /// here: they are passed over when their turn comes.
    fn level(&mut self, runs: &mut PreparedRuns) -> Result<[u64; 2]> {
        let ours = runs.counts()?;
        let theirs = self.swap_counts(ours)?;
        // Before anything is erased for it.
        if theirs[0] > theirs[1].max(ours[1]) || theirs[1] > LIMIT {
            return Err(Error::peer(format!("of its prepared runs it claims {theirs:?}")));
        }
        runs.advance(theirs[0])?;
        runs.erase_used()?;
        runs.trim(ours[1].min(theirs[1]))?;
        let ours = runs.counts()?;
        let theirs = self.swap_counts(ours)?;
        let next = ours[1].max(theirs[1]);
        if theirs[0] != ours[0] || next > LIMIT {
            return Err(Error::peer(format!("of its prepared runs it claims {theirs:?}")));
        }
        Ok([ours[2].min(theirs[2]), next])
    }

    fn swap_counts(&mut self, ours: [u64; 3]) -> Result<[u64; 3]> {
        let theirs = self.wire.swap(ours.map(u64::to_le_bytes).as_flattened())?;
        Ok(std::array::from_fn(|i| number(&theirs[8 * i..])))
    }

    /// The first run that both have and neither has used.
    fn common_run(&mut self, runs: &PreparedRuns) -> Result<Option<u64>> {
        let (mut ours, mut least) = (runs.first_from(0)?, 0);
        loop {
            let theirs = number(&self.wire.swap(&ours.to_le_bytes())?);
            match theirs.max(ours) {
                u64::MAX => return Ok(None),
                _ if theirs == ours => return Ok(Some(ours)),
                _ if theirs < least => return Err(Error::peer("it goes back to a run that one of us does not have")),
                larger => (ours, least) = (runs.first_from(larger)?, larger),
            }
        }
    }

    /// Setup of one run, onto the runs.
    fn prepare_one(&mut self, runs: &mut PreparedRuns, job: &Job, number: u64) -> Result<()> {
        let (base, ordinal) = self.reserve(&job.schedule);
        if job.terms.garbler == self.party {
            let garbler = self.garbler(&job.terms, base, ordinal)?;
            let block = self.wire.delta()?;
            self.store(runs, job, garbler, (Secrets { block, and0: base.and0 }, ordinal, number))
        } else {
            let (evaluator, block) = self.evaluator(&job.terms, base, ordinal)?;
            self.store(runs, job, evaluator, (Secrets { block, and0: base.and0 }, ordinal, number))
        }
    }

    fn store<P: Shelved>(
        &mut self,
        runs: &mut PreparedRuns,
        job: &Job,
        protocol: P,
        (secrets, ordinal, number): (Secrets, u64, u64),
    ) -> Result<()> {
        let batch = self.name_of("duologue v1 batch of a shelf", ordinal);
        let threads = self.threads()?;
        let mut executor = job.executor(protocol, self.party)?.with_threads(&threads);
        let mut writer = runs.begin((number, batch), &secrets, later::room(&executor))?;
        let (stock, wire) = (&mut self.stock, &mut self.wire);
        threads.install(|| later::setup_to(&mut executor, &mut writer, stock, wire))?;
        runs.complete(writer)
    }

    /// The executor of a run that was prepared.
    fn resume(&mut self, job: &Job, run: RunReader) -> Result<Box<dyn Engine>> {
        let (Secrets { block, and0 }, threads) = (run.secrets()?, self.threads()?);
        let base = Base { and0, in0: 0 };
        // Labels were drawn when the run was prepared, and S was used by whoever garbled.
        Ok(if job.terms.garbler == self.party {
            let hash = (job.terms.garbling, Block::ZERO);
            let garbler = Garbler::new(self.party, block, hash, nobody(), base, true);
            Box::new(later::resume(job.executor(garbler, self.party)?.with_threads(&threads), run))
        } else {
            let hash = (job.terms.garbling, block);
            let evaluator = Evaluator::new(self.party, hash, nobody(), base, true);
            Box::new(later::resume(job.executor(evaluator, self.party)?.with_threads(&threads), run))
        })
    }

    fn online_once(&mut self, job: &Job, engine: Box<dyn Engine>, feeds: &Feeds) -> Result<Outcome> {
        let (start, demand) = (Mark::new(&self.wire), engine.demand());
        let ran = engine.online(feeds, &mut self.stock, &mut self.wire)?;
        let report = Report {
            terms: job.terms,
            ands: job.schedule.totals.and0,
            tile: job.schedule.tile,
            demand,
            setup: PhaseReport::default(),
            online: start.until_now(&self.wire),
        };
        Ok(Outcome { outputs: Outputs::new(&job.binding, ran.outputs), report })
    }
}

impl Job {
    fn executor<P: Shelved>(&self, protocol: P, party: Party) -> Result<Executor<P>> {
        let (job, how) = ((self.binding.clone(), self.schedule.clone()), (self.terms.window, true));
        Executor::new(protocol, Some(party), job, how, &self.public)
    }
}

/// The options with which runs were prepared.
fn options_of(runs: &PreparedRuns) -> Result<Options> {
    let garbler = if runs.term(terms::GARBLER)? == "alice" { Party::Alice } else { Party::Bob };
    let tile = runs.term(terms::TILE)?.parse().ok();
    let garbling = runs.term(terms::GARBLING)?.parse()?;
    Ok(Options { garbler: Some(garbler), garbling, timing: Timing::Ahead, tile, ..Options::new(Scheme::Yao) })
}

/// Terms as they are stored.
fn lines(fields: &Fields) -> Vec<(String, String)> {
    fields.iter().map(|(name, value)| (name.to_string(), value.escape_default().to_string())).collect()
}

fn number(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(u64::MAX, |bytes| u64::from_le_bytes(*bytes))
}
