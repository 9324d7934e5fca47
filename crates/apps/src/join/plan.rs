//! What each party gives of a row, and which bits of both select it.

use super::{COUNT_BITS, Condition, Groups, MOST_SENT, Number, Query, Test, What, lower};
use crate::psi::shares::Terms;
use duologue::circuit::{Error, Party, Result};
use std::fmt;

/// What a party gives of each of its rows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Whether a condition on its own columns holds.
    Tested(Condition),
    /// Which group it is in, if any.
    Grouped(Groups),
    /// A number.
    Summed(Number),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Piece {
    pub party: Party,
    pub kind: Kind,
}

/// A condition whose tests are pieces.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Formula {
    Piece(usize),
    All(Vec<Formula>),
    Any(Vec<Formula>),
    Not(Box<Formula>),
}

/// Rows that are counted or added up, by groups.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Selection {
    pub of: Option<Formula>,
    /// The piece that says the group.
    pub by: Option<usize>,
    /// How many groups.
    pub groups: usize,
}

/// All that a query computes, by places in its lists.
pub struct Plan {
    pub pieces: Vec<Piece>,
    pub selections: Vec<Selection>,
    /// The selection of each figure.
    pub selected: Vec<usize>,
    /// The piece of numbers of each figure that has some.
    pub numbers: Vec<Option<usize>>,
}

/// The place of something in a list, to which it is added if it is not there.
fn place<T: PartialEq>(list: &mut Vec<T>, wanted: T) -> usize {
    list.iter().position(|known| *known == wanted).unwrap_or_else(|| {
        list.push(wanted);
        list.len() - 1
    })
}

impl Plan {
    pub fn new(query: &Query) -> Plan {
        let (pieces, selections, selected, numbers) = Default::default();
        let mut plan = Plan { pieces, selections, selected, numbers };
        for figure in &query.figures {
            let of = figure.of.as_ref().map(|of| plan.formula(of));
            let by = figure.by.as_ref().map(|by| plan.piece(by.column.party, Kind::Grouped(by.clone())));
            let selection = Selection { of, by, groups: figure.lanes() };
            let selection = place(&mut plan.selections, selection);
            plan.selected.push(selection);
            let number = match &figure.what {
                What::Count => None,
                What::Sum(number) | What::Mean(number) => {
                    Some(plan.piece(number.column.party, Kind::Summed(number.clone())))
                }
            };
            plan.numbers.push(number);
        }
        plan
    }

    fn piece(&mut self, party: Party, kind: Kind) -> usize {
        place(&mut self.pieces, Piece { party, kind })
    }

    /// What one party decides alone is one piece.
    fn formula(&mut self, condition: &Condition) -> Formula {
        if let Some(party) = condition.party() {
            return Formula::Piece(self.piece(party, Kind::Tested(condition.clone())));
        }
        match condition {
            Condition::All(parts) => Formula::All(self.parts(parts, Condition::All)),
            Condition::Any(parts) => Formula::Any(self.parts(parts, Condition::Any)),
            Condition::Not(inner) => Formula::Not(Box::new(self.formula(inner))),
            // A test has a party.
            Condition::Test(test) => Formula::Piece(self.piece(test.column.party, Kind::Tested(condition.clone()))),
        }
    }

    /// Parts of one party joined to one, then those of both.
    fn parts(&mut self, parts: &[Condition], join: fn(Vec<Condition>) -> Condition) -> Vec<Formula> {
        let mut formulas = Vec::new();
        for party in [Party::Alice, Party::Bob] {
            let mut own: Vec<Condition> = parts.iter().filter(|part| part.party() == Some(party)).cloned().collect();
            match own.len() {
                0 => {}
                1 => formulas.push(self.formula(&own.remove(0))),
                _ => formulas.push(self.formula(&join(own))),
            }
        }
        formulas.extend(parts.iter().filter(|part| part.party().is_none()).map(|part| self.formula(part)));
        formulas
    }

    fn of(&self, party: Party) -> impl Iterator<Item = &Kind> {
        self.pieces.iter().filter(move |piece| piece.party == party).map(|piece| &piece.kind)
    }

    pub fn tests(&self, party: Party) -> Vec<Test> {
        let mut tests: Vec<Test> = Vec::new();
        for kind in self.of(party) {
            if let Kind::Tested(condition) = kind {
                condition.tests().into_iter().for_each(|test| _ = place(&mut tests, test.clone()));
            }
        }
        tests
    }

    pub fn groups(&self, party: Party) -> impl Iterator<Item = &Groups> {
        self.of(party).filter_map(|kind| if let Kind::Grouped(groups) = kind { Some(groups) } else { None })
    }

    pub fn numbers(&self, party: Party) -> impl Iterator<Item = &Number> {
        self.of(party).filter_map(|kind| if let Kind::Summed(number) = kind { Some(number) } else { None })
    }

    /// Bits that a party's rows take if it is the sender.
    fn sent(&self, party: Party) -> u32 {
        self.of(party).map(Kind::sent).fold(0, u32::saturating_add)
    }

    /// Whether one party's pieces fit, whatever the numbers of rows.
    pub fn check(&self) -> Result<()> {
        let least = [Party::Alice, Party::Bob].into_iter().min_by_key(|&party| self.sent(party));
        let Some(party) = least.filter(|&party| self.sent(party) > MOST_SENT) else { return Ok(()) };
        let parts: Vec<String> = self.of(party).map(|kind| format!("{} for {kind}", kind.sent())).collect();
        let why = format!(
            "both parties give more than {MOST_SENT} bits of a row, and one must not: {} gives {}",
            lower(party),
            parts.join(", ")
        );
        Err(Error::usage(why))
    }

    /// Who does what, by the numbers of rows: the receiver has fewer; of as many it gives more.
    pub fn terms(&self, sizes: [u64; 2]) -> Terms {
        let more = if self.sent(Party::Bob) > self.sent(Party::Alice) { Party::Bob } else { Party::Alice };
        let terms = Terms::of_sizes(sizes, more);
        if self.sent(terms.receiver.peer()) + terms.tag <= 128 {
            return terms;
        }
        // The tags are those of the other party's strings.
        let receiver = terms.receiver.peer();
        Terms { receiver, tag: Terms::of_sizes([sizes[receiver as usize]; 2], receiver).tag }
    }
}

impl Kind {
    /// Bits of it if it is the sender's.
    fn sent(&self) -> u32 {
        match self {
            Kind::Tested(_) => 1,
            Kind::Grouped(groups) => index_bits(groups.values.len()),
            Kind::Summed(number) => 8 * u32::from(sum_bytes(number.bits)),
        }
    }
}

/// Bits of the number of a group, or of none.
pub fn index_bits(groups: usize) -> u32 {
    usize::BITS - groups.leading_zeros()
}

/// Bytes of a sum of numbers of so many bits: it cannot overflow, or the owner has [seen](super::Own) that it does not.
pub fn sum_bytes(bits: u32) -> u8 {
    (bits + COUNT_BITS).div_ceil(8).min(8) as u8
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Tested(condition) => condition.fmt(f),
            Kind::Grouped(groups) => write!(f, "the group by {groups}"),
            Kind::Summed(number) => write!(f, "{} in {} bits", number.column, number.bits),
        }
    }
}
