//! What a program's calls take together, and the shapes of what goes into a call.

use super::*;
use crate::correlation::Stock;
use crate::executor::NoPeer;
use circuit::plan::Order;
use circuit::program::{CallPart, Owner, Recipient};
use circuit::{Program, bits};

/// A call of Alice's value, Bob's and a shared one, of five bits each; by announcement it takes these lengths.
struct Fixed(CallLengths);

impl Functionality for Fixed {
    fn name(&self) -> &str {
        "test:fixed"
    }

    fn version(&self) -> u32 {
        1
    }

    fn results(&self, _: &[u8], args: &[CallPort]) -> circuit::Result<Vec<CallPort>> {
        Ok(vec![CallPort { holder: Holder::Shared, ..args[0] }])
    }

    fn lanes(&self, _: &[u8], args: &[u64]) -> circuit::Result<Vec<u64>> {
        Ok(vec![args[0]])
    }

    fn evaluate(&self, _: &[u8], args: &[BitMatrix]) -> Vec<BitMatrix> {
        vec![args[0].clone()]
    }
}

impl CallProtocol for Fixed {
    fn lengths(&self, _: &Call, _: Party) -> Result<CallLengths> {
        Ok(self.0.clone())
    }

    fn setup(&self, _: &Arc<Call>, _: &Context) -> Result<SetupStage> {
        Err(Error::usage("never begun"))
    }

    fn online(&self, _: &Arc<Call>, _: Party, _: Zeroizing<Vec<u8>>, _: Vec<Option<BitMatrix>>) -> Result<OnlineStage> {
        Ok(Box::new(Zeros))
    }
}

struct Zeros;

impl Stage for Zeros {
    type Output = Vec<Option<BitMatrix>>;

    fn step(&mut self, _: Drawn, _: &[u8], _: &mut Outbox) -> Result<()> {
        Ok(())
    }

    fn finish(self: Box<Self>, _: &[u8]) -> Result<Vec<Option<BitMatrix>>> {
        Ok(vec![Some(BitMatrix::zeros(5, 70))])
    }
}

/// So many calls with these lengths.
fn schedule(calls: usize, lengths: &CallLengths) -> (Calls, Schedule) {
    let fixed: Arc<dyn Functionality> = Arc::new(Fixed(lengths.clone()));
    let mut p = Program::new("fixed");
    let owners = [Owner::Party(Party::Alice), Owner::Party(Party::Bob), Owner::Shared];
    let args = owners.map(|owner| p.input(&format!("{owner:?}"), owner, bits(5), 70));
    for number in 0..calls {
        let made = p.call(&fixed, &[], &args)[0];
        p.output(&number.to_string(), Recipient::Shared, made);
    }
    let schedule = Schedule::new(&p.bind(&[]).unwrap(), Order::Layered, |_| 64).unwrap();
    (Calls::new().with(Arc::new(Fixed(lengths.clone()))), schedule)
}

fn check(calls: usize, lengths: &CallLengths) -> Result<()> {
    let (known, schedule) = schedule(calls, lengths);
    known.check(&schedule)
}

/// Each call alone is within the limits: only the sum over all of them is not.
#[test]
fn what_all_calls_take_together_is_bounded() {
    let both = |bytes| Exchange { sent: bytes, read: bytes, ..Exchange::default() };
    let of = |demand| Exchange { demand, ..Exchange::default() };
    let cots = |count| Demand::of_cots(Party::Bob, count);
    let (exchanges, bytes) = (vec![both(0); 1 << 17], 1 << 58);
    let lengths = |setup, stored, online| CallLengths { setup, stored, online };
    for (calls, what, lengths) in [
        (5, "1048576 exchanges", lengths(exchanges.clone(), 0, exchanges)),
        (3, "bytes and correlations", lengths(Vec::new(), 0, vec![both(bytes)])),
        (5, "bytes and correlations", lengths(Vec::new(), bytes, Vec::new())),
        (5, "bytes and correlations", lengths(vec![of(cots(bytes as u64))], 0, Vec::new())),
        (5, "bytes and correlations", lengths(vec![of(Demand::of_triples(bytes as u64))], 0, Vec::new())),
    ] {
        assert!(check(calls - 1, &lengths).is_ok(), "{what}");
        let error = check(calls, &lengths).expect_err(what).to_string();
        assert!(error.contains(what) && error.contains("'test:fixed': bind it to fewer lanes"), "{error}");
    }
    let most = usize::MAX;
    for lengths in [lengths(Vec::new(), most, vec![both(0)]), lengths(vec![both(most); 2], 0, Vec::new())] {
        assert!(check(1, &lengths).unwrap_err().to_string().contains("bytes and correlations"), "no overflow");
    }
}

#[test]
fn arguments_of_other_shapes_are_refused() {
    let (known, schedule) = schedule(1, &CallLengths::default());
    let parts = schedule.parts.unwrap();
    let part: &CallPart = parts.calls().next().unwrap();
    let value = |rows, lanes| Some(BitMatrix::zeros(rows, lanes));
    let online = |party, args| {
        let protocol = known.find(&*part.functionality).unwrap();
        let mut call = PartyCall::new(part, protocol, party, &[0; 32], 0).unwrap();
        call.restore(Zeroizing::default()).unwrap();
        call.online(args, &mut Stock::new(party), &mut NoPeer)
    };
    assert!(online(Party::Alice, vec![value(5, 70), None, value(5, 70)]).is_ok());
    assert!(online(Party::Bob, vec![None, value(5, 70), value(5, 70)]).is_ok());
    for args in [
        vec![None, None, value(5, 70)],
        vec![value(5, 70), None, None],
        vec![value(5, 70), value(5, 70), value(5, 70)],
        vec![value(5, 71), None, value(5, 70)],
        vec![value(5, 70), None, value(4, 70)],
        vec![value(5, 70), None],
        vec![],
    ] {
        let error = online(Party::Alice, args).expect_err("another shape").to_string();
        assert!(error.contains("'test:fixed'") && error.contains("its arguments have other shapes"), "{error}");
    }
}
