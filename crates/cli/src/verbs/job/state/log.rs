//! The log of a job, a line for each thing that must outlive the driver.
//!
//! | line | |
//! |---|---|
//! | `duologue job 1 PARTY` | the first |
//! | `inputs JSON` | what the inputs come from; without it pools were made for the job, and no more |
//! | `job HEX` | the number of the job; without it no other driver was met, and the folder counts as empty |
//! | `begun SHARD ATTEMPT` | whatever an earlier attempt has finished or made counts no more |
//! | `finished SHARD ATTEMPT MICROSECONDS SENT RECEIVED [PREDICTED]` | the outputs are there; the last are microseconds, too |
//! | `pool SHARD ATTEMPT MICROSECONDS SENT RECEIVED` | the attempt has made a pool for the next one |
//! | `undone SHARD` | what is in the last of these two lines counts no more |
//! | `begun last ATTEMPT`, `finished last ATTEMPT`, `undone last` | the same of the last program |
//! | `merged` | the outputs are where the user wants them |
//!
//! A last line without its end was being written when the driver stopped, and counts for nothing.

use crate::failure::Failure;
use crate::verbs::job::settings;
use crate::verbs::job::stamps::Stamp;
use duologue::Party;
use duologue::job::Plan;
use duologue::job::control::{Costs, Progress};
use std::fs;
use std::path::Path;

/// The first words of a log, before the party.
pub const TITLE: &str = "duologue job 1 ";

/// What a log says.
pub struct Kept {
    pub party: Party,
    /// What the inputs came from; none if the job was only prepared.
    pub inputs: Option<Vec<Stamp>>,
    pub job: Option<[u8; 32]>,
    pub shards: Vec<Progress>,
    /// The last program, if there is one.
    pub last: Progress,
    /// What the finished attempt of a shard took.
    pub costs: Vec<Costs>,
    /// Whether the outputs are where the user wants them.
    pub merged: bool,
}

/// What a folder has of a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    /// None on which the drivers of both parties have agreed.
    Nothing,
    /// One for which pools were made, and no more.
    Prepared,
    /// One that can go on.
    Begun,
}

/// What a folder has of a job, by its log.
pub fn found(folder: &Path) -> Found {
    let log = text_of(folder).unwrap_or_default();
    let has = |word: &str| whole_lines(&log).any(|line| line.starts_with(word));
    match (log.starts_with(TITLE) && has("job "), has("inputs ")) {
        (false, _) => Found::Nothing,
        (true, false) => Found::Prepared,
        (true, true) => Found::Begun,
    }
}

/// What the log in a folder says, for whoever only reads.
pub fn look(folder: &Path, plan: &Plan) -> Result<Kept, Failure> {
    read_log(&text_of(folder)?, plan.shards()).map_err(|why| Failure::malformed(folder.join("log").display(), why))
}

/// How many bytes of a log are whole lines.
pub fn whole(folder: &Path) -> Result<u64, Failure> {
    Ok(bytes_of(folder)?.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end as u64 + 1))
}

/// A log that was cut may end within a character.
pub fn text_of(folder: &Path) -> Result<String, Failure> {
    Ok(String::from_utf8_lossy(&bytes_of(folder)?).into_owned())
}

fn bytes_of(folder: &Path) -> Result<Vec<u8>, Failure> {
    let path = folder.join("log");
    fs::read(&path).map_err(Failure::io(format!("reading {}", path.display())))
}

fn whole_lines(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'))
}

/// Reads a log of a job of so many shards.
pub fn read_log(text: &str, shards: u32) -> Result<Kept, String> {
    let mut lines = whole_lines(text).zip(1..);
    let title = lines.next().and_then(|(line, _)| line.strip_prefix(TITLE));
    let party = title.and_then(|name| settings::party(name).ok());
    let party = party.ok_or_else(|| format!("its first line is not '{TITLE}' and a party"))?;
    let mut kept = Kept::new(party, shards);
    for (line, number) in lines {
        kept.take(line).ok_or_else(|| format!("line {number} is none that a driver writes"))?;
    }
    Ok(kept)
}

impl Kept {
    /// Of a job in which nothing was begun.
    pub fn new(party: Party, shards: u32) -> Kept {
        let count = shards as usize;
        let (shards, costs) = (vec![Progress::default(); count], vec![Costs::default(); count]);
        Kept { party, inputs: None, job: None, shards, last: Progress::default(), costs, merged: false }
    }

    fn take(&mut self, line: &str) -> Option<()> {
        match line.split_once(' ').unwrap_or((line, "")) {
            ("inputs", list) => self.inputs = Some(serde_json::from_str(list).ok()?),
            ("job", job) => self.job = Some(number(job)?),
            ("merged", "") => self.merged = true,
            (word, rest) => return self.take_progress(word, rest),
        }
        Some(())
    }

    /// A line that says how far a shard is, or the last program.
    fn take_progress(&mut self, word: &str, rest: &str) -> Option<()> {
        let (which, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let numbers = rest.split_ascii_whitespace().map(|number| number.parse().ok());
        let numbers: Vec<u64> = numbers.collect::<Option<_>>()?;
        let shard = if which == "last" { None } else { Some(which.parse::<usize>().ok()?) };
        let progress = shard.map_or(Some(&mut self.last), |shard| self.shards.get_mut(shard))?;
        let is_open = progress.finished.is_none() && progress.pool.is_none();
        let ended = |attempt: u64| u32::try_from(attempt).ok().filter(|attempt| is_open && *attempt == progress.begun);
        match (word, shard, &numbers[..]) {
            ("begun", _, &[attempt]) => {
                let begun = attempt.try_into().ok().filter(|next| *next > progress.begun)?;
                *progress = Progress { begun, ..Progress::default() };
            }
            ("undone", _, []) => *progress = Progress { begun: progress.begun, ..Progress::default() },
            ("pool", Some(shard), &[attempt, micros, sent, received]) => {
                progress.pool = Some(ended(attempt)?);
                self.costs[shard] = Costs { micros, sent, received, predicted: None };
            }
            ("finished", Some(shard), &[attempt, micros, sent, received, ref predicted @ ..])
                if predicted.len() < 2 =>
            {
                progress.finished = Some(ended(attempt)?);
                self.costs[shard] = Costs { micros, sent, received, predicted: predicted.first().copied() };
            }
            ("finished", None, &[attempt]) => progress.finished = Some(ended(attempt)?),
            _ => return None,
        }
        Some(())
    }
}

/// The number of a job in hexadecimal.
pub fn number(text: &str) -> Option<[u8; 32]> {
    let byte = |at: usize| u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok();
    let mut job = [0; 32];
    (0..32).try_for_each(|at| byte(at).map(|byte| job[at] = byte))?;
    (text.len() == 64).then_some(job)
}
