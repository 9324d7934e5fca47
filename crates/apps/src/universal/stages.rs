//! Setup and online, both parties: Bob takes the labels of his input by OT, and Alice's ciphertexts go one way.
//!
//! ```text
//! setup     random OTs, a bit of Bob's input each: m_0, m_1 at Alice; a choice e and m_e at Bob
//! Bob   →   d = e ⊕ x
//! Alice →   S, and for each bit m_{1⊕d} ⊕ m_d ⊕ Δ: the zero label is m_d, and Bob has m_e, to which he adds this if x = 1
//! Alice →   ciphertexts, in chunks
//! Alice →   the lowest bits of the outputs' zero labels
//! ```

use super::garbling::{Evaluator, Garbler, bytes};
use super::{decode_function, split};
use crate::packed::{BitReader, BitWriter};
use circuit::universal::{Controls, Size};
use duologue::call::{CallLengths, Context, Drawn, Exchange, Outbox, Stage, Zeroizing};
use duologue::circuit::{self, BitMatrix, Party, Type};
use duologue::correlation::Demand;
use duologue::{Block, Error, Result};
use kernels::generator::Generator;

/// Bytes of ciphertexts in an exchange.
const CHUNK: u64 = 1 << 18;

/// Exchanges before the ciphertexts.
const BEFORE: usize = 2;

/// Bytes of the call's domain, with which what setup stores begins.
const DOMAIN: usize = 32;

/// The context of the key of a run's hashes.
const CONTEXT: &str = "duologue v1 universal: salt of hashes";

/// The S of a run's hashes: of the call's domain and what Alice drew, so that no other call has it.
fn salt(domain: &[u8], drawn: &[u8]) -> Block {
    let derived = blake3::Hasher::new_derive_key(CONTEXT).update(domain).update(drawn).finalize();
    blocks(derived.as_bytes()).next().unwrap_or_default()
}

/// The lengths of one party.
pub fn lengths(size: Size, party: Party) -> CallLengths {
    let (inputs, outputs) = (size.inputs as usize, size.outputs as usize);
    let demand = Demand { cots_by_alice: inputs as u64, ..Demand::NONE };
    let labels = if party == Party::Alice { 32 * inputs } else { inputs.div_ceil(8) + 16 * inputs };
    let to_bob = [16 + 16 * inputs].into_iter().chain(chunks(size)).chain([outputs.div_ceil(8)]);
    let message = |(sender, bytes)| {
        let (sent, read) = if sender == party { (bytes, 0) } else { (0, bytes) };
        Exchange { sent, read, ..Exchange::default() }
    };
    let messages = [(Party::Bob, inputs.div_ceil(8))].into_iter().chain(to_bob.map(|bytes| (Party::Alice, bytes)));
    CallLengths {
        setup: vec![Exchange { demand, ..Exchange::default() }],
        stored: DOMAIN + labels,
        online: messages.map(message).collect(),
    }
}

/// Bytes of all chunks.
fn chunks(size: Size) -> impl Iterator<Item = usize> {
    let bytes = bytes(size);
    (0..bytes.div_ceil(CHUNK)).map(move |chunk| CHUNK.min(bytes - chunk * CHUNK) as usize)
}

/// Setup: what random OTs give is stored.
pub struct Setup {
    party: Party,
    stored: Zeroizing<Vec<u8>>,
}

impl Setup {
    pub fn new(size: Size, context: &Context) -> Setup {
        let mut stored = Zeroizing::new(Vec::with_capacity(lengths(size, context.party).stored));
        stored.extend_from_slice(&context.domain);
        Setup { party: context.party, stored }
    }
}

impl Stage for Setup {
    type Output = Zeroizing<Vec<u8>>;

    fn step(&mut self, drawn: Drawn, _: &[u8], _: &mut Outbox) -> Result<()> {
        let (sent, received) = (&drawn.ots.sent, &drawn.ots.received);
        if self.party == Party::Alice {
            sent.messages().iter().for_each(|messages| store(&mut self.stored, messages));
        } else {
            let mut choices = BitWriter::default();
            choices.row(received.choices(), received.len());
            self.stored.extend(choices.bytes());
            store(&mut self.stored, received.messages());
        }
        Ok(())
    }

    fn finish(self: Box<Self>, _: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        Ok(self.stored)
    }
}

fn store(stored: &mut Vec<u8>, labels: &[Block]) {
    labels.iter().for_each(|label| stored.extend(label.to_bytes()));
}

fn blocks(bytes: &[u8]) -> impl Iterator<Item = Block> {
    bytes.as_chunks().0.iter().map(|&block| Block::from_bytes(block))
}

/// The bits of a row, one by one.
fn bits(row: &[u64], count: usize) -> impl Iterator<Item = bool> {
    (0..count).map(|i| row[i / 64] >> (i % 64) & 1 == 1)
}

/// A row of bits.
fn row(bits: impl Iterator<Item = bool>) -> Vec<u64> {
    let mut row = Vec::new();
    for (i, bit) in bits.enumerate() {
        if i % 64 == 0 {
            row.push(0);
        }
        row[i / 64] |= u64::from(bit) << (i % 64);
    }
    row
}

fn packed(bits: &[bool]) -> Vec<u8> {
    let mut packed = BitWriter::default();
    packed.row(&row(bits.iter().copied()), bits.len());
    packed.bytes()
}

/// Alice online: garbles the function that she holds.
pub struct Alice {
    size: Size,
    /// The domain, then m_0 of all OTs, then m_1.
    setup: Zeroizing<Vec<u8>>,
    controls: Option<Controls>,
    /// Outputs, which are Bob's.
    outputs: usize,
    random: Generator,
    garbler: Option<Garbler>,
    chunks: Box<dyn Iterator<Item = usize> + Send>,
    step: usize,
}

impl Alice {
    /// # Errors
    /// [`Error::Invalid`](duologue::circuit::Error::Invalid) if her function is none.
    pub fn new(size: Size, setup: Zeroizing<Vec<u8>>, function: &BitMatrix, outputs: usize) -> Result<Alice> {
        let controls = Some(Controls::new(&decode_function(size, function)?));
        let random = Generator::from_os().map_err(|why| Error::usage(format!("no randomness: {why}")))?;
        let chunks = Box::new(chunks(size));
        Ok(Alice { size, setup, controls, outputs, random, garbler: None, chunks, step: 0 })
    }

    /// Answers what Bob's choices differ from his input in.
    fn begin(&mut self, inbox: &[u8], outbox: &mut Outbox) -> Result<()> {
        let inputs = self.size.inputs as usize;
        let differ = BitReader::new(inbox, inputs as u64)?.row(inputs);
        let (drawn, delta) = (self.random.block().to_bytes(), Zeroizing::new(self.random.block().with_lsb(true)));
        outbox.extend_from_slice(&drawn);
        let (domain, messages) = self.setup.split_at(DOMAIN);
        let (s, (m0, m1)) = (salt(domain, &drawn), messages.split_at(16 * inputs));
        let mut labels = Vec::with_capacity(inputs);
        for ((m0, m1), differ) in blocks(m0).zip(blocks(m1)).zip(bits(&differ, inputs)) {
            let both = m0 ^ m1;
            labels.push(m0 ^ (Block::mask(differ) & both));
            outbox.extend_from_slice(&(both ^ *delta).to_bytes());
        }
        self.garbler = self.controls.take().map(|controls| Garbler::new(s, *delta, controls, labels));
        Ok(())
    }
}

impl Stage for Alice {
    type Output = Vec<Option<BitMatrix>>;

    fn step(&mut self, _: Drawn, inbox: &[u8], outbox: &mut Outbox) -> Result<()> {
        self.step += 1;
        match (self.step, &mut self.garbler) {
            (1, _) => Ok(()),
            (BEFORE, _) => self.begin(inbox, outbox),
            (_, Some(garbler)) => {
                match self.chunks.next() {
                    Some(bytes) => garbler.write(bytes, outbox),
                    None => outbox.extend_from_slice(&packed(garbler.decoding())),
                }
                Ok(())
            }
            (_, None) => Err(Error::usage("a universal circuit is garbled before its labels")),
        }
    }

    fn finish(self: Box<Self>, _: &[u8]) -> Result<Vec<Option<BitMatrix>>> {
        Ok(vec![None; self.outputs])
    }
}

/// Bob online: evaluates on his input.
pub struct Bob {
    size: Size,
    /// The domain, then the choices of his OTs, then their messages.
    setup: Zeroizing<Vec<u8>>,
    input: Zeroizing<Vec<bool>>,
    types: Vec<Type>,
    evaluator: Option<Evaluator>,
    step: usize,
}

impl Bob {
    pub fn new(size: Size, setup: Zeroizing<Vec<u8>>, args: &[Option<BitMatrix>], types: Vec<Type>) -> Bob {
        let mut input = Zeroizing::new(Vec::with_capacity(size.inputs as usize));
        args.iter().flatten().for_each(|arg| input.extend_from_slice(&Zeroizing::new(arg.lane(0))));
        Bob { size, setup, input, types, evaluator: None, step: 0 }
    }

    /// What setup has stored: the domain, choices, and messages.
    fn stored(&self) -> [&[u8]; 3] {
        let (domain, rest) = self.setup.split_at(DOMAIN);
        let (choices, messages) = rest.split_at(self.size.inputs.div_ceil(8) as usize);
        [domain, choices, messages]
    }

    fn ask(&self, outbox: &mut Outbox) -> Result<()> {
        let inputs = self.input.len();
        let [_, choices, _] = self.stored();
        let ours = |_| Error::usage("the choices that setup has stored for a universal circuit are damaged");
        let choices = Zeroizing::new(BitReader::new(choices, inputs as u64).map_err(ours)?.row(inputs));
        let differ: Vec<bool> = bits(&choices, inputs).zip(&*self.input).map(|(choice, &bit)| choice ^ bit).collect();
        outbox.extend_from_slice(&packed(&differ));
        Ok(())
    }

    /// The labels of his input.
    fn begin(&mut self, inbox: &[u8]) {
        let ([domain, _, messages], (drawn, corrections)) = (self.stored(), inbox.split_at(16));
        let labels = blocks(messages).zip(blocks(corrections)).zip(&*self.input);
        let labels = labels.map(|((message, correction), &bit)| message ^ (Block::mask(bit) & correction)).collect();
        self.evaluator = Some(Evaluator::new(self.size, salt(domain, drawn), labels));
    }
}

impl Stage for Bob {
    type Output = Vec<Option<BitMatrix>>;

    fn step(&mut self, _: Drawn, inbox: &[u8], outbox: &mut Outbox) -> Result<()> {
        self.step += 1;
        match (self.step, &mut self.evaluator) {
            (1, _) => return self.ask(outbox),
            (BEFORE, _) => {}
            (_, None) => self.begin(inbox),
            (_, Some(evaluator)) => evaluator.read(inbox),
        }
        Ok(())
    }

    fn finish(self: Box<Self>, inbox: &[u8]) -> Result<Vec<Option<BitMatrix>>> {
        let outputs = self.size.outputs as usize;
        let decoding = BitReader::new(inbox, outputs as u64)?.row(outputs);
        let evaluator = self.evaluator.ok_or_else(|| Error::usage("a universal circuit is decoded before it came"))?;
        let bits = evaluator.outputs(bits(&decoding, outputs))?;
        Ok(split(&self.types, bits).into_iter().map(Some).collect())
    }
}
