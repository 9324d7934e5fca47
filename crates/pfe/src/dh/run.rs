//! One run: Bob's garbling under a number that he draws for it, and Alice's evaluation.

use super::points::{HashToGroup, POINT, decode, decode_all, double_and_encode, random_scalar};
use super::table::{Hashes, Label, TABLE, equal};
use super::wiring::{Nodes, Wired};
use crate::{Offer, chunk};
use curve25519_dalek::ristretto::RistrettoBasepointTable;
use curve25519_dalek::traits::{Identity, IsIdentity};
use curve25519_dalek::{RistrettoPoint, Scalar};
use duologue::{Error, Result};
use kernels::generator::Generator;
use subtle::{Choice, ConditionallySelectable};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// The hashes of a run, from all that is public of it: the offer with the id, the run's number, A.
pub(super) fn hashes(offer: &Offer, number: u32, announcement: &[u8; POINT]) -> Hashes {
    let mut hasher = blake3::Hasher::new_derive_key("duologue v1 private function: run");
    hasher.update(&offer.to_bytes()).update(&number.to_le_bytes()).update(announcement);
    Hashes::new(hasher.finalize().as_bytes())
}

/// Bob's side of a run. What it drew serves this run alone.
pub struct Garbling {
    offer: Offer,
    hash: HashToGroup,
    hashes: Hashes,
    announcement: [u8; POINT],
    secret: Secret,
    /// a·Q of each output.
    outputs: Zeroizing<Vec<RistrettoPoint>>,
    next: u64,
}

#[derive(ZeroizeOnDrop)]
struct Secret {
    a: Scalar,
    /// a·H_R, half of the offset r.
    half_of_r: RistrettoPoint,
}

impl Garbling {
    /// The run of this number: draws a.
    pub fn new(offer: &Offer, number: u32, rng: &mut Generator) -> Self {
        let (a, hash) = (random_scalar(rng), HashToGroup::new(&offer.id));
        let announcement = RistrettoPoint::mul_base(&a).compress().to_bytes();
        let hashes = hashes(offer, number, &announcement);
        let secret = Secret { a, half_of_r: hash.offset() * a };
        Garbling { offer: offer.clone(), hash, hashes, announcement, secret, outputs: Zeroizing::default(), next: 0 }
    }

    /// A = a·P.
    pub fn announcement(&self) -> &[u8; POINT] {
        &self.announcement
    }

    /// The label s_j⁰ + x_j·r of each input bit.
    pub fn input_labels(&self, x: &[bool]) -> Vec<u8> {
        let half = |(wire, &bit): (usize, &bool)| {
            let offset = RistrettoPoint::conditional_select(
                &RistrettoPoint::identity(),
                &self.secret.half_of_r,
                Choice::from(u8::from(bit)),
            );
            self.hash.wire(wire as u64) * self.secret.a + offset
        };
        let halves = Zeroizing::new(x.iter().enumerate().map(half).collect::<Vec<_>>());
        double_and_encode(&halves).concat()
    }

    /// The tables of the next chunk of queries.
    ///
    /// # Errors
    /// [`Error::Peer`] if a query is no point.
    pub fn chunk(&mut self, queries: &[u8]) -> Result<Vec<u8>> {
        let range = chunk(self.offer.sizes.queries(), self.next);
        let points = decode_all(queries, "its queries")?;
        if points.len() as u64 != range.end - range.start {
            return Err(Error::peer(format!("{} queries in place of {}", points.len(), range.end - range.start)));
        }
        let gates = self.offer.sizes.gates.clamp(range.start, range.end) - range.start;
        let (of_gates, of_outputs) = points.split_at(gates as usize);
        self.outputs.extend(of_outputs.iter().map(|point| point * self.secret.a));
        self.next += 1;
        self.tables(range.start, of_gates)
    }

    fn tables(&self, first: u64, queries: &[RistrettoPoint]) -> Result<Vec<u8>> {
        let r = self.secret.half_of_r + self.secret.half_of_r;
        let mut halves = Zeroizing::new(Vec::with_capacity(6 * queries.len()));
        for (gate, query) in (first..).zip(queries) {
            let zero = query * self.secret.a;
            let (two, out) = (zero + r + r, self.hash.wire(u64::from(self.offer.sizes.inputs) + gate) * self.secret.a);
            halves.extend([zero, zero + r, two, two + r, out, out + self.secret.half_of_r]);
        }
        let encoded = double_and_encode(&halves);
        let mut tables = Vec::with_capacity(queries.len() * TABLE);
        for (gate, [a, b, c, d, zero, one]) in (first..).zip(encoded.as_chunks().0) {
            let table = self.hashes.garble(gate, &[*a, *b, *c, *d], &[*zero, *one]);
            tables.extend(table.ok_or_else(indistinct)?);
        }
        Ok(tables)
    }

    /// The result, from the labels of the outputs.
    ///
    /// # Errors
    /// [`Error::Peer`] if a label is none of the two.
    pub fn finish(self, labels: &[u8]) -> Result<Vec<bool>> {
        let r = self.secret.half_of_r + self.secret.half_of_r;
        let pairs = Zeroizing::new(self.outputs.iter().flat_map(|zero| [*zero, zero + r]).collect::<Vec<_>>());
        let (encoded, labels) = (double_and_encode(&pairs), labels.as_chunks().0);
        let (pairs, mut known, mut result) = (encoded.as_chunks::<2>().0, Choice::from(1), Vec::new());
        for ([zero, one], label) in pairs.iter().zip(labels) {
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

/// Alice's side of a run.
pub struct Evaluation<'a> {
    wired: &'a Wired,
    hashes: Hashes,
    table_of_a: RistrettoBasepointTable,
    nodes: Nodes<'a>,
    outputs: Vec<Label>,
    next: u64,
    /// Whether a row was no point: it shows after the last chunk, so that nobody hears at which gate.
    failed: bool,
}

/// The point that announces a run.
///
/// # Errors
/// [`Error::Peer`] if it is none.
pub fn announced(bytes: &[u8; POINT]) -> Result<RistrettoPoint> {
    let point = decode(bytes).filter(|point| !point.is_identity());
    point.ok_or_else(|| Error::peer("what it announces a run with is no point, or the identity"))
}

impl<'a> Evaluation<'a> {
    /// The run of this number, which these bytes announced, with the labels of the inputs.
    ///
    /// # Errors
    /// [`Error::Peer`] if a point is none.
    pub fn new(
        wired: &'a Wired,
        offer: &Offer,
        number: u32,
        announcement: &[u8; POINT],
        labels: &[u8],
    ) -> Result<Self> {
        let table_of_a = RistrettoBasepointTable::create(&announced(announcement)?);
        let hashes = hashes(offer, number, announcement);
        let inputs = decode_all(labels, "its labels")?;
        if inputs.len() != wired.function.inputs() {
            return Err(Error::peer(format!("{} labels in place of {}", inputs.len(), wired.function.inputs())));
        }
        let nodes = Nodes::new(&wired.function, RistrettoPoint::identity(), inputs.into_iter());
        Ok(Evaluation { wired, hashes, table_of_a, nodes, outputs: Vec::new(), next: 0, failed: false })
    }

    /// Evaluates the gates of the next chunk by their tables, as many at once as wait for no other.
    ///
    /// # Errors
    /// [`Error::Peer`] if the tables have another length.
    pub fn chunk(&mut self, tables: &[u8]) -> Result<()> {
        let sizes = self.wired.sizes;
        let range = chunk(sizes.queries(), self.next);
        let gates = sizes.gates.clamp(range.start, range.end) - range.start;
        let (tables, rest) = tables.as_chunks::<TABLE>();
        if tables.len() as u64 != gates || !rest.is_empty() {
            return Err(Error::peer(format!("{} tables in place of {gates}", tables.len())));
        }
        let blindings = self.wired.blindings(self.next);
        let own = (self.wired.function.gates() as u64).clamp(range.start, range.end) - range.start;
        let (mut at, own) = (0, own as usize);
        while at < own {
            let count = self.nodes.ready(own - at);
            let forms: Vec<_> = self.nodes.forms(count).collect();
            self.evaluate(range.start + at as u64, forms, &blindings[at..], &tables[at..]);
            at += count;
        }
        self.pad(range.start + at as u64, &blindings[at..], &tables[at..]);
        let queries = range.start + tables.len() as u64..range.end;
        let outputs: Vec<_> = queries.map(|query| self.nodes.output((query - sizes.gates) as usize)).collect();
        self.outputs.extend(self.encode(outputs, &blindings[tables.len()..]).iter());
        self.next += 1;
        Ok(())
    }

    /// The labels of forms: with the sums, k·A.
    fn encode(&self, mut forms: Vec<RistrettoPoint>, blindings: &[Scalar]) -> Zeroizing<Vec<Label>> {
        forms.iter_mut().zip(blindings).for_each(|(form, k)| *form += &self.table_of_a * &(k + k));
        let encoded = double_and_encode(&forms);
        forms.zeroize();
        encoded
    }

    fn evaluate(&mut self, first: u64, forms: Vec<RistrettoPoint>, blindings: &[Scalar], tables: &[[u8; TABLE]]) {
        let labels = self.encode(forms, blindings);
        let mut points = Vec::with_capacity(labels.len());
        for ((gate, label), table) in (first..).zip(labels.iter()).zip(tables) {
            let point = self.open(gate, label, table);
            self.failed |= point.is_none();
            points.push(point.unwrap_or_else(RistrettoPoint::identity));
        }
        self.nodes.push(points);
    }

    /// What as many gates of the function cost.
    fn pad(&mut self, first: u64, blindings: &[Scalar], tables: &[[u8; TABLE]]) {
        let labels = self.encode(vec![RistrettoPoint::identity(); tables.len()], blindings);
        for ((gate, label), table) in (first..).zip(labels.iter()).zip(tables) {
            self.failed |= self.open(gate, label, table).is_none();
        }
    }

    /// The label under this one, if it is a point; the identity is the label of nothing.
    fn open(&self, gate: u64, label: &Label, table: &[u8; TABLE]) -> Option<RistrettoPoint> {
        decode(&Zeroizing::new(self.hashes.open(gate, label, table))).filter(|point| !point.is_identity())
    }

    /// The labels of the outputs.
    ///
    /// # Errors
    /// [`Error::Peer`] if a row was no point.
    pub fn finish(self) -> Result<Vec<u8>> {
        self.nodes.pad(self.wired.sizes.additions);
        if self.failed { Err(Error::peer("its tables are none")) } else { Ok(self.outputs.concat()) }
    }
}
