//! Mixed programs: which steps are computed by secret sharing, and which are garbled.
//!
//! Secret sharing takes a round for each layer of ANDs and few bytes an AND, garbling no round and many bytes. So what decides
//! is how many ANDs a step has in a layer, on average: its *width*. A step without ANDs is free by either, and goes where fewer bits
//! cross.

use super::{Binding, Step};
use crate::graph::Circuit;
use std::collections::BTreeSet;

/// How a part of a mixed program is computed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Technique {
    /// By secret sharing.
    Sharing,
    /// By garbled circuits.
    Garbling,
}

impl Technique {
    /// The first level from this one on whose part is computed so: they take turns.
    pub(super) fn from(self, level: u32) -> u32 {
        level + u32::from(Technique::of_level(level) != self)
    }

    /// The last level up to this one whose part is computed so.
    pub(super) fn until(self, level: u32) -> u32 {
        level.saturating_sub(u32::from(Technique::of_level(level) != self))
    }

    pub(super) fn of_level(level: u32) -> Technique {
        if level.is_multiple_of(2) { Technique::Sharing } else { Technique::Garbling }
    }
}

impl Binding {
    /// The widths of all steps, each once, in ascending order: their ANDs over all lanes by their depth. Operands count as secret.
    pub fn layer_widths(&self) -> Vec<u64> {
        widths(self).into_iter().flatten().collect::<BTreeSet<u64>>().into_iter().collect()
    }

    /// The widths at which a mixed program is cut into parts of either technique, that of the widest gap below it first; none if
    /// all steps are as wide.
    pub fn cuts(&self) -> Vec<u64> {
        let widths = self.layer_widths();
        let mut cuts: Vec<_> = widths.windows(2).map(|pair| (pair[0].max(1), pair[1])).collect();
        // By the quotients, without dividing.
        cuts.sort_by(|a, b| (u128::from(b.1) * u128::from(a.0)).cmp(&(u128::from(a.1) * u128::from(b.0))));
        cuts.into_iter().map(|(_, to)| to).collect()
    }
}

/// The technique of each step; none where it has no ANDs.
pub(super) fn techniques(binding: &Binding, share_from: u64) -> Vec<Option<Technique>> {
    let technique = |width| if width >= share_from { Technique::Sharing } else { Technique::Garbling };
    widths(binding).into_iter().map(|width| width.map(technique)).collect()
}

/// The width of each step; none if it has no secret ANDs.
fn widths(binding: &Binding) -> Vec<Option<u64>> {
    let program = binding.program();
    let of_circuit = |circuit: &Circuit| (circuit.and_count(), u64::from(circuit.depth()));
    let circuits: Vec<_> = program.circuits().iter().map(of_circuit).collect();
    let steps = program.steps().iter().zip(computed(binding));
    steps.map(|(step, is_computed)| is_computed.then(|| width(binding, step, &circuits)).flatten()).collect()
}

/// Of each step whether it makes a secret value that is called for.
fn computed(binding: &Binding) -> Vec<bool> {
    let program = binding.program();
    let (mut computed, mut read) = (vec![false; program.steps().len()], vec![false; program.values().len()]);
    let mut left = program.values().len() as u32;
    for (number, step) in program.steps().iter().enumerate().rev() {
        let end = left;
        while left > 0 && program.values()[left as usize - 1].step as usize == number {
            left -= 1;
        }
        // A fold is computed whether it is read or not.
        let is_sink = matches!(step, Step::Output { .. } | Step::Call { .. } | Step::Reduce { .. });
        if is_sink || program.range(left..end).any(|value| read[value.number()]) {
            step.args().iter().for_each(|arg| read[arg.number()] = true);
            computed[number] = program.range(left..end).any(|value| !binding.is_public(value));
        }
    }
    computed
}

fn width(binding: &Binding, step: &Step, circuits: &[(u64, u64)]) -> Option<u64> {
    let lanes_of = |args: &[super::Value]| args.first().map_or(1, |&arg| binding.lanes_of(arg));
    let ((ands, depth), times, folds) = match step {
        Step::Map { circuit, args } => (circuits[*circuit as usize], lanes_of(args), 1),
        Step::Iterate { circuit, cycles, state, .. } => {
            // Each cycle has as many.
            let is_none = |size: &super::Size| binding.sizes()[size.number()] == 0;
            let runs = cycles.factor() > 0 && !cycles.sizes().iter().any(is_none);
            (circuits[*circuit as usize], lanes_of(state) * u64::from(runs), 1)
        }
        Step::Reduce { circuit, args } => {
            let lanes = lanes_of(args).max(1);
            (circuits[*circuit as usize], lanes - 1, u64::from(lanes.next_power_of_two().ilog2()))
        }
        _ => return None,
    };
    let layers = depth * folds;
    (ands > 0 && times > 0 && layers > 0).then(|| ands.saturating_mul(times) / layers)
}

#[cfg(test)]
mod tests {
    use super::super::parts::Part;
    use super::*;
    use crate::builder::Builder;
    use crate::plan::Order;
    use crate::program::{Owner, Party, Program, Recipient, Schedule, View};
    use crate::{Bits, bits};

    /// A circuit of two ports of eight bits: `chain` ANDs one after another for every bit of the result.
    fn ands(chain: u32) -> Circuit {
        let mut c = Builder::new("ands");
        let (a, b) = (c.bits("a", 8), c.bits("b", 8));
        let bit = |c: &mut Builder, i: usize| {
            (0..chain).fold(a.0[i], |so_far, j| {
                let next = c.xor(so_far, b.0[(i + j as usize + 1) % 8]);
                c.and(next, b.0[(i + j as usize) % 8])
            })
        };
        let out = Bits((0..8).map(|i| bit(&mut c, i)).collect());
        c.output("out", &out);
        c.finish()
    }

    /// Wide, then narrow, then wide again on what the narrow step made of one lane.
    fn program() -> Program {
        let mut p = Program::new("mixed");
        let [a, b] = [Party::Alice, Party::Bob].map(|party| p.input(&party.to_string(), party, bits(8), 100));
        let products = p.map(&ands(1), &[a, b]);
        let [least] = p.reduce(&ands(5), &[products])[..] else { unreachable!() };
        let least = p.repeat(least, 100);
        let again = p.map(&ands(2), &[least, b]);
        p.output("again", Party::Alice, again);
        p.output("products", Recipient::Shared, products);
        p
    }

    /// The technique of a part, its ANDs, and whose its ports are.
    type Found = (Option<Technique>, u64, Vec<Owner>, Vec<Recipient>);

    fn parts_of(share_from: u64) -> Vec<Found> {
        let binding = program().bind(&[]).unwrap();
        let schedule =
            Schedule::mixed(&binding, share_from, &[(Order::Layered, &|_| 64), (Order::DepthFirst, &|_| 16)]).unwrap();
        let parts = schedule.parts.unwrap();
        let of_part = |part: &Part| match part {
            Part::Program(part) => {
                let owners = part.binding.inputs().iter().map(|port| port.who).collect();
                let recipients = part.binding.outputs().iter().map(|port| port.who).collect();
                let tile = if part.technique == Some(Technique::Garbling) { 16 } else { 64 };
                assert_eq!(part.schedule.tile, tile);
                (part.technique, part.schedule.totals.and0, owners, recipients)
            }
            Part::Call(_) => panic!("there is no call"),
        };
        parts.list.iter().map(of_part).collect()
    }

    #[test]
    fn a_program_is_cut_where_the_technique_changes() {
        // 100 lanes of 8 ANDs; 99 of 40 in seven layers of five; 100 of 16 in two.
        assert_eq!(program().bind(&[]).unwrap().layer_widths(), [99 * 40 / 35, 800]);
        let (sharing, garbling) = (Some(Technique::Sharing), Some(Technique::Garbling));
        let [alice, bob] = [Party::Alice, Party::Bob].map(Owner::Party);
        let learner = Recipient::Party(Party::Alice);
        let cut = [
            // The products go out and to the fold.
            (sharing, 800, vec![alice, bob], vec![Recipient::Shared; 2]),
            (garbling, 99 * 40, vec![Owner::Shared], vec![Recipient::Shared]),
            (sharing, 1600, vec![Owner::Shared, bob], vec![learner]),
        ];
        assert_eq!(program().bind(&[]).unwrap().cuts(), [800]);
        for share_from in [114, 800] {
            assert_eq!(parts_of(share_from), cut, "from {share_from}");
        }
        let all = 800 + 99 * 40 + 1600;
        let whole = |technique| vec![(technique, all, vec![alice, bob], vec![learner, Recipient::Shared])];
        assert_eq!(parts_of(113), whole(sharing));
        assert_eq!(parts_of(801), whole(garbling));
    }

    /// A lane of many, a fold by XOR: fewer bits cross behind them. XORs of inputs are where they are read.
    #[test]
    fn what_narrows_stays_where_it_is() {
        let mut p = Program::new("narrow");
        let [a, b] = [Party::Alice, Party::Bob].map(|party| p.input(&party.to_string(), party, bits(8), 100));
        let products = p.map(&ands(1), &[a, b]);
        let first = p.view(View::Slice { start: 0, step: 1, count: 1.into() }, &[products]);
        let chained = p.map(&ands(9), &[first, first]);
        p.output("chained", Party::Bob, chained);
        let (alice, bob) = (Owner::Party(Party::Alice), Owner::Party(Party::Bob));
        let binding = p.bind(&[]).unwrap();
        let schedule = Schedule::mixed(&binding, 800, &[(Order::Layered, &|_| 64); 2]).unwrap();
        let parts = schedule.parts.unwrap();
        let [first, second] = [0, 1].map(|number| parts.programs().nth(number).unwrap());
        assert_eq!(first.binding.outputs().iter().map(|port| port.lanes).collect::<Vec<_>>(), [1]);
        assert_eq!(
            second.binding.inputs().iter().map(|port| (port.who, port.lanes)).collect::<Vec<_>>(),
            [(Owner::Shared, 1)]
        );
        assert_eq!(first.binding.inputs().iter().map(|port| port.who).collect::<Vec<_>>(), [alice, bob]);
    }

    /// Steps that nobody reads, or without lanes or cycles, cut nothing; no number of lanes is too large to count.
    #[test]
    fn only_what_is_computed_counts() {
        let mut p = Program::new("computed");
        let many = p.size("many", 0..=1 << 40);
        let [a, b] = [Party::Alice, Party::Bob].map(|party| p.input(&party.to_string(), party, bits(8), many));
        let products = p.map(&ands(1), &[a, b]);
        let unread = p.map(&ands(2), &[products, b]);
        p.map(&ands(3), &[unread, b]);
        let one = p.view(View::Slice { start: 0, step: 1, count: 1.into() }, &[products]);
        p.output("one", Party::Alice, one);
        // A port holds no more than 2^34 bits, a value more.
        assert_eq!(p.bind(&[("many", 1 << 30)]).unwrap().layer_widths(), [8 << 30]);
        let mut p = Program::new("many");
        let a = p.input("a", Party::Alice, bits(8), 1);
        let all = p.repeat(a, 1 << 40);
        let products = p.map(&ands(5), &[all, all]);
        let one = p.view(View::Slice { start: 0, step: 1, count: 1.into() }, &[products]);
        p.output("one", Party::Alice, one);
        assert_eq!(p.bind(&[]).unwrap().layer_widths(), [8 << 40]);
    }

    #[test]
    fn levels_take_turns() {
        for level in 0..10 {
            for technique in [Technique::Sharing, Technique::Garbling] {
                let [from, until] = [technique.from(level), technique.until(level + 1)];
                assert!(from == level || from == level + 1);
                assert_eq!(Technique::of_level(from), technique);
                assert!(until == level || until == level + 1);
                assert_eq!(Technique::of_level(until), technique);
            }
        }
    }
}
