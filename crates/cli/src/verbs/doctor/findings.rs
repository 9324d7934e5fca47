//! What a doctor has found: each thing is said at once, and in the end whether anything is to be fixed.

use crate::failure::{Exit, Failure};
use crate::io::console::{Console, count, print};
use crate::io::shown;
use serde::Serialize;

/// Everything that was looked at so far.
pub struct Findings<'a> {
    console: &'a Console,
    found: Vec<Finding>,
    /// That of the first thing to fix.
    exit: Option<Exit>,
}

/// One thing that was looked at.
#[derive(Serialize)]
struct Finding {
    ok: bool,
    what: String,
    /// What to do.
    fix: Option<String>,
}

impl<'a> Findings<'a> {
    pub fn new(console: &'a Console) -> Self {
        Findings { console, found: Vec::new(), exit: None }
    }

    pub fn console(&self) -> &'a Console {
        self.console
    }

    pub fn has_fixes(&self) -> bool {
        self.exit.is_some()
    }

    /// A thing that is as it should be.
    pub fn ok(&mut self, what: impl Into<String>) {
        self.say(Finding { ok: true, what: what.into(), fix: None });
    }

    /// A thing that would make a run fail.
    pub fn fix(&mut self, Failure { exit, message, hint, .. }: Failure) {
        self.exit.get_or_insert(exit);
        self.say(Finding { ok: false, what: message, fix: hint });
    }

    /// What a check gives if it succeeds, and nothing more is to be said.
    pub fn take<T>(&mut self, result: Result<T, Failure>) -> Option<T> {
        result.map_err(|failure| self.fix(failure)).ok()
    }

    /// What a check gives if it succeeds, which is said.
    pub fn check_some<T>(&mut self, result: Result<T, Failure>, say: impl FnOnce(&T) -> String) -> Option<T> {
        let good = self.take(result)?;
        self.ok(say(&good));
        Some(good)
    }

    pub fn check<T>(&mut self, result: Result<T, Failure>, say: impl FnOnce(&T) -> String) {
        self.check_some(result, say);
    }

    fn say(&mut self, finding: Finding) {
        if !self.console.json() {
            let line = match (finding.ok, &finding.fix) {
                (true, _) => format!("ok   {}\n", finding.what),
                (false, Some(fix)) => format!("FIX  {} → {fix}\n", finding.what),
                (false, None) => format!("FIX  {}\n", finding.what),
            };
            // Nobody misses it if standard output is gone.
            let _ = print(shown::lines(&line).as_bytes());
        }
        self.found.push(finding);
    }

    /// Prints what is left to print; fails as the first thing to fix would make a run fail.
    pub fn finish(self) -> Result<(), Failure> {
        if self.console.json() {
            self.console.show_json(&serde_json::json!({ "findings": self.found }))?;
        }
        let fixes = self.found.iter().filter(|finding| !finding.ok).count();
        match self.exit {
            Some(exit) => Err(Failure::new(exit, format!("{} to fix", count(fixes as u64, "thing")))),
            None => Ok(()),
        }
    }
}
