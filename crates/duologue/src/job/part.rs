//! Which part of a job a session computes.

use crate::agreement::hex;
use crate::{Error, Result};
use data_encoding::HEXLOWER;
use std::fmt;
use std::str::FromStr;

/// Which part of which job a session computes, and at which attempt: a term that both parties must have equal.
///
/// Shards of equal sizes are equal programs. Without this term a worker that was led to the wrong one would compute on lanes that do
/// not belong together, and nobody would notice.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Part {
    /// The job, by a number that no other job has.
    pub job: [u8; 32],
    /// The shard, from 0; none for the last program.
    pub shard: Option<u32>,
    /// The attempt: what a failed one has drawn is never used by the next.
    pub attempt: u32,
}

impl Part {
    /// A shard of a job.
    pub fn of_shard(job: [u8; 32], shard: u32, attempt: u32) -> Part {
        Part { job, shard: Some(shard), attempt }
    }

    /// The last program of a job.
    pub fn last(job: [u8; 32], attempt: u32) -> Part {
        Part { job, shard: None, attempt }
    }

    /// Whether this is the attempt that comes next after `other`, at the same part of the same job.
    pub(crate) fn follows(&self, other: &Part) -> bool {
        (self.job, self.shard) == (other.job, other.shard) && other.attempt.checked_add(1) == Some(self.attempt)
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.shard {
            Some(shard) => write!(f, "shard {shard}")?,
            None => f.write_str("the last program")?,
        }
        write!(f, ", attempt {} of job {}", self.attempt, hex(&self.job))
    }
}

/// Reads what [`Display`](fmt::Display) writes, and nothing else.
impl FromStr for Part {
    type Err = Error;

    fn from_str(text: &str) -> Result<Part> {
        let read = || {
            let (which, rest) = text.split_once(", attempt ")?;
            let (attempt, job) = rest.split_once(" of job ")?;
            let shard = which.strip_prefix("shard ").map(str::parse).transpose().ok()?;
            let job = HEXLOWER.decode(job.as_bytes()).ok()?.try_into().ok()?;
            Some(Part { job, shard, attempt: attempt.parse().ok()? })
        };
        let malformed = || Error::Malformed { what: "a part of a job".into(), why: format!("{text:?} is none") };
        read().filter(|part| part.to_string() == text).ok_or_else(malformed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_read_as_it_was_written() {
        let job = std::array::from_fn(|byte| 7 * byte as u8);
        for part in [Part::of_shard(job, 0, 1), Part::of_shard([0; 32], u32::MAX, u32::MAX), Part::last(job, 3)] {
            let text = part.to_string();
            assert_eq!(text.parse::<Part>().unwrap(), part);
            for other in
                [text.to_uppercase(), text.replace("attempt ", "attempt 0"), format!("{text}00"), text[1..].into()]
            {
                assert!(other.parse::<Part>().is_err(), "{other}");
            }
        }
    }

    #[test]
    fn the_next_attempt_alone_follows() {
        let part = Part::of_shard([7; 32], 2, 3);
        assert!(Part::of_shard([7; 32], 2, 4).follows(&part));
        let others = [part, Part { attempt: 2, ..part }, Part { attempt: 5, ..part }];
        let elsewhere = [Part::of_shard([8; 32], 2, 4), Part::of_shard([7; 32], 1, 4), Part::last([7; 32], 4)];
        assert!(others.iter().chain(&elsewhere).all(|other| !other.follows(&part)));
        let last = Part { attempt: u32::MAX, ..part };
        assert!(!last.follows(&last));
    }
}
