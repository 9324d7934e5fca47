//! Both parties' values in order, as the search for a quantile and the merge want them: each party arranges its own, and
//! nothing is sent.

use super::MOST_ROWS;
use duologue::call::{
    Call, CallLengths, CallProtocol, Context, Drawn, OnlineStage, Outbox, SetupStage, Stage, Zeroizing,
};
use duologue::circuit::program::{CallPort, Functionality, Holder};
use duologue::circuit::{BitMatrix, Error, Party, bits, int};
use std::sync::Arc;

/// Alice's and Bob's values of 2 to 64 bits in two's complement, of any numbers n and m, of which one may be 0; of a quantile
/// also something with as many lanes as it has per cent, 1 to 100. Of a median and of a quantile there are no parameters; of the
/// smallest values there are four bytes, how many of them, at most n + m, the lowest byte first.
///
/// With the rank k = ⌈(n + m) / 2⌉, or of p per cent ⌈(n + m)·p / 100⌉, and a party's values v_0 ≤ v_1 ≤ …, before which there is
/// the least number of the type and after which the greatest, Alice has
///
/// * v_i for i = 0 … k − 1,
/// * v_{t−1} for t = 0 … k,
/// * without per cent v_t for t = 0 … k,
///
/// and Bob the same lists backwards: v_{k−1−i}, v_{k−1−t} and v_{k−t}. Without per cent there is last a bit that Alice holds:
/// whether n + m is odd.
///
/// Of the smallest values k is their number up to the next power of two, and there is only the first list, of which lane i has
/// the value of the place whose bits are those of i from the other end.
#[derive(Clone, Copy, Debug)]
pub struct Lists;

/// What is to be found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Median,
    Percent(u64),
    Smallest(u64),
}

/// The numbers of values of both parties, and what is to be found among them.
#[derive(Clone, Copy)]
struct Shape {
    values: [u64; 2],
    wanted: Wanted,
}

impl Shape {
    fn new(parameters: &[u8], args: &[u64]) -> Result<Shape, Error> {
        let &[alice, bob, ref more @ ..] = args else {
            return Err(Error::usage(format!("two or three arguments, not {}", args.len())));
        };
        let wanted = match (<[u8; 4]>::try_from(parameters), more) {
            (Ok(number), []) => Wanted::Smallest(u32::from_le_bytes(number).into()),
            (Err(_), []) => Wanted::Median,
            (_, &[percent, ..]) => Wanted::Percent(percent),
        };
        let (values, all) = ([alice, bob], alice.saturating_add(bob));
        match wanted {
            _ if values.iter().any(|&values| values > MOST_ROWS) => {
                Err(Error::usage(format!("at most {MOST_ROWS} values of a party, not {values:?}")))
            }
            _ if all == 0 => Err(Error::usage("a value at least: both parties have none")),
            Wanted::Percent(percent) if !(1..=100).contains(&percent) => Err(Error::usage("1 to 100 per cent")),
            Wanted::Smallest(number) if !(1..=all).contains(&number) => {
                Err(Error::usage(format!("the {number} smallest of {all} values")))
            }
            _ => Ok(Shape { values, wanted }),
        }
    }

    fn all(&self) -> u64 {
        self.values.iter().sum()
    }

    fn rank(&self) -> u64 {
        match self.wanted {
            Wanted::Percent(percent) => (self.all() * percent).div_ceil(100),
            Wanted::Median => self.all().div_ceil(2),
            Wanted::Smallest(number) => number.next_power_of_two(),
        }
    }

    /// Lanes of a party's lists.
    fn lanes(&self) -> Vec<u64> {
        let rank = self.rank();
        [rank, rank + 1, rank + 1][..lists_of(self.wanted)].to_vec()
    }

    fn lists(&self, party: Party, values: &BitMatrix) -> duologue::circuit::Result<Vec<BitMatrix>> {
        let width = values.rows();
        let mut values: Zeroizing<Vec<i64>> = Zeroizing::new(values.to_numbers()?);
        values.sort_unstable();
        let least = i64::MIN >> (64 - width);
        let value = |place: i64| match usize::try_from(place) {
            Ok(place) => values.get(place).copied().unwrap_or(!least),
            Err(_) => least,
        };
        let reversed = matches!(self.wanted, Wanted::Smallest(_));
        let list = |(&lanes, from): (&u64, i64)| {
            let place = |lane: u64| {
                let lane = if reversed { reverse(lane, lanes) } else { lane };
                from + if party == Party::Alice { lane as i64 } else { (lanes - 1 - lane) as i64 }
            };
            let list: Zeroizing<Vec<i64>> = Zeroizing::new((0..lanes).map(|lane| value(place(lane))).collect());
            BitMatrix::from_numbers(width, &list)
        };
        self.lanes().iter().zip([0, -1, 0]).map(list).collect()
    }

    fn odd(&self) -> Option<BitMatrix> {
        let mut odd = BitMatrix::zeros(1, 1);
        odd.set(0, 0, self.all() % 2 == 1);
        (self.wanted == Wanted::Median).then_some(odd)
    }
}

/// Lists of each party.
fn lists_of(wanted: Wanted) -> usize {
    match wanted {
        Wanted::Median => 3,
        Wanted::Percent(_) => 2,
        Wanted::Smallest(_) => 1,
    }
}

/// The number whose bits are those of `lane` from the other end, below a power of two.
pub(super) fn reverse(lane: u64, lanes: u64) -> u64 {
    let bits = lanes.trailing_zeros();
    lane.reverse_bits().checked_shr(64 - bits).unwrap_or(0)
}

impl Functionality for Lists {
    fn name(&self) -> &str {
        "duologue:sorted-lists"
    }

    fn version(&self) -> u32 {
        1
    }

    fn results(&self, parameters: &[u8], args: &[CallPort]) -> Result<Vec<CallPort>, Error> {
        let [a, b, percent @ ..] = args else {
            return Err(Error::usage(format!("two or three arguments, not {}", args.len())));
        };
        let (width, parties) = (a.ty.width, [Party::Alice, Party::Bob]);
        match () {
            () if parameters.len() != if percent.is_empty() { parameters.len() & 4 } else { 0 } => {
                Err(Error::usage(format!("no parameters, or four bytes without per cent, not {}", parameters.len())))
            }
            () if percent.len() > 1 => Err(Error::usage(format!("two or three arguments, not {}", args.len()))),
            () if [a.holder, b.holder] != parties.map(Holder::Party) => {
                Err(Error::usage("Alice's values and Bob's, in this order, and no shared ones"))
            }
            () if b.ty.width != width => {
                Err(Error::usage(format!("values of equal width, not {width} and {} bits", b.ty.width)))
            }
            () if !(2..=64).contains(&width) => Err(Error::usage(format!("values of 2 to 64 bits, not {width}"))),
            () => {
                let wanted = match (percent.len(), parameters.len()) {
                    (1, _) => Wanted::Percent(1),
                    (_, 0) => Wanted::Median,
                    _ => Wanted::Smallest(1),
                };
                let each = lists_of(wanted);
                let port = |party| CallPort { ty: int(width), holder: Holder::Party(party) };
                let lists = parties.into_iter().flat_map(|party| std::iter::repeat_n(port(party), each));
                let odd = CallPort { ty: bits(1), holder: Holder::Party(Party::Alice) };
                Ok(lists.chain((wanted == Wanted::Median).then_some(odd)).collect())
            }
        }
    }

    fn lanes(&self, parameters: &[u8], args: &[u64]) -> Result<Vec<u64>, Error> {
        let shape = Shape::new(parameters, args)?;
        let (lists, odd) = (shape.lanes(), shape.odd().map(|_| 1));
        Ok([&lists[..], &lists].concat().into_iter().chain(odd).collect())
    }

    fn evaluate(&self, parameters: &[u8], args: &[BitMatrix]) -> Vec<BitMatrix> {
        let lanes: Vec<u64> = args.iter().map(|arg| arg.lanes() as u64).collect();
        let Ok(shape) = Shape::new(parameters, &lanes) else { return Vec::new() };
        let parties = [Party::Alice, Party::Bob].into_iter().zip(args);
        let lists = parties.flat_map(|(party, values)| shape.lists(party, values).unwrap_or_default());
        lists.chain(shape.odd()).collect()
    }
}

/// A stage without exchanges, which is done from the start.
struct Done<T>(T);

impl<T: Send> Stage for Done<T> {
    type Output = T;

    fn step(&mut self, _: Drawn, _: &[u8], _: &mut Outbox) -> duologue::Result<()> {
        Ok(())
    }

    fn finish(self: Box<Self>, _: &[u8]) -> duologue::Result<T> {
        Ok(self.0)
    }
}

impl CallProtocol for Lists {
    fn lengths(&self, _: &Call, _: Party) -> duologue::Result<CallLengths> {
        Ok(CallLengths::default())
    }

    fn setup(&self, _: &Arc<Call>, _: &Context) -> duologue::Result<SetupStage> {
        Ok(Box::new(Done(Zeroizing::new(Vec::new()))))
    }

    fn online(
        &self,
        call: &Arc<Call>,
        party: Party,
        _: Zeroizing<Vec<u8>>,
        args: Vec<Option<BitMatrix>>,
    ) -> duologue::Result<OnlineStage> {
        let lanes: Vec<u64> = call.args.iter().map(|arg| arg.lanes).collect();
        let shape = Shape::new(&call.parameters, &lanes)?;
        let own = args[party as usize].as_ref().ok_or_else(|| duologue::Error::usage("no values"))?;
        let own: Vec<_> = shape.lists(party, own)?.into_iter().map(Some).collect();
        let theirs = vec![None; own.len()];
        let odd = shape.odd().map(|odd| (party == Party::Alice).then_some(odd));
        let lists = if party == Party::Alice { [own, theirs] } else { [theirs, own] };
        Ok(Box::new(Done(lists.concat().into_iter().chain(odd).collect())))
    }
}
