//! What a session needs of public-key cryptography, and of its first program, and of nobody else.

use super::Asked;
use crate::Result;
use crate::ot::{BASE_OTS, base::Ephemeral, os_generator};
use crate::protocol::terms::{Options, Terms};
use circuit::Schedule;
use circuit::program::Binding;
use kernels::generator::Generator;
use std::sync::Arc;

/// The secrets of one session, drawn before there is a peer, with the multiples of G of its base OTs.
///
/// [`Session::connect_with`](super::Session::connect_with) takes it. A party that makes it before it waits for its peer,
/// or dials, has that work behind it when they meet: 128 multiplications by a table, and the schedule of the first
/// program if it is named.
///
/// ```
/// # use duologue::{Party, Precomputation, Result, Session, channel::{Limits, Listener, Security}};
/// # fn serve(mut listener: Listener, security: &Security) -> Result<Session> {
/// let precomputation = Precomputation::new()?;
/// let channel = listener.accept(security, &Limits::default())?;
/// Session::connect_with(channel, Party::Bob, precomputation)
/// # }
/// ```
#[must_use = "it serves one session"]
pub struct Precomputation {
    pub(super) secrets: Generator,
    pub(super) correlating: Correlating,
    pub(super) program: Option<(Asked, Terms, Arc<Schedule>)>,
}

impl Precomputation {
    /// Draws from the operating system's generator, and computes.
    ///
    /// # Errors
    /// If the system has no randomness.
    pub fn new() -> Result<Self> {
        let mut drawn = Precomputation::of(os_generator()?);
        drawn.correlating.compute();
        Ok(drawn)
    }

    /// Computes the schedule of the session's first program, if it runs under these options.
    ///
    /// # Errors
    /// [`Error::Usage`](crate::Error::Usage) if the program cannot run under them.
    pub fn with_program(mut self, binding: &Binding, options: &Options) -> Result<Self> {
        let (terms, schedule) = Terms::resolve(binding, options)?;
        self.program = Some((super::asked(binding, options)?, terms, Arc::new(schedule)));
        Ok(self)
    }

    /// With nothing computed yet; all secrets of the session come from this generator.
    pub(crate) fn of(secrets: Generator) -> Self {
        let correlating = Correlating { secrets: secrets.derive(b"setup   ", 0), ephemeral: None };
        Precomputation { secrets, correlating, program: None }
    }
}

/// The secrets of base OTs and of the makers of correlations.
pub(super) struct Correlating {
    pub secrets: Generator,
    ephemeral: Option<Ephemeral>,
}

impl Correlating {
    /// Makes the multiples of G, if that was not done before.
    pub fn compute(&mut self) {
        if self.ephemeral.is_none() {
            self.ephemeral = Some(Ephemeral::new(&mut self.secrets.derive(b"multiple", 0), BASE_OTS));
        }
    }

    /// The multiples of G, for one use.
    pub fn ephemeral(mut self) -> Ephemeral {
        self.compute();
        self.ephemeral.expect("it was computed")
    }
}
