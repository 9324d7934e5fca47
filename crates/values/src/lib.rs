#![forbid(unsafe_code)]
#![warn(missing_docs)]
//! Values as people have them, read, checked and written: tables in CSV and, with the feature `parquet`, in Parquet and Arrow;
//! arrays of Arrow, with the feature `arrow`; NumPy arrays; text.
//!
//! | from | to the lanes of a port |
//! |---|---|
//! | [`csv::columns`], `parquet::columns`, `arrow::columns` | columns of a table by their names, in one pass |
//! | `arrays::lanes` | a column of Arrow in memory, in chunks |
//! | [`csv::lanes`], [`lane::list`] | a value a line, or with commas between them |
//! | [`npy::read`] | an array |
//!
//! [`keyed`] reads a column of keys, and writes a table of some of its rows. [`write()`] makes tables of lanes,
//! [`csv::write_lanes`] and [`npy::write`] files of one port. A [`Form`] says how a column is written where the type of its
//! port does not; a [`Location`] names file, column and form in one word. No error repeats a value, which may be a secret.

#[cfg(feature = "arrow")]
pub mod arrays;
#[cfg(feature = "parquet")]
pub mod arrow;
mod column;
pub mod csv;
mod decimal;
mod error;
mod form;
mod instant;
pub mod keyed;
pub mod lane;
mod location;
pub mod npy;
mod output;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod real;
mod records;
mod rows;
mod words;

pub use column::Wanted;
pub use error::{Error, Place, Result};
pub use form::Form;
pub use location::Location;
pub use output::{Format, Written, check_columns, write};

/// `1 byte`, `2 bytes`.
fn counted(number: u32, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}
