//! This machine: its processor, its cores, and how fast openssl is on it.

use core_affinity::CoreId;
use kernels::Backend;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::process::Command;
use std::thread;
use std::time::UNIX_EPOCH;

/// The machine on which figures were measured.
#[derive(Serialize)]
pub struct Machine {
    pub machine: String,
    /// The source that the command was built from, if it is there.
    pub commit: Option<String>,
    /// R; nothing if there is no openssl.
    pub openssl_blocks_per_second: Option<f64>,
}

impl Machine {
    /// This one; openssl was run so often, or is not there.
    pub fn new(blocks: Vec<Option<f64>>) -> Machine {
        let blocks: Option<Vec<f64>> = blocks.into_iter().collect();
        let known = blocks.filter(|blocks| !blocks.is_empty());
        Machine { machine: describe(), commit: commit(), openssl_blocks_per_second: known.map(median) }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}, commit {}", self.machine, self.commit.as_deref().unwrap_or("unknown"))?;
        match self.openssl_blocks_per_second {
            Some(blocks) => write!(f, "R = {:.1} M/s (AES-128-CTR blocks by openssl)", blocks / 1e6),
            None => write!(f, "R is not known: there is no openssl here"),
        }
    }
}

/// The processor, its cores, and the instructions that are used.
pub fn describe() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = info.lines().find(|line| line.starts_with("model name"));
    let model = line.and_then(|line| line.split_once(": ")).map_or(std::env::consts::ARCH, |(_, model)| model);
    let cores = thread::available_parallelism().map_or(1, usize::from);
    format!("{}, {cores} cores, {}, {}", model.trim(), Backend::detect(), std::env::consts::OS)
}

/// The commit of the source that this command was built from, if it is still there: the last one before the command was
/// written. `-dirty` if the source was changed since.
pub fn commit() -> Option<String> {
    let built = fs::metadata(std::env::current_exe().ok()?).ok()?.modified().ok()?;
    let built = format!("--before=@{}", built.duration_since(UNIX_EPOCH).ok()?.as_secs());
    let commit = git(&["rev-list", "--max-count=1", &built, "HEAD"])?;
    git(&[
        "describe",
        "--always",
        "--abbrev=12",
        "--exclude=*",
        if commit == git(&["rev-parse", "HEAD"])? { "--dirty" } else { &commit },
    ])
}

fn git(arguments: &[&str]) -> Option<String> {
    let mut git = Command::new("git");
    let done = git.args(["-C", env!("CARGO_MANIFEST_DIR")]).args(arguments).output().ok()?;
    let said = String::from_utf8(done.stdout).ok().filter(|_| done.status.success())?;
    Some(said.trim().to_string()).filter(|said| !said.is_empty())
}

/// A core for each party, of different physical cores where there are any; nothing if the system does not tell.
pub fn cores() -> Option<[usize; 2]> {
    all_cores().get(..2)?.try_into().ok()
}

/// The core of a party's thread with this number; several threads share one where there are fewer cores.
pub fn core_of(thread: usize) -> Option<usize> {
    let cores = all_cores();
    cores.get(thread % cores.len().max(1)).copied()
}

/// All cores that the caller may use: one of each physical core, then the others.
fn all_cores() -> Vec<usize> {
    let cores: Vec<usize> = core_affinity::get_core_ids().into_iter().flatten().map(|core| core.id).collect();
    let mut seen = BTreeSet::new();
    let (first, rest): (Vec<_>, Vec<_>) =
        cores.into_iter().partition(|&core| siblings(core).is_none_or(|siblings| seen.insert(siblings)));
    [first, rest].concat()
}

/// The threads of the physical core, as Linux writes them.
fn siblings(core: usize) -> Option<String> {
    fs::read_to_string(format!("/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list")).ok()
}

/// Keeps this thread, and those that it starts, on a core; whether the system does so.
pub fn stay_on(core: Option<usize>) -> bool {
    core.is_some_and(|id| core_affinity::set_for_current(CoreId { id }))
}

/// AES blocks a second of openssl on one core, which takes a second; nothing if it is not there.
pub fn openssl() -> Option<f64> {
    let arguments = ["speed", "-mr", "-evp", "aes-128-ctr", "-bytes", "16384", "-seconds", "1"];
    let done = Command::new("openssl").args(arguments).output().ok().filter(|done| done.status.success())?;
    let text = String::from_utf8(done.stdout).ok()?;
    let line = text.lines().find(|line| line.starts_with("+F:"))?;
    let bytes: f64 = line.rsplit(':').next()?.trim().parse().ok()?;
    Some(bytes / 16.0).filter(|&blocks| blocks > 0.0)
}

/// The middle one; of an even number the mean of the middle two.
///
/// # Panics
/// If there are none.
pub fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let half = numbers.len() / 2;
    if numbers.len().is_multiple_of(2) { (numbers[half - 1] + numbers[half]) / 2.0 } else { numbers[half] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 3.0, 2.0]), 2.5);
    }

    #[test]
    fn parties_have_cores_of_their_own() {
        if let Some([alice, bob]) = cores() {
            assert_ne!(alice, bob);
        }
    }
}
