//! The folder of a job: its plan, what was begun and finished, and the outputs of finished shards.
//!
//! | file | |
//! |---|---|
//! | `lock` | locked by the driver that has the job, as long as it runs |
//! | `log` | a line for everything that must outlive the driver, on the disk before it goes on |
//! | `plan.job` | the plan |
//! | `worker.key` | the key pair by which workers prove that they are this party's |
//! | `parts/` | a file for each output of each finished attempt |
//!
//! Lines of the log: `duologue job 1 alice`, `inputs JSON`, then `job HEX`, `begun SHARD ATTEMPT`, `finished SHARD ATTEMPT MICROSECONDS
//! SENT RECEIVED`, behind which are the microseconds that were predicted, if any were, `undone SHARD`; `begun last ATTEMPT`, `finished last
//! ATTEMPT`, `undone last`; `merged` when the outputs are where the user wants them. A last line without its end was being written when the
//! driver stopped, and counts for nothing. Without a `job` no other driver was met, and the folder counts as empty.

use super::driver::Log;
use super::parts::{self, From, Parts};
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

/// The first words of a log, before the party.
const TITLE: &str = "duologue job 1 ";

/// What a driver leaves in a folder before it has met another.
const OURS: [&str; 5] = ["lock", "log", "plan.job", "worker.key", "parts"];

/// What a log says.
pub struct Kept {
    pub party: Party,
    /// What the inputs came from.
    pub inputs: Vec<Stamp>,
    pub job: Option<[u8; 32]>,
    pub shards: Vec<Progress>,
    /// The last program, if there is one.
    pub last: Progress,
    /// What the finished attempt of a shard took.
    pub costs: Vec<Costs>,
    /// Whether the outputs are where the user wants them.
    pub merged: bool,
}

/// A job's folder, which one driver has at a time.
pub struct State {
    folder: PathBuf,
    log: File,
    /// Held until the end.
    _lock: File,
    pub kept: Kept,
}

/// Whose job it is, and what both its folder and its driver must have.
pub struct Whose<'a> {
    pub party: Party,
    pub plan: &'a Plan,
    pub inputs: &'a [Stamp],
}

impl State {
    /// A new folder, or one that is there and empty.
    pub fn create(folder: &Path, whose: &Whose<'_>) -> Result<State, Failure> {
        make(folder)?;
        refuse_others(folder)?;
        let lock = lock(folder)?;
        // Another driver may have begun and ended in between.
        refuse_others(folder)?;
        make(&parts::folder_of(folder))?;
        let log = open_log(folder, OpenOptions::new().create(true))?;
        let first = serde_json::to_string(whose.inputs).map_err(|why| Failure::malformed("the inputs", why))?;
        let kept = Kept::new(whose.party, whose.inputs, whose.plan.shards());
        let mut state = State { folder: folder.into(), log, _lock: lock, kept };
        state.log.set_len(0).map_err(Failure::io(format!("writing {}", folder.join("log").display())))?;
        state.write(&format!("{TITLE}{}\ninputs {first}\n", whose.party))?;
        output::write_file(&folder.join("plan.job"), &whose.plan.encode()?)?;
        parts::sync(folder)?;
        Ok(state)
    }

    /// A folder in which a job was begun. Shards whose outputs are not there any more are not finished.
    pub fn open(folder: &Path, whose: &Whose<'_>) -> Result<State, Failure> {
        let lock = lock(folder)?;
        let (log, whole, kept) =
            (open_log(folder, &mut OpenOptions::new())?, whole(folder)?, look(folder, whose.plan)?);
        let mut state = State { folder: folder.into(), log, _lock: lock, kept };
        state.check(whose)?;
        // What follows does not go on in the line that was cut.
        state.log.set_len(whole).map_err(Failure::io(format!("writing {}", folder.join("log").display())))?;
        make(&parts::folder_of(folder))?;
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
            return Err(done(&self.folder).hint("a new job needs another --state"));
        }
        stamps::check(&kept.inputs, whose.inputs, &format!("the job in {folder}"))
    }

    fn take_back(&mut self, whose: &Whose<'_>) -> Result<(), Failure> {
        if self.kept.job.is_none() {
            return Ok(());
        }
        let parts = self.parts(whose.plan)?;
        let gone = |from| !parts.are_there(whose.party, from);
        let is_gone = |(shard, progress): (u32, &Progress)| {
            progress.finished.is_some_and(|number| gone(From::Shard(Attempt { shard, number })))
        };
        let mut undone: Vec<bool> = (0..).zip(&self.kept.shards).map(is_gone).collect();
        undone.push(self.kept.last.finished.is_some_and(|number| gone(From::Last(number))));
        let all = self.kept.shards.iter().chain([&self.kept.last]).zip(undone);
        let left = all.map(|(progress, undone)| match undone {
            true => Progress { finished: None, ..*progress },
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
        self.keep_progress(&agreed.shards)
    }

    /// Keeps attempts that the other party has begun, and that others are not finished after all.
    fn keep_progress(&mut self, now: &[Progress]) -> Result<(), Failure> {
        let shards = self.kept.shards.len();
        let mut lines = String::new();
        for (place, (known, now)) in self.kept.shards.iter_mut().chain([&mut self.kept.last]).zip(now).enumerate() {
            let name = if place < shards { place.to_string() } else { "last".into() };
            // Writing to a text does not fail.
            let _ = match (now.begun > known.begun, known.finished.is_some() && now.finished.is_none()) {
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
        self.kept.last = Progress { begun: number, finished: None };
        self.write(&format!("begun last {number}\n"))?;
        Ok(number)
    }

    /// The outputs of the last program are on this party's disk.
    pub fn finish_last(&mut self) -> Result<(), Failure> {
        self.kept.last.finished = Some(self.kept.last.begun);
        self.write(&format!("finished last {}\n", self.kept.last.begun))
    }

    /// The outputs are where the user wants them: what is left of them in the folder goes.
    pub fn merged(&mut self, plan: &Plan) -> Result<(), Failure> {
        self.kept.merged = true;
        self.write("merged\n")?;
        self.parts(plan)?.remove()
    }

    fn write(&mut self, lines: &str) -> Result<(), Failure> {
        let written = self.log.write_all(lines.as_bytes()).and_then(|()| self.log.sync_data());
        written.map_err(Failure::io(format!("writing {}", self.folder.join("log").display())))
    }
}

/// The outputs in a folder whose log says this.
pub fn parts_of<'a>(folder: &'a Path, plan: &'a Plan, kept: &Kept) -> Result<Parts<'a>, Failure> {
    let none = || Failure::input(format!("the job in {} was not begun: no other driver was met", folder.display()));
    Ok(Parts { folder, plan, job: kept.job.ok_or_else(none)? })
}

/// The refusal of a job whose outputs were written.
pub fn done(folder: &Path) -> Failure {
    Failure::input(format!("the job in {} is done: its outputs were written", folder.display()))
}

/// Whether a folder has a job that can go on.
pub fn is_begun(folder: &Path) -> bool {
    let log = fs::read_to_string(folder.join("log"));
    log.is_ok_and(|log| log.starts_with(TITLE) && log.lines().any(|line| line.starts_with("job ")))
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
    if is_begun(folder) {
        let why = format!("{} has a job", folder.display());
        return Err(Failure::input(why).hint("--resume goes on with it; a new job needs another --state"));
    }
    let is_job = fs::read_to_string(folder.join("log")).is_ok_and(|log| log.is_empty() || log.starts_with(TITLE));
    let reading = || Failure::io(format!("reading the folder {}", folder.display()));
    let is_empty = |path: &Path| fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
    for entry in fs::read_dir(folder).map_err(reading())? {
        let entry = entry.map_err(reading())?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_ours =
            name == "lock" || (is_job && OURS.contains(&&*name) && (name != "parts" || is_empty(&entry.path())));
        if !is_ours {
            let why = format!("{} is not empty: it has {name}", folder.display());
            return Err(Failure::input(why).hint("a job needs a folder of its own: one that is new, or empty"));
        }
    }
    Ok(())
}

/// Takes the folder for this driver, until the file is dropped.
fn lock(folder: &Path) -> Result<File, Failure> {
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
        self.kept.shards[shard as usize] = Progress { begun: number, finished: None };
        self.write(&format!("begun {shard} {number}\n"))
    }

    fn finished(&mut self, attempt: Attempt, costs: Costs) -> Result<(), Failure> {
        let (Attempt { shard, number }, Costs { micros, sent, received, predicted }) = (attempt, costs);
        self.kept.shards[shard as usize].finished = Some(number);
        self.kept.costs[shard as usize] = costs;
        let predicted = predicted.map_or(String::new(), |predicted| format!(" {predicted}"));
        self.write(&format!("finished {shard} {number} {micros} {sent} {received}{predicted}\n"))
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
    read_log(&text_of(folder)?, plan.shards()).map_err(|why| Failure::malformed(folder.join("log").display(), why))
}

/// How many bytes of a log are whole lines.
fn whole(folder: &Path) -> Result<u64, Failure> {
    Ok(text_of(folder)?.rfind('\n').map_or(0, |end| end as u64 + 1))
}

fn text_of(folder: &Path) -> Result<String, Failure> {
    let path = folder.join("log");
    fs::read_to_string(&path).map_err(Failure::io(format!("reading {}", path.display())))
}

/// Reads a log of a job of so many shards.
fn read_log(text: &str, shards: u32) -> Result<Kept, String> {
    let mut lines = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')).zip(1..);
    let title = lines.next().and_then(|(line, _)| line.strip_prefix(TITLE));
    let party = title.and_then(|name| super::settings::party(name).ok());
    let party = party.ok_or_else(|| format!("its first line is not '{TITLE}' and a party"))?;
    let mut kept = Kept::new(party, &[], shards);
    for (line, number) in lines {
        kept.take(line).ok_or_else(|| format!("line {number} is none that a driver writes"))?;
    }
    Ok(kept)
}

impl Kept {
    /// Of a job in which nothing was begun.
    fn new(party: Party, inputs: &[Stamp], shards: u32) -> Kept {
        let count = shards as usize;
        let (shards, costs) = (vec![Progress::default(); count], vec![Costs::default(); count]);
        Kept { party, inputs: inputs.into(), job: None, shards, last: Progress::default(), costs, merged: false }
    }

    fn take(&mut self, line: &str) -> Option<()> {
        match line.split_once(' ').unwrap_or((line, "")) {
            ("inputs", list) => self.inputs = serde_json::from_str(list).ok()?,
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
        let finished = |attempt: u64| u32::try_from(attempt).ok().filter(|attempt| *attempt == progress.begun);
        match (word, shard, &numbers[..]) {
            ("begun", _, &[attempt]) => {
                let begun = attempt.try_into().ok().filter(|next| *next > progress.begun)?;
                *progress = Progress { begun, finished: None };
            }
            ("undone", _, []) => progress.finished = None,
            ("finished", Some(shard), &[attempt, micros, sent, received, ref predicted @ ..])
                if predicted.len() < 2 =>
            {
                progress.finished = Some(finished(attempt)?);
                self.costs[shard] = Costs { micros, sent, received, predicted: predicted.first().copied() };
            }
            ("finished", None, &[attempt]) => progress.finished = Some(finished(attempt)?),
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
        assert_eq!(kept.costs[1], Costs { micros: 70, sent: 8, received: 9, predicted: None });
        let kept = read_log(&text.replace("70 8 9", "70 8 9 60"), 2).unwrap();
        assert_eq!(kept.costs[1].predicted, Some(60));
        let kept = read_log(&format!("{text}\nbegun last 3\nfinished last 3\nundone 1\nmerged\n"), 2).err().unwrap();
        assert!(kept.contains("line 7"), "a line that was cut is none: {kept}");
        let text = text.replace("\nfinished 0 1 1", "\nbegun last 3\nfinished last 3\nundone 1\nmerged\n");
        let kept = read_log(&text, 2).unwrap();
        assert_eq!((kept.last, kept.shards[1], kept.merged), (of(3, Some(3)), of(2, None), true));
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
            "finished 0 0 1 1 1 1 1",
            "begun last",
            "begun last 1 1",
            "finished last 1",
            "undone",
            "undone 2",
            "inputs 3",
            "merged 1",
        ] {
            let why = read_log(&format!("{TITLE}alice\n{line}\n"), 2).err().unwrap();
            assert!(why.contains("line 2"), "{line}: {why}");
        }
        assert!(read_log("", 1).is_err() && read_log(&format!("{TITLE}carol\n"), 1).is_err());
    }

    #[test]
    fn what_both_agreed_on_is_in_the_log() {
        let (folder, plan) = (tempfile::tempdir().unwrap(), plan());
        let whose = Whose { party: Party::Alice, plan: &plan, inputs: &[] };
        let mut state = State::create(folder.path(), &whose).unwrap();
        let of = |begun, finished| Progress { begun, finished };
        let agree = |state: &mut State, shards: [Progress; 3]| {
            state.keep(&Agreed { job: [3; 32], shards: shards.into() }).unwrap();
            let kept = look(folder.path(), &plan).unwrap();
            assert_eq!((kept.job, &kept.shards[..]), (Some([3; 32]), &shards[..]));
        };
        // This party has lost its folder: attempts of the other one count.
        agree(&mut state, [of(5, None), of(1, None), of(0, None)]);
        state.begun(Attempt { shard: 1, number: 2 }).unwrap();
        state.finished(Attempt { shard: 1, number: 2 }, Costs::default()).unwrap();
        // The other party has not finished it.
        agree(&mut state, [of(6, None), of(2, None), of(0, None)]);
        assert_eq!(state.begin_last().unwrap(), 1);
        state.finish_last().unwrap();
        assert_eq!(look(folder.path(), &plan).unwrap().last, of(1, Some(1)));
        let log = fs::read_to_string(folder.path().join("log")).unwrap();
        let expected = ["begun 0 5", "begun 1 1", "begun 1 2", "finished 1 2 0 0 0", "begun 0 6", "undone 1"];
        assert_eq!(log.lines().skip(3).take(6).collect::<Vec<_>>(), expected);
        // Whose outputs are not there is not finished.
        drop(state);
        let state = State::open(folder.path(), &whose).unwrap();
        assert_eq!(state.kept.last, of(1, None));
    }

    fn plan() -> Plan {
        let mut program = duologue::circuit::Program::new("same");
        let lanes = program.size("lanes", 1..=100);
        let a = program.input("a", Party::Alice, duologue::circuit::uint(8), lanes);
        let [total] = program.reduce_with([a], |c, [a], [b]: [duologue::circuit::UInt; 1]| {
            [duologue::circuit::blocks::add(c, &a, &b, duologue::circuit::blocks::Goal::Size)]
        });
        program.output("total", Party::Alice, total);
        Plan::new(&program, &[("lanes", 90)], &duologue::job::Cut::into(3)).unwrap()
    }

    #[test]
    fn one_driver_alone_gets_a_folder() {
        let plan = plan();
        let whose = Whose { party: Party::Alice, plan: &plan, inputs: &[] };
        for _ in 0..20 {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("state");
            let all: Vec<_> = std::thread::scope(|scope| {
                let begin = || State::create(&path, &whose);
                let threads: Vec<_> = (0..4).map(|_| scope.spawn(begin)).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            assert_eq!(all.iter().filter(|state| state.is_ok()).count(), 1);
            assert!(State::open(&path, &whose).is_err_and(|why| why.message.contains("another driver has the job")));
        }
    }

    /// A folder in which nobody was met counts as empty; one of the user's is left as it is.
    #[test]
    fn a_folder_is_new_or_empty() {
        let (folder, plan) = (tempfile::tempdir().unwrap(), plan());
        let whose = Whose { party: Party::Bob, plan: &plan, inputs: &[] };
        let theirs = [("parts/thesis.txt", "parts"), ("log", "log"), ("plan.job", "plan.job")];
        for (file, named) in theirs {
            let path = folder.path().join(named);
            fs::create_dir_all(folder.path().join(file).parent().unwrap()).unwrap();
            fs::write(folder.path().join(file), "of the user").unwrap();
            let why = State::create(folder.path(), &whose).err().unwrap().message;
            assert!(why.ends_with(&format!("is not empty: it has {named}")), "{why}");
            assert_eq!(fs::read_to_string(folder.path().join(file)).unwrap(), "of the user");
            if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
        }
        for _ in 0..2 {
            drop(State::create(folder.path(), &whose).unwrap());
        }
        let mut state = State::create(folder.path(), &whose).unwrap();
        state.keep(&Agreed { job: [3; 32], shards: state.progress(&plan) }).unwrap();
        drop(state);
        assert!(State::create(folder.path(), &whose).is_err_and(|why| why.message.ends_with("has a job")));
        // What is removed is the job's alone.
        let parts = parts::folder_of(folder.path());
        for name in ["03030303.0.1.o0", "03030303.last.1.o0", ".tmpAb1", "notes"] {
            fs::write(parts.join(name), "").unwrap();
        }
        State::open(folder.path(), &whose).unwrap().merged(&plan).unwrap();
        let left: Vec<_> = fs::read_dir(&parts).unwrap().map(|file| file.unwrap().file_name()).collect();
        assert_eq!(left, ["notes"]);
        assert!(State::open(folder.path(), &whose).is_err_and(|why| why.message.contains("is done")));
        #[cfg(unix)]
        {
            let mode = |path: &Path| std::os::unix::fs::MetadataExt::mode(&fs::metadata(path).unwrap()) & 0o777;
            assert_eq!([parts, folder.path().join("log")].map(|path| mode(&path)), [0o700, 0o600]);
        }
    }

    proptest! {
        #[test]
        fn no_log_makes_the_reader_panic(lines in "(job|begun|finished|undone last|inputs|é)? ?[0-9a-fé ]{0,70}(\n[bf][a-z]{4,7} [0-9] [0-9]{0,12}){0,5}\n?") {
            let _ = read_log(&format!("{TITLE}alice\n{lines}"), 3);
        }
    }
}
