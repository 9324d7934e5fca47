//! One run: Bob's garbling under labels that he draws for it, and Alice's answers and evaluation.
//!
//! Gates go in steps of as many as the scheme says. In a step Bob sends the ciphertexts of its gates' wires, with the first one
//! those of the inputs; Alice the answers for its gates' operands; Bob its tables. A gate reads earlier wires alone, so that all
//! that an answer needs has come.

use super::method::{Linear, Tables};
use super::netlist::Netlist;
use crate::offer::HELLO;
use crate::{Offer, Sizes};
use duologue::{Error, Result};
use he::linear::Labels;
use kernels::generator::Generator;
use std::collections::VecDeque;
use std::ops::Range;
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use zeroize::Zeroizing;

/// Which gates and wires a step has.
#[derive(Clone, Copy)]
pub struct Steps {
    sizes: Sizes,
    each: u64,
}

impl Steps {
    /// Those of a method.
    pub fn of<S: Linear>(sizes: Sizes) -> Self {
        Steps { sizes, each: S::CHUNK as u64 }
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.sizes.gates.div_ceil(self.each)
    }

    /// The gates of a step.
    pub fn gates(&self, step: u64) -> Range<u64> {
        (step * self.each).min(self.sizes.gates)..((step + 1) * self.each).min(self.sizes.gates)
    }

    /// How many wires of a step are encrypted, in messages: none of outputs, which nothing reads.
    pub fn wires(&self, step: u64) -> Vec<usize> {
        let (inputs, gates) = (u64::from(self.sizes.inputs), self.gates(step));
        let read = self.sizes.gates - u64::from(self.sizes.outputs);
        let of_inputs = (0..if step == 0 { inputs } else { 0 }).step_by(self.each as usize);
        let mut wires: Vec<_> = of_inputs.map(|first| (inputs - first).min(self.each) as usize).collect();
        wires.push((gates.end.min(read) - gates.start.min(read)) as usize);
        wires.retain(|&count| count > 0);
        wires
    }
}

/// Bytes of a session of so many runs, of functions of these sizes: that Alice sends, and Bob.
pub fn traffic<S: Linear>(sizes: &Sizes, runs: u32) -> [u64; 2] {
    let Sizes { inputs, outputs, gates, .. } = *sizes;
    let [inputs, outputs, runs] = [inputs, outputs, runs].map(u64::from);
    let (each, label) = (S::CHUNK as u64, S::Labels::BYTES as u64);
    let answers = |gates: u64| S::answers(2 * gates as usize) as u64;
    let of_alice = gates / each * answers(each) + answers(gates % each) + outputs * label;
    let ciphertexts = S::ciphertexts(1) as u64 * (inputs + gates).saturating_sub(outputs);
    // A byte says that there is a run, and one that there is no other.
    let of_bob = 1 + inputs * label + ciphertexts + gates * S::Tables::TABLE as u64;
    [HELLO as u64 + runs * of_alice, HELLO as u64 + 1 + S::KEY as u64 + runs * of_bob]
}

/// What the tables of a run are bound to: the method, the offer, the run's number, Bob's key.
pub(super) fn tables<S: Linear>(offer: &Offer, number: u32, key: &[u8]) -> S::Tables {
    let mut hasher = blake3::Hasher::new_derive_key("duologue v1 private function: run of Katz and Malka's protocol");
    hasher.update(&offer.to_bytes(S::METHOD)).update(&number.to_le_bytes()).update(key);
    S::Tables::new(hasher.finalize().as_bytes())
}

/// The peer's fault, without a place: which gate it is would be of the function.
fn peer(what: &str) -> impl Fn(he::Error) -> Error {
    let what = what.to_owned();
    move |why| match why {
        he::Error::Random => {
            Error::Io { what: "randomness of the operating system".into(), source: std::io::Error::other(why) }
        }
        he::Error::Storage(_) => failed(why),
        he::Error::Ciphertext { fault, .. } => Error::peer(format!("{what}: {fault}")),
        why => Error::peer(format!("{what}: {why}")),
    }
}

/// Our own failure.
fn failed(why: he::Error) -> Error {
    Error::Io { what: "encryption".into(), source: std::io::Error::other(why) }
}

/// A key of Bob's.
pub struct Key<S: Linear> {
    secret: S::Secret,
    public: Vec<u8>,
}

impl<S: Linear> Key<S> {
    /// A new one.
    pub fn generate(rng: &mut Generator) -> Result<Self> {
        let secret = S::generate(rng).map_err(failed)?;
        let public = S::key(&secret);
        Ok(Key { secret, public })
    }

    /// What Alice gets of it.
    pub fn public(&self) -> &[u8] {
        &self.public
    }
}

/// Bob's key, as Alice has it.
pub struct PeerKey<S: Linear> {
    public: S::Public,
    bytes: Vec<u8>,
}

impl<S: Linear> PeerKey<S> {
    /// Reads it.
    pub fn read(bytes: Vec<u8>) -> Result<Self> {
        Ok(PeerKey { public: S::read_key(&bytes).map_err(peer("its key"))?, bytes })
    }
}

/// Bob's side of a run. What it drew serves this run alone.
pub struct Garbling<S: Linear> {
    steps: Steps,
    tables: S::Tables,
    rng: Generator,
    /// The difference of the labels of 1 and 0 of every wire.
    offset: S::Labels,
    inputs: S::Labels,
    /// Labels of 0 of the gates of each step whose answers have not come.
    waiting: VecDeque<S::Labels>,
    outputs: S::Labels,
    encrypted: u64,
    garbled: u64,
}

impl<S: Linear> Garbling<S> {
    /// The run of this number. The generator is for it alone.
    pub fn new(offer: &Offer, number: u32, key: &Key<S>, secrets: &Generator) -> Self {
        let mut rng = secrets.derive(b"run     ", number.into());
        let (steps, tables) = (Steps::of::<S>(offer.sizes), tables::<S>(offer, number, &key.public));
        let offset = S::Labels::offset(&mut rng);
        let inputs = S::Labels::random(offer.sizes.inputs as usize, &mut rng);
        let (waiting, outputs) = (VecDeque::new(), S::Labels::random(0, &mut rng));
        Garbling { steps, tables, rng, offset, inputs, waiting, outputs, encrypted: 0, garbled: 0 }
    }

    /// The label of each input bit.
    pub fn input_labels(&self, x: &[bool]) -> Zeroizing<Vec<u8>> {
        let [mut labels, ones] = self.both(&self.inputs);
        let bytes = labels.chunks_exact_mut(S::Labels::BYTES).zip(ones.chunks_exact(S::Labels::BYTES));
        for ((label, one), &bit) in bytes.zip(x) {
            let bit = Choice::from(u8::from(bit));
            label.iter_mut().zip(one).for_each(|(byte, one)| byte.conditional_assign(one, bit));
        }
        labels
    }

    /// The labels of 0 and 1.
    fn both(&self, zeros: &S::Labels) -> [Zeroizing<Vec<u8>>; 2] {
        [zeros.encode(), zeros.add(&self.offset.pick((0..zeros.len()).map(|_| 0))).encode()]
    }

    /// The ciphertexts of the next step, message by message.
    ///
    /// # Errors
    /// If the operating system has no random bytes.
    pub fn ciphertexts(&mut self, key: &mut Key<S>) -> Result<Vec<Vec<u8>>> {
        let gates = self.steps.gates(self.encrypted);
        let labels = S::Labels::random((gates.end - gates.start) as usize, &mut self.rng);
        let (mut messages, mut inputs) = (Vec::new(), 0);
        for count in self.steps.wires(self.encrypted) {
            let from_inputs = self.encrypted == 0 && inputs < self.inputs.len();
            let wires = if from_inputs { self.inputs.pick(inputs..inputs + count) } else { labels.pick(0..count) };
            inputs += count;
            messages.push(S::encrypt(&mut key.secret, &wires, &mut self.rng).map_err(failed)?);
        }
        self.waiting.push_back(labels);
        self.encrypted += 1;
        Ok(messages)
    }

    /// The tables of the next step, from its answers.
    ///
    /// # Errors
    /// [`Error::Peer`] if these are no answers.
    pub fn chunk(&mut self, key: &Key<S>, answers: &[u8]) -> Result<Vec<u8>> {
        let gates = self.steps.gates(self.garbled);
        let count = (gates.end - gates.start) as usize;
        let zeros = self.waiting.pop_front().ok_or_else(|| Error::usage("answers before ciphertexts"))?;
        let operands = S::decrypt(&key.secret, answers, 2 * count).map_err(peer("its answers"))?;
        let [left, right] = [0, 1].map(|operand| operands.pick((0..count).map(|gate| 2 * gate + operand)));
        let first_output = self.steps.sizes.gates - u64::from(self.steps.sizes.outputs);
        let outputs = first_output.clamp(gates.start, gates.end) - gates.start;
        self.outputs.append(&zeros.pick(outputs as usize..count));
        self.garbled += 1;
        self.tables.garble(gates.start, [&left, &right], &zeros, &self.offset).ok_or_else(indistinct)
    }

    /// The result, from the labels of the outputs.
    ///
    /// # Errors
    /// [`Error::Peer`] if a label is none of the two.
    pub fn finish(self, labels: &[u8]) -> Result<Vec<bool>> {
        let [zeros, ones] = self.both(&self.outputs);
        let (mut known, mut result) = (Choice::from(u8::from(labels.len() == zeros.len())), Vec::new());
        let pairs = zeros.chunks_exact(S::Labels::BYTES).zip(ones.chunks_exact(S::Labels::BYTES));
        for ((zero, one), label) in pairs.zip(labels.chunks(S::Labels::BYTES)) {
            let is_one = one.ct_eq(label);
            known &= zero.ct_eq(label) | is_one;
            result.push(bool::from(is_one));
        }
        if bool::from(known) { Ok(result) } else { Err(Error::peer("its result is none")) }
    }
}

/// Labels that cannot be told apart: with randomness that is any, nobody sees it.
fn indistinct() -> Error {
    let why = "labels drawn from it cannot be told apart: run it again";
    Error::Io { what: "randomness of the operating system".into(), source: std::io::Error::other(why) }
}

/// Alice's side of a run.
pub struct Evaluation<'a, S: Linear> {
    netlist: &'a Netlist,
    steps: Steps,
    tables: S::Tables,
    store: S::Store,
    /// Of the blindings: a child for each step, derived once for the answers and once for the labels.
    blindings: Generator,
    /// Of encryptions.
    rng: Generator,
    /// The label of every wire that has one.
    wires: Option<S::Labels>,
    answered: u64,
    opened: u64,
    /// Whether a row was no label: it shows at the end, so that nobody hears at which gate.
    failed: bool,
}

impl<'a, S: Linear> Evaluation<'a, S> {
    /// The run of this number. The generator is for it alone.
    ///
    /// # Errors
    /// If there is no room for ciphertexts.
    pub fn new(
        netlist: &'a Netlist,
        offer: &Offer,
        number: u32,
        key: &PeerKey<S>,
        secrets: &Generator,
    ) -> Result<Self> {
        let (steps, tables) = (Steps::of::<S>(*netlist.sizes()), tables::<S>(offer, number, &key.bytes));
        let secrets = secrets.derive(b"run     ", number.into());
        let [blindings, rng] = [b"blinding", b"nonces  "].map(|of| secrets.derive(of, 0));
        let store = S::store(&key.public).map_err(failed)?;
        let (wires, answered, opened, failed) = (None, 0, 0, false);
        Ok(Evaluation { netlist, steps, tables, store, blindings, rng, wires, answered, opened, failed })
    }

    /// Takes a message of ciphertexts.
    ///
    /// # Errors
    /// [`Error::Peer`] if they are none.
    pub fn ciphertexts(&mut self, key: &mut PeerKey<S>, bytes: &[u8], count: usize) -> Result<()> {
        S::append(&mut key.public, &mut self.store, bytes, count).map_err(peer("its ciphertexts"))
    }

    fn blindings(&self, step: u64, labels: usize) -> S::Blindings {
        S::blindings(labels, &mut self.blindings.derive(b"of step ", step))
    }

    /// The answers of the next step, whose ciphertexts have come.
    ///
    /// # Errors
    /// If the operating system has no random bytes.
    pub fn answers(&mut self, key: &PeerKey<S>) -> Result<Vec<u8>> {
        let wires = self.gates(self.answered).as_flattened();
        let places: Zeroizing<Vec<usize>> = Zeroizing::new(wires.iter().map(|&wire| wire as usize).collect());
        let blindings = self.blindings(self.answered, places.len());
        let blinded = S::blind(&key.public, &blindings, &mut self.rng).map_err(failed)?;
        self.answered += 1;
        S::answer(&key.public, &mut self.store, &places, blinded).map_err(failed)
    }

    fn gates(&self, step: u64) -> &'a [[u32; 2]] {
        let gates = self.steps.gates(step);
        &self.netlist.gates()[gates.start as usize..gates.end as usize]
    }

    /// Takes the labels of the inputs.
    ///
    /// # Errors
    /// [`Error::Peer`] if they are none.
    pub fn inputs(&mut self, labels: &[u8]) -> Result<()> {
        let (labels, good) = S::Labels::decode(labels);
        if !good || labels.len() != self.netlist.sizes().inputs as usize {
            return Err(Error::peer("its labels are none, or not as many as inputs"));
        }
        self.wires = Some(labels);
        Ok(())
    }

    /// Evaluates the gates of the next step by their tables, as many at once as wait for no other.
    ///
    /// # Errors
    /// [`Error::Peer`] if the tables have another length.
    pub fn chunk(&mut self, tables: &[u8]) -> Result<()> {
        let (gates, first) = (self.gates(self.opened), self.steps.gates(self.opened).start);
        if tables.len() != gates.len() * S::Tables::TABLE {
            return Err(Error::peer(format!(
                "{} bytes of tables in place of {}",
                tables.len(),
                gates.len() * S::Tables::TABLE
            )));
        }
        let mut wires = self.wires.take().ok_or_else(|| Error::usage("tables before labels"))?;
        let blindings = S::labels(&self.blindings(self.opened, 2 * gates.len()));
        for lot in self.netlist.lots(self.steps.gates(self.opened)) {
            let operands = [0, 1].map(|operand| {
                let labels = wires.pick(gates[lot.clone()].iter().map(|wires| wires[operand] as usize));
                labels.add(&blindings.pick(lot.clone().map(|gate| 2 * gate + operand)))
            });
            let tables = &tables[lot.start * S::Tables::TABLE..lot.end * S::Tables::TABLE];
            let (out, good) = self.tables.evaluate(first + lot.start as u64, [&operands[0], &operands[1]], tables);
            self.failed |= !good;
            wires.append(&out);
        }
        self.wires = Some(wires);
        self.opened += 1;
        Ok(())
    }

    /// The labels of the outputs.
    ///
    /// # Errors
    /// [`Error::Peer`] if a row was no label.
    pub fn finish(self) -> Result<Zeroizing<Vec<u8>>> {
        let (outputs, wires) = (self.netlist.sizes().outputs as usize, self.wires.filter(|_| !self.failed));
        let wires = wires.ok_or_else(|| Error::peer("its tables are none"))?;
        Ok(wires.pick(wires.len() - outputs..wires.len()).encode())
    }
}
