//! Which part of a job a session computes.

use crate::agreement::hex;
use std::fmt;

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
