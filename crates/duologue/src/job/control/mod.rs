//! The control session: how the drivers of the two parties agree, shard by shard, on which of their workers meet.
//!
//! A driver meets the other party's over a channel with both parties' own keys. They say [`Hello`]: what differs between their jobs is
//! named on both sides, and of a job that goes on they find out how far both are. Then each keeps a [`Machine`], which decides, and a
//! [`Mail`], which carries its [`Message`]s. Workers hold no key of the party: each makes a pair for every attempt, and the drivers
//! exchange the public halves, so that a worker meets the one it is meant to meet or nobody.

mod hello;
mod machine;
mod mail;
mod message;
#[cfg(test)]
mod tests;

pub use hello::{Agreed, Hello, Progress, VERSION};
pub use machine::{Action, End, GRACE, MOST_FAILURES, MOST_MACHINE_FAILURES, MOST_UNMANNED, Machine, REST, WorkerId};
pub use mail::Mail;
pub use message::{Attempt, Costs, MOST_ADDRESS, MOST_BODY, Message, Offer, Reason, Verdict};
