//! SHDL files, read and written: the Secure Hardware Description Language into which Fairplay's compiler translates.
//!
//! After Malkhi, Nisan, Pinkas, Sella, *Fairplay: a secure two-party computation system* (USENIX Security 2004, §3), and
//! what its compiler writes. A line is a wire by its number; what a gate reads comes before it:
//!
//! ```text
//! 0 input          //output$input.alice$0
//! 1 gate arity 2 table [ 0 0 0 1 ] inputs [ 0 0 ]
//! 2 output gate arity 1 table [ 1 0 ] inputs [ 1 ]    //output$output.bob$0
//! ```
//!
//! The first input of a gate is the lowest bit of the place in its table. Comments name the bits: function, `$`, variable,
//! `$`, bit. Of a variable `input.alice.x` we take the party and the name `x`; `input.x` is nobody's in particular. Bits
//! without a name become one port. Reading is total, in time and memory that are linear in the file.

mod read;
mod variables;
mod write;

pub use read::{File, read};
pub use write::write;

const FORMAT: &str = "SHDL";
