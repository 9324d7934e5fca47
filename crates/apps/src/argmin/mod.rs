//! The least of many protected values and its index or argument, as a call that leaks nothing.
//!
//! The values are shared by addition, y_i = a_i + b_i modulo 2^(l+1) with a_i of Alice, b_i of Bob and y_i < 2^l; or each party
//! has values of its own; or the values are shared by XOR. A tournament: of each pair of a group the sign of the difference is
//! computed on shares (`compare.rs`), and the least of each group is selected (`select.rs`). Of equal values the first one wins.
//!
//! **Comparison**: leaves of two bits by 1-of-4 OT, of which both parties get XOR shares of (greater, equal), and a tree over
//! them. The form is that of Garay, Schoenmakers, Villegas, *Practical and secure solutions for integer comparison* (PKC
//! 2007), with leaves by OT as in Rathee and others, *CrypTFlow2* (CCS 2020, §3), whose shares are XOR shares, too.
//! Values that are shared by XOR are compared by a chain of ANDs (`chain.rs`).
//! **Selection**: a shared bit times a shared number by one random OT each way, each for one of the two cross products, as in
//! Gilboa, *Two party RSA key generation* (CRYPTO 1999, §4), with random OTs made useful by Beaver's method.
//!
//! **Result**: Alice hands in a random ρ, her share of the least value, and Bob gets the other, y* − ρ modulo 2^(l+1): so the
//! call has a plain meaning. XOR shares of y* would take l ANDs more. The index or argument is shared by XOR. With private
//! halves both are shared by XOR, since values known to one party are shares already.
//!
//! **Security**: semi-honest parties, that of the random OTs. Whatever is sent is masked by the choice or the message of an OT
//! that masks nothing else, or is a message of an OT that was not chosen; nothing is opened but the result. A value of 2^l or
//! more makes the result meaningless, and is not noticed.
//!
//! **Cost** of a comparison of l bits: 8·⌈l/2⌉ − 3 bits for the leaves and 6 for each of ⌈l/2⌉ − 1 nodes, 4 on the path of the
//! lowest leaf: 207, 429 and 875 bits for l = 32, 64 and 128. Of a selection of an argument of w bits 2·(l + 2 + w). In setup
//! nothing is sent by OTs of both parties; by those of one, a bit a node. Messages of a level: one for the masked leaves, one
//! for the answers, and one more for each level of the tree, of the ANDs of a group and for the selection, less one: whoever
//! has read the peer's half of an opening sends its own with the first half of the next. At the end one more.
//!
//! **Departs** from the design's arithmetic triples for the selection: no shared random bit has to be converted, which saves
//! l + 1 bits and one OT a selection.

mod backtrack;
mod chain;
mod compare;
pub mod encrypted;
mod halves;
mod layout;
mod levels;
mod material;
mod online;
mod parameters;
mod programs;
pub(crate) mod rows;
mod schedule;
mod select;
mod setup;

pub use backtrack::Backtrack;
use duologue::call::{Call, CallLengths, CallProtocol, Context, OnlineStage, SetupStage, Zeroizing};
use duologue::circuit::program::{CallPort, Functionality, Holder};
use duologue::circuit::{BitMatrix, Error, Party, bits, uint};
use layout::Layout;
pub use levels::{Found, Held, levels};
use online::{Begin, Online};
pub use parameters::{Direction, Form, MOST_ARGUMENT, MOST_BITS, MOST_VALUES, Parameters};
pub use programs::{MOST_LANES, halves, of_ciphertexts, shared, strings, strings_by_ots};
use rows::Rows;
pub use schedule::{Tournament, groups};
use setup::Setup;
use std::sync::Arc;

/// The least of many values, with its index or argument. The parameters are [`Parameters`].
///
/// | | arguments | results |
/// |---|---|---|
/// | [`Form::Shared`] | Alice's a and Bob's b of l + 1 bits, n lanes each; Alice's ρ of l + 1 bits in one lane; without index n arguments, whoever holds them | y* − ρ modulo 2^(l+1), Bob's; the index or argument, shared |
/// | [`Form::Halves`] | Alice's and Bob's values of l bits, of any numbers of lanes; without index their arguments | y* and the index or argument, shared |
/// | [`Form::Strings`] | shared values of l bits, n lanes; without index n arguments, whoever holds them | y* and the index or argument, shared |
///
/// An index counts Alice's values first, then Bob's.
#[derive(Clone, Copy, Debug)]
pub struct Argmin;

impl Functionality for Argmin {
    fn name(&self) -> &str {
        "duologue:argmin"
    }

    /// Since version 2 a tile is as long as its longest part, selections and chains counted too.
    fn version(&self) -> u32 {
        2
    }

    fn results(&self, parameters: &[u8], args: &[CallPort]) -> duologue::circuit::Result<Vec<CallPort>> {
        let parameters = Parameters::from_bytes(parameters)?;
        let (holders, arguments) = expected(&parameters);
        if args.len() != holders.len() + arguments {
            return Err(Error::usage(format!("{} arguments, not {}", holders.len() + arguments, args.len())));
        }
        let (values, arguments) = args.split_at(holders.len());
        check_values(&parameters, values, &holders)?;
        check_arguments(&parameters, arguments)?;
        let least = if parameters.form == Form::Shared { Holder::Party(Party::Bob) } else { Holder::Shared };
        let second = arguments.first().map_or(uint(parameters.index.into()), |argument| bits(argument.ty.width));
        Ok(vec![CallPort { ty: values[0].ty, holder: least }, CallPort { ty: second, holder: Holder::Shared }])
    }

    fn lanes(&self, parameters: &[u8], args: &[u64]) -> duologue::circuit::Result<Vec<u64>> {
        let parameters = Parameters::from_bytes(parameters)?;
        let (values, fit) = match (parameters.form, args) {
            (Form::Shared, [a, b, 1, given @ ..]) => (*a, a == b && given.iter().all(|lanes| lanes == a)),
            (Form::Strings, [a, given @ ..]) => (*a, given.iter().all(|lanes| lanes == a)),
            (Form::Halves, [a, b, given @ ..]) => {
                let fit = (given.is_empty() || given == [*a, *b]) && *a > 0 && *b > 0;
                (a.saturating_add(*b), fit)
            }
            _ => (u64::MAX, false),
        };
        if !fit && values > 0 {
            return Err(Error::usage(format!("as many shares and arguments as values, not {args:?}")));
        }
        parameters.check(values)?;
        Ok(vec![1, 1])
    }

    /// By going through the values one by one.
    fn evaluate(&self, parameters: &[u8], args: &[BitMatrix]) -> Vec<BitMatrix> {
        let Ok(parameters) = Parameters::from_bytes(parameters) else { return Vec::new() };
        let (values, least_share) = match parameters.form {
            Form::Shared => (sums(&args[0], &args[1]), Some(&args[2])),
            Form::Halves => (args[0].to_lanes().into_iter().chain(args[1].to_lanes()).collect(), None),
            Form::Strings => (args[0].to_lanes(), None),
        };
        let less = |a: &Vec<bool>, b: &Vec<bool>| a.iter().rev().lt(b.iter().rev());
        let least = (1..values.len()).fold(0, |least, i| if less(&values[i], &values[least]) { i } else { least });
        let value = BitMatrix::from_lanes(values[least].len(), &values[least..=least]);
        let value = least_share.map_or(value.clone(), |share| difference(&value, share));
        let argument: Vec<bool> = match (parameters.index, parameters.form) {
            (0, Form::Shared) => args[3].lane(least),
            (0, Form::Strings) => args[1].lane(least),
            (0, Form::Halves) if least < args[0].lanes() => args[2].lane(least),
            (0, Form::Halves) => args[3].lane(least - args[0].lanes()),
            (index, _) => (0..index).map(|bit| (least as u64) >> bit & 1 == 1).collect(),
        };
        vec![value, BitMatrix::from_lanes(argument.len(), &[argument])]
    }
}

/// Who holds the values or their shares, and how many more arguments there are.
fn expected(parameters: &Parameters) -> (Vec<Holder>, usize) {
    let given = usize::from(parameters.index == 0);
    let [alice, bob] = [Party::Alice, Party::Bob].map(Holder::Party);
    match parameters.form {
        Form::Shared => (vec![alice, bob, alice], given),
        Form::Halves => (vec![alice, bob], 2 * given),
        Form::Strings => (vec![Holder::Shared], given),
    }
}

fn check_values(parameters: &Parameters, values: &[CallPort], holders: &[Holder]) -> duologue::circuit::Result<()> {
    let widths: Vec<u32> = values.iter().map(|value| value.ty.width).collect();
    let more = u32::from(parameters.form == Form::Shared);
    let refuse = |why: String| Err(Error::usage(why));
    match () {
        () if widths.iter().any(|width| *width != widths[0]) => {
            refuse(format!("values of equal width, not {widths:?} bits"))
        }
        () if !(1..=MOST_BITS).contains(&widths[0].saturating_sub(more)) => {
            refuse(format!("values of 1 to {MOST_BITS} bits, shares of one bit more, not {}", widths[0]))
        }
        () if !values.iter().map(|value| value.holder).eq(holders.iter().copied()) => {
            refuse("shares or values that each party holds alone, Alice's first, or values that both share".into())
        }
        () => Ok(()),
    }
}

fn check_arguments(parameters: &Parameters, arguments: &[CallPort]) -> duologue::circuit::Result<()> {
    let widths: Vec<u32> = arguments.iter().map(|argument| argument.ty.width).collect();
    if widths.iter().any(|&width| !(1..=MOST_ARGUMENT).contains(&width) || width != widths[0]) {
        return Err(Error::usage(format!("arguments of equal width of 1 to {MOST_ARGUMENT} bits, not {widths:?}")));
    }
    let holders = arguments.iter().map(|argument| argument.holder);
    let owners = [Party::Alice, Party::Bob].map(Holder::Party);
    if parameters.form == Form::Halves && !holders.eq(owners.into_iter().take(arguments.len())) {
        return Err(Error::usage("arguments of the party that holds the values"));
    }
    Ok(())
}

/// The sums of the lanes modulo a power of two.
fn sums(a: &BitMatrix, b: &BitMatrix) -> Vec<Vec<bool>> {
    let mut sum = Rows::of(a);
    sum.add(&Rows::of(b));
    sum.to_matrix().to_lanes()
}

fn difference(a: &BitMatrix, b: &BitMatrix) -> BitMatrix {
    let mut difference = Rows::of(a);
    difference.subtract(&Rows::of(b));
    difference.to_matrix()
}

impl CallProtocol for Argmin {
    fn lengths(&self, call: &Call, party: Party) -> duologue::Result<CallLengths> {
        Ok(layout(call)?.lengths(party))
    }

    fn setup(&self, call: &Arc<Call>, context: &Context) -> duologue::Result<SetupStage> {
        Ok(Box::new(Setup::new(layout(call)?, context.party)))
    }

    fn online(
        &self,
        call: &Arc<Call>,
        party: Party,
        setup: Zeroizing<Vec<u8>>,
        args: Vec<Option<BitMatrix>>,
    ) -> duologue::Result<OnlineStage> {
        let layout = layout(call)?;
        let begin = match Parameters::from_bytes(&call.parameters)?.form {
            Form::Shared => of_shares(&layout, party, &args),
            Form::Halves => halves::of_values(&layout, call, party, &args),
            Form::Strings => of_strings(&layout, &args),
        };
        Ok(Box::new(Online::new(layout, party, setup, begin)))
    }
}

fn layout(call: &Call) -> duologue::Result<Layout> {
    let layout = Layout::new(call, &Parameters::from_bytes(&call.parameters)?);
    layout.check()?;
    Ok(layout)
}

/// This party's shares.
fn of_shares(layout: &Layout, party: Party, args: &[Option<BitMatrix>]) -> Begin {
    let rows = |arg: usize| args.get(arg).and_then(Option::as_ref).map(Rows::of);
    let zeros = |rows| Rows::zeros(rows, layout.values);
    Begin {
        sums: rows(party as usize).unwrap_or_else(|| zeros(layout.sums)),
        strings: rows(3).unwrap_or_else(|| zeros(layout.strings)),
        least_share: rows(2),
    }
}

/// This party's bits of values and arguments.
fn of_strings(layout: &Layout, args: &[Option<BitMatrix>]) -> Begin {
    let rows = |arg: usize| args.get(arg).and_then(Option::as_ref).map(Rows::of);
    let zeros = |rows| Rows::zeros(rows, layout.values);
    let values = rows(0).unwrap_or_else(|| zeros(layout.bits));
    let arguments = rows(1).unwrap_or_else(|| zeros(layout.strings - layout.bits));
    Begin { sums: zeros(0), strings: values.then(&arguments), least_share: None }
}

#[cfg(test)]
mod tests;
