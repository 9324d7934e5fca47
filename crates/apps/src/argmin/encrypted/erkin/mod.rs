//! The tournament of Erkin, Franz, Guajardo, Katzenbeisser, Lagendijk, Toft, *Privacy-preserving face recognition* (PETS
//! 2009, §5), with the comparison of Damgård, Geisler, Krøigaard (2008) under a second key, and packing, as Ziegeldorf and
//! others, *Bandwidth-optimized secure two-party computation of minima* (CANS 2015, §3.1), count it.
//!
//! Pairs of neighbours, level by level; one that is left over rests. Of a level all pairs are computed together, in six
//! messages, for a pair (a, b) of values and their arguments:
//!
//! | | message | ciphertexts of a pair |
//! |---|---|---|
//! | server → client | the blinded difference of the values | 1 of Paillier's, packed |
//! | client → server | its upper bits, and each of its l lower ones | 1, and l of DGK |
//! | server → client | l numbers of which at most one is zero, each with a random factor, in a random order | l of DGK |
//! | client → server | whether one is zero | 1 |
//! | server → client | blinded: the bit a ≤ b, and the differences of values and of arguments | 3, packed |
//! | client → server | products of the bit and the differences | 2 |
//!
//! The steps are in `compare.rs` and `select.rs`. Of equal values the first one wins.
//!
//! **Security**: semi-honest parties; that of both systems for the server's view. Whatever the client decrypts is blinded
//! with σ bits more than it has, or is zero or a random unit of Z_u in a random place; whether there is a zero is flipped by
//! a random bit. All that the server sends is re-randomised, statistically.
//!
//! **Cost** of a pair: 2·l·T bits of DGK, 8·T of Paillier's and 8·T/C, packed C to one. In setup the client sends its key of
//! DGK, of 3·T bits, which it makes once for all calls; the private key stays in its process.
//!
//! **Departs** from the papers in three places. The client says d div 2^l in place of d mod 2^l, as in Veugen, *Improving the
//! DGK comparison protocol* (WIFS 2012): then nobody has to divide by 2^l under encryption. For s = −1 the number of the
//! lowest bit is another one, because d̂ = r̂, which is so for a = b, is not d̂ < r̂ either: by the formula of the papers equal
//! values are decided by s. And the bit is blinded once for both of its products.

mod compare;
mod select;
#[cfg(test)]
mod tests;

use super::ciphertexts::{of_peer, own, random};
use super::{ClientStage, Found, Inputs, Job, Keys, Protocol, ServerStage, wide};
use compare::Comparisons;
use duologue::call::{CallLengths, Context, Drawn, Exchange, Outbox, SetupStage, Stage, Zeroizing};
use duologue::circuit::Party;
use duologue::{Error, Result};
use he::packing::Layout;
use he::paillier::{PublicKey, SecretKey};
use he::{Additive, Ciphertexts, KeySize, Plaintexts, dgk};
use kernels::generator::Generator;
use select::Selections;
use std::sync::Arc;

/// The most bytes of a message.
const MOST_BYTES: u64 = 1 << 30;

/// Messages of a level.
const MESSAGES: usize = 6;

/// The tournament with the comparison of Damgård, Geisler and Krøigaard.
pub(crate) struct Erkin {
    keys: Keys,
}

impl Erkin {
    pub fn new(keys: &Keys) -> Erkin {
        Erkin { keys: keys.clone() }
    }
}

/// Widths of slots, and how many ciphertexts there are: public terms alone.
#[derive(Clone)]
struct Shape {
    /// T.
    key_bits: u32,
    /// l.
    bits: u32,
    sigma: u32,
    /// Bits of values and arguments that are selected.
    selected: u32,
    /// Pairs of each level.
    pairs: Vec<usize>,
}

impl Shape {
    fn new(job: &Job) -> Shape {
        let (mut pairs, mut left) = (Vec::new(), job.values);
        while left > 1 {
            pairs.push(left / 2);
            left -= left / 2;
        }
        let (bits, sigma) = (job.terms.bits, job.terms.statistical);
        Shape { key_bits: job.terms.key_bits, bits, sigma, selected: bits.max(job.second_bits()), pairs }
    }

    /// Bits of a blinded difference of values, of a blinded bit, of a blinded difference that is selected.
    fn widths(&self) -> [u32; 3] {
        [self.bits + 2 + self.sigma, 2 + self.sigma, self.selected + 2 + self.sigma]
    }

    /// Bytes of so many ciphertexts of Paillier's, and of DGK.
    fn paillier(&self, count: usize) -> usize {
        count * self.key_bits as usize / 4
    }

    fn dgk(&self, count: usize) -> usize {
        count * self.key_bits as usize / 8
    }

    /// Bytes of so many numbers in slots of a width.
    fn packed(&self, count: usize, width: u32) -> usize {
        self.paillier(count.div_ceil((self.key_bits as usize - 1) / width as usize))
    }

    /// Bytes of each message of a level of so many pairs; the server's are the first and every other one.
    fn messages(&self, pairs: usize) -> [usize; MESSAGES] {
        let [difference, bit, selected] = self.widths();
        let numbers = self.dgk(pairs * self.bits as usize);
        let factors = self.packed(pairs, bit) + self.packed(2 * pairs, selected);
        let one = self.paillier(pairs);
        [self.packed(pairs, difference), one + numbers, numbers, one, factors, 2 * one]
    }
}

impl Protocol for Erkin {
    fn name(&self) -> &'static str {
        "duologue:argmin-erkin"
    }

    fn version(&self) -> u32 {
        1
    }

    fn check(&self, job: &Job) -> Result<()> {
        let shape = Shape::new(job);
        let [difference, bit, selected] = shape.widths();
        let (most, pairs) = (difference.max(bit + selected), shape.pairs.first().copied().unwrap_or(0) as u64);
        let bytes = pairs * u64::from(shape.bits + 2) * u64::from(shape.key_bits / 8);
        match () {
            () if most >= shape.key_bits => {
                Err(Error::usage(format!("argmin-erkin: numbers of {most} bits under a key of {}", shape.key_bits)))
            }
            () if !job.terms.groups.is_empty() => Err(Error::usage("argmin-erkin compares pairs, and takes no groups")),
            () if bytes > MOST_BYTES => Err(Error::usage(format!(
                "argmin-erkin: a message of {bytes} bytes, more than {MOST_BYTES}: fewer values, or another method"
            ))),
            () => Ok(()),
        }
    }

    fn lengths(&self, job: &Job, party: Party) -> Result<CallLengths> {
        let shape = Shape::new(job);
        let one_way = |sends: bool, bytes: usize| {
            let (sent, read) = if sends { (bytes, 0) } else { (0, bytes) };
            Exchange { sent, read, ..Exchange::default() }
        };
        let by_server = |(number, bytes): (usize, usize)| one_way((party == job.server()) == (number % 2 == 0), bytes);
        let online = shape.pairs.iter().flat_map(|&pairs| shape.messages(pairs).into_iter().enumerate().map(by_server));
        let size = KeySize::even_if_it_can_be_broken(shape.key_bits).map_err(own)?;
        let stored = dgk::PublicKey::bytes(size);
        Ok(CallLengths { setup: vec![one_way(party == job.client(), stored)], stored, online: online.collect() })
    }

    fn setup(&self, job: &Job, context: &Context, keys: &Keys) -> Result<SetupStage> {
        let key = if context.party == job.client() { Some(keys.dgk(&job.terms)?) } else { None };
        Ok(Box::new(Setup { job: job.clone(), keys: keys.clone(), key }))
    }

    fn server(&self, job: &Job, key: PublicKey, setup: Zeroizing<Vec<u8>>, inputs: Inputs) -> Result<ServerStage> {
        let dgk = self.keys.public_dgk(&setup, &job.terms).map_err(own)?;
        Ok(Box::new(Server::new(job, (key, dgk), inputs)?))
    }

    fn client(&self, job: &Job, key: Arc<SecretKey>, setup: Zeroizing<Vec<u8>>) -> Result<ClientStage> {
        let dgk = self.keys.dgk_of(&setup)?;
        Ok(Box::new(Client::new(job, (key, dgk))?))
    }
}

/// The client's key of DGK on its way to the server.
struct Setup {
    job: Job,
    keys: Keys,
    /// The client's.
    key: Option<Arc<dgk::SecretKey>>,
}

impl Stage for Setup {
    type Output = Zeroizing<Vec<u8>>;

    fn step(&mut self, _: Drawn, _: &[u8], outbox: &mut Outbox) -> Result<()> {
        if let Some(key) = &self.key {
            outbox.extend_from_slice(&key.public().to_bytes());
        }
        Ok(())
    }

    fn finish(self: Box<Self>, inbox: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        if let Some(key) = &self.key {
            return Ok(Zeroizing::new(key.public().to_bytes()));
        }
        self.keys.public_dgk(inbox, &self.job.terms).map_err(of_peer)?;
        Ok(Zeroizing::new(inbox.to_vec()))
    }
}

/// The numbers from 0 on, without randomness: whatever leaves is re-randomised.
fn indices(key: &PublicKey, values: &Ciphertexts) -> he::Result<Ciphertexts> {
    let zeros = key.multiply_constants(values, &wide::tabulate(values.len(), |_| 0), 0)?;
    key.add_constants(&zeros, &wide::tabulate(values.len(), |index| index as u64))
}

/// The server's online stage.
struct Server {
    shape: Shape,
    /// The next exchange.
    next: usize,
    key: PublicKey,
    dgk: dgk::PublicKey,
    random: Generator,
    /// The values and arguments that are left.
    values: Ciphertexts,
    second: Ciphertexts,
    under_way: UnderWay,
}

/// What the server has of the level under way.
enum UnderWay {
    Nothing,
    Comparing(Comparisons),
    Selecting(Selections),
}

/// The client's online stage.
struct Client {
    shape: Shape,
    next: usize,
    key: Arc<SecretKey>,
    dgk: Arc<dgk::SecretKey>,
    random: Generator,
}

impl Server {
    fn new(job: &Job, (key, dgk): (PublicKey, dgk::PublicKey), inputs: Inputs) -> Result<Server> {
        let (shape, random, values) = (Shape::new(job), random()?, inputs.values);
        let second = inputs.arguments.map_or_else(|| indices(&key, &values), Ok).map_err(own)?;
        Ok(Server { shape, next: 0, key, dgk, random, values, second, under_way: UnderWay::Nothing })
    }

    /// The blinded differences of the values.
    fn differences(&mut self) -> he::Result<Vec<u8>> {
        let (bits, sigma) = (self.shape.bits, self.shape.sigma);
        let [left, right] = pairs(&self.values)?;
        let comparisons = Comparisons::new(bits, sigma, left.len(), &mut self.random);
        let masked = comparisons.masked(&self.key, &left, &right)?;
        self.under_way = UnderWay::Comparing(comparisons);
        self.packed(&masked, self.shape.widths()[0])
    }

    /// The hidden numbers of the comparisons.
    fn numbers(&mut self, inbox: &[u8]) -> Result<Vec<u8>> {
        let UnderWay::Comparing(comparisons) = &mut self.under_way else { unreachable!("messages come in order") };
        let (high, digits) = inbox.split_at(self.shape.paillier(comparisons.len()));
        let high = self.key.read_numbers(high).map_err(of_peer)?;
        let digits = self.dgk.read_numbers(digits).map_err(of_peer)?;
        let values = comparisons.values(&self.dgk, high, &digits).map_err(own)?;
        let hidden = compare::hidden(&self.dgk, self.shape.bits, &values, &mut self.random).map_err(own)?;
        self.dgk.write_numbers(&hidden).map_err(own)
    }

    /// The blinded factors of the selections.
    fn factors(&mut self, inbox: &[u8]) -> Result<Vec<u8>> {
        let any_zero = self.key.read_numbers(inbox).map_err(of_peer)?;
        self.select(&any_zero).map_err(own)
    }

    fn select(&mut self, any_zero: &Ciphertexts) -> he::Result<Vec<u8>> {
        let UnderWay::Comparing(comparisons) = std::mem::replace(&mut self.under_way, UnderWay::Nothing) else {
            unreachable!("messages come in order")
        };
        let chosen = comparisons.finish(&self.key, any_zero)?;
        let [of_values, of_second] = [pairs(&self.values)?, pairs(&self.second)?];
        let [left, right] = [0, 1].map(|side| Ciphertexts::joined(&[of_values[side].clone(), of_second[side].clone()]));
        let widths = (self.shape.selected, self.shape.sigma);
        let selections = Selections::new(&self.key, widths, &chosen, [&left?, &right?], &mut self.random)?;
        let [bits, differences] = selections.masked(&self.key)?;
        self.under_way = UnderWay::Selecting(selections);
        let [_, of_bits, of_differences] = self.shape.widths();
        Ok([self.packed(&bits, of_bits)?, self.packed(&differences, of_differences)?].concat())
    }

    /// Goes on to the next level with the products of the client.
    fn next_level(&mut self, inbox: &[u8]) -> Result<()> {
        if matches!(self.under_way, UnderWay::Nothing) {
            return Ok(());
        }
        let products = self.key.read_numbers(inbox).map_err(of_peer)?;
        let UnderWay::Selecting(selections) = std::mem::replace(&mut self.under_way, UnderWay::Nothing) else {
            unreachable!("messages come in order")
        };
        let lesser = selections.finish(&self.key, &products).map_err(own)?;
        let half = lesser.len() / 2;
        self.values = winners(&self.values, &lesser, 0..half).map_err(own)?;
        self.second = winners(&self.second, &lesser, half..2 * half).map_err(own)?;
        Ok(())
    }

    /// Packed, re-randomised and as bytes.
    fn packed(&mut self, numbers: &Ciphertexts, width: u32) -> he::Result<Vec<u8>> {
        let packed = Layout::uniform(width, &self.key)?.pack_ciphertexts(&self.key, numbers)?;
        self.key.write_numbers(&self.key.rerandomise(&packed, &mut self.random)?)
    }
}

/// Those on the left and on the right.
fn pairs(values: &Ciphertexts) -> he::Result<[Ciphertexts; 2]> {
    let side = |side| values.pick(&(0..values.len() / 2).map(|pair| 2 * pair + side).collect::<Vec<_>>());
    Ok([side(0)?, side(1)?])
}

/// Those that go on: the lesser of each pair, and one that rests.
fn winners(values: &Ciphertexts, lesser: &Ciphertexts, places: std::ops::Range<usize>) -> he::Result<Ciphertexts> {
    let rest = values.pick(&(2 * places.len()..values.len()).collect::<Vec<_>>())?;
    Ciphertexts::joined(&[lesser.pick(&places.collect::<Vec<_>>())?, rest])
}

impl Stage for Server {
    type Output = Found;

    fn step(&mut self, _: Drawn, inbox: &[u8], outbox: &mut Outbox) -> Result<()> {
        let message = match self.next % MESSAGES {
            0 => {
                self.next_level(inbox)?;
                self.differences().map_err(own)?
            }
            2 => self.numbers(inbox)?,
            4 => self.factors(inbox)?,
            _ => Vec::new(),
        };
        self.next += 1;
        outbox.extend_from_slice(&message);
        Ok(())
    }

    fn finish(mut self: Box<Self>, inbox: &[u8]) -> Result<Found> {
        self.next_level(inbox)?;
        let mut fresh = |ciphertext| self.key.rerandomise(ciphertext, &mut self.random).map_err(own);
        Ok(Found { least: fresh(&self.values)?, second: fresh(&self.second)? })
    }
}

impl Client {
    fn new(job: &Job, (key, dgk): (Arc<SecretKey>, Arc<dgk::SecretKey>)) -> Result<Client> {
        Ok(Client { shape: Shape::new(job), next: 0, key, dgk, random: random()? })
    }

    /// The upper bits of the differences, and their digits under DGK.
    fn split(&mut self, inbox: &[u8], pairs: usize) -> Result<Vec<u8>> {
        let masked = self.unpacked(inbox, pairs, self.shape.widths()[0])?;
        let (high, digits) = compare::split(&self.dgk, self.shape.bits, &masked, &mut self.random).map_err(own)?;
        let digits = self.dgk.public().write_numbers(&digits).map_err(own)?;
        Ok([self.encrypted(&high)?, digits].concat())
    }

    /// Whether there are zeros.
    fn zeros(&mut self, inbox: &[u8]) -> Result<Vec<u8>> {
        let values = self.dgk.public().read_numbers(inbox).map_err(of_peer)?;
        let any = compare::any_zero(&self.dgk, self.shape.bits, &values).map_err(of_peer)?;
        let any = any.ok_or_else(|| Error::peer("more than one of the numbers of a comparison is zero"))?;
        self.encrypted(&any)
    }

    /// The products.
    fn products(&mut self, inbox: &[u8], pairs: usize) -> Result<Vec<u8>> {
        let [_, of_bits, of_differences] = self.shape.widths();
        let (bits, differences) = inbox.split_at(self.shape.packed(pairs, of_bits));
        let bits = self.unpacked(bits, pairs, of_bits)?;
        let differences = self.unpacked(differences, 2 * pairs, of_differences)?;
        self.encrypted(&select::products(&bits, &differences))
    }

    fn unpacked(&self, bytes: &[u8], count: usize, width: u32) -> Result<Plaintexts> {
        let layout = Layout::uniform(width, self.key.public()).map_err(own)?;
        let packed = self.key.read_numbers(bytes).map_err(of_peer)?;
        layout.unpack(&self.key.decrypt(&packed).map_err(own)?, count).map_err(of_peer)
    }

    fn encrypted(&mut self, numbers: &Plaintexts) -> Result<Vec<u8>> {
        let encrypted = self.key.encrypt(numbers, &mut self.random).map_err(own)?;
        self.key.public().write_numbers(&encrypted).map_err(own)
    }
}

impl Stage for Client {
    type Output = ();

    fn step(&mut self, _: Drawn, inbox: &[u8], outbox: &mut Outbox) -> Result<()> {
        let pairs = self.shape.pairs[self.next / MESSAGES];
        let message = match self.next % MESSAGES {
            1 => self.split(inbox, pairs)?,
            3 => self.zeros(inbox)?,
            5 => self.products(inbox, pairs)?,
            _ => Vec::new(),
        };
        self.next += 1;
        outbox.extend_from_slice(&message);
        Ok(())
    }

    fn finish(self: Box<Self>, _: &[u8]) -> Result<()> {
        Ok(())
    }
}
