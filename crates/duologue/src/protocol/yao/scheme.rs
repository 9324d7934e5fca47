//! What the rest of the crate knows of Yao.

use super::lengths::YaoLengths;
use super::{Evaluator, Garbler, LABEL};
use crate::executor::{Engine, Executor, Lengths, PlanCache, Program, Protocol, Window};
use crate::protocol::terms::{Options, Terms};
use crate::protocol::{Base, Descriptor, KeySource, Resumed, Tiling};
use crate::{Party, Result};
use circuit::{Order, Schedule};
use kernels::Block;
use kernels::generator::Generator;

/// Yao's garbled circuits.
pub(crate) struct YaoScheme;

impl Descriptor for YaoScheme {
    fn name(&self) -> &'static str {
        "yao"
    }

    fn has_garbler(&self) -> bool {
        true
    }

    fn tiling(&self, most_lanes: u64) -> Tiling {
        let order = if most_lanes < 16 { Order::Layered } else { Order::DepthFirst };
        Tiling { order, cell_bits: 128, lanes: 16..=1 << 12, window: Window { cells: 16 << 20, maps: 1 << 20 } }
    }

    fn kept(&self, options: &Options, schedule: &Schedule) -> u64 {
        let tables = schedule.totals.and0.saturating_mul(options.garbling.table() as u64);
        tables.saturating_add(schedule.totals.in0.saturating_mul(32))
    }

    fn can_store_runs(&self) -> Result<()> {
        Ok(())
    }

    fn lengths(&self, terms: &Terms, party: Party, plans: &PlanCache) -> Box<dyn Lengths> {
        Box::new(YaoLengths::new(terms, party, plans))
    }

    /// The garbler draws S, and sends it.
    fn engine(&self, terms: &Terms, program: Program, keys: &mut dyn KeySource) -> Result<Box<dyn Engine>> {
        let party = keys.party();
        let lengths = YaoLengths::new(terms, party, &keys.plans().for_program());
        let delta = keys.delta()?;
        if terms.garbler != party {
            let mut evaluator = Evaluator::unopened(lengths, terms.garbling, common_seed(keys), keys.base());
            if let Some(s) = keys.opening(LABEL)? {
                evaluator.open(&s)?;
            }
            return Ok(Box::new(Executor::new(evaluator, program)?));
        }
        let mut own = keys.own(b"garbling");
        let (s, secret) = (own.block(), own.derive(b"labels  ", 0));
        keys.send(&s.to_bytes())?;
        let labels = if terms.ahead { secret } else { common_labels(keys, s) };
        let garbler = Garbler::new(lengths, delta, (terms.garbling, s), labels, keys.base());
        Ok(Box::new(Executor::new(garbler, program)?))
    }

    /// Labels were drawn when the run was prepared, and S was used by whoever garbled.
    fn resume(&self, terms: &Terms, program: Program, resumed: Resumed<'_>) -> Result<Box<dyn Engine>> {
        let Resumed { party, secret, and0, plans } = resumed;
        let lengths = YaoLengths::new(terms, party, &plans.for_program());
        let (base, nobody) = (Base { and0, in0: 0 }, Generator::from_seed(Block::ZERO));
        Ok(if terms.garbler == party {
            let garbler = Garbler::new(lengths, *secret, (terms.garbling, Block::ZERO), nobody, base);
            Box::new(Executor::new(garbler, program)?)
        } else {
            let evaluator = Evaluator::new(lengths, (terms.garbling, *secret), nobody, base);
            Box::new(Executor::new(evaluator, program)?)
        })
    }
}

/// The generator of a program's labels that both parties know. With S, which the garbler draws last, they are chosen by
/// nobody.
pub(crate) fn common_labels(keys: &dyn KeySource, s: Block) -> Generator {
    Generator::from_seed(common_seed(keys) ^ s)
}

/// What gives the seed of [`common_labels`] with S.
fn common_seed(keys: &dyn KeySource) -> Block {
    keys.pairwise(b"yao     ", keys.ordinal()).block()
}
