//! Calls of a session: the protocols that it knows, calls alone, and programs with calls.

use super::program::{Job, ProgramKeys};
use super::{Outcome, Session};
use crate::call::{CallProtocol, CallRun, Calls, Holder, InParts, PartyCall};
use crate::data::Inputs;
use crate::executor::{Engine, Program};
use crate::protocol::terms::Options;
use crate::protocol::{Base, KeySource, yao};
use crate::{Result, Scheme};
use circuit::program::{CallPart, Functionality, Owner, Parts, ProgramPart, Recipient, Schedule};
use circuit::{BitMatrix, bits};
use std::sync::Arc;

/// An argument of a call alone: who holds it, its bits and lanes, and what this party has of it.
pub struct CallArg {
    /// Who holds it.
    pub holder: Holder,
    /// Bits of a lane.
    pub width: u32,
    /// How many lanes.
    pub lanes: u64,
    /// The value or the share of it; none if the peer holds it.
    pub value: Option<BitMatrix>,
}

impl CallArg {
    /// A value that this party or the peer holds, or of which this is a share.
    pub fn new(holder: Holder, width: u32, lanes: u64, value: Option<BitMatrix>) -> CallArg {
        CallArg { holder, width, lanes, value }
    }
}

impl Session {
    /// Registers the protocol for a call, in place of any other of the same name and version. Programs that call it run
    /// from then on; the peer registers it too.
    pub fn register(&mut self, protocol: Arc<dyn CallProtocol>) {
        self.calls.add(protocol);
        // The lengths of the calls of the last program were those of the protocols before.
        self.last = None;
    }

    /// Registers all of these, as [`register`](Self::register) does.
    pub fn register_all(&mut self, calls: &Calls) {
        calls.iter().for_each(|protocol| self.register(protocol.clone()));
    }

    /// Calls a registered functionality alone: setup, then online. The results are the outputs `0`, `1` and so on: this
    /// party's shares, and the values that it holds. Of the options the maker of correlations and the timing count.
    ///
    /// # Errors
    /// As [`run`](Session::run); [`Error::Usage`](crate::Error::Usage) if the functionality does not take these parameters
    /// and arguments, or no protocol is registered for it.
    pub fn call(
        &mut self,
        functionality: &Arc<dyn Functionality>,
        parameters: &[u8],
        args: Vec<CallArg>,
        options: &Options,
    ) -> Result<Outcome> {
        let mut program = circuit::Program::new(functionality.name());
        let (mut values, mut inputs) = (Vec::new(), Inputs::new());
        for (number, arg) in args.into_iter().enumerate() {
            let owner = match arg.holder {
                Holder::Party(party) => Owner::Party(party),
                Holder::Shared => Owner::Shared,
            };
            let name = number.to_string();
            values.push(program.input(&name, owner, bits(arg.width), arg.lanes));
            if let Some(value) = arg.value {
                inputs.set(&name, value);
            }
        }
        for (number, value) in program.call(functionality, parameters, &values).into_iter().enumerate() {
            let recipient = match program.holder(value) {
                Holder::Party(party) => Recipient::Party(party),
                Holder::Shared => Recipient::Shared,
            };
            program.output(&number.to_string(), recipient, value);
        }
        let binding = program.bind(&[])?;
        self.run(&binding, &options.scheme(Scheme::Gmw), &inputs)
    }

    /// This party of a program with calls that begins now.
    pub(super) fn begin_parts(
        &mut self,
        job: &Job,
        program: Program,
        parts: &Arc<Parts>,
        (base, ordinal): (Base, u64),
    ) -> Result<Box<dyn Engine>> {
        let (first, calls) = (ordinal, self.calls.clone());
        // Each part counts as a program of its own, so that none has the numbers and secrets of another.
        let mut keys = ProgramKeys { session: self, base, ordinal };
        let begin = |keys: &mut ProgramKeys<'_>, (part, program): (&ProgramPart, Program)| {
            let numbers = numbers_of(&program.schedule);
            let (terms, program) = job.terms.for_part(part, program);
            let engine = terms.scheme.descriptor().engine(&terms, program, keys)?;
            keys.base.add(numbers);
            keys.ordinal += 1;
            Ok(engine)
        };
        let call = |keys: &mut ProgramKeys<'_>, part: &CallPart| -> Result<Box<dyn CallRun>> {
            let protocol = calls.find(&*part.functionality)?;
            let mut call = PartyCall::new(part, protocol, keys.party(), &keys.session(), first)?;
            if call.takes_cots() {
                call.set_delta(keys.delta()?);
            }
            Ok(Box::new(call))
        };
        Ok(Box::new(InParts::new(program, parts, &mut keys, begin, call)?))
    }
}

/// The numbers that a program takes of its session: those of all its parts.
pub(super) fn numbers_of(schedule: &Schedule) -> Base {
    let one = |schedule: &Schedule| Base { and0: yao::numbers_of(schedule), in0: schedule.totals.in0 };
    let Some(parts) = &schedule.parts else { return one(schedule) };
    let mut sum = Base::default();
    parts.programs().for_each(|part| sum.add(one(&part.schedule)));
    sum
}

/// How many programs of a session a program counts for.
pub(super) fn programs_of(schedule: &Schedule) -> u64 {
    schedule.parts.as_ref().map_or(1, |parts| parts.programs().count().max(1) as u64)
}
