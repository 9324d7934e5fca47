//! Workers that the driver starts itself, as processes of this command on this machine.

use crate::failure::{Exit, Failure};
use crate::process;
use std::ffi::OsString;
use std::hash::{BuildHasher, RandomState};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How long workers that were told of the end may take before they are killed.
const GRACE: Duration = Duration::from_secs(5);

/// The variable that has the number under which a worker was started.
pub const NUMBER: &str = "DUOLOGUE_WORKER_NUMBER";

/// Processes of workers; dropped, they are killed.
pub struct Local {
    words: Vec<OsString>,
    /// Each with a number that no other worker of this driver has, as a process of another machine might have that of its process.
    children: Vec<(u64, Child)>,
    /// How many were started in place of one that ended.
    restarted: u64,
    /// How many may end for nothing.
    spare: u64,
}

impl Local {
    /// Starts so many workers with these words behind `duologue job worker`.
    pub fn start(count: u16, words: Vec<OsString>) -> Result<Local, Failure> {
        let mut local = Local { words, children: Vec::new(), restarted: 0, spare: u64::from(count) + 2 };
        for _ in 0..count {
            local.add()?;
        }
        Ok(local)
    }

    fn add(&mut self) -> Result<(), Failure> {
        let mut command = process::itself()?;
        let number = RandomState::new().hash_one(());
        command.args(["job", "worker", "--quiet"]).args(&self.words).env(NUMBER, number.to_string());
        let child = command.stdout(Stdio::null()).spawn().map_err(Failure::io("starting a worker"))?;
        self.children.push((number, child));
        Ok(())
    }

    /// Starts another for each that has ended, but not for ever if they end before they do anything: not more than a few beyond
    /// `ready`, the attempts for which workers were ready so far.
    pub fn look(&mut self, ready: u64) -> Result<(), Failure> {
        let mut ended = Vec::new();
        self.children.retain_mut(|(_, child)| match child.try_wait() {
            Ok(Some(status)) => {
                ended.push(status);
                false
            }
            _ => true,
        });
        for status in ended {
            self.restarted += 1;
            if self.restarted > ready + self.spare {
                let why = format!("workers end before they do anything, the last one with {status}");
                return Err(Failure::new(Exit::Machine, why).hint("look at what it printed"));
            }
            self.add()?;
        }
        Ok(())
    }

    /// Kills the process of this number: its driver has given it up. [`look`](Self::look) starts another, once it has ended.
    pub fn give_up(&mut self, number: u64) {
        if let Some((_, child)) = self.children.iter_mut().find(|(known, _)| *known == number) {
            // Fails if it has ended already.
            let _ = child.kill();
        }
    }

    /// Waits for those that were told of the end.
    pub fn end(mut self) {
        let until = Instant::now() + GRACE;
        while Instant::now() < until {
            self.children.retain_mut(|(_, child)| matches!(child.try_wait(), Ok(None)));
            if self.children.is_empty() {
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        for (_, child) in &mut self.children {
            // Fails if it has ended already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
