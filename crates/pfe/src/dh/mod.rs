//! Diffie-Hellman labels: the protocol. `docs/private.md` has the argument for it.

mod nodes;
mod planes;
mod points;
mod run;
mod speed;
mod table;
mod wiring;

pub use points::POINT;
pub use run::{Announced, Garbling};
pub use speed::gates_per_second;
pub use table::TABLE;
pub use wiring::{Padding, Queries, Wired};

#[cfg(test)]
mod tests;
