//! The folder of a job: its plan, what was begun and finished, the outputs of finished shards, and pools for those to come.
//!
//! | file | |
//! |---|---|
//! | `lock` | locked by the driver that has the job, as long as it runs |
//! | `log` | a line for everything that must outlive the driver, on the disk before it goes on ([`log`]) |
//! | `plan.job` | the plan |
//! | `worker.key` | the key pair by which workers prove that they are this party's |
//! | `parts/` | a file for each output of each finished attempt |
//! | `pools/` | a folder for each attempt that has made a pool ([`Pools`]) |

#[cfg(test)]
mod cut;
mod log;
#[cfg(test)]
mod tests;

use super::driver::Log;
use super::parts::{self, From, Parts};
use super::pools::{self, Pools};
use super::stamps::{self, Stamp};
use crate::failure::{Exit, Failure};
use crate::io::output;
use duologue::Party;
use duologue::job::Plan;
use duologue::job::control::{Agreed, Attempt, Costs, Progress};
use std::fmt::Write as _;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

pub use log::{Found, Kept, found, look, number};
use log::{TITLE, text_of, whole};

/// What a driver leaves in a folder before it has met another.
const OURS: [&str; 6] = ["lock", "log", "plan.job", "worker.key", "parts", "pools"];

/// A job's folder, which one driver has at a time.
pub struct State {
    folder: PathBuf,
    log: File,
    /// Held until the end.
    _lock: File,
    pub kept: Kept,
    /// What the inputs come from, until the log has it: a job that was only prepared begins when the drivers have met.
    new_inputs: Option<Vec<Stamp>>,
}

/// Whose job it is, and what both its folder and its driver must have.
pub struct Whose<'a> {
    pub party: Party,
    pub plan: &'a Plan,
    /// None where pools are made.
    pub inputs: Option<&'a [Stamp]>,
}

impl State {
    /// A new folder, or one that is there and empty.
    pub fn create(folder: &Path, whose: &Whose<'_>) -> Result<State, Failure> {
        make(folder)?;
        refuse_others(folder)?;
        let lock = lock(folder)?;
        // Another driver may have begun and ended in between.
        refuse_others(folder)?;
        [parts::folder_of(folder), pools::folder_of(folder)].iter().try_for_each(|folder| make(folder))?;
        let log = open_log(folder, OpenOptions::new().create(true))?;
        let kept = Kept::new(whose.party, whose.plan.shards());
        let new_inputs = whose.inputs.map(<[Stamp]>::to_vec);
        let mut state = State { folder: folder.into(), log, _lock: lock, kept, new_inputs };
        state.log.set_len(0).map_err(Failure::io(format!("writing {}", folder.join("log").display())))?;
        state.write(&format!("{TITLE}{}\n", whose.party))?;
        output::write_file(&folder.join("plan.job"), &whose.plan.encode()?)?;
        output::sync_folder(folder)?;
        Ok(state)
    }

    /// A folder in which a job was begun. Shards whose outputs are not there any more are not finished, and pools that are lost or
    /// damaged are none.
    pub fn open(folder: &Path, whose: &Whose<'_>) -> Result<State, Failure> {
        let lock = lock(folder)?;
        let (log, whole, kept) =
            (open_log(folder, &mut OpenOptions::new())?, whole(folder)?, look(folder, whose.plan)?);
        let new_inputs = whose.inputs.filter(|_| kept.inputs.is_none()).map(<[Stamp]>::to_vec);
        let mut state = State { folder: folder.into(), log, _lock: lock, kept, new_inputs };
        state.check(whose)?;
        // What follows does not go on in the line that was cut.
        state.log.set_len(whole).map_err(Failure::io(format!("writing {}", folder.join("log").display())))?;
        [parts::folder_of(folder), pools::folder_of(folder)].iter().try_for_each(|folder| make(folder))?;
        state.take_back(whose)?;
        Ok(state)
    }

    /// Refuses a job that is over, or another one.
    fn check(&self, whose: &Whose<'_>) -> Result<(), Failure> {
        let (folder, kept) = (self.folder.display(), &self.kept);
        read_plan(&self.folder)?
            .difference(whose.plan)
            .map_err(|why| Failure::new(Exit::Input, format!("{folder} has another job: {why}")))?;
        if kept.party != whose.party {
            let why = format!("{folder} has the job of {}, not of {}", kept.party, whose.party);
            return Err(Failure::input(why));
        }
        if kept.merged {
            // The driver may have stopped before it had removed them all.
            if parts::folder_of(&self.folder).is_dir() {
                self.parts(whose.plan)?.remove()?;
            }
            // Nobody uses them any more, whoever still holds one.
            let _ = self.pools()?.remove();
            return Err(done(&self.folder).hint("a new job needs another --state"));
        }
        let (Some(kept), Some(now)) = (&kept.inputs, whose.inputs) else { return Ok(()) };
        stamps::check(kept, now, &format!("the job in {folder}"))
    }

    fn take_back(&mut self, whose: &Whose<'_>) -> Result<(), Failure> {
        if self.kept.job.is_none() {
            return Ok(());
        }
        let (parts, pools) = (self.parts(whose.plan)?, self.pools()?);
        let gone = |from| !parts.are_there(whose.party, from);
        let is_gone = |(shard, progress): (u32, &Progress)| {
            let at = |number| Attempt { shard, number };
            progress.finished.is_some_and(|number| gone(From::Shard(at(number))))
                || progress.pool.is_some_and(|number| !pools.is_there(at(number)))
        };
        let mut undone: Vec<bool> = (0..).zip(&self.kept.shards).map(is_gone).collect();
        undone.push(self.kept.last.finished.is_some_and(|number| gone(From::Last(number))));
        let all = self.kept.shards.iter().chain([&self.kept.last]).zip(undone);
        let left = all.map(|(progress, undone)| match undone {
            true => Progress { begun: progress.begun, ..Progress::default() },
            false => *progress,
        });
        self.keep_progress(&left.collect::<Vec<_>>())
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The outputs in the folder, once the job has its number.
    pub fn parts<'a>(&'a self, plan: &'a Plan) -> Result<Parts<'a>, Failure> {
        parts_of(&self.folder, plan, &self.kept)
    }

    /// The pools in the folder, once the job has its number.
    pub fn pools(&self) -> Result<Pools, Failure> {
        Ok(Pools::new(&self.folder, &job_of(&self.folder, &self.kept)?))
    }

    /// Erases all pools but those that the next attempts at their shards will use.
    pub fn erase_dead_pools(&self) -> Result<(), Failure> {
        let live = |(shard, progress): (u32, &Progress)| progress.pool.map(|number| Attempt { shard, number });
        self.pools()?.erase_others(&(0..).zip(&self.kept.shards).filter_map(live).collect::<Vec<_>>())
    }

    /// How far this party is with each shard, and with the last program if there is one.
    pub fn progress(&self, plan: &Plan) -> Vec<Progress> {
        self.kept.shards.iter().copied().chain(plan.last().map(|_| self.kept.last)).collect()
    }

    /// Keeps what both drivers have agreed on: the number of the job, and how far they are.
    pub fn keep(&mut self, agreed: &Agreed) -> Result<(), Failure> {
        if self.kept.job != Some(agreed.job) {
            self.kept.job = Some(agreed.job);
            self.write(&format!("job {}\n", duologue::hex(&agreed.job)))?;
        }
        if let Some(inputs) = self.new_inputs.take() {
            let line = serde_json::to_string(&inputs).map_err(|why| Failure::malformed("the inputs", why))?;
            self.write(&format!("inputs {line}\n"))?;
            self.kept.inputs = Some(inputs);
        }
        self.keep_progress(&agreed.shards)
    }

    /// Keeps attempts that the other party has begun, and that others are not finished after all, or their pools no pools.
    fn keep_progress(&mut self, now: &[Progress]) -> Result<(), Failure> {
        let shards = self.kept.shards.len();
        let mut lines = String::new();
        for (place, (known, now)) in self.kept.shards.iter_mut().chain([&mut self.kept.last]).zip(now).enumerate() {
            let name = if place < shards { place.to_string() } else { "last".into() };
            // Writing to a text does not fail.
            let undone =
                (known.finished.is_some() && now.finished.is_none()) || (known.pool.is_some() && now.pool.is_none());
            let _ = match (now.begun > known.begun, undone) {
                (true, _) => writeln!(lines, "begun {name} {}", now.begun),
                (false, true) => writeln!(lines, "undone {name}"),
                (false, false) => Ok(()),
            };
            *known = *now;
        }
        if lines.is_empty() { Ok(()) } else { self.write(&lines) }
    }

    /// Begins another attempt at the last program; its number.
    pub fn begin_last(&mut self) -> Result<u32, Failure> {
        let number = self.kept.last.begun + 1;
        self.kept.last = Progress { begun: number, ..Progress::default() };
        self.write(&format!("begun last {number}\n"))?;
        Ok(number)
    }

    /// The outputs of the last program are on this party's disk.
    pub fn finish_last(&mut self) -> Result<(), Failure> {
        self.kept.last.finished = Some(self.kept.last.begun);
        self.write(&format!("finished last {}\n", self.kept.last.begun))
    }

    /// Whether all shards and the last program are finished.
    pub fn is_complete(&self, plan: &Plan) -> bool {
        let lacks = |(shard, progress): (u32, &Progress)| progress.finished.is_none() && !plan.range(shard).is_empty();
        let last = plan.last().is_none() || self.kept.last.finished.is_some();
        last && !(0..).zip(&self.kept.shards).any(lacks)
    }

    /// The outputs are where the user wants them: what is left of them in the folder goes.
    pub fn merged(&mut self, plan: &Plan) -> Result<(), Failure> {
        self.kept.merged = true;
        self.write("merged\n")?;
        self.parts(plan)?.remove()
    }

    /// An attempt has made a pool for the next one.
    pub fn made_pool(&mut self, attempt: Attempt, costs: Costs) -> Result<(), Failure> {
        let Attempt { shard, number } = attempt;
        self.kept.shards[shard as usize].pool = Some(number);
        self.kept.costs[shard as usize] = costs;
        let Costs { micros, sent, received, .. } = costs;
        self.write(&format!("pool {shard} {number} {micros} {sent} {received}\n"))
    }

    fn write(&mut self, lines: &str) -> Result<(), Failure> {
        let written = self.log.write_all(lines.as_bytes()).and_then(|()| self.log.sync_data());
        written.map_err(Failure::io(format!("writing {}", self.folder.join("log").display())))
    }
}

/// The outputs in a folder whose log says this.
pub fn parts_of<'a>(folder: &'a Path, plan: &'a Plan, kept: &Kept) -> Result<Parts<'a>, Failure> {
    Ok(Parts { folder, plan, job: job_of(folder, kept)? })
}

fn job_of(folder: &Path, kept: &Kept) -> Result<[u8; 32], Failure> {
    let none = || Failure::input(format!("the job in {} was not begun: no other driver was met", folder.display()));
    kept.job.ok_or_else(none)
}

/// The refusal of a job whose outputs were written.
pub fn done(folder: &Path) -> Failure {
    Failure::input(format!("the job in {} is done: its outputs were written", folder.display()))
}

/// A folder for its owner's eyes.
fn make(folder: &Path) -> Result<(), Failure> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder).map_err(Failure::io(format!("making the folder {}", folder.display())))
}

/// Refuses a folder that has a job, or anything but what a driver leaves that has met nobody.
fn refuse_others(folder: &Path) -> Result<(), Failure> {
    if found(folder) != Found::Nothing {
        let why = format!("{} has a job", folder.display());
        return Err(Failure::input(why).hint("--resume goes on with it; a new job needs another --state"));
    }
    // A driver that was stopped has written its title, or a part of it.
    let is_job = text_of(folder).is_ok_and(|log| TITLE.starts_with(&log) || log.starts_with(TITLE));
    let reading = || Failure::io(format!("reading the folder {}", folder.display()));
    let is_empty = |path: &Path| fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
    for entry in fs::read_dir(folder).map_err(reading())? {
        let entry = entry.map_err(reading())?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_ours = name == "lock"
            || (is_job && OURS.contains(&&*name) && (!["parts", "pools"].contains(&&*name) || is_empty(&entry.path())));
        if !is_ours {
            let why = format!("{} is not empty: it has {name}", folder.display());
            return Err(Failure::input(why).hint("a job needs a folder of its own: one that is new, or empty"));
        }
    }
    Ok(())
}

/// Takes the folder for this driver, until the file is dropped.
pub fn lock(folder: &Path) -> Result<File, Failure> {
    let path = folder.join("lock");
    let locking = || Failure::io(format!("locking {}", path.display()));
    let file = open_owned(&path, OpenOptions::new().create(true)).map_err(locking())?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            Err(Failure::input(format!("another driver has the job in {}", folder.display())))
        }
        Err(TryLockError::Error(why)) => Err(locking()(why)),
    }
}

fn open_log(folder: &Path, options: &mut OpenOptions) -> Result<File, Failure> {
    let path = folder.join("log");
    open_owned(&path, options).map_err(Failure::io(format!("opening {}", path.display())))
}

/// Opens a file to write behind its end; a new one is for its owner's eyes.
fn open_owned(path: &Path, options: &mut OpenOptions) -> std::io::Result<File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options.read(true).append(true).open(path)
}

impl Log for State {
    fn begun(&mut self, attempt: Attempt) -> Result<(), Failure> {
        let Attempt { shard, number } = attempt;
        self.kept.shards[shard as usize] = Progress { begun: number, ..Progress::default() };
        self.write(&format!("begun {shard} {number}\n"))
    }

    fn finished(&mut self, attempt: Attempt, costs: Costs) -> Result<(), Failure> {
        let (Attempt { shard, number }, Costs { micros, sent, received, predicted }) = (attempt, costs);
        self.kept.shards[shard as usize].finished = Some(number);
        self.kept.costs[shard as usize] = costs;
        let predicted = predicted.map_or(String::new(), |predicted| format!(" {predicted}"));
        self.write(&format!("finished {shard} {number} {micros} {sent} {received}{predicted}\n"))?;
        self.try_to_erase_pools(attempt);
        Ok(())
    }

    fn failed(&mut self, attempt: Attempt, _: String) {
        self.try_to_erase_pools(attempt);
    }

    fn shards(&self) -> usize {
        self.kept.shards.len()
    }
}

impl State {
    /// Erases what an attempt that has ended has made or used of pools. A worker that has not stopped yet may hold it: it goes when the
    /// driver ends.
    fn try_to_erase_pools(&self, Attempt { shard, number }: Attempt) {
        for number in [number, number.saturating_sub(1)] {
            let _ = self.pools().and_then(|pools| pools.erase(Attempt { shard, number }));
        }
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
