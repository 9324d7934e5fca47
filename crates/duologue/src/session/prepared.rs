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

use super::feeds::digest;
use super::outcome::Mark;
use super::program::Job;
use super::{Outcome, PhaseReport, Report, Session, call};
use crate::agreement;
use crate::agreement::Fields;
use crate::call::{CallRun, InParts, PartyCall, SECRET};
use crate::data::{Inputs, Outputs};
use crate::executor::{Engine, Feeds, Program, RunSource, StoredSize};
use crate::prepared::{PreparedRuns, RunReader, Secrets};
use crate::protocol::terms::{Options, Timing};
use crate::protocol::{Base, Resumed};
use crate::session::fields;
use crate::storage::LIMIT;
use crate::{Error, Party, Result};
use circuit::program::{Binding, CallPart, Owner, Parts, ProgramPart};
use kernels::Block;
use std::sync::Arc;
use zeroize::Zeroizing;

/// A job whose runs are prepared, and what a store of them is made for.
struct PreparedJob {
    job: Job,
    fields: Fields,
}

impl Session {
    /// Prepares runs of a program by Yao for later sessions, until this many are ready. Of the inputs
    /// only the public ones are used, and they are part of what is prepared. Tables are made, sent and written piece by
    /// piece: memory does not grow with the program. Both parties call this alike.
    ///
    /// [`Session`] has an example. A run counts when both have it on disk. If this is interrupted, the runs that are complete stay, and the next
    /// call goes on.
    ///
    /// # Errors
    /// [`Error::Usage`] if the protocol is not Yao, setup shall be streamed, or the folder was made for something else;
    /// [`Error::Incompatible`] if the parties differ. Any other error ends the session.
    pub fn prepare_to(
        &mut self,
        runs: &mut PreparedRuns,
        binding: &Binding,
        options: &Options,
        public: &Inputs,
        times: u64,
    ) -> Result<PhaseReport> {
        self.alive()?;
        let public = public.feeds(binding, |owner| owner == Owner::Public)?;
        let PreparedJob { job, fields: made_for } =
            self.prepared_job(binding, &options.for_prepared_runs()?, public)?;
        self.wire.check_extension(job.terms.extension)?;
        runs.check(self.party, self.keys(), &lines(&made_for))?;
        if times > LIMIT {
            return Err(Error::usage(format!("{times} runs are more than a folder can count: 2^47")));
        }
        if !runs.is_sealed() && self.wire.pool.as_ref().is_some_and(|pool| pool.status().sealed) {
            return Err(Error::usage("the pool is sealed, but the prepared runs would keep its Δ unsealed: seal both"));
        }
        let start = Mark::new(&self.wire);
        let moment = self.moment(true, self.ordinal);
        let fields = fields::prepared_runs(fields::PREPARE_TO, &moment, runs.identity(), &made_for);
        let fields = fields::outlined(fields::prepare_to(fields, &moment, &job.terms.maker(), times), binding)?;
        self.guarded_for(binding, |session| {
            session.wire.agree(&fields)?;
            session.wire.term = job.terms.maker();
            // No other folder of this session is called the same.
            let identity = session.name_of("duologue v1 identity of a shelf", session.ordinal);
            session.ordinal += 1;
            if runs.is_new() {
                let evaluates = job.terms.garbler != session.party;
                runs.found(identity, session.party, session.keys(), lines(&made_for), evaluates)?;
            }
            let [ready, next] = session.level(runs)?;
            let numbers = next..next + times.saturating_sub(ready);
            if numbers.end > LIMIT {
                return Err(Error::usage("this folder has counted to its end: make another"));
            }
            numbers.clone().try_for_each(|number| session.prepare_one(runs, &job, number, numbers.end))?;
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

    /// Runs a program online with the next run of a folder that [`prepare_to`](Self::prepare_to) filled for it, in this
    /// session or an earlier one with the same peer. The terms are those of the preparation; calls must be
    /// [registered](Self::register) again. The run is used up once both parties have said that they are about to begin,
    /// whatever happens then. The inputs are this party's and the public ones, which must be those of the preparation.
    ///
    /// # Errors
    /// [`Error::Usage`] if an input is missing or misshapen, the folder was made for something else, or no run is left;
    /// [`Error::Incompatible`] if the folders or runs are not two halves: nothing is used up then. Any other error ends
    /// the session; [`Error::Malformed`], if the run on disk is not what was written, uses nothing up either.
    pub fn online_from(&mut self, runs: &mut PreparedRuns, binding: &Binding, inputs: &Inputs) -> Result<Outcome> {
        self.alive()?;
        let feeds = self.feeds(binding, inputs)?;
        let public = inputs.feeds(binding, |owner| owner == Owner::Public)?;
        let PreparedJob { job, fields: made_for } = self.prepared_job(binding, &options_of(runs)?, public)?;
        runs.check(self.party, self.keys(), &lines(&made_for))?;
        let moment = self.moment(false, self.ordinal);
        let fields = fields::prepared_runs(fields::ONLINE_FROM, &moment, runs.identity(), &made_for);
        let number = self.guarded(|session| {
            session.wire.agree(&fields)?;
            session.common_run(runs)
        })?;
        let number = number.ok_or_else(|| runs.empty())?;
        let outcome = self.guarded(|session| {
            let engine = session.resume(&job, runs.checked(number)?)?;
            let batch = runs.batch(number)?;
            session.wire.agree(&fields::which_run(&moment, number, &batch))?;
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

    fn prepared_job(&mut self, binding: &Binding, options: &Options, public: Feeds) -> Result<PreparedJob> {
        let (terms, schedule) = self.resolve(binding, options)?;
        let fields = fields::stored_program(binding, &terms, &schedule, &digest(&public))?;
        Ok(PreparedJob { job: Job { terms, binding: Arc::new(binding.clone()), schedule, public }, fields })
    }

    /// The name that both parties give to a run or a store, by its number in the session.
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

    /// Setup of one run, onto the runs, of all before `end`.
    fn prepare_one(&mut self, runs: &mut PreparedRuns, job: &Job, number: u64, end: u64) -> Result<()> {
        let (base, ordinal) = self.reserve(&job.schedule);
        let mut engine = self.engine(job, (base, ordinal))?;
        self.wire.plan(engine.demand().times(end - number), &self.stock);
        let block = engine.program_secret().ok_or_else(|| Error::usage("this protocol has no runs to prepare"))?;
        let batch = self.name_of("duologue v1 batch of a shelf", ordinal);
        let secrets = Secrets { block: *block, and0: base.and0 };
        let mut writer = runs.begin((number, batch), &secrets, engine.stored_size())?;
        engine.setup_to(&mut writer, &mut self.stock, &mut self.wire)?;
        runs.complete(writer)
    }

    /// The engine of a run that was prepared.
    fn resume(&mut self, job: &Job, run: RunReader) -> Result<Box<dyn Engine>> {
        let mut engine = self.engine_of(job, &run)?;
        let run: Arc<dyn RunSource> = Arc::new(run);
        engine.resume(&run, StoredSize::default())?;
        Ok(engine)
    }

    fn engine_of(&mut self, job: &Job, run: &RunReader) -> Result<Box<dyn Engine>> {
        let program = job.program(self)?;
        if let Some(parts) = &job.schedule.parts {
            return self.resume_parts(job, program, parts, run);
        }
        let (secrets, descriptor) = (run.secrets()?, job.terms.scheme.descriptor());
        let secret = Zeroizing::new(secrets.block);
        let resumed = Resumed { party: self.party, secret, and0: secrets.and0, plans: &self.plans };
        descriptor.resume(&job.terms, program, resumed)
    }

    /// This party of a program with calls whose setup was stored.
    fn resume_parts(
        &mut self,
        job: &Job,
        program: Program,
        parts: &Arc<Parts>,
        run: &RunReader,
    ) -> Result<Box<dyn Engine>> {
        let Secrets { and0, .. } = run.secrets()?;
        let (descriptor, calls, party) = (job.terms.scheme.descriptor(), &self.calls, self.party);
        let begin = |(base, part): &mut (Base, u64), (_, program): (&ProgramPart, Program)| {
            let (secret, numbers) = (secret_of_part(run, *part)?, call::numbers_of(&program.schedule));
            let resumed = Resumed { party, secret, and0: base.and0, plans: &self.plans };
            let engine = descriptor.resume(&job.terms, program, resumed)?;
            base.add(numbers);
            *part += 1;
            Ok(engine)
        };
        // Setup is over, and with it whatever a domain is for.
        let call = |_: &mut (Base, u64), part: &CallPart| -> Result<Box<dyn CallRun>> {
            Ok(Box::new(PartyCall::new(part, calls.find(&*part.functionality)?, party, &self.id, 0)?))
        };
        Ok(Box::new(InParts::new(program, parts, &mut (Base { and0, in0: 0 }, 0), begin, call)?))
    }

    fn online_once(&mut self, job: &Job, engine: Box<dyn Engine>, feeds: &Feeds) -> Result<Outcome> {
        let (start, demand) = (Mark::new(&self.wire), engine.demand());
        let ran = engine.online(feeds, &mut self.stock, &mut self.wire)?;
        let report = Report {
            terms: job.terms,
            ands: job.schedule.totals.and0,
            tile: job.schedule.tile,
            demand,
            maker: self.maker(),
            conditions: self.conditions(),
            setup: PhaseReport::default(),
            online: start.until_now(&self.wire),
        };
        Ok(Outcome { outputs: Outputs::new(&job.binding, ran.outputs), report })
    }
}

/// The options with which runs were prepared.
fn options_of(runs: &PreparedRuns) -> Result<Options> {
    let garbler = if runs.term(agreement::GARBLER)? == "alice" { Party::Alice } else { Party::Bob };
    let tile = runs.term(agreement::TILE)?.parse().ok();
    let scheme = runs.term(agreement::PROTOCOL)?.parse()?;
    let garbling = runs.term(agreement::GARBLING)?.parse()?;
    Ok(Options { garbler: Some(garbler), garbling, timing: Timing::Ahead, tile, ..Options::new(scheme) })
}

/// Terms as they are stored.
fn lines(fields: &Fields) -> Vec<(String, String)> {
    fields.iter().map(|(name, value)| (name.to_string(), value.escape_default().to_string())).collect()
}

/// The secret of a part, of which a program with calls has several.
fn secret_of_part(run: &RunReader, part: u64) -> Result<Zeroizing<Block>> {
    let mut bytes = Zeroizing::new([0; SECRET as usize]);
    run.labels(StoredSize { labels: SECRET * part, tables: 0 }, &mut bytes[..])?;
    Ok(Zeroizing::new(Block::from_bytes(*bytes)))
}

fn number(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(u64::MAX, |bytes| u64::from_le_bytes(*bytes))
}
