//! Ours: ciphertexts become shares by packed blinding, a tournament on shares, and two ciphertexts.
//!
//! V_i = y_i + 2^(l+1)·x_i of an argument x_i of w bits, or of the index x_i = i, is one number of K − 1 = l + 1 + w bits.
//!
//! ```text
//! server → client   [V_i + r_i], packed, fresh encryptions of the packed r_i added; r_i of K − 1 + σ random bits
//! shares modulo 2^K server −r_i, client V_i + r_i
//! both              the tournament of `argmin`, which compares the lowest l + 1 bits and selects all K
//! client → server   [C'], [c'], [C''], [c''] of its share C = C' + 2^(l+1)·C'', where c' and c'' are the highest bits of both
//! ```
//!
//! **No comparison brings the result back.** With the server's share S alike, S' + C' = y + 2^(l+1)·u for a carry u, and
//! y < 2^l, so that u is 1 if and only if one of S' and C' is 2^l or more: without a carry their sum is less, and with one it
//! is 2^(l+1) at least. So u = s' ∨ c', of which the server knows s' and has [c']. Then S'' + C'' + u = x + 2^(w+1)·v, where v =
//! s'' ∨ c'' likewise. Whatever s' and s'' are, the server computes the same.
//!
//! **Security**: semi-honest. The client sees V_i + r_i, at a statistical distance of 2^−σ from r_i, under randomness that is
//! uniform in the group of h^N; σ is the bits of the terms and ⌈log₂ n⌉ more, so that all n together are as far as the terms
//! say. The server sees ciphertexts. The tournament's is that of `argmin`. The result is re-randomised, so that whoever
//! decrypts it later learns nothing of s' and s''. A value of 2^l or more, or an argument of 2^w or more, makes the result meaningless, and may be taken
//! for the server's fault.
//!
//! **Bytes**: ⌈n/⌊(T − 1)/(K + σ)⌋⌉ + 4 ciphertexts of T/4 bytes, the key in setup, and those of the tournament with a
//! selection of K bits.
//!
//! **Departs** from Erkin and others (*Privacy-preserving face recognition*, PETS 2009), whose blinding it is, in that the
//! blinded numbers are not compared as such, but are shares.

use super::super::layout::Layout;
use super::super::online::{Begin, Online};
use super::super::parameters::{Form, Parameters};
use super::super::rows::Rows;
use super::super::setup::Setup;
use super::ciphertexts::{bytes_of_ciphertext, of_peer, own, random};
use super::{ClientStage, Found, Inputs, Job, Keys, Protocol, ServerStage};
use duologue::call::{CallLengths, Context, Drawn, Exchange, Outbox, SetupStage, Stage, Zeroizing};
use duologue::circuit::Party;
use duologue::{Error, Result};
use he::packing::Columns;
use he::paillier::{PublicKey, SecretKey};
use he::{Additive, Ciphertexts, KeySize, Plaintexts};
use kernels::generator::Generator;
use std::ops::Range;
use std::sync::Arc;

/// Ciphertexts of a message: as many as are computed side by side, so that the client decrypts one while the server packs the
/// next.
const CHUNK: usize = 8;

/// Ciphertexts that the client sends at the end.
const BACK: usize = 4;

/// The protocol.
pub struct Shares;

/// What is public of a run.
struct Shape {
    /// l.
    bits: usize,
    /// w.
    second: usize,
    /// Bits of V_i that is encrypted, K − 1 or, with an index, l; and of its blinding number.
    value: usize,
    blinding: usize,
    columns: Columns,
    layout: Layout,
}

impl Shape {
    fn new(job: &Job) -> Result<Shape> {
        let (bits, second) = (job.terms.bits as usize, job.second_bits() as usize);
        let statistical = job.terms.statistical as usize + job.values.next_power_of_two().ilog2() as usize;
        let argument = job.terms.argument.is_some();
        let value = if argument { bits + 1 + second } else { bits };
        let slot = value + statistical + 1;
        let parts = if argument { vec![bits + 1, slot - bits - 1] } else { vec![slot] };
        let parts: Vec<u32> = parts.iter().map(|&part| part as u32).collect();
        let size = KeySize::even_if_it_can_be_broken(job.terms.key_bits).map_err(own)?;
        let columns = Columns::new(&parts, job.values, size).map_err(own)?;
        let groups = Parameters {
            groups: job.terms.groups.clone(),
            direction: job.terms.direction,
            ..Parameters::new(Form::Shared, 0)
        };
        groups.check(job.values as u64)?;
        let (sums, groups) = (bits + 1 + second + 1, groups.levels(job.values));
        let layout = Layout::of_sums(bits, job.values, sums, job.terms.direction, &groups, job.client());
        layout.check()?;
        Ok(Shape { bits, second, value, blinding: value + statistical, columns, layout })
    }

    /// The first of the decrypted numbers that is no sum of a value and a blinding number.
    fn out_of_range(&self, blinded: &Plaintexts) -> Option<usize> {
        let bit = |number: &[u64], bit: usize| number[bit / 64] >> (bit % 64) & 1;
        let is_too_large = |number: &[u64]| {
            let above = (self.value..self.blinding).fold(0, |above, at| above | bit(number, at));
            bit(number, self.blinding) & above == 1
        };
        blinded.iter().position(is_too_large)
    }

    /// The plaintexts of each message from the server.
    fn chunks(&self) -> impl ExactSizeIterator<Item = Range<usize>> + use<> {
        let all = self.columns.len();
        (0..all).step_by(CHUNK).map(move |from| from..all.min(from + CHUNK))
    }

    fn words_of_blinding(&self) -> usize {
        self.blinding.div_ceil(64)
    }
}

impl Protocol for Shares {
    fn name(&self) -> &'static str {
        "duologue:argmin-encrypted"
    }

    /// Since version 2 the tiles of its tournament are those of version 2 of `duologue:argmin`.
    fn version(&self) -> u32 {
        2
    }

    fn check(&self, job: &Job) -> Result<()> {
        Shape::new(job).map(|_| ())
    }

    fn lengths(&self, job: &Job, party: Party) -> Result<CallLengths> {
        let shape = Shape::new(job)?;
        let mut lengths = shape.layout.lengths(party);
        let ciphertexts = |count: usize, writer: Party| {
            let bytes = count * bytes_of_ciphertext(&job.terms);
            let (sent, read) = if writer == party { (bytes, 0) } else { (0, bytes) };
            Exchange { sent, read, ..Exchange::default() }
        };
        let mut online: Vec<Exchange> = shape.chunks().map(|chunk| ciphertexts(chunk.len(), job.server())).collect();
        online.append(&mut lengths.online);
        online.push(ciphertexts(BACK, job.client()));
        Ok(CallLengths { online, ..lengths })
    }

    fn looks_at_symbols(&self) -> bool {
        true
    }

    fn setup(&self, job: &Job, context: &Context, _: &Keys) -> Result<SetupStage> {
        Ok(Box::new(Setup::new(Shape::new(job)?.layout, context.party)))
    }

    fn server(&self, job: &Job, key: PublicKey, setup: Zeroizing<Vec<u8>>, inputs: Inputs) -> Result<ServerStage> {
        let shape = Shape::new(job)?;
        let words = shape.words_of_blinding();
        let mut blinding = Zeroizing::new(vec![0; words * job.values]);
        let mut random = random()?;
        random.words(&mut blinding);
        let above = (64 * words - shape.blinding) as u32;
        blinding.chunks_exact_mut(words).for_each(|number| number[words - 1] &= u64::MAX >> above);
        let share = server_share(&shape, job, &blinding);
        let mut parts = vec![inputs.values];
        parts.extend(inputs.arguments);
        let stage = Server {
            blinding: Plaintexts::from_words(&blinding, words),
            tournament: Tournament::new(&shape, job.server(), setup),
            share: Some(share),
            least: None,
            shape,
            key,
            parts,
            random,
            step: 0,
        };
        Ok(Box::new(stage))
    }

    fn client(&self, job: &Job, key: Arc<SecretKey>, setup: Zeroizing<Vec<u8>>) -> Result<ClientStage> {
        let shape = Shape::new(job)?;
        let tournament = Tournament::new(&shape, job.client(), setup);
        Ok(Box::new(Client { shape, key, plain: Vec::new(), tournament, step: 0 }))
    }
}

/// The tournament within the protocol.
struct Tournament {
    layout: Layout,
    party: Party,
    setup: Zeroizing<Vec<u8>>,
    inner: Option<Online>,
}

impl Tournament {
    fn new(shape: &Shape, party: Party, setup: Zeroizing<Vec<u8>>) -> Tournament {
        Tournament { layout: shape.layout.clone(), party, setup, inner: None }
    }

    /// Begins with this party's shares modulo 2^K.
    fn begin(&mut self, sums: Rows) {
        let strings = Rows::zeros(0, sums.lanes());
        let begin = Begin { sums, strings, least_share: None };
        self.inner = Some(Online::new(self.layout.clone(), self.party, std::mem::take(&mut self.setup), begin));
    }

    fn inner(&mut self) -> Result<Online> {
        self.inner.take().ok_or_else(|| Error::usage("the steps of a tournament are out of order"))
    }

    fn step(&mut self, drawn: Drawn, inbox: &[u8], outbox: &mut Outbox) -> Result<()> {
        let mut inner = self.inner()?;
        inner.step(drawn, inbox, outbox)?;
        self.inner = Some(inner);
        Ok(())
    }

    /// This party's share of the least value: its lowest `low` bits, and the others.
    fn end(&mut self, inbox: &[u8], low: usize) -> Result<[Number; 2]> {
        let share = self.inner()?.least(inbox)?;
        Ok([0..low, low..share.rows()].map(|rows| Number::of(&share, rows)))
    }
}

/// One part of a share.
struct Number {
    words: Zeroizing<Vec<u64>>,
    bits: usize,
}

impl Number {
    fn of(share: &Rows, rows: Range<usize>) -> Number {
        let bits = rows.len();
        let mut words = Zeroizing::new(vec![0; WORDS]);
        rows.enumerate().for_each(|(bit, row)| words[bit / 64] |= (share.row(row)[0] & 1) << (bit % 64));
        Number { words, bits }
    }

    /// Its highest bit.
    fn top(&self) -> Zeroizing<Vec<u64>> {
        let mut top = Zeroizing::new(vec![0; WORDS]);
        top[0] = self.words[(self.bits - 1) / 64] >> ((self.bits - 1) % 64) & 1;
        top
    }
}

/// Words of a number of at most 129 bits.
const WORDS: usize = 3;

fn plaintexts<const COUNT: usize>(numbers: [&[u64]; COUNT]) -> Plaintexts {
    Plaintexts::from_words(&Zeroizing::new(numbers.concat()), WORDS)
}

/// −r_i, and the index of each value where that is what is asked.
fn server_share(shape: &Shape, job: &Job, blinding: &[u64]) -> Rows {
    let mut share = match job.terms.argument {
        Some(_) => Rows::zeros(shape.layout.sums, job.values),
        None => {
            let index = Rows::tabulate(shape.second, job.values, |lane| lane as u64);
            Rows::zeros(shape.bits + 1, job.values).then(&index).then(&Rows::zeros(1, job.values))
        }
    };
    share.subtract(&Rows::of_numbers(shape.layout.sums, blinding, shape.words_of_blinding()));
    share
}

/// The holder of the ciphertexts.
struct Server {
    shape: Shape,
    key: PublicKey,
    /// [y_i], and [x_i] if there are any.
    parts: Vec<Ciphertexts>,
    blinding: Plaintexts,
    random: Generator,
    tournament: Tournament,
    /// What it begins with.
    share: Option<Rows>,
    /// What it ends with.
    least: Option<[Number; 2]>,
    step: usize,
}

impl Server {
    /// [V_i + r_i], packed.
    fn blinded(&mut self, chunk: Range<usize>) -> he::Result<Vec<u8>> {
        let packed = self.packed(chunk.clone())?;
        let blinding = self.shape.columns.pack(&self.blinding, chunk)?;
        self.key.write_numbers(&hidden(&self.key, &packed, &blinding, &mut self.random)?)
    }

    /// [V_i], packed. All but the lowest slots are squares, so that one symbol is left in each, that of a value of the same
    /// number.
    fn packed(&self, chunk: Range<usize>) -> he::Result<Ciphertexts> {
        let packed = self.shape.columns.pack_ciphertexts(&self.key, &self.parts, chunk.clone())?;
        self.key.have_symbol_one(&packed).map_err(|error| match error {
            he::Error::Ciphertext { index, fault } => he::Error::Ciphertext { index: index + chunk.start, fault },
            error => error,
        })?;
        Ok(packed)
    }
}

/// Ciphertexts with blinding numbers added under fresh randomness, so that the client finds nothing of theirs in it.
fn hidden(
    key: &PublicKey,
    packed: &Ciphertexts,
    blinding: &Plaintexts,
    random: &mut Generator,
) -> he::Result<Ciphertexts> {
    key.add(packed, &key.encrypt(blinding, random)?)
}

/// [y] and [x] of the server's share and what the client sent of its own, in the same way whatever the share is.
fn joined(key: &PublicKey, share: &[Number; 2], client: &Ciphertexts, random: &mut Generator) -> he::Result<Found> {
    let [low, high] = share;
    let tops = [low.top(), high.top()];
    let others = tops.each_ref().map(|top| Zeroizing::new(vec![top[0] ^ 1, 0, 0]));
    // u = s' ∨ c' and v = s'' ∨ c''
    let carries = key.multiply_constants(&client.pick(&[1, 3])?, &plaintexts([&others[0], &others[1]]), 1)?;
    let carries = key.add_constants(&carries, &plaintexts([&tops[0], &tops[1]]))?;
    let sums = key.add_constants(&client.pick(&[0, 2])?, &plaintexts([&low.words, &high.words]))?;
    let minus = key.negate(&carries)?;
    let without = |at: usize, number: &Number| -> he::Result<Ciphertexts> {
        key.add(&sums.pick(&[at])?, &key.double(&minus.pick(&[at])?, number.bits as u32)?)
    };
    let second = key.add(&without(1, high)?, &carries.pick(&[0])?)?;
    let found = key.rerandomise(&Ciphertexts::joined(&[without(0, low)?, second])?, random)?;
    Ok(Found { least: found.pick(&[0])?, second: found.pick(&[1])? })
}

/// [C'], [c'], [C''], [c''].
fn parts(key: &SecretKey, share: &[Number; 2], random: &mut Generator) -> he::Result<Ciphertexts> {
    let [low, high] = share;
    key.encrypt(&plaintexts([&low.words, &low.top(), &high.words, &high.top()]), random)
}

impl Stage for Server {
    type Output = Found;

    fn step(&mut self, drawn: Drawn, inbox: &[u8], outbox: &mut Outbox) -> Result<()> {
        let step = self.step;
        self.step += 1;
        if let Some(chunk) = self.shape.chunks().nth(step) {
            outbox.extend_from_slice(&self.blinded(chunk).map_err(own)?);
            return Ok(());
        }
        if let Some(share) = self.share.take() {
            self.tournament.begin(share);
        }
        if step < self.shape.chunks().len() + self.shape.layout.exchanges.len() {
            return self.tournament.step(drawn, inbox, outbox);
        }
        self.least = Some(self.tournament.end(inbox, self.shape.bits + 1)?);
        Ok(())
    }

    fn finish(mut self: Box<Self>, inbox: &[u8]) -> Result<Found> {
        let client = self.key.read_numbers(inbox).map_err(of_peer)?;
        let share = self.least.take().ok_or_else(|| Error::usage("a tournament has no end"))?;
        joined(&self.key, &share, &client, &mut self.random).map_err(own)
    }
}

/// The owner of the key.
struct Client {
    shape: Shape,
    key: Arc<SecretKey>,
    /// What was decrypted of the messages.
    plain: Vec<Plaintexts>,
    tournament: Tournament,
    step: usize,
}

impl Client {
    fn decrypt(&mut self, inbox: &[u8]) -> Result<()> {
        let ciphertexts = self.key.read_numbers(inbox).map_err(of_peer)?;
        self.plain.push(self.key.decrypt(&ciphertexts).map_err(of_peer)?);
        Ok(())
    }

    /// V_i + r_i modulo 2^K.
    fn share(&mut self) -> Result<Rows> {
        let blinded = self.shape.columns.unpack(&std::mem::take(&mut self.plain)).map_err(of_peer)?;
        if let Some(index) = self.shape.out_of_range(&blinded) {
            return Err(Error::peer(format!(
                "the sum of value {index} and its blinding number is larger than it can be"
            )));
        }
        let words: Zeroizing<Vec<u64>> = Zeroizing::new(blinded.iter().flatten().copied().collect());
        Ok(Rows::of_numbers(self.shape.layout.sums, &words, words.len() / blinded.len()))
    }
}

impl Stage for Client {
    type Output = ();

    fn step(&mut self, drawn: Drawn, inbox: &[u8], outbox: &mut Outbox) -> Result<()> {
        let (step, chunks) = (self.step, self.shape.chunks().len());
        self.step += 1;
        if (1..=chunks).contains(&step) {
            self.decrypt(inbox)?;
        }
        if step == chunks {
            let share = self.share()?;
            self.tournament.begin(share);
        }
        match step {
            _ if step < chunks => Ok(()),
            _ if step < chunks + self.shape.layout.exchanges.len() => self.tournament.step(drawn, inbox, outbox),
            _ => {
                let share = self.tournament.end(inbox, self.shape.bits + 1)?;
                let parts = parts(&self.key, &share, &mut random()?).map_err(own)?;
                outbox.extend_from_slice(&self.key.public().write_numbers(&parts).map_err(own)?);
                Ok(())
            }
        }
    }

    fn finish(self: Box<Self>, _: &[u8]) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
