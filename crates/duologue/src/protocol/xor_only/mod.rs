//! XOR-only: GMW without ANDs. A bit is two XOR shares, and nothing is exchanged but outputs.
//!
//! The garbled-circuit-free, triple-free part of Goldreich, Micali, Wigderson (STOC 1987). **Security**: semi-honest,
//! information-theoretic given the shared generator. **Rounds**: one, for outputs.

mod lengths;
mod scheme;

use crate::correlation::Stock;
use crate::executor::cells::Nothing;
use crate::executor::interpreter::{gather, map};
use crate::executor::{Arg, Flow, Job, Lengths, Made, Protocol, Setup, Stage};
use crate::outbox::Outbox;
use crate::packed::{pack, unpack};
use crate::{Error, Party, Result};
use circuit::BitMatrix;
use circuit::program::{Kind, Owner, Recipient};
use kernels::generator::Generator;
use lengths::XorOnlyLengths;
pub(crate) use scheme::XorOnlyScheme;

/// One party.
pub(crate) struct XorOnly {
    lengths: XorOnlyLengths,
    /// The generator that only the two parties know: of the peer's shares of inputs.
    pairwise: Generator,
    /// Input bits of this session before this program.
    in0: u64,
}

/// A task in setup, of which nothing is needed.
pub(crate) struct NoSetup;

/// A task online: its share, and whether that of an output was sent.
pub(crate) struct Share {
    share: BitMatrix,
    sent: bool,
}

impl XorOnly {
    fn party(&self) -> Party {
        self.lengths.party
    }

    fn mask_of(&self, job: &Job) -> BitMatrix {
        let mut share = BitMatrix::zeros(job.task.rows, job.task.lanes);
        self.pairwise.derive(b"input   ", self.in0 + job.task.seat.in0).words(share.words_mut());
        share.clear_padding();
        share
    }

    /// A map without ANDs is affine: Bob leaves its constant out.
    fn map(&self, job: &Job, args: &[Arg<'_, BitMatrix>]) -> BitMatrix {
        let (Kind::Map { wiring, .. }, Some(plan)) = (&job.task.kind, &job.plan) else { unreachable!("only maps") };
        let run = |args: &[Arg<'_, BitMatrix>]| map(plan, wiring, job.task.lanes, args, &job.public);
        if self.party() == Party::Alice {
            return run(args);
        }
        let zeros = args.iter().map(|arg| match arg {
            Arg::Secret(arg) => BitMatrix::zeros(arg.rows(), arg.lanes()),
            Arg::Public(public) => BitMatrix::clone(public),
        });
        let zeros: Vec<_> = zeros.collect();
        run(args).xor(&run(&zeros.iter().map(Arg::Secret).collect::<Vec<_>>()))
    }
}

impl Stage<XorOnly> for NoSetup {
    type Output = ();

    fn step(&mut self, _: &XorOnly, _: &Job, _: &[u8], _: &mut Outbox) -> Result<Flow<()>> {
        Ok(Flow::Done(()))
    }
}

impl Setup<XorOnly> for NoSetup {
    fn take_mask(&mut self) -> Option<Nothing> {
        Some(Nothing)
    }
}

impl Stage<XorOnly> for Share {
    type Output = Made<BitMatrix>;

    fn step(&mut self, us: &XorOnly, job: &Job, inbox: &[u8], outbox: &mut Outbox) -> Result<Flow<Made<BitMatrix>>> {
        let share = || BitMatrix::clone(&self.share);
        let Kind::Output { recipient, .. } = job.task.kind else { return Ok(Flow::Done(Made::Value(share()))) };
        if recipient == Recipient::Shared {
            return Ok(Flow::Done(Made::Output(Some(share()))));
        }
        if !std::mem::replace(&mut self.sent, true) {
            if recipient.includes(us.party().peer()) {
                outbox.extend_from_slice(pack(&self.share).bytes());
            }
            return Ok(Flow::Exchange);
        }
        let theirs = || unpack(inbox, job.task.rows, job.task.lanes);
        Ok(Flow::Done(Made::Output(recipient.includes(us.party()).then(|| self.share.xor(&theirs())))))
    }
}

impl Protocol for XorOnly {
    type Mask = Nothing;
    type Value = BitMatrix;
    type Prepared = ();
    type Setup = NoSetup;
    type Online = Share;

    fn lengths(&self) -> &dyn Lengths {
        &self.lengths
    }

    fn setup(&self, _: &Job, _: &[Arg<'_, Nothing>], _: &mut Stock) -> Result<NoSetup> {
        Ok(NoSetup)
    }

    fn online(&self, job: &Job, (): (), args: &[Arg<'_, BitMatrix>], feed: Option<BitMatrix>) -> Result<Share> {
        let missing = || Error::usage("an input is missing");
        let share = match &job.task.kind {
            Kind::Input { owner: Owner::Party(owner), .. } if *owner != self.party() => self.mask_of(job),
            Kind::Input { owner: Owner::Party(_), .. } => self.mask_of(job).xor(&feed.ok_or_else(missing)?),
            Kind::Input { .. } => feed.ok_or_else(missing)?,
            Kind::Output { wiring, .. } => {
                let lifted: Vec<_> = args
                    .iter()
                    .map(|arg| match arg {
                        Arg::Secret(share) => BitMatrix::clone(share),
                        Arg::Public(public) => self.lift(public),
                    })
                    .collect();
                gather(wiring, job.task.rows, job.task.lanes, &lifted.iter().map(Arg::Secret).collect::<Vec<_>>())
            }
            _ => self.map(job, args),
        };
        Ok(Share { share, sent: false })
    }

    fn lift_mask(&self, _: &BitMatrix) -> Nothing {
        Nothing
    }

    fn lift(&self, public: &BitMatrix) -> BitMatrix {
        match self.party() {
            Party::Alice => public.clone(),
            Party::Bob => BitMatrix::zeros(public.rows(), public.lanes()),
        }
    }
}
