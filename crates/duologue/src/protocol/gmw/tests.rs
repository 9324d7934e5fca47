//! Narrow maps against wide ones, bit by bit on the wire, and both against plain.

use super::*;
use crate::threads::Threads;
use circuit::program::{Seat, Task};
use circuit::{Bit, Bits, Builder, Circuit, Order, Word};
use kernels::Block;
use proptest::prelude::*;

/// Runs a map of either kind until it is done.
type Steps<'a> = Box<dyn FnMut(&[u8], &mut Outbox) -> Flow<Made<BitMatrix>> + 'a>;

/// A circuit on two secret arguments and one that may be public.
struct Case {
    plan: Arc<Plan>,
    task: Task,
    args: [BitMatrix; 3],
    public: bool,
    triples: [Triples; 2],
}

const WIDTHS: [u32; 3] = [5, 4, 3];

impl Case {
    fn new(circuit: &Circuit, lanes: usize, public: bool, seed: u64) -> Case {
        let rows = WIDTHS.map(|width| width as usize);
        let flags: Vec<bool> = (0..circuit.input_width()).map(|i| public && i >= rows[0] + rows[1]).collect();
        let plan = Arc::new(Plan::with_public(circuit, Order::Layered, &flags));
        let mut stream = Generator::from_seed(Block::new(seed.into()));
        let args = rows.map(|rows| random(rows, lanes, &mut stream));
        let mut to = 0;
        let wiring = (0..3).map(|arg| {
            let piece = whole(arg, WIDTHS[arg as usize], to, lanes);
            to += piece.rows;
            piece
        });
        let kind = TaskKind::Map { plan: 0, wiring: wiring.collect::<Vec<_>>().into() };
        let rows = circuit.output_width();
        let task = Task { kind, cell: 3, rows, lanes, args: vec![0, 1, 2], public: false, seat: Seat::default() };
        let triples = deal(&plan, lanes, &mut stream);
        Case { plan, task, args, public, triples }
    }

    fn wiring(&self) -> &[Piece] {
        let TaskKind::Map { wiring, .. } = &self.task.kind else { panic!("a map") };
        wiring
    }

    /// The steps of a party's narrow or wide map.
    fn run<'a>(&'a self, gmw: &'a Gmw, narrow: bool) -> Steps<'a> {
        let lanes = self.task.lanes;
        let shares = self.args.each_ref().map(|arg| self.share(gmw.party, arg));
        let [x, y, z] = &shares;
        let z = if self.public { Arg::Public(&self.args[2]) } else { Arg::Secret(z) };
        let args = [Arg::Secret(x), Arg::Secret(y), z];
        let known = [None, None, self.public.then_some(&self.args[2])];
        let public = crate::executor::interpreter::public_rows(&self.plan, self.wiring(), lanes, &known);
        let job = Job { threads: Threads::default(), task: self.task.clone(), plan: Some(self.plan.clone()), public };
        let Triples { a, b, c, len } = &self.triples[gmw.party as usize];
        let triples = Triples { a: a.clone(), b: b.clone(), c: c.clone(), len: *len };
        let prepared = if narrow { gmw.prepare_map(&job, triples) } else { Prepared::Map(triples) };
        assert!(narrow == matches!(prepared, Prepared::Narrow(..)));
        let mut online = gmw.online(&job, prepared, &args, None).unwrap();
        Box::new(move |inbox, outbox| online.step(gmw, &job, inbox, outbox).unwrap())
    }

    /// One of two shares, which anybody could compute: nothing here is secret.
    fn share(&self, party: Party, value: &BitMatrix) -> BitMatrix {
        let mask = random(value.rows(), value.lanes(), &mut Generator::from_seed(Block::new(9)));
        if party == Party::Alice { value.xor(&mask) } else { mask }
    }

    /// Both parties' outputs, and what Alice and Bob sent.
    fn both(&self, narrow: [bool; 2]) -> (BitMatrix, [Vec<u8>; 2]) {
        let gmw = [Party::Alice, Party::Bob]
            .map(|party| Gmw::new(party, Generator::from_seed(Block::ZERO), 0, None, PlanCache::default()));
        let mut runs = [self.run(&gmw[0], narrow[0]), self.run(&gmw[1], narrow[1])];
        let (mut inbox, mut sent) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
        for layer in 0.. {
            let mut outbox = [Outbox::default(), Outbox::default()];
            let flows = [0, 1].map(|party| runs[party](&inbox[party], &mut outbox[party]));
            (0..2).for_each(|party| sent[party].extend_from_slice(&outbox[party]));
            let [alice, bob] = outbox.map(|outbox| outbox.to_vec());
            match flows {
                [Flow::Done(Made::Value(one)), Flow::Done(Made::Value(other))] => return (one.xor(&other), sent),
                [Flow::Exchange, Flow::Exchange] => {
                    let rows = lengths::opened_rows(&self.plan, self.task.lanes).nth(layer).expect("a layer");
                    let bits = rows * self.task.lanes;
                    assert_eq!((alice.len(), bob.len()), (bits.div_ceil(8), bits.div_ceil(8)));
                    inbox = [dirty(bob, bits), dirty(alice, bits)];
                }
                _ => panic!("the parties do different things"),
            }
        }
        unreachable!("plans end")
    }

    fn expected(&self) -> BitMatrix {
        let args = self.args.each_ref().map(Arg::Secret);
        let known = [None, None, self.public.then_some(&self.args[2])];
        let public = crate::executor::interpreter::public_rows(&self.plan, self.wiring(), self.task.lanes, &known);
        crate::executor::interpreter::map(&self.plan, self.wiring(), self.task.lanes, &args, &public)
    }
}

/// A message with ones in the padding of its last byte, which a reader must ignore.
fn dirty(mut bytes: Vec<u8>, bits: usize) -> Vec<u8> {
    if let (Some(last), padded @ 1..) = (bytes.last_mut(), bits % 8) {
        *last |= 0xff << padded;
    }
    bytes
}

fn whole(arg: u32, rows: u32, to_row: u32, lanes: usize) -> Piece {
    Piece { arg, from_row: 0, to_row, rows, from_lane: 0, from_step: 1, to_lane: 0, to_step: 1, count: lanes }
}

/// Random gates on any earlier bits and their complements.
fn circuit(seed: u64, outputs: usize, gates: usize) -> Circuit {
    let mut stream = Generator::from_seed(Block::new(seed.into()));
    let mut roll = move |sides: usize| {
        let mut word = [0];
        stream.words(&mut word);
        (word[0] % sides as u64) as usize
    };
    let mut c = Builder::new("random");
    let mut bits = vec![Bit::FALSE];
    for (i, width) in WIDTHS.into_iter().enumerate() {
        bits.extend(c.bits(format!("in{i}"), width).bits());
    }
    for _ in 0..gates {
        let [a, b] = [(); 2].map(|()| bits[roll(bits.len())].flip(roll(2) == 1));
        bits.push(if roll(2) == 0 { c.xor(a, b) } else { c.and(a, b) });
    }
    let chosen = (0..outputs).map(|_| bits[roll(bits.len())]).collect();
    c.output("out", &Bits::from_bits(chosen));
    c.finish()
}

fn random(rows: usize, lanes: usize, stream: &mut Generator) -> BitMatrix {
    let mut bits = BitMatrix::zeros(rows, lanes);
    stream.words(bits.words_mut());
    bits.clear_padding();
    bits
}

fn deal(plan: &Plan, lanes: usize, stream: &mut Generator) -> [Triples; 2] {
    let len = plan.ands() as usize * lanes;
    let mut bits = || random(1, len, stream);
    let [mut a, mut a1, b, b1, c] = [(); 5].map(|()| bits());
    // The ANDs of a vector have one a.
    for place in triples::places(plan) {
        for (and, lane) in place.clone().flat_map(|and| (0..lanes).map(move |lane| (and, lane))) {
            for a in [&mut a, &mut a1] {
                let first = a.get(0, place.start * lanes + lane);
                a.set(0, and * lanes + lane, first);
            }
        }
    }
    let [a, a1, b, b1, c] = [a, a1, b, b1, c].map(|bits| bits.words().to_vec());
    let c1 = (0..c.len()).map(|i| (a[i] ^ a1[i]) & (b[i] ^ b1[i]) ^ c[i]).collect();
    [Triples { a, b, c, len }, Triples { a: a1, b: b1, c: c1, len }]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Both kinds of maps on both sides of the boundary: the same bits, the same bytes, also one kind against the other.
    #[test]
    fn narrow_maps_do_what_wide_ones_do(seed: u64, lanes in 1usize..131, gates in 0usize..400, public: bool) {
        let gates = circuit(seed, 7, gates);
        let case = Case::new(&gates, lanes, public, seed);
        let (expected, fits) = (case.expected(), lanes <= narrow::MOST_LANES);
        let (wide, sent) = case.both([false, false]);
        prop_assert!(wide == expected);
        for kinds in [[fits, fits], [fits, false], [false, fits]] {
            let (found, bytes) = case.both(kinds);
            prop_assert!(found == expected, "{lanes} lanes");
            prop_assert_eq!(&bytes, &sent);
        }
    }
}

/// Every number of lanes that a cell may hold, with layers that fill their words and layers that do not.
#[test]
fn every_narrow_map_does_what_plain_does() {
    for lanes in 1..=narrow::MOST_LANES {
        let gates = circuit(lanes as u64, 40, 900);
        let case = Case::new(&gates, lanes, lanes % 2 == 0, 1);
        assert!(case.both([true, true]) == (case.expected(), case.both([false, false]).1), "{lanes} lanes");
    }
}
