//! The first that two drivers say to each other: what the job is, and how far each of them has come.
//!
//! | bytes | |
//! |--:|---|
//! | 8 | `duojobs` and a zero; a party that runs a program says `duologue`, one that looks at the connection `duodoctr` |
//! | 2 | the version of what drivers say, little-endian |
//! | 1 | the party: 0 is Alice, 1 is Bob |
//! | 32 | random bytes |
//! | 32 | the number of the job, or zeros if it has none yet |
//! | 4, n | the fields that must be equal, as text |
//! | 4, 12 for each | for each shard, then for the last program if there is one, the last attempt that was begun; this one if it finished, else 0; and this one if it made a pool, else 0 |

use super::message::take;
use crate::agreement::{Fields, compare, encode, hex};
use crate::channel::Channel;
use crate::channel::frame::{DOCTOR, JOBS, MAGIC};
use crate::job::{MOST_SHARDS, Plan};
use crate::{Error, Party, Result};

/// The version of what drivers say; another one is refused by name.
pub const VERSION: u16 = 2;

/// The highest number of an attempt.
pub(super) const MOST_ATTEMPTS: u32 = 1 << 30;

/// The most bytes of the fields.
const MOST_FIELDS: usize = 1 << 16;

/// Bytes of magic and version, and of what follows them up to the fields.
const HEAD: usize = 10;
const REST: usize = 1 + 32 + 32;

/// How far a party is with a shard.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Progress {
    /// The last attempt that was begun; 0 if none was.
    pub begun: u32,
    /// The attempt that finished it, with outputs of this party on its disk.
    pub finished: Option<u32>,
    /// The attempt that made a pool for the next one, with this party's half on its disk: the last that was begun, or none. Whatever
    /// another attempt may have touched is no pool.
    pub pool: Option<u32>,
}

/// What a driver knows before it meets the other one.
pub struct Hello {
    /// This party.
    pub party: Party,
    /// Names and values that both drivers must have equal; the first that differs is named on both sides.
    pub fields: Fields,
    /// The job's number, if it was begun before.
    pub job: Option<[u8; 32]>,
    /// How far this party is with each shard, and behind them with the last program, if the plan has one.
    pub shards: Vec<Progress>,
}

/// What both drivers know when they have met.
#[derive(PartialEq, Eq, Debug)]
pub struct Agreed {
    /// The job's number.
    pub job: [u8; 32],
    /// For each shard the last attempt that either party has begun, and the one that finished it, or made a pool for it, for both;
    /// then for the last program, if the plan has one.
    pub shards: Vec<Progress>,
}

impl Agreed {
    /// Leaves the shards of a plan alone, of which those without lanes have nothing to run.
    pub fn take_shards(&mut self, plan: &Plan) {
        self.shards.truncate(plan.shards() as usize);
        for (progress, _) in self.shards.iter_mut().zip(0..).filter(|(_, shard)| plan.range(*shard).is_empty()) {
            progress.finished = Some(progress.begun);
        }
    }

    /// Takes the shards that have a pool for finished: what is left is to make the others'.
    pub fn leave_pools(&mut self) {
        for progress in &mut self.shards {
            progress.finished = progress.finished.or(progress.pool.take());
        }
    }
}

/// The most of what a hello tells the progress of: all shards, and the last program; and the bytes of each.
const MOST_PARTS: usize = MOST_SHARDS as usize + 1;
const EACH: usize = 12;

impl Hello {
    /// The hello of a driver of this plan. What `settings` says must be equal as well.
    ///
    /// # Errors
    /// [`Error::Usage`] if the names of the program's sizes are too long to be sent.
    pub fn new(party: Party, plan: &Plan, settings: Fields) -> Result<Hello> {
        let mut fields = plan.fields()?;
        fields.push(("the plan", hex(&plan.digest())));
        fields.extend(settings);
        let parts = plan.shards() as usize + usize::from(plan.last().is_some());
        Ok(Hello { party, fields, job: None, shards: vec![Progress::default(); parts] })
    }

    /// Says hello to the other driver.
    ///
    /// # Errors
    /// [`Error::Incompatible`] if the parties differ, [`Error::Peer`] if what comes is no hello, [`Error::Usage`] if the job has more
    /// shards than [`MOST_SHARDS`].
    pub fn exchange(&self, channel: &mut Channel) -> Result<Agreed> {
        let mut nonce = [0; 32];
        crate::ot::os_generator()?.fill(&mut nonce);
        channel.send(&self.encode(&nonce)?)?;
        let mut theirs = channel.recv(HEAD)?;
        check_head(&theirs)?;
        theirs.extend(channel.recv(REST)?);
        for (most, each) in [(MOST_FIELDS, 1), (MOST_PARTS, EACH)] {
            let count = channel.recv(4)?;
            let length = u32::from_le_bytes(take(&mut &count[..])?) as usize;
            if length > most {
                return Err(Error::peer(format!("its hello has {length} of what there are {most} at most")));
            }
            theirs.extend(count);
            theirs.extend(channel.recv(length * each)?);
        }
        self.agree(&nonce, &theirs)
    }

    /// The bytes of the hello.
    ///
    /// # Errors
    /// [`Error::Usage`] if it is too long.
    pub fn encode(&self, nonce: &[u8; 32]) -> Result<Vec<u8>> {
        let fields = encode(&self.fields);
        if fields.len() > MOST_FIELDS || self.shards.len() > MOST_PARTS {
            let most = format!("at most {MOST_SHARDS} shards, and names of {MOST_FIELDS} bytes in all");
            return Err(Error::usage(format!("the job is too large to be agreed on: it may have {most}")));
        }
        let mut bytes = [&JOBS[..], &VERSION.to_le_bytes(), &[self.party as u8], nonce].concat();
        bytes.extend(self.job.unwrap_or_default());
        bytes.extend((fields.len() as u32).to_le_bytes());
        bytes.extend(fields);
        bytes.extend((self.shards.len() as u32).to_le_bytes());
        for shard in &self.shards {
            let numbers = [shard.begun, shard.finished.unwrap_or(0), shard.pool.unwrap_or(0)];
            bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        }
        Ok(bytes)
    }

    /// Compares the other driver's hello with ours, which has this nonce.
    ///
    /// # Errors
    /// As [`exchange`](Self::exchange).
    pub fn agree(&self, nonce: &[u8; 32], mut theirs: &[u8]) -> Result<Agreed> {
        check_head(theirs)?;
        let rest = &mut theirs;
        take::<HEAD>(rest)?;
        let [party] = take(rest)?;
        let them = [Party::Alice, Party::Bob].into_iter().find(|known| *known as u8 == party);
        let them = them.ok_or_else(|| Error::peer(format!("it is party {party}")))?;
        if them == self.party {
            let what = "who is who (one must be alice, the other bob)";
            return Err(Error::Incompatible {
                what,
                ours: self.party.to_string(),
                theirs: them.to_string(),
                place: None,
            });
        }
        let (their_nonce, job) = (take::<32>(rest)?, take::<32>(rest)?);
        compare(&self.fields, part(rest, 1)?)?;
        let job = self.number(nonce, &their_nonce, &job)?;
        let shards = part(rest, EACH)?;
        if shards.len() != EACH * self.shards.len() || !rest.is_empty() {
            return Err(Error::peer("its hello has another number of shards than our plan, with which its own agrees"));
        }
        let shards = self.shards.iter().zip(shards.chunks(EACH)).map(|(ours, theirs)| both(ours, theirs));
        Ok(Agreed { job, shards: shards.collect::<Result<_>>()? })
    }

    /// The number of a job is made of both parties' randomness once, and kept by both.
    fn number(&self, ours: &[u8; 32], theirs: &[u8; 32], their_job: &[u8; 32]) -> Result<[u8; 32]> {
        let their_job = (*their_job != [0; 32]).then_some(*their_job);
        match (self.job, their_job) {
            (Some(ours), Some(theirs)) if ours != theirs => {
                let [ours, theirs] = [ours, theirs].map(|job| hex(&job[..8]));
                Err(Error::Incompatible { what: "the job that goes on", ours, theirs, place: None })
            }
            // A party that has lost what it had goes on with the other's number: no attempt has the number of an earlier one.
            (Some(job), _) | (None, Some(job)) => Ok(job),
            (None, None) => {
                let (alice, bob) = if self.party == Party::Alice { (ours, theirs) } else { (theirs, ours) };
                let mut hasher = blake3::Hasher::new_derive_key("duologue 1 number of a job");
                Ok(*hasher.update(alice).update(bob).update(&encode(&self.fields)).finalize().as_bytes())
            }
        }
    }
}

fn check_head(theirs: &[u8]) -> Result<()> {
    let mut rest = theirs;
    let (magic, version) = (take::<8>(&mut rest)?, u16::from_le_bytes(take(&mut rest)?));
    let other = [(MAGIC, "to run a program"), (DOCTOR, "to look at the connection, by `duologue doctor`")];
    if let Some((_, what)) = other.iter().find(|(other, _)| **other == magic) {
        let ours = "to drive a job".into();
        return Err(Error::Incompatible { what: "what to do", ours, theirs: (*what).into(), place: None });
    }
    if magic != *JOBS {
        return Err(Error::peer("it does not speak duologue"));
    }
    if version != VERSION {
        let (ours, theirs) = (VERSION.to_string(), version.to_string());
        return Err(Error::Incompatible { what: "the version of what drivers say", ours, theirs, place: None });
    }
    Ok(())
}

/// A count, and as many pieces of `each` bytes.
fn part<'a>(rest: &mut &'a [u8], each: usize) -> Result<&'a [u8]> {
    let count = u32::from_le_bytes(take(rest)?) as usize;
    let split = count.checked_mul(each).and_then(|length| rest.split_at_checked(length));
    let (part, left) = split.ok_or_else(|| Error::peer("its hello ends too early"))?;
    *rest = left;
    Ok(part)
}

/// A shard counts as finished only if the same attempt has finished it for both. So does a pool, and only if neither has begun another
/// attempt since: that one has touched it.
fn both(ours: &Progress, mut theirs: &[u8]) -> Result<Progress> {
    let mut number = || take(&mut theirs).map(u32::from_le_bytes);
    let (begun, finished, pool) = (number()?, number()?, number()?);
    // An attempt that begins takes back what finished before it; of one and the same come outputs or a pool.
    let is_last = |number| number == 0 || number == begun;
    if !is_last(finished) || !is_last(pool) || (finished > 0 && pool > 0) || begun > MOST_ATTEMPTS {
        let why = format!("of a shard it has begun attempt {begun}, finished {finished} and made a pool in {pool}");
        return Err(Error::peer(why));
    }
    let agreed = |ours: Option<u32>, theirs| ours.filter(|ours| *ours == theirs);
    let begun = begun.max(ours.begun);
    let pool = agreed(ours.pool, pool).filter(|pool| *pool == begun);
    Ok(Progress { begun, finished: agreed(ours.finished, finished), pool })
}
