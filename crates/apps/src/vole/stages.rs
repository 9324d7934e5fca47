//! Both parties' steps, in the order of the messages.

use super::tree::{self, Levels, Punctured};
use super::{BASES, CORRECTION, Noise, Parameters, base};
use duologue::call::{Drawn, Outbox, Zeroizing};
use duologue::correlation::derived::ReceivedOts;
use duologue::{Error, Result};
use kernels::generator::Generator;
use kernels::syndrome::{GROUP, SEGMENTS, SyndromeCode};
use kernels::tree::{Patch, TreeHash};
use kernels::{Block, pages};
use zeroize::Zeroize;

/// Outputs of the code that are made at a time.
const OUTPUTS: usize = 16 * GROUP;

/// What is public and a call's own.
struct Public {
    base: TreeHash,
    noise: TreeHash,
    code: Block,
}

impl Public {
    fn new(domain: &[u8; 32]) -> Public {
        let seed = blake3::derive_key("duologue v1 VOLE: public", domain);
        let mut generator = Generator::from_seed(Block::from_bytes(*seed.first_chunk().expect("16 of 32 bytes")));
        let [base, noise, code] = std::array::from_fn(|_| generator.block());
        Public { base: TreeHash::new(base), noise: TreeHash::new(noise), code }
    }
}

/// A generator that the system seeds.
pub fn random() -> Result<Generator> {
    Generator::from_os().map_err(|why| Error::io("asking the system for randomness")(std::io::Error::other(why)))
}

/// The party that gets a and c.
pub struct Evaluator {
    parameters: Parameters,
    public: Public,
    y: Zeroizing<Vec<Block>>,
    c: Zeroizing<Vec<Block>>,
    /// The OTs of the trees.
    choices: Zeroizing<Vec<bool>>,
    chosen: Zeroizing<Vec<Block>>,
}

/// The party that gets Δ and b.
pub struct Keeper {
    parameters: Parameters,
    public: Public,
    random: Generator,
    /// The OTs of the base.
    choices: Zeroizing<Vec<bool>>,
    chosen: Zeroizing<Vec<Block>>,
    /// Those of the trees.
    messages: [Zeroizing<Vec<Block>>; 2],
}

impl Evaluator {
    pub fn new(parameters: Parameters, domain: &[u8; 32]) -> Evaluator {
        let [y, c, chosen] = [(); 3].map(|()| Zeroizing::default());
        Evaluator { parameters, public: Public::new(domain), y, c, choices: Zeroizing::default(), chosen }
    }

    /// The first message, with the OTs of the first exchange.
    pub fn open(&mut self, drawn: &Drawn, outbox: &mut Outbox) -> Result<()> {
        let mut random = random()?;
        self.y.resize(self.parameters.base(), Block::ZERO);
        random.fill_blocks(&mut self.y);
        let mut message = Vec::with_capacity(base::bytes(self.y.len()));
        self.c = base::evaluate(&self.public.base, drawn.ots.sent.messages(), &self.y, &mut random, &mut message);
        (self.choices, self.chosen) = received(&drawn.ots.received);
        outbox.extend_from_slice(&message);
        Ok(())
    }

    /// Appends a and then c, from the keeper's message.
    pub fn close(self, inbox: &[u8], results: &mut Vec<u8>) {
        let len = self.parameters.len;
        let Some(noise) = self.parameters.noise else {
            results.extend_from_slice(bytemuck::cast_slice(&self.y));
            results.extend_from_slice(bytemuck::cast_slice(&self.c));
            return;
        };
        let (mut compressor, mut places) = (Compressor::new(noise, &self.public), Vec::with_capacity(noise.trees));
        let mut c = Zeroizing::new(Vec::with_capacity(16 * len));
        compressor.compress(len, &mut c, |number, levels| {
            let Punctured { at, leaves } = self.regrow(&noise, number, levels, inbox);
            places.push(at);
            leaves
        });
        compressor.compress(len, results, |number, levels| {
            let leaves = levels.zeros();
            let patch = Patch { at: places[number], block: self.y[number] };
            self.public.noise.patch(leaves, [patch, Patch::NONE]);
            leaves
        });
        places.zeroize();
        results.extend_from_slice(&c);
    }

    /// A tree whose lacking leaf is made the keeper's + Δ·y.
    fn regrow<'a>(&self, noise: &Noise, number: usize, levels: &'a mut Levels, inbox: &[u8]) -> Punctured<'a> {
        let ots = number * noise.depth..(number + 1) * noise.depth;
        let ots = (&self.choices[ots.clone()], &self.chosen[ots]);
        let message = &inbox[number * noise.message()..][..noise.message()];
        let (corrections, masked) = message.split_at(CORRECTION * noise.depth);
        let masked = Block::from_bytes(*masked.first_chunk().expect("a block behind the corrections"));
        tree::regrow(&self.public.noise, levels, ots, corrections, masked ^ self.c[number])
    }
}

impl Keeper {
    pub fn new(parameters: Parameters, domain: &[u8; 32]) -> Result<Keeper> {
        let (choices, chosen, messages) = (Zeroizing::default(), Zeroizing::default(), Default::default());
        Ok(Keeper { parameters, public: Public::new(domain), random: random()?, choices, chosen, messages })
    }

    /// Takes the OTs of the first exchange, in which it sends nothing.
    pub fn open(&mut self, drawn: &Drawn) {
        (self.choices, self.chosen) = received(&drawn.ots.received);
        self.messages = drawn.ots.sent.messages().map(|messages| Zeroizing::new(messages.to_vec()));
    }

    /// Appends Δ and then b, from the evaluator's message; writes the message for it.
    pub fn close(mut self, inbox: &[u8], outbox: &mut Outbox, results: &mut Vec<u8>) {
        let ots = (&self.choices[..BASES], &self.chosen[..BASES]);
        let (delta, base) = base::keep(&self.public.base, ots, self.parameters.base(), inbox);
        results.extend_from_slice(&delta.to_bytes());
        let Some(noise) = self.parameters.noise else {
            results.extend_from_slice(bytemuck::cast_slice(&base));
            return;
        };
        let mut message = Vec::with_capacity(noise.bytes());
        let mut compressor = Compressor::new(noise, &self.public);
        compressor.compress(self.parameters.len, results, |number, levels| {
            let roots = [self.random.block(), self.random.block()];
            let ots = number * noise.depth..(number + 1) * noise.depth;
            let ots = self.messages.each_ref().map(|messages| &messages[ots.clone()]);
            let leaves = tree::grow(&self.public.noise, levels, roots, ots, &mut message);
            message.extend((roots[0] ^ roots[1] ^ base[number]).to_bytes());
            leaves
        });
        outbox.extend_from_slice(&message);
    }
}

/// Choices and chosen messages.
fn received(ots: &ReceivedOts) -> (Zeroizing<Vec<bool>>, Zeroizing<Vec<Block>>) {
    let choice = |number: usize| ots.choices()[number / 64] >> (number % 64) & 1 == 1;
    (Zeroizing::new((0..ots.len()).map(choice).collect()), Zeroizing::new(ots.messages().to_vec()))
}

/// The syndrome of the leaves of all trees.
struct Compressor {
    noise: Noise,
    code: SyndromeCode,
    levels: Levels,
    vector: Vec<Block>,
}

impl Compressor {
    fn new(noise: Noise, public: &Public) -> Compressor {
        let code = SyndromeCode::new(public.code, noise.segment());
        let mut vector = pages::with_room(SEGMENTS * noise.segment());
        vector.resize(SEGMENTS * noise.segment(), Block::ZERO);
        Compressor { noise, code, levels: Levels::new(noise.depth), vector }
    }

    /// Appends the first `len` entries of the syndrome; `leaves` gives those of a tree.
    fn compress(
        &mut self,
        len: usize,
        results: &mut Vec<u8>,
        mut leaves: impl for<'w> FnMut(usize, &'w mut Levels) -> &'w mut [Block],
    ) {
        let Compressor { noise, code, levels, vector } = self;
        let of_a_segment = noise.trees / SEGMENTS;
        for (segment, mut rows) in code.rows(vector).into_iter().enumerate() {
            let mut convolution = code.first();
            for number in segment * of_a_segment..(segment + 1) * of_a_segment {
                code.spread(&mut convolution, segment, leaves(number, levels), &mut rows);
            }
        }
        let mut copy = Zeroizing::new(vec![Block::ZERO; code.segment()]);
        for (segment, elements) in vector.chunks_mut(code.segment()).enumerate() {
            code.second(segment, elements, &mut copy);
        }
        let mut outputs = Zeroizing::new(vec![Block::ZERO; OUTPUTS]);
        for from in (0..len).step_by(OUTPUTS) {
            let wanted = OUTPUTS.min(len - from);
            let outputs = &mut outputs[..wanted.next_multiple_of(GROUP)];
            code.outputs_from(from, vector, outputs);
            results.extend_from_slice(bytemuck::cast_slice(&outputs[..wanted]));
        }
    }
}

impl Drop for Compressor {
    fn drop(&mut self) {
        self.vector.zeroize();
    }
}
