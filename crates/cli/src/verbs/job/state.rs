//! The folder of a job: its plan, what was begun and finished, and the outputs of finished shards.
//!
//! | file | |
//! |---|---|
//! | `plan.job` | the plan |
//! | `log` | a line for everything that must outlive the driver, on the disk before it goes on |
//! | `worker.key` | the key pair by which workers prove that they are this party's |
//! | `parts/` | a file for each output of each finished attempt |
//!
//! Lines of the log: `duologue job 1 alice`, then `job HEX`, `begun SHARD ATTEMPT`, `finished SHARD ATTEMPT MICROSECONDS SENT
//! RECEIVED`. A last line without its end was being written when the driver stopped, and counts for nothing.

use super::driver::Log;
use crate::failure::{Exit, Failure};
use crate::io::output;
use duologue::Party;
use duologue::job::Plan;
use duologue::job::control::{Attempt, Costs, Progress};
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The first words of a log, before the party.
const TITLE: &str = "duologue job 1 ";

/// What a log says.
pub struct Kept {
    pub party: Party,
    pub job: Option<[u8; 32]>,
    pub shards: Vec<Progress>,
    /// What the finished attempt of a shard took.
    pub costs: Vec<Costs>,
}

/// A job's folder, which one driver has at a time.
pub struct State {
    folder: PathBuf,
    log: File,
    pub kept: Kept,
}

impl State {
    /// A new folder; or one that is there and empty.
    pub fn create(folder: &Path, party: Party, plan: &Plan) -> Result<State, Failure> {
        let log = folder.join("log");
        if log.exists() {
            let why = format!("{} has a job", folder.display());
            return Err(Failure::input(why).hint("--resume goes on with it; a new job needs another --state"));
        }
        let making = || Failure::io(format!("making the folder {}", folder.display()));
        fs::create_dir_all(folder.join("parts")).map_err(making())?;
        output::write_file(&folder.join("plan.job"), &plan.encode()?)?;
        let first = format!("{TITLE}{party}\n");
        output::write_file(&log, first.as_bytes())?;
        State::open(folder, party, plan)
    }

    /// A folder in which a job was begun.
    pub fn open(folder: &Path, party: Party, plan: &Plan) -> Result<State, Failure> {
        if !folder.join("parts").is_dir() {
            let why = format!("the job in {} is done: its outputs were written", folder.display());
            return Err(Failure::input(why).hint("a new job needs another --state"));
        }
        read_plan(folder)?
            .difference(plan)
            .map_err(|why| Failure::new(Exit::Input, format!("{} has another job: {why}", folder.display())))?;
        let (log, whole, text) = open_log(folder)?;
        let kept =
            read_log(&text, plan.shards()).map_err(|why| Failure::malformed(folder.join("log").display(), why))?;
        if kept.party != party {
            let why = format!("{} has the job of {}, not of {party}", folder.display(), kept.party);
            return Err(Failure::input(why));
        }
        // What follows does not go on in the line that was cut.
        log.set_len(whole).map_err(Failure::io(format!("writing {}", folder.join("log").display())))?;
        Ok(State { folder: folder.into(), log, kept })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Keeps the number of the job.
    pub fn keep_job(&mut self, job: [u8; 32]) -> Result<(), Failure> {
        if self.kept.job == Some(job) {
            return Ok(());
        }
        self.kept.job = Some(job);
        self.write(&format!("job {}\n", duologue::hex(&job)))
    }

    fn write(&mut self, line: &str) -> Result<(), Failure> {
        let written = self.log.write_all(line.as_bytes()).and_then(|()| self.log.sync_data());
        written.map_err(Failure::io(format!("writing {}", self.folder.join("log").display())))
    }
}

impl Log for State {
    fn begun(&mut self, attempt: Attempt) -> Result<(), Failure> {
        let Attempt { shard, number } = attempt;
        self.kept.shards[shard as usize] = Progress { begun: number, finished: None };
        self.write(&format!("begun {shard} {number}\n"))
    }

    fn finished(&mut self, attempt: Attempt, costs: Costs) -> Result<(), Failure> {
        let (Attempt { shard, number }, Costs { micros, sent, received }) = (attempt, costs);
        self.kept.shards[shard as usize].finished = Some(number);
        self.kept.costs[shard as usize] = costs;
        self.write(&format!("finished {shard} {number} {micros} {sent} {received}\n"))
    }

    fn shards(&self) -> usize {
        self.kept.shards.len()
    }
}

/// The plan in a folder.
pub fn read_plan(folder: &Path) -> Result<Plan, Failure> {
    let path = folder.join("plan.job");
    let bytes = fs::read(&path).map_err(|why| match why.kind() {
        ErrorKind::NotFound => Failure::input(format!("{} has no job: plan.job is not there", folder.display())),
        _ => Failure::io(format!("reading {}", path.display()))(why),
    })?;
    decode(&bytes, &path)
}

/// The plan in the bytes of a file.
pub fn decode(bytes: &[u8], path: &Path) -> Result<Plan, Failure> {
    Plan::decode_with(bytes, &apps::calls().functionalities()).map_err(|why| Failure::malformed(path.display(), why))
}

/// What the log in a folder says, for whoever only reads.
pub fn look(folder: &Path, plan: &Plan) -> Result<Kept, Failure> {
    let path = folder.join("log");
    let text = fs::read_to_string(&path).map_err(Failure::io(format!("reading {}", path.display())))?;
    read_log(&text, plan.shards()).map_err(|why| Failure::malformed(path.display(), why))
}

/// The log, locked; how many bytes of it are whole lines, and what it says.
fn open_log(folder: &Path) -> Result<(File, u64, String), Failure> {
    let path = folder.join("log");
    let reading = || Failure::io(format!("reading {}", path.display()));
    let log = OpenOptions::new().read(true).append(true).open(&path).map_err(reading())?;
    if log.try_lock().is_err() {
        return Err(Failure::input(format!("another driver has the job in {}", folder.display())));
    }
    let text = fs::read_to_string(&path).map_err(reading())?;
    let whole = text.rfind('\n').map_or(0, |end| end as u64 + 1);
    Ok((log, whole, text))
}

/// Reads a log of a job of so many shards.
fn read_log(text: &str, shards: u32) -> Result<Kept, String> {
    let mut lines = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')).zip(1..);
    let title = lines.next().and_then(|(line, _)| line.strip_prefix(TITLE));
    let party = title.and_then(|name| super::settings::party(name).ok());
    let party = party.ok_or_else(|| format!("its first line is not '{TITLE}' and a party"))?;
    let count = shards as usize;
    let mut kept =
        Kept { party, job: None, shards: vec![Progress::default(); count], costs: vec![Costs::default(); count] };
    for (line, number) in lines {
        kept.take(line).ok_or_else(|| format!("line {number} is none that a driver writes"))?;
    }
    Ok(kept)
}

impl Kept {
    fn take(&mut self, line: &str) -> Option<()> {
        let (word, rest) = line.split_once(' ')?;
        if word == "job" {
            self.job = Some(number(rest)?);
            return Some(());
        }
        let numbers: Vec<u64> = rest.split(' ').map(|number| number.parse().ok()).collect::<Option<_>>()?;
        let (&shard, rest) = numbers.split_first()?;
        let (shard, cost) = (usize::try_from(shard).ok()?, self.costs.get_mut(usize::try_from(shard).ok()?)?);
        let progress = &mut self.shards[shard];
        match (word, rest) {
            ("begun", &[attempt]) => {
                let begun = attempt.try_into().ok().filter(|next| *next > progress.begun)?;
                *progress = Progress { begun, finished: None };
            }
            ("finished", &[attempt, micros, sent, received]) => {
                progress.finished = Some(attempt.try_into().ok().filter(|attempt| *attempt == progress.begun)?);
                *cost = Costs { micros, sent, received };
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_log_is_read_up_to_its_last_whole_line() {
        let job = "ab".repeat(32);
        let text =
            format!("{TITLE}bob\njob {job}\nbegun 1 1\nbegun 1 2\nfinished 1 2 70 8 9\nbegun 0 1\nfinished 0 1 1");
        let kept = read_log(&text, 2).unwrap();
        assert_eq!((kept.party, kept.job), (Party::Bob, Some([0xab; 32])));
        let of = |begun, finished| Progress { begun, finished };
        assert_eq!(kept.shards, [of(1, None), of(2, Some(2))]);
        assert_eq!(kept.costs[1], Costs { micros: 70, sent: 8, received: 9 });
    }

    #[test]
    fn a_line_that_no_driver_writes_is_refused() {
        for line in [
            "begun 2 1",
            "begun 0 0",
            "begun 0",
            "finished 0 1 1 1 1",
            "job abc",
            "begun 0 -1",
            "",
            "begin 0 1",
            "begun 0 1 1",
        ] {
            let why = read_log(&format!("{TITLE}alice\n{line}\n"), 2).err().unwrap();
            assert!(why.contains("line 2"), "{line}: {why}");
        }
        assert!(read_log("", 1).is_err() && read_log(&format!("{TITLE}carol\n"), 1).is_err());
    }

    proptest! {
        #[test]
        fn no_log_makes_the_reader_panic(lines in "(job|begun|finished|é)? ?[0-9a-fé ]{0,70}(\n[bf][a-z]{4,7} [0-9] [0-9]{0,12}){0,5}\n?") {
            let _ = read_log(&format!("{TITLE}alice\n{lines}"), 3);
        }
    }
}
