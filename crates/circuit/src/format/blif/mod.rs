//! BLIF files, read and written: circuits of gates that are known by their covers.
//!
//! Format: *Berkeley Logic Interchange Format (BLIF)*, University of California, Berkeley (1992); what Yosys and ABC write.
//! One model of `.inputs`, `.outputs`, `.names` with covers of ones or of zeros, `.gate` with the cells of our library
//! ([`cells`](super::cells)), and Yosys' `.conn`. What says how fast or how large a gate is is passed over. A cover of up to
//! six inputs becomes few ANDs whatever its rows are; a wider one is the OR of its rows. Bits `a[0]`, `a[1]`, … in this
//! order are a port `a`. Reading is total, in time and memory that are linear in the file.

mod cover;
mod lines;
mod read;
mod write;

pub use read::read;
pub use write::write;

const FORMAT: &str = "BLIF";
