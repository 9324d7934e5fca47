//! BOMA, which **tells the client more than the result**: Ziegeldorf, Hiller, Henze, Wirtz, Wehrle, *Bandwidth-optimized secure
//! two-party computation of minima* (CANS 2015), protocol 1. For comparison: `shares.rs` leaks nothing and takes a tenth of
//! the bytes.
//!
//! | file | |
//! |---|---|
//! | `minimum.rs` | the minimum phase: a tournament of pairs, both roles |
//! | `argument.rs` | the argument phase, both roles |
//! | `fresh.rs` | randomness for all that the server sends |
//! | `pads.rs` | random OT of one of n pads |
//! | `shape.rs` | levels, widths, lengths |
//!
//! **What leaks.** Of every comparison the client decrypts r₁·(a − b) − r₂ with r₁ > r₂ of l + σ random bits. log₂ r₁ is
//! within two bits of l + σ nearly always, so that the client sees |a − b| within a factor of about 2, for all n − 1
//! comparisons of the tournament, whatever σ is. The paper (§4.1) calls this statistical blinding; it is none. A test
//! reproduces it. So it runs only if both parties agree to that in the terms ([`Terms::leaky`](super::Terms)).
//!
//! **Else** parties that follow the protocol learn this: the server nothing, under decisional composite residuosity. The
//! client sees values blinded by l + σ bits, each within 2^−σ of uniform, and which one of each pair goes on, in an order
//! that the server draws at random for this run and keeps. Whatever the server sends has fresh statistical randomness,
//! since the client sees that of ciphertexts, and would know its own again.
//!
//! **Ties**: a random one of the least values: the order decides.
//!
//! **Departs from the paper**: no coin for each pair, since both orders of a pair are alike likely in a random order, and
//! the client has to know which one went on. A blinded difference takes 2l + σ + 1 bits; the paper gives it l + σ + 2. The
//! pads of the argument phase are those of random OTs. Blinds are added.
//!
//! **Cost**, with T bits a key, n values, ⌈log₂ n⌉ random OTs sent by the server: (4l + 3σ + 4)/(T − 1) ciphertexts a pair
//! packed, two not packed, (w + σ + 2)/(T − 1) an argument and one more; 2⌈log₂ n⌉ + 2 messages.

mod argument;
mod fresh;
mod minimum;
mod pads;
mod shape;

use super::ciphertexts::{of_peer, own, random};
use super::{ClientStage, Found, Inputs, Job, Keys, Protocol, ServerStage};
use argument::{Arguments, Blind};
use duologue::call::{CallLengths, Context, Drawn, Exchange, Outbox, SetupStage, Stage, Zeroizing};
use duologue::circuit::Party;
use duologue::correlation::Demand;
use duologue::{Error, Result};
use fresh::Fresh;
use he::paillier::{PublicKey, SecretKey};
use he::{Additive, Ciphertexts, Plaintexts, Shuffle};
use kernels::generator::Generator;
use minimum::{Holder, Owner};
use pads::ReceivedPad;
use shape::Shape;
use std::sync::Arc;

/// The protocol.
pub(crate) struct Boma;

impl Protocol for Boma {
    fn name(&self) -> &'static str {
        "duologue:argmin-boma"
    }

    /// Since version 2 answers travel as 2^s·γ and 2^s·m.
    fn version(&self) -> u32 {
        2
    }

    fn check(&self, job: &Job) -> Result<()> {
        if !job.terms.leaky {
            return Err(Error::usage(
                "boma tells the owner of the key the size of the difference of any two values that it compares, almost to the \
                 bit: it runs only if both parties say --leaky; the method duologue leaks nothing and takes fewer bytes",
            ));
        }
        if !job.terms.groups.is_empty() {
            return Err(Error::usage("argmin-boma compares pairs, and takes no groups"));
        }
        Shape::of(job).map(|_| ())
    }

    fn lengths(&self, job: &Job, party: Party) -> Result<CallLengths> {
        let (shape, server) = (Shape::of(job)?, party == job.server());
        let (ots, demand) = (shape.ots(), Demand::of_cots(job.server(), shape.ots() as u64));
        let setup = if ots == 0 { Vec::new() } else { vec![Exchange { demand, ..Exchange::default() }] };
        let stored = if server { pads::stored_by_sender(ots) } else { pads::stored_by_receiver(ots) };
        let online = shape.messages()?.into_iter().enumerate().map(|(number, bytes)| {
            let (sent, read) = if server == (number % 2 == 0) { (bytes, 0) } else { (0, bytes) };
            Exchange { sent, read, ..Exchange::default() }
        });
        Ok(CallLengths { setup, stored, online: online.collect() })
    }

    fn setup(&self, job: &Job, context: &Context, _: &Keys) -> Result<SetupStage> {
        let server = context.party == job.server();
        let empty =
            Zeroizing::new(vec![0; if server { pads::stored_by_sender(0) } else { pads::stored_by_receiver(0) }]);
        Ok(Box::new(Setup { server, domain: context.domain, stored: empty }))
    }

    fn server(&self, job: &Job, key: PublicKey, setup: Zeroizing<Vec<u8>>, inputs: Inputs) -> Result<ServerStage> {
        let (shape, mut rng) = (Shape::of(job)?, random()?);
        let fresh = Fresh::new(&key, shape.sent()?, &mut rng)?;
        let server = Server::new(shape, key, setup, inputs, (fresh, rng))?;
        Ok(Box::new(server))
    }

    fn client(&self, job: &Job, key: Arc<SecretKey>, setup: Zeroizing<Vec<u8>>) -> Result<ClientStage> {
        Ok(Box::new(Client::new(Shape::of(job)?, key, setup, random()?)))
    }
}

/// Setup draws random OTs.
struct Setup {
    server: bool,
    domain: [u8; 32],
    stored: Zeroizing<Vec<u8>>,
}

impl Stage for Setup {
    type Output = Zeroizing<Vec<u8>>;

    fn step(&mut self, drawn: Drawn, _: &[u8], _: &mut Outbox) -> Result<()> {
        let stored = if self.server { pads::of_sender } else { pads::of_receiver };
        self.stored = stored(&self.domain, &drawn);
        Ok(())
    }

    fn finish(self: Box<Self>, _: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        Ok(self.stored)
    }
}

/// The server online.
struct Server {
    minimum: Holder,
    arguments: Arguments,
    stored: Zeroizing<Vec<u8>>,
    blind: Option<Blind>,
    rng: Generator,
    /// The next exchange.
    next: usize,
    levels: usize,
}

impl Server {
    /// Brings values and arguments into a random order.
    fn new(
        shape: Shape,
        key: PublicKey,
        stored: Zeroizing<Vec<u8>>,
        inputs: Inputs,
        (fresh, mut rng): (Fresh, Generator),
    ) -> Result<Server> {
        let order = Shuffle::new(shape.values, &mut rng);
        let values = order.ciphertexts(&inputs.values).map_err(own)?;
        let arguments = match inputs.arguments {
            Some(arguments) => Arguments::Encrypted(order.ciphertexts(&arguments).map_err(own)?),
            None => {
                let indices: Vec<u64> = (0..shape.values as u64).collect();
                Arguments::Known(order.numbers(&indices).map_err(own)?)
            }
        };
        let levels = shape.levels().len();
        let minimum = Holder::new(shape, key, fresh, values);
        Ok(Server { minimum, arguments, stored, blind: None, rng, next: 0, levels })
    }

    /// Takes the answers to the level that was asked.
    fn hear(&mut self, answers: &[u8]) -> Result<()> {
        let answers = self.minimum.key.read_numbers_of_any_symbol(answers).map_err(of_peer)?;
        self.minimum.hear(&answers)
    }

    fn offer(&mut self, said: &[u8]) -> Result<Ciphertexts> {
        let said = said.iter().rev().fold(0, |said, &byte| said << 8 | u64::from(byte));
        let Holder { shape, key, fresh, .. } = &mut self.minimum;
        let (blind, offered) = Blind::offer((shape, key, fresh), &self.arguments, (&self.stored, said), &mut self.rng)?;
        self.blind = Some(blind);
        Ok(offered)
    }

    /// The argument: with one value it is there already.
    fn second(&mut self, answer: &[u8]) -> Result<Ciphertexts> {
        let key = &self.minimum.key;
        match (self.blind.take(), &self.arguments) {
            (Some(blind), _) => blind.open(key, &key.read_numbers_of_any_symbol(answer).map_err(of_peer)?),
            (None, Arguments::Encrypted(arguments)) => Ok(arguments.clone()),
            (None, Arguments::Known(index)) => {
                key.encrypt(&Plaintexts::from_words(index, 1), &mut self.rng).map_err(own)
            }
        }
    }

    /// The bytes of the next exchange.
    fn send(&mut self, inbox: &[u8]) -> Result<Vec<u8>> {
        let (level, odd) = (self.next / 2, self.next % 2 == 1);
        self.next += 1;
        if odd {
            return Ok(Vec::new());
        }
        let place = if level == self.levels { self.minimum.shape.place() } else { 0 };
        let (answers, said) = inbox.split_at(inbox.len() - place);
        if level > 0 {
            self.hear(answers)?;
        }
        let sent = if level < self.levels { self.minimum.ask(&mut self.rng)? } else { self.offer(said)? };
        self.minimum.key.write_numbers(&sent).map_err(own)
    }

    /// Both results have fresh randomness, so that nobody who gets them links them to what travelled here.
    fn found(mut self, inbox: &[u8]) -> Result<Found> {
        let second = self.second(inbox)?;
        let Holder { key, fresh, values, .. } = &mut self.minimum;
        // One value is the server's own; else both came from the client.
        let blame = if self.levels == 0 { own } else { of_peer };
        let mut again = |found: &Ciphertexts| fresh.add(key, found).map_err(blame);
        Ok(Found { least: again(values)?, second: again(&second)? })
    }
}

impl Stage for Server {
    type Output = Found;

    fn step(&mut self, _: Drawn, inbox: &[u8], outbox: &mut Outbox) -> Result<()> {
        outbox.extend_from_slice(&self.send(inbox)?);
        Ok(())
    }

    fn finish(self: Box<Self>, inbox: &[u8]) -> Result<Found> {
        self.found(inbox)
    }
}

/// The client online.
struct Client {
    key: Arc<SecretKey>,
    minimum: Owner,
    stored: Zeroizing<Vec<u8>>,
    rng: Generator,
    next: usize,
    levels: usize,
}

impl Client {
    fn new(shape: Shape, key: Arc<SecretKey>, stored: Zeroizing<Vec<u8>>, rng: Generator) -> Client {
        let levels = shape.levels().len();
        Client { key, minimum: Owner::new(shape), stored, rng, next: 0, levels }
    }

    /// The bytes of the next exchange.
    fn send(&mut self, inbox: &[u8]) -> Result<Vec<u8>> {
        let (level, even) = (self.next / 2, self.next.is_multiple_of(2));
        self.next += 1;
        if even {
            return Ok(Vec::new());
        }
        let came = self.key.read_numbers(inbox).map_err(of_peer)?;
        let answer = if level < self.levels {
            self.minimum.answer(&self.key, &came, &mut self.rng)?
        } else {
            let (pad, place) = (ReceivedPad::new(&self.stored), self.minimum.places[0]);
            argument::answer((&self.minimum.shape, &self.key), &came, (&pad, place), &mut self.rng)?
        };
        let mut bytes = self.key.public().write_numbers(&answer).map_err(own)?;
        if level + 1 == self.levels {
            let said = ReceivedPad::new(&self.stored).said(self.minimum.places[0]);
            bytes.extend_from_slice(&said.to_le_bytes()[..self.minimum.shape.place()]);
        }
        Ok(bytes)
    }
}

impl Stage for Client {
    type Output = ();

    fn step(&mut self, _: Drawn, inbox: &[u8], outbox: &mut Outbox) -> Result<()> {
        outbox.extend_from_slice(&self.send(inbox)?);
        Ok(())
    }

    fn finish(self: Box<Self>, _: &[u8]) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
