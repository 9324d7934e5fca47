//! A call for tests: products of bits, by triples or by OTs, for both parties or for one; and broken twins of it.
#![allow(dead_code)] // each test file uses its part

use super::programs::{Dice, Sample, Values, sample_with};
use circuit::program::{CallPort, Functionality, Holder, View};
use circuit::{BitMatrix, Error, Party, Program};
use duologue::call::{Call, CallLengths, CallProtocol, Calls, Context, Drawn, Exchange, OnlineStage, Outbox};
use duologue::call::{SetupStage, Stage, Zeroizing};
use duologue::correlation::Demand;
use std::sync::Arc;

/// What is wrong with a broken twin, at Alice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// Her first message online has a byte too many.
    ByteTooMany,
    /// Her first message online lacks a byte.
    ByteTooFew,
    /// She reads a byte more than Bob sends.
    Lengths,
    /// She draws more than Bob.
    Demand,
    /// Setup stores less than it says.
    Stored,
    /// Her results have other shapes.
    Shape,
}

/// Bit by bit the AND of two values of one shape. Parameters: 0 by triples, 1 by OTs; then who gets it: 0 both as shares,
/// 1 Alice, 2 Bob.
pub struct Product(pub Option<Fault>);

/// The bits that each exchange of setup prepares.
const AT_ONCE: usize = 100;

pub fn calls(fault: Option<Fault>) -> Calls {
    Calls::new().with(Arc::new(Product(fault)))
}

/// A random program with calls.
pub fn sample_with_calls(seed: u64, lanes: u64) -> Sample {
    let product: Arc<dyn Functionality> = Arc::new(Product(None));
    let more = |dice: &mut Dice, p: &mut Program, values: &mut Values| {
        if dice.roll(3) == 0 {
            return;
        }
        let (a, b) = (dice.pick(values), dice.pick(values));
        let width = a.1.min(b.1);
        let [a, b] = [a, b].map(|(value, from)| match from == width {
            true => value,
            false => p.view(View::Bits((0..width).collect()), &[value]),
        });
        let parameters = [dice.roll(2) as u8, dice.roll(3) as u8];
        values.push((p.call(&product, &parameters, &[a, b])[0], width));
    };
    sample_with(seed, lanes, more)
}

impl Functionality for Product {
    fn name(&self) -> &str {
        "test:product"
    }

    fn version(&self) -> u32 {
        3
    }

    fn results(&self, parameters: &[u8], args: &[CallPort]) -> circuit::Result<Vec<CallPort>> {
        match (parameters, args) {
            (&[0 | 1, holder @ 0..=2], [a, b]) if a.ty.width == b.ty.width => {
                let holder = [Holder::Shared, Holder::Party(Party::Alice), Holder::Party(Party::Bob)][holder as usize];
                Ok(vec![CallPort { ty: circuit::bits(a.ty.width), holder }])
            }
            _ => Err(Error::usage("two parameters and two arguments of one width")),
        }
    }

    fn lanes(&self, _: &[u8], args: &[u64]) -> circuit::Result<Vec<u64>> {
        if args[0] == args[1] { Ok(vec![args[0]]) } else { Err(Error::usage("two arguments of as many lanes")) }
    }

    fn evaluate(&self, _: &[u8], args: &[BitMatrix]) -> Vec<BitMatrix> {
        let words = args[0].words().iter().zip(args[1].words()).map(|(a, b)| a & b).collect();
        vec![BitMatrix::from_words(args[0].rows(), args[0].lanes(), words).unwrap()]
    }
}

/// The numbers of a call, as one party sees it.
#[derive(Clone)]
struct Numbers {
    party: Party,
    bits: usize,
    by_ots: bool,
    holder: Holder,
    rows: usize,
    fault: Option<Fault>,
}

impl Numbers {
    fn new(call: &Call, party: Party, fault: Option<Fault>) -> Numbers {
        let result = &call.results[0];
        let (rows, lanes) = (result.ty.width as usize, result.lanes as usize);
        let fault = fault.filter(|_| party == Party::Alice);
        Numbers { party, bits: rows * lanes, by_ots: call.parameters[0] == 1, holder: result.holder, rows, fault }
    }

    fn lengths(&self) -> CallLengths {
        let demand = |count: usize| match self.by_ots {
            true => Demand { cots_by_alice: count as u64, cots_by_bob: count as u64, triples: 0 },
            false => Demand::of_triples(count as u64),
        };
        let parts = (0..self.bits).step_by(AT_ONCE).map(|from| AT_ONCE.min(self.bits - from));
        let mut setup: Vec<Exchange> =
            parts.map(|count| Exchange { demand: demand(count), ..Exchange::default() }).collect();
        setup.push(Exchange { sent: 32, read: 32, ..Exchange::default() });
        let both = |bytes| Exchange { sent: bytes, read: bytes, ..Exchange::default() };
        let mut online = if self.by_ots { vec![both(self.bits); 2] } else { vec![both(2 * self.bits)] };
        match self.holder {
            Holder::Party(party) if party == self.party => online.push(Exchange { sent: 0, ..both(self.bits) }),
            Holder::Party(_) => online.push(Exchange { read: 0, ..both(self.bits) }),
            Holder::Shared => {}
        }
        match self.fault {
            Some(Fault::Lengths) => online[0].read += 1,
            Some(Fault::Demand) => setup[0].demand.triples += 1,
            _ => {}
        }
        CallLengths { setup, stored: 4 * self.bits, online }
    }
}

impl CallProtocol for Product {
    fn lengths(&self, call: &Call, party: Party) -> duologue::Result<CallLengths> {
        Ok(Numbers::new(call, party, self.0).lengths())
    }

    fn setup(&self, call: &Arc<Call>, context: &Context) -> duologue::Result<SetupStage> {
        let numbers = Numbers::new(call, context.party, self.0);
        Ok(Box::new(Setup { numbers, domain: context.domain, stored: Vec::new() }))
    }

    fn online(
        &self,
        call: &Arc<Call>,
        party: Party,
        setup: Zeroizing<Vec<u8>>,
        args: Vec<Option<BitMatrix>>,
    ) -> duologue::Result<OnlineStage> {
        let numbers = Numbers::new(call, party, self.0);
        for (arg, given) in call.args.iter().zip(&args) {
            let theirs = arg.holder == Holder::Party(party.peer());
            assert_eq!(given.is_none(), theirs, "whoever holds an argument has it");
        }
        let [x, y] = [0, 1].map(|i| args[i].as_ref().map_or(vec![0; numbers.bits], bits_of));
        Ok(Box::new(Online { numbers, setup, x, y, share: Vec::new(), turn: 0 }))
    }
}

fn bits_of(matrix: &BitMatrix) -> Vec<u8> {
    (0..matrix.rows()).flat_map(|row| (0..matrix.lanes()).map(move |lane| matrix.get(row, lane).into())).collect()
}

struct Setup {
    numbers: Numbers,
    domain: [u8; 32],
    stored: Vec<u8>,
}

impl Stage for Setup {
    type Output = Zeroizing<Vec<u8>>;

    /// At last each party shows its domain.
    fn step(&mut self, drawn: Drawn, _: &[u8], outbox: &mut Outbox) -> duologue::Result<()> {
        if self.stored.len() == 4 * self.numbers.bits {
            outbox.extend_from_slice(&self.domain);
            return Ok(());
        }
        let bit = |words: &[u64], i: usize| (words[i / 64] >> (i % 64) & 1) as u8;
        let (triples, ots) = (drawn.triples, drawn.ots);
        for i in 0..triples.len {
            self.stored.extend([bit(&triples.a, i), bit(&triples.b, i), bit(&triples.c, i), 0]);
        }
        let [m0, m1] = ots.sent.messages();
        for i in 0..ots.sent.len() {
            let received = ots.received.messages()[i];
            let lowest = [m0[i].lsb(), m1[i].lsb(), bit(ots.received.choices(), i) == 1, received.lsb()];
            self.stored.extend(lowest.map(u8::from));
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>, inbox: &[u8]) -> duologue::Result<Zeroizing<Vec<u8>>> {
        assert_eq!(inbox, self.domain, "both parties have the same domain");
        if self.numbers.fault == Some(Fault::Stored) {
            self.stored.push(0);
        }
        Ok(Zeroizing::new(self.stored))
    }
}

struct Online {
    numbers: Numbers,
    setup: Zeroizing<Vec<u8>>,
    x: Vec<u8>,
    y: Vec<u8>,
    share: Vec<u8>,
    turn: usize,
}

impl Online {
    fn prepared(&self, i: usize) -> [u8; 4] {
        *self.setup[4 * i..].first_chunk().unwrap()
    }

    fn with_triples(&mut self, inbox: &[u8]) {
        let ours = u8::from(self.numbers.party == Party::Alice);
        self.share = (0..self.numbers.bits)
            .map(|i| {
                let [a, b, c, _] = self.prepared(i);
                let (d, e) = (self.x[i] ^ a ^ inbox[2 * i], self.y[i] ^ b ^ inbox[2 * i + 1]);
                c ^ d & b ^ e & a ^ ours & d & e
            })
            .collect();
    }

    /// The answers of the OTs that we send: x by y of the peer.
    fn answers(&mut self, inbox: &[u8]) -> Vec<u8> {
        let mut answers = Vec::new();
        for (i, &d) in inbox.iter().enumerate() {
            let [m0, m1, ..] = self.prepared(i);
            self.share.push(self.x[i] & self.y[i] ^ if d == 1 { m1 } else { m0 });
            answers.push(m0 ^ m1 ^ self.x[i]);
        }
        answers
    }

    fn with_answers(&mut self, inbox: &[u8]) {
        for (i, answer) in inbox.iter().enumerate() {
            let [.., chosen] = self.prepared(i);
            self.share[i] ^= chosen ^ self.y[i] & answer;
        }
    }

    /// What came last.
    fn read(&mut self, inbox: &[u8]) {
        match (self.numbers.by_ots, self.turn) {
            (false, 1) => self.with_triples(inbox),
            (true, 2) => self.with_answers(inbox),
            (false, 2) | (true, 3) => self.share.iter_mut().zip(inbox).for_each(|(share, other)| *share ^= other),
            _ => {}
        }
    }
}

impl Stage for Online {
    type Output = Vec<Option<BitMatrix>>;

    fn step(&mut self, _: Drawn, inbox: &[u8], outbox: &mut Outbox) -> duologue::Result<()> {
        self.read(inbox);
        let out: Vec<u8> = match (self.numbers.by_ots, self.turn) {
            (false, 0) => {
                let opened = (0..self.numbers.bits).map(|i| (i, self.prepared(i)));
                opened.flat_map(|(i, [a, b, ..])| [self.x[i] ^ a, self.y[i] ^ b]).collect()
            }
            (true, 0) => (0..self.numbers.bits).map(|i| self.prepared(i)[2] ^ self.y[i]).collect(),
            (true, 1) => self.answers(inbox),
            _ if self.numbers.holder == Holder::Party(self.numbers.party) => Vec::new(),
            _ => self.share.clone(),
        };
        outbox.extend_from_slice(&out);
        match self.numbers.fault {
            Some(Fault::ByteTooMany) => outbox.extend_from_slice(&[0]),
            Some(Fault::ByteTooFew) => {
                outbox.clear();
                outbox.extend_from_slice(&out[1..]);
            }
            _ => {}
        }
        self.turn += 1;
        Ok(())
    }

    fn finish(mut self: Box<Self>, inbox: &[u8]) -> duologue::Result<Vec<Option<BitMatrix>>> {
        self.read(inbox);
        if self.numbers.holder == Holder::Party(self.numbers.party.peer()) {
            return Ok(vec![None]);
        }
        let (rows, more) = (self.numbers.rows, usize::from(self.numbers.fault == Some(Fault::Shape)));
        let lanes = self.numbers.bits.checked_div(rows).unwrap_or(0);
        let mut result = BitMatrix::zeros(rows + more, lanes);
        for (i, &bit) in self.share.iter().enumerate() {
            result.set(i / lanes, i % lanes, bit == 1);
        }
        Ok(vec![Some(result)])
    }
}
