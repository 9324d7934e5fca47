//! Statistics by groups: Alice knows to which group a row belongs, Bob its value.
//!
//! Whatever one party knows alone it computes in the clear: Bob the squares of his values. What is left is, for each group, the
//! sum of b·x over all rows, where b is a bit of Alice's, whether the row belongs to the group, and x a number of Bob's that has
//! 1, the square and the value of the row side by side. A random OT from setup for each row and group gives shares of b·x that
//! are added up without a message: N. Gilboa, "Two party RSA key generation" (CRYPTO 1999), §4, with random OTs made useful by
//! Beaver's method. With the messages k_0 and k_1 in the order that Alice's bit makes of the random choice:
//!
//! ```text
//! Alice → Bob   her bits, masked by the random choices
//! Bob → Alice   k_0 + x − k_1           modulo 2^K, where no sum overflows
//! shares        Bob −k_0                Alice k_0, or k_1 + (k_0 + x − k_1) = k_0 + x if b = 1
//! ```
//!
//! A k of K bits is made of hashes of an OT's message, each of 128 bits and under a salt of its own.
//!
//! The totals become XOR shares by a parallel prefix adder on triples (`adder.rs`). Mean and variance are then circuits, once a
//! group, by whatever protocol runs the program: [`figures`].
//!
//! **Security**: semi-honest parties, that of the random OTs and triples. What Bob sees is masked by choices, what Alice sees by
//! the messages that she did not choose; each masks nothing else.
//!
//! **Cost**: an OT and K + 1 bits a row and group, with K = 3·(w + bits of the number of rows) − 2 for values of w bits, where
//! multiplying and adding by circuits take 2·K ANDs. Two messages, and one more each way for each level of the adder.

mod adder;
mod figures;
mod layout;
mod lists;
mod quantile;
mod sort;
mod stages;

use duologue::call::{Call, CallLengths, CallProtocol, Context, OnlineStage, SetupStage, Zeroizing};
use duologue::circuit::blocks::Goal;
use duologue::circuit::program::{CallPort, Functionality, Holder, Owner, Recipient};
use duologue::circuit::{BitMatrix, Error, Party, Program, Type, int, uint};
pub(crate) use figures::nearest;
pub use figures::{FRACTION, figures};
use layout::Layout;
pub use lists::Lists;
pub use quantile::{MOST_BITS, median, quantile};
pub use sort::{MOST_SORTED, sort};
use stages::{Online, Setup};
use std::sync::Arc;

/// The most rows.
pub const MOST_ROWS: u64 = (1 << COUNT) - 1;

/// The most groups.
pub const MOST_GROUPS: u64 = 1 << 12;

/// The most rows times groups: an OT each.
const MOST_OTS: u64 = 1 << 23;

/// Bits of a count of rows.
const COUNT: u32 = 20;

/// Bits of the number of a group.
pub const GROUP: u32 = 16;

/// The most bits of a value.
pub const MOST_WIDTH: u32 = 54;

/// Counts, sums and sums of squares by groups. Three arguments: of each row its group, which Alice holds; its value of 2 to 54
/// bits in two's complement, which Bob holds; and something with as many lanes as there are groups. A row belongs to no group
/// if its number is not below that of the groups, and has no value if that is the least one of its type. Results are shared. It
/// has no parameters.
#[derive(Clone, Copy, Debug)]
pub struct Totals;

/// Count, sum, mean and variance of each of `groups` groups of `rows` rows, public sizes: Alice has the `group` of each row, Bob
/// the `value` of `width` bits. The figures of a group with fewer rows than the public `minimum` are zeros.
///
/// Mean and variance are the exact ones rounded to [`FRACTION`] bits after the point: [`figures`].
pub fn statistics(width: u32, learns: Recipient, goal: Goal) -> Program {
    let mut p = Program::new("statistics");
    let rows = p.size("rows", 1..=MOST_ROWS);
    let groups = p.size("groups", 1..=MOST_GROUPS);
    let group = p.input("group", Party::Alice, uint(GROUP), rows);
    let value = p.input("value", Party::Bob, int(width), rows);
    let minimum = p.input("minimum", Owner::Public, uint(COUNT), 1);
    let minimum = p.repeat(minimum, groups);
    let lanes = p.number(uint(1), groups, 0);
    let totals: Arc<dyn Functionality> = Arc::new(Totals);
    let mut args = p.call(&totals, &[], &[group, value, lanes]);
    args.push(minimum);
    let circuit = figures(width, goal);
    for (port, value) in circuit.outputs().iter().zip(p.map_all(&circuit, &args)) {
        p.output(&port.name, learns, value);
    }
    p
}

/// Types of a count, a sum and a sum of squares.
fn types(width: u32) -> [Type; 3] {
    [uint(COUNT), int(width + COUNT), uint(2 * width - 2 + COUNT)]
}

impl Functionality for Totals {
    fn name(&self) -> &str {
        "duologue:totals"
    }

    fn version(&self) -> u32 {
        1
    }

    fn results(&self, parameters: &[u8], args: &[CallPort]) -> duologue::circuit::Result<Vec<CallPort>> {
        let [group, value, _] = args else {
            return Err(Error::usage(format!("three arguments, not {}", args.len())));
        };
        let width = value.ty.width;
        match () {
            () if !parameters.is_empty() => Err(Error::usage(format!("no parameters, not {} bytes", parameters.len()))),
            () if [group.holder, value.holder] != [Party::Alice, Party::Bob].map(Holder::Party) => {
                Err(Error::usage("groups that Alice holds and values that Bob holds, in this order"))
            }
            () if !(1..=64).contains(&group.ty.width) => {
                Err(Error::usage(format!("groups of 1 to 64 bits, not {}", group.ty.width)))
            }
            () if !(2..=MOST_WIDTH).contains(&width) => {
                Err(Error::usage(format!("values of 2 to {MOST_WIDTH} bits, not {width}")))
            }
            () => Ok(types(width).map(|ty| CallPort { ty, holder: Holder::Shared }).into()),
        }
    }

    fn lanes(&self, _: &[u8], args: &[u64]) -> duologue::circuit::Result<Vec<u64>> {
        let &[rows, values, groups] = args else { return Err(Error::usage("three arguments")) };
        match () {
            () if rows != values => Err(Error::usage(format!("as many groups as values, not {rows} and {values}"))),
            () if !(1..=MOST_ROWS).contains(&rows) => Err(Error::usage(format!("1 to {MOST_ROWS} rows, not {rows}"))),
            () if !(1..=MOST_GROUPS).contains(&groups) => {
                Err(Error::usage(format!("1 to {MOST_GROUPS} groups, not {groups}")))
            }
            () if rows * groups > MOST_OTS => {
                Err(Error::usage(format!("at most {MOST_OTS} rows times groups, not {rows} times {groups}")))
            }
            () => Ok(vec![groups; 3]),
        }
    }

    fn evaluate(&self, _: &[u8], args: &[BitMatrix]) -> Vec<BitMatrix> {
        let [group, value, lanes] = args else { return Vec::new() };
        let width = value.rows() as u32;
        let (of, values): (Vec<u64>, Vec<i64>) =
            (group.to_numbers().unwrap_or_default(), value.to_numbers().unwrap_or_default());
        let mut totals = vec![[0i128; 3]; lanes.lanes()];
        for (group, &value) in of.iter().zip(&values).filter(|(_, value)| **value != i64::MIN >> (64 - width)) {
            let value = i128::from(value);
            if let Some(total) = usize::try_from(*group).ok().and_then(|group| totals.get_mut(group)) {
                total.iter_mut().zip([1, value, value * value]).for_each(|(total, term)| *total += term);
            }
        }
        let lanes = |(i, ty): (usize, Type)| {
            let bit = |total: &[i128; 3]| (0..ty.width).map(|row| total[i] >> row.min(127) & 1 == 1).collect();
            BitMatrix::from_lanes(ty.width as usize, &totals.iter().map(bit).collect::<Vec<Vec<bool>>>())
        };
        types(width).into_iter().enumerate().map(lanes).collect()
    }
}

impl CallProtocol for Totals {
    fn lengths(&self, call: &Call, party: Party) -> duologue::Result<CallLengths> {
        Ok(Layout::new(call).lengths(party))
    }

    fn setup(&self, call: &Arc<Call>, context: &Context) -> duologue::Result<SetupStage> {
        Ok(Box::new(Setup::new(Layout::new(call), context)))
    }

    fn online(
        &self,
        call: &Arc<Call>,
        party: Party,
        setup: Zeroizing<Vec<u8>>,
        args: Vec<Option<BitMatrix>>,
    ) -> duologue::Result<OnlineStage> {
        Ok(Box::new(Online::new(Layout::new(call), party, setup, &args)?))
    }
}
