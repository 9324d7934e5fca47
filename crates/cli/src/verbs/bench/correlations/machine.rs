//! This machine: its processor, its cores, and how fast openssl is on it.

use crate::failure::Failure;
use core_affinity::CoreId;
use duologue::Party;
use duologue::ot::{Setup, base};
use kernels::Backend;
use std::fs;
use std::process::Command;
use std::thread;
use std::time::Instant;

/// What the figures were measured on.
pub fn describe() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = info.lines().find(|line| line.starts_with("model name"));
    let model = line.and_then(|line| line.split_once(": ")).map_or(std::env::consts::ARCH, |(_, model)| model);
    let cores = thread::available_parallelism().map_or(1, usize::from);
    format!("{}, {cores} cores, {}, {}", model.trim(), Backend::detect(), std::env::consts::OS)
}

/// The commit of the source that this command was built from, if it is still there; `-dirty` if it was changed since.
pub fn commit() -> Option<String> {
    let arguments = ["-C", env!("CARGO_MANIFEST_DIR"), "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"];
    let done = Command::new("git").args(arguments).output().ok().filter(|done| done.status.success())?;
    Some(String::from_utf8(done.stdout).ok()?.trim().to_string()).filter(|commit| !commit.is_empty())
}

/// A core for each party, of different physical cores where there are any; nothing if the system does not tell.
pub fn cores() -> Option<[usize; 2]> {
    let cores: Vec<usize> = core_affinity::get_core_ids()?.into_iter().map(|core| core.id).collect();
    let first = *cores.first()?;
    let siblings = siblings(first);
    let other = cores.iter().find(|core| siblings.is_some() && self::siblings(**core) != siblings);
    let other = other.or_else(|| cores.iter().find(|core| **core != first))?;
    Some([first, *other])
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

/// Milliseconds of one party for 128 base OTs, the slower of both; and for the set-up of a session, 128 in each
/// direction. Medians.
pub fn base_ots(runs: u32, core: Option<usize>) -> Result<[f64; 2], Failure> {
    let measured = thread::scope(|scope| {
        let measuring = scope.spawn(|| {
            stay_on(core);
            let samples = (0..runs).map(|_| sample()).collect::<duologue::Result<Vec<_>>>()?;
            Ok([0, 1].map(|which| median(samples.iter().map(|sample| sample[which]).collect())))
        });
        measuring.join().unwrap_or_else(|_| Err(duologue::Error::usage("the measuring thread failed")))
    });
    Ok(measured?)
}

fn sample() -> duologue::Result<[f64; 2]> {
    const SESSION: [u8; 32] = [7; 32];
    let choices: Vec<_> = (0..128).map(|i| (i % 3 % 2).into()).collect();
    let (started, (sender, from_sender)) = timed(|| base::Sender::start(&SESSION, 128))?;
    let (chosen, (receiver, from_receiver)) = timed(|| base::Receiver::start(&SESSION, &choices))?;
    let (sent, (dealt, answer)) = timed(|| sender.answer(&from_receiver))?;
    let (received, taken) = timed(|| receiver.finish(&from_sender, &answer))?;
    let (proven, ()) = timed(|| dealt.proof.check(taken.proof.as_bytes()))?;
    let (begun, (alice, from_alice)) = timed(|| Setup::start(Party::Alice, &SESSION))?;
    let (bob, from_bob) = Setup::start(Party::Bob, &SESSION)?;
    let (answered, (alice, _)) = timed(|| alice.answer(&from_bob))?;
    let (_, answer) = bob.answer(&from_alice)?;
    let (ended, _) = timed(|| alice.finish(&answer))?;
    Ok([(started + sent + proven).max(chosen + received), begun + answered + ended])
}

/// Milliseconds, and what was made in them.
fn timed<T>(work: impl FnOnce() -> duologue::Result<T>) -> duologue::Result<(f64, T)> {
    let start = Instant::now();
    let made = work()?;
    Ok((start.elapsed().as_secs_f64() * 1e3, made))
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
