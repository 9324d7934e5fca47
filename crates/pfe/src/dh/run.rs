//! One run: Bob's garbling under a number that he draws for it, and Alice's evaluation.

use super::nodes::{Form, Nodes};
use super::points::{HashToGroup, POINT, decode, decode_all, encodings, group, random_scalar, repeated};
use super::table::{Hashes, Label, TABLE, equal};
use super::wiring::Wired;
use crate::threads::Threads;
use crate::{Method, Offer, chunk};
use curve25519_dalek::Scalar;
use curve25519_dalek::constants::RISTRETTO_BASEPOINT_TABLE;
use duologue::{Error, Result};
use kernels::generator::Generator;
use kernels::ristretto::{FixedBase, Points};
use std::collections::VecDeque;
use subtle::{Choice, ConditionallySelectable};
use zeroize::{ZeroizeOnDrop, Zeroizing};

/// The hashes of a run, from all that is public of it: the offer with the id, the run's number, A.
pub(super) fn hashes(offer: &Offer, number: u32, announcement: &[u8; POINT]) -> Hashes {
    let mut hasher = blake3::Hasher::new_derive_key("duologue v1 private function: run");
    hasher.update(&offer.to_bytes(Method::Dh)).update(&number.to_le_bytes()).update(announcement);
    Hashes::new(hasher.finalize().as_bytes())
}

/// Bob's side of a run. What it drew serves this run alone.
pub struct Garbling {
    offer: Offer,
    threads: Threads,
    hash: HashToGroup,
    hashes: Hashes,
    announcement: [u8; POINT],
    secret: Secret,
    /// The queries of outputs, and a·Q of each.
    asked: Vec<u8>,
    outputs: Points,
    next: u64,
}

#[derive(ZeroizeOnDrop)]
struct Secret {
    a: Scalar,
    /// a·H_R, half of the offset r, and r; points erase themselves.
    #[zeroize(skip)]
    half_of_r: Points,
    #[zeroize(skip)]
    r: Points,
}

impl Garbling {
    /// The run of this number: draws a.
    pub fn new(offer: &Offer, number: u32, rng: &mut Generator, threads: &Threads) -> Self {
        Self::of(offer, number, random_scalar(rng), threads)
    }

    fn of(offer: &Offer, number: u32, a: Scalar, threads: &Threads) -> Self {
        let hash = HashToGroup::new(&offer.id);
        let announcement = (&a * RISTRETTO_BASEPOINT_TABLE).compress().to_bytes();
        let hashes = hashes(offer, number, &announcement);
        let half_of_r = hash.offset().multiply(&a);
        let secret = Secret { a, r: half_of_r.add(&half_of_r), half_of_r };
        let (offer, threads, outputs) = (offer.clone(), threads.clone(), group().neutral(0));
        Garbling { offer, threads, hash, hashes, announcement, secret, asked: Vec::new(), outputs, next: 0 }
    }

    /// What is kept of a run that was garbled: a, and the queries of its outputs.
    pub fn keep(&self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new([&self.secret.a.to_bytes()[..], &self.asked].concat())
    }

    /// A run that was garbled, of what was kept; none if that is another's.
    pub fn restore(offer: &Offer, number: u32, kept: &[u8], threads: &Threads) -> Option<Self> {
        let (a, asked) = kept.split_first_chunk::<POINT>()?;
        let a = Option::from(Scalar::from_canonical_bytes(*a))?;
        let mut garbling = Self::of(offer, number, a, threads);
        let queries = encodings(asked, offer.sizes.outputs as usize, "queries that were kept").ok()?;
        garbling.outputs = decode(queries)?.multiply(&garbling.secret.a);
        Some(garbling)
    }

    /// A = a·P.
    pub fn announcement(&self) -> &[u8; POINT] {
        &self.announcement
    }

    /// The label s_j⁰ + x_j·r of each input bit.
    pub fn input_labels(&self, x: &[bool]) -> Vec<u8> {
        let zeros = self.hash.wires(0..x.len() as u64).multiply(&self.secret.a);
        let ones = zeros.add(&repeated(&self.secret.half_of_r, x.len()));
        let (zeros, ones) = (zeros.encode_doubles(), ones.encode_doubles());
        let pairs = zeros.as_flattened().iter().zip(ones.as_flattened()).enumerate();
        pairs.map(|(at, (zero, one))| u8::conditional_select(zero, one, u8::from(x[at / POINT]).into())).collect()
    }

    /// The tables of the next chunk of queries.
    ///
    /// # Errors
    /// [`Error::Peer`] if a query is no point.
    pub fn chunk(&mut self, queries: &[u8]) -> Result<Vec<u8>> {
        let range = chunk(self.offer.sizes.queries(), self.next);
        let gates = (self.offer.sizes.gates.clamp(range.start, range.end) - range.start) as usize;
        let queries = encodings(queries, (range.end - range.start) as usize, "its queries")?;
        let (of_gates, of_outputs) = queries.split_at(gates);
        let tables = self.threads.parts(gates, |part| self.tables(range.start + part.start as u64, &of_gates[part]));
        self.outputs.append(&decode_all(of_outputs, "its queries")?.multiply(&self.secret.a));
        self.asked.extend_from_slice(of_outputs.as_flattened());
        self.next += 1;
        tables.into_iter().collect::<Result<Vec<_>>>().map(|tables| tables.concat())
    }

    fn tables(&self, first: u64, queries: &[[u8; POINT]]) -> Result<Vec<u8>> {
        let labels = self.labels(first, decode_all(queries, "its queries")?);
        let mut tables = Vec::with_capacity(queries.len() * TABLE);
        let [zeros, ones, twos, threes, out, others] = &labels;
        for (at, gate) in (0..queries.len()).zip(first..) {
            let (values, out) = ([zeros[at], ones[at], twos[at], threes[at]], [out[at], others[at]]);
            let (values, out) = (Zeroizing::new(values), Zeroizing::new(out));
            tables.extend(self.hashes.garble(gate, &values, &out).ok_or_else(indistinct)?);
        }
        Ok(tables)
    }

    /// The labels of the values 0 to 3 of gates, and both of their outputs.
    fn labels(&self, first: u64, queries: Points) -> [Zeroizing<Vec<Label>>; 6] {
        let Secret { a, half_of_r, r } = &self.secret;
        let (count, wire) = (queries.len(), u64::from(self.offer.sizes.inputs) + first);
        let (r, half_of_r) = (repeated(r, count), repeated(half_of_r, count));
        let zeros = queries.multiply(a);
        let (ones, out) = (zeros.add(&r), self.hash.wires(wire..wire + count as u64).multiply(a));
        let (twos, others) = (ones.add(&r), out.add(&half_of_r));
        let threes = twos.add(&r);
        [zeros, ones, twos, threes, out, others].map(|points| points.encode_doubles())
    }

    /// The result, from the labels of the outputs.
    ///
    /// # Errors
    /// [`Error::Peer`] if a label is none of the two.
    pub fn finish(self, labels: &[u8]) -> Result<Vec<bool>> {
        let ones = self.outputs.add(&repeated(&self.secret.r, self.outputs.len()));
        let (zeros, ones) = (self.outputs.encode_doubles(), ones.encode_doubles());
        let (mut known, mut result) = (Choice::from(1), Vec::new());
        for ((zero, one), label) in zeros.iter().zip(ones.iter()).zip(labels.as_chunks().0) {
            let is_one = equal(one, label);
            known &= equal(zero, label) | is_one;
            result.push(bool::from(is_one));
        }
        let all = result.len() == self.offer.sizes.outputs as usize;
        if all && bool::from(known) { Ok(result) } else { Err(Error::peer("its result is none")) }
    }
}

/// Labels without colours: with randomness that is any, nobody sees it.
fn indistinct() -> Error {
    let why = "labels drawn from it cannot be told apart: run it again";
    Error::Io { what: "randomness of the operating system".into(), source: std::io::Error::other(why) }
}

/// Alice's side of a run, before she has labels: what she computes of the announcement alone.
pub struct AnnouncedRun<'a> {
    wired: &'a Wired,
    threads: Threads,
    hashes: Hashes,
    announcement: [u8; POINT],
    table_of_a: FixedBase,
    /// k·A of the queries of chunks that were computed ahead, in their order.
    ahead: VecDeque<Points>,
}

impl<'a> AnnouncedRun<'a> {
    /// The run of this number, which these bytes announced.
    ///
    /// # Errors
    /// [`Error::Peer`] if they are no point, or the identity.
    pub fn new(
        wired: &'a Wired,
        offer: &Offer,
        number: u32,
        announcement: &[u8; POINT],
        threads: &Threads,
    ) -> Result<Self> {
        let table_of_a = FixedBase::new(&decode_all(&[*announcement], "what it announces a run with")?);
        let hashes = hashes(offer, number, announcement);
        let (announcement, threads) = (*announcement, threads.clone());
        Ok(AnnouncedRun { wired, threads, hashes, announcement, table_of_a, ahead: VecDeque::new() })
    }

    /// A.
    pub fn announcement(&self) -> &[u8; POINT] {
        &self.announcement
    }

    /// Computes ahead what a chunk takes, after all that were before.
    pub fn prepare(&mut self, number: u64) {
        let blinded = self.blinded(number);
        self.ahead.push_back(blinded);
    }

    /// k·A of each query of a chunk.
    fn blinded(&self, number: u64) -> Points {
        let blindings = self.wired.blindings(number);
        let parts = self.threads.parts(blindings.len(), |part| {
            let doubles = blindings[part].iter().map(|k| k + k).collect::<Vec<_>>();
            self.table_of_a.multiply(&Zeroizing::new(doubles))
        });
        let mut points = group().neutral(0);
        parts.iter().for_each(|part| points.append(part));
        points
    }

    /// Begins the evaluation, with the labels of the inputs.
    ///
    /// # Errors
    /// [`Error::Peer`] if one is no point.
    pub fn begin(self, labels: &[u8]) -> Result<Evaluation<'a>> {
        let inputs = decode_all(encodings(labels, self.wired.function.inputs(), "its labels")?, "its labels")?;
        let nodes = Nodes::new(&self.wired.function, &group().neutral(1), &inputs);
        Ok(Evaluation { run: self, nodes, outputs: Vec::new(), next: 0, failed: false })
    }
}

/// Alice's side of a run.
pub struct Evaluation<'a> {
    run: AnnouncedRun<'a>,
    nodes: Nodes<'a>,
    outputs: Vec<Label>,
    next: u64,
    /// Whether a row was no point: it shows after the last chunk, so that nobody hears at which gate.
    failed: bool,
}

/// What gates that are evaluated together have: the number of the first, their forms, k·A and tables.
struct Gates<'a> {
    first: u64,
    forms: &'a [Form],
    blinded: &'a Points,
    tables: &'a [[u8; TABLE]],
}

impl Evaluation<'_> {
    /// Evaluates the gates of the next chunk by their tables, as many at once as wait for no other.
    ///
    /// # Errors
    /// [`Error::Peer`] if the tables have another length.
    pub fn chunk(&mut self, tables: &[u8]) -> Result<()> {
        let sizes = self.run.wired.sizes;
        let range = chunk(sizes.queries(), self.next);
        let gates = (sizes.gates.clamp(range.start, range.end) - range.start) as usize;
        let tables = match tables.as_chunks::<TABLE>() {
            (tables, []) if tables.len() == gates => tables,
            _ => return Err(Error::peer(format!("{} bytes in place of {gates} tables", tables.len()))),
        };
        let blinded = self.run.ahead.pop_front().unwrap_or_else(|| self.run.blinded(self.next));
        let own = (self.run.wired.function.gates() as u64).clamp(range.start, range.end) - range.start;
        let mut at = 0;
        while at < own as usize {
            let count = self.nodes.ready(own as usize - at, &self.run.threads);
            let forms: Vec<_> = self.nodes.forms(count).collect();
            let points = self.gates(range.start, at, &forms, &blinded, tables);
            self.nodes.push(&points);
            at += count;
        }
        // What as many gates of the function cost.
        self.gates(range.start, at, &vec![Nodes::NOTHING; gates - at], &blinded, tables);
        let outputs = (range.start + gates as u64..range.end).map(|query| (query - sizes.gates) as usize);
        let forms: Vec<_> = outputs.map(|output| self.nodes.output(output, &self.run.threads)).collect();
        self.outputs.extend(self.labels(&forms, &blinded.pick(gates..blinded.len())).iter());
        self.next += 1;
        Ok(())
    }

    /// The labels of forms: with the sums, k·A.
    fn labels(&self, forms: &[Form], blinded: &Points) -> Zeroizing<Vec<Label>> {
        self.nodes.sums(forms).add(blinded).encode_doubles()
    }

    /// The points of gates of a chunk, from the one at this place on.
    fn gates(&mut self, first: u64, at: usize, forms: &[Form], blinded: &Points, tables: &[[u8; TABLE]]) -> Points {
        let parts = self.run.threads.parts(forms.len(), |part| {
            let here = at + part.start..at + part.end;
            let blinded = &blinded.pick(here.clone());
            self.open(Gates { first: first + here.start as u64, forms: &forms[part], blinded, tables: &tables[here] })
        });
        self.failed |= parts.iter().any(Option::is_none);
        let mut points = group().neutral(0);
        for part in parts {
            points.append(&part.unwrap_or_else(|| group().neutral(0)));
        }
        if points.len() == forms.len() { points } else { group().neutral(forms.len()) }
    }

    /// The labels out, if all are points; the identity is the label of nothing.
    fn open(&self, gates: Gates) -> Option<Points> {
        let labels = self.labels(gates.forms, gates.blinded);
        let opened = (gates.first..).zip(labels.iter()).zip(gates.tables);
        let opened = opened.map(|((gate, label), table)| self.run.hashes.open(gate, label, table));
        decode(&Zeroizing::new(opened.collect::<Vec<_>>()))
    }

    /// The labels of the outputs.
    ///
    /// # Errors
    /// [`Error::Peer`] if a row was no point.
    pub fn finish(self) -> Result<Vec<u8>> {
        self.nodes.pad(self.run.wired.sizes.additions, &self.run.threads);
        if self.failed { Err(Error::peer("its tables are none")) } else { Ok(self.outputs.concat()) }
    }
}
