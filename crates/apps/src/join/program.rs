//! The program of a query for two numbers of rows.

use super::plan::{Formula, Kind, Piece, Plan, Selection, index_bits, sum_bytes};
use super::{COUNT_BITS, Figure, MOST_ROWS, Query, What, lower};
use crate::conditional_sum::{self, ConditionalSum};
use crate::psi::Learns;
use crate::psi::shares::{Carried, Shares, Terms, compared};
use crate::statistics::{FRACTION, nearest};
use duologue::circuit::blocks::{Goal, absolute, add, greater_or_equal, negate_if, one_hot};
use duologue::circuit::program::{Functionality, Recipient, Value};
use duologue::circuit::{
    Binding, Bit, Bits, Builder, Circuit, Int, Kind as TypeKind, Party, Program, Result, Type, UInt, Word, bits, int,
    uint,
};
use std::sync::Arc;

/// The input of a party's keys.
pub fn key_port(party: Party) -> String {
    format!("{} keys", lower(party))
}

/// The input of a piece: what it says, as far as a name goes.
pub fn port(place: usize, piece: &Piece) -> String {
    let text = format!("{place}: {}", piece.kind);
    text.chars().take(MOST_SHOWN).collect()
}

/// Characters of a piece in the name of its input; the rest is in the program's digest by the text of the query.
const MOST_SHOWN: usize = 60;

/// What a program keeps by single steps. A test has twins of it with a step that is wrong, each of which it must see.
pub trait Rules {
    /// Whether a row is counted on which the condition holds: it is in both tables.
    fn selected(c: &mut Builder, in_both: Bit, holds: Bit) -> Bit {
        c.and(in_both, holds)
    }

    /// Bytes of a sum of numbers of so many bits.
    fn sum_bytes(bits: u32) -> u8 {
        sum_bytes(bits)
    }

    /// Whether a figure is told: so many rows that were counted inside are enough.
    fn is_told(c: &mut Builder, counted: &UInt, least: u64) -> Bit {
        greater_or_equal(c, counted, &UInt::constant(least.into(), COUNT_BITS), Goal::Depth)
    }

    /// What is opened of a figure: zeros if it is not told.
    fn opened(c: &mut Builder, told: Bit, value: &[Bit]) -> Vec<Bit> {
        value.iter().map(|&bit| c.and(told, bit)).collect()
    }
}

/// Those of every query.
pub struct Kept;

impl Rules for Kept {}

/// Whether a figure is told: the name of that output.
pub fn told_port(figure: &Figure) -> String {
    format!("{} is told", figure.name)
}

impl Query {
    /// A name that no other query has: a hash of its [text](Self::text).
    pub fn name(&self) -> String {
        let mut hasher = blake3::Hasher::new_derive_key("duologue v1 join: the text of a query");
        let hash = hasher.update(self.text().as_bytes()).finalize();
        format!("join {}", &hash.to_hex()[..32])
    }

    /// The program for these numbers of Alice's and Bob's rows, bound to them.
    ///
    /// # Errors
    /// As [`check`](Self::check); or if rows times groups are too many.
    pub fn program(&self, sizes: [u64; 2]) -> Result<Binding> {
        self.program_by::<Kept>(sizes)
    }

    pub(super) fn program_by<R: Rules>(&self, sizes: [u64; 2]) -> Result<Binding> {
        self.check()?;
        let plan = Plan::new(self);
        let mut p = Program::new(self.name());
        let bins = Bins::new::<R>(&mut p, &plan, plan.terms(sizes));
        let conditions: Vec<Value> =
            plan.selections.iter().map(|selection| bins.condition::<R>(&mut p, selection)).collect();
        let mut sums = Sums { plan: &plan, bins: &bins, conditions: &conditions, known: Vec::new() };
        let to = match self.learns {
            Learns::Only(party) => Recipient::Party(party),
            Learns::Both => Recipient::Both,
        };
        for (place, figure) in self.figures.iter().enumerate() {
            let selection = plan.selected[place];
            let mut parts = Vec::new();
            if figure.what == What::Count || figure.least() > 0 {
                parts.extend(sums.of::<R>(&mut p, selection, None));
            }
            if let Some(number) = plan.numbers[place] {
                parts.extend(sums.of::<R>(&mut p, selection, Some(number)));
            }
            let circuit = told::<R>(figure);
            for (port, value) in circuit.outputs().iter().zip(p.map_all(&circuit, &parts)) {
                p.output(&port.name, to, value);
            }
        }
        p.bind(&[("alice rows", sizes[0]), ("bob rows", sizes[1])])
    }
}

/// What circuit PSI gives, a lane for each bin.
struct Bins {
    in_both: Value,
    /// Of each piece its values: of a number of the sender's the two that it is the sum of.
    pieces: Vec<Vec<Value>>,
    /// Whether the group of a piece is a bit for each, and not a number.
    is_one_hot: Vec<bool>,
}

impl Bins {
    fn new<R: Rules>(p: &mut Program, plan: &Plan, terms: Terms) -> Bins {
        let parties = [Party::Alice, Party::Bob];
        let sizes = parties.map(|party| p.size(&format!("{} rows", lower(party)), 0..=MOST_ROWS));
        let strings = parties.map(|party| p.input(&key_port(party), party, bits(128), sizes[party as usize]));
        let mut travelling = Vec::new();
        for (place, piece) in plan.pieces.iter().enumerate() {
            let is_sent = piece.party != terms.receiver;
            let (ty, how) = match &piece.kind {
                Kind::Tested(_) => (bits(1), Carried::Of(piece.party)),
                Kind::Grouped(by) if is_sent => (uint(index_bits(by.values.len())), Carried::Of(piece.party)),
                Kind::Grouped(by) => (bits(by.values.len() as u32), Carried::Of(piece.party)),
                Kind::Summed(number) if is_sent => (int(number.bits), Carried::Added(R::sum_bytes(number.bits))),
                Kind::Summed(number) => (int(number.bits), Carried::Of(piece.party)),
            };
            travelling.push((how, p.input(&port(place, piece), piece.party, ty, sizes[piece.party as usize])));
        }
        let Shares { in_both, values } = compared(p, terms, strings, &travelling);
        let mut values = values.into_iter();
        let count = |how: &Carried| if matches!(how, Carried::Added(_)) { 2 } else { 1 };
        let pieces = travelling.iter().map(|(how, _)| values.by_ref().take(count(how)).collect()).collect();
        let is_one_hot = plan.pieces.iter().map(|piece| piece.party == terms.receiver).collect();
        Bins { in_both, pieces, is_one_hot }
    }

    /// Of each bin a bit for each group: whether the rows in it are counted there.
    fn condition<R: Rules>(&self, p: &mut Program, selection: &Selection) -> Value {
        let mut used = Vec::new();
        selection.of.iter().for_each(|of| of.pieces(&mut used));
        used.extend(selection.by);
        if used.is_empty() {
            return self.in_both;
        }
        let mut c = Builder::new("condition");
        let in_both = c.bits("in both", 1).0[0];
        let mut args = vec![self.in_both];
        let words: Vec<(usize, Vec<Bit>)> = used
            .iter()
            .map(|&piece| {
                let value = self.pieces[piece].first().copied().unwrap_or(self.in_both);
                args.push(value);
                (piece, c.input(format!("piece {piece}"), p.type_of(value)))
            })
            .collect();
        let word = |piece: usize| words.iter().find(|(known, _)| *known == piece).map_or(&[][..], |(_, word)| word);
        let holds = selection.of.as_ref().map_or(Bit::TRUE, |of| of.write(&mut c, &|piece| word(piece)[0]));
        let selected = R::selected(&mut c, in_both, holds);
        let groups = match selection.by {
            Some(by) if self.is_one_hot[by] => word(by).to_vec(),
            Some(by) => one_hot(&mut c, word(by)).into_iter().take(selection.groups).collect(),
            None => vec![Bit::TRUE],
        };
        let all: Vec<Bit> = groups.into_iter().map(|group| c.and(selected, group)).collect();
        c.output("selected", &Bits(all));
        p.map(&c.finish(), &args)
    }
}

impl Formula {
    /// The pieces that it has, each once.
    fn pieces(&self, to: &mut Vec<usize>) {
        match self {
            Formula::Piece(piece) if to.contains(piece) => {}
            Formula::Piece(piece) => to.push(*piece),
            Formula::Not(inner) => inner.pieces(to),
            Formula::All(parts) | Formula::Any(parts) => parts.iter().for_each(|part| part.pieces(to)),
        }
    }

    fn write(&self, c: &mut Builder, bit: &impl Fn(usize) -> Bit) -> Bit {
        match self {
            Formula::Piece(piece) => bit(*piece),
            Formula::Not(inner) => !inner.write(c, bit),
            Formula::All(parts) => parts.iter().fold(Bit::TRUE, |all, part| {
                let part = part.write(c, bit);
                c.and(all, part)
            }),
            Formula::Any(parts) => parts.iter().fold(Bit::FALSE, |any, part| {
                let part = part.write(c, bit);
                c.or(any, part)
            }),
        }
    }
}

/// A selection of rows, and the piece whose numbers are added up; if there is none the rows are counted.
type Summands = (usize, Option<usize>);

/// Sums that were called for: of the same rows and numbers one call.
struct Sums<'a> {
    plan: &'a Plan,
    bins: &'a Bins,
    conditions: &'a [Value],
    known: Vec<(Summands, Vec<Value>)>,
}

impl Sums<'_> {
    /// Two numbers for each group, whose sum is that of a piece over the rows of a selection, or how many rows these are.
    fn of<R: Rules>(&mut self, p: &mut Program, selection: usize, number: Option<usize>) -> Vec<Value> {
        let wanted = (selection, number);
        if let Some((_, parts)) = self.known.iter().find(|(known, _)| *known == wanted) {
            return parts.clone();
        }
        let bytes = match number.map(|piece| &self.plan.pieces[piece].kind) {
            Some(Kind::Summed(number)) => R::sum_bytes(number.bits),
            _ => (COUNT_BITS / 8) as u8,
        };
        let groups = self.plan.selections[selection].groups as u16;
        let mut args = vec![self.conditions[selection]];
        args.extend(number.iter().flat_map(|&piece| self.bins.pieces[piece].iter().copied()));
        let sum: Arc<dyn Functionality> = Arc::new(ConditionalSum);
        let parts = p.call(&sum, &conditional_sum::parameters(bytes, groups), &args);
        self.known.push((wanted, parts.clone()));
        parts
    }
}

/// What is told of a figure, from the two parts of how many rows are behind it, if that matters, and of its sum, if it has one.
fn told<R: Rules>(figure: &Figure) -> Circuit {
    let mut c = Builder::new("figure");
    let least = figure.least();
    let count = (figure.what == What::Count || least > 0).then(|| UInt(total(&mut c, "count", COUNT_BITS).0));
    let shown = count.as_ref().filter(|_| least > 0).map(|count| R::is_told(&mut c, count, least));
    let count = count.unwrap_or(UInt(Vec::new()));
    let (ty, value) = match &figure.what {
        What::Count => (uint(COUNT_BITS), count.0),
        What::Sum(number) => {
            let sum = total(&mut c, "sum", 8 * u32::from(R::sum_bytes(number.bits)));
            (int(64), Int(sum.0).resized(64).0)
        }
        What::Mean(number) => {
            let sum = total(&mut c, "sum", 8 * u32::from(R::sum_bytes(number.bits)));
            mean(&mut c, &Int(sum.0), &count, number.bits)
        }
    };
    let shown = shown.unwrap_or(Bit::TRUE);
    let value = R::opened(&mut c, shown, &value);
    c.output_as(&figure.name, ty, &value);
    if least > 0 {
        c.output(told_port(figure), &Bits::from(shown));
    }
    c.finish()
}

/// A number of two parts.
fn total(c: &mut Builder, name: &str, width: u32) -> Bits {
    let [hers, his] = ["alice", "bob"].map(|party| c.bits(format!("{name} {party}"), width));
    add(c, &hers, &his, Goal::Depth)
}

/// The sum of numbers of so many bits by how many they are, rounded to the nearest, in the middle away from zero.
fn mean(c: &mut Builder, sum: &Int, count: &UInt, width: u32) -> (Type, Vec<Bit>) {
    let size = absolute(c, sum, Goal::Depth);
    // The least number is farther from zero than the greatest.
    let bits = width + FRACTION;
    let size = nearest(c, &size, count, bits, Goal::Depth);
    let negative = sum.bits()[sum.width() - 1];
    let mean = negate_if(c, negative, &Int(size.resized(bits as usize + 1).0), Goal::Depth);
    (Type { kind: TypeKind::Fixed { fraction: FRACTION }, width: bits + 1 }, mean.0)
}
