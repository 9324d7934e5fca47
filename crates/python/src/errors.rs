//! The errors of the library as the exceptions of `duologue.errors`, one for one.

use duologue::Error;
use duologue_cli::embed::line;
use pyo3::prelude::*;

/// The exception that an error is.
pub fn raised(error: Error) -> PyErr {
    let message = line(&error.to_string());
    Python::attach(|py| match &error {
        Error::Incompatible { what, ours, theirs, .. } => {
            exception(py, "Incompatible", (message, *what, line(ours), line(theirs)))
        }
        Error::Usage(_) => exception(py, "UsageError", (message,)),
        Error::Peer(_) => exception(py, "PeerError", (message,)),
        Error::Aborted(_) => exception(py, "Aborted", (message,)),
        Error::Closed(_) => exception(py, "Closed", (message,)),
        Error::Timeout { .. } => exception(py, "Timeout", (message,)),
        Error::Malformed { .. } => exception(py, "Malformed", (message,)),
        Error::Cancelled => exception(py, "Cancelled", (message,)),
        Error::Dead(_) => exception(py, "Dead", (message,)),
        _ => exception(py, "MachineError", (message,)),
    })
}

/// A misuse, by its words.
pub fn usage(message: impl Into<String>) -> PyErr {
    raised(Error::usage(message))
}

/// What is wrong with a circuit or a program.
pub fn of_program(error: duologue::circuit::Error) -> PyErr {
    raised(error.into())
}

/// If there is no such class, the error of that.
fn exception<A>(py: Python<'_>, class: &str, args: A) -> PyErr
where
    A: for<'py> pyo3::call::PyCallArgs<'py>,
{
    let made = py.import("duologue.errors").and_then(|errors| errors.getattr(class)?.call1(args));
    made.map_or_else(|why| why, PyErr::from_value)
}
