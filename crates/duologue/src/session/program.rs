//! One program of a session: what is agreed on, its keys, and its engine.

use super::Session;
use crate::executor::{Engine, Feeds, Link, PlanCache, Program};
use crate::protocol::terms::Terms;
use crate::protocol::{Base, KeySource};
use crate::{Party, Result};
use circuit::program::{Binding, Schedule};
use kernels::Block;
use kernels::generator::Generator;
use std::sync::Arc;

/// A bound program under agreed terms.
pub(super) struct Job {
    pub terms: Terms,
    pub binding: Arc<Binding>,
    pub schedule: Arc<Schedule>,
    pub public: Feeds,
}

impl Job {
    /// The program as this party runs it.
    pub fn program(&self, session: &mut Session) -> Result<Program> {
        Ok(Program {
            party: Some(session.party),
            binding: self.binding.clone(),
            schedule: self.schedule.clone(),
            window: self.terms.window,
            ahead: self.terms.ahead,
            public: self.public.clone(),
            threads: session.threads()?,
            strands: self.terms.strands,
            movers: 0,
        })
    }
}

impl Session {
    /// This party of a program that begins now.
    pub(super) fn engine(&mut self, job: &Job, taken: (Base, u64)) -> Result<Box<dyn Engine>> {
        let program = job.program(self)?;
        if let Some(parts) = &job.schedule.parts {
            return self.begin_parts(job, program, parts, taken);
        }
        let (base, ordinal) = taken;
        job.terms.scheme.descriptor().engine(&job.terms, program, &mut ProgramKeys { session: self, base, ordinal })
    }
}

/// The keys of one program, from the session.
pub(super) struct ProgramKeys<'a> {
    pub session: &'a mut Session,
    pub base: Base,
    pub ordinal: u64,
}

impl KeySource for ProgramKeys<'_> {
    fn party(&self) -> Party {
        self.session.party
    }

    fn session(&self) -> [u8; 32] {
        self.session.id
    }

    fn ordinal(&self) -> u64 {
        self.ordinal
    }

    fn base(&self) -> Base {
        self.base
    }

    fn delta(&mut self) -> Result<Block> {
        self.session.wire.delta()
    }

    fn own(&self, label: &[u8; 8]) -> Generator {
        self.session.secrets.derive(label, self.ordinal)
    }

    fn pairwise(&self, label: &[u8; 8], number: u64) -> Generator {
        self.session.pairwise.derive(label, number)
    }

    fn plans(&self) -> &PlanCache {
        &self.session.plans
    }

    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.session.wire.send(bytes)?;
        self.session.wire.flush()
    }

    fn opening(&mut self, len: usize) -> Result<Option<Vec<u8>>> {
        self.session.wire.opening_now_or_later(len)
    }
}
