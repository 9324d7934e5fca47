//! The argument phase.
//!
//! The client knows the place j* of the least value in the server's order. With pads p_x of a random OT of one in n, of
//! which the client has that of its choice c, and r of w + σ bits, for arguments of w bits:
//!
//! ```text
//! client → server   c ⊕ j*, with the last answers of the minimum phase
//! server → client   [x_j + p_{j ⊕ c ⊕ j*} + r] for all j                 packed, with fresh statistical randomness
//! client → server   [x_{j*} + r], by subtraction of p_c                   encrypted anew
//! server            [x_{j*}]
//! ```
//!
//! In the paper the pads are random numbers that the client gets by an OT of strings, n·(w + σ) bits more.

use super::super::wide::Wide;
use super::fresh::Fresh;
use super::pads::{ReceivedPad, SentPads, at};
use super::shape::Shape;
use super::{of_peer, own};
use duologue::call::Zeroizing;
use duologue::{Error, Result};
use he::paillier::{PublicKey, SecretKey};
use he::{Additive, Ciphertexts};
use kernels::generator::Generator;

/// The arguments, in the server's order.
pub enum Arguments {
    Encrypted(Ciphertexts),
    /// Indices, that the server knows.
    Known(Zeroizing<Vec<u64>>),
}

/// The server's side, when the arguments are sent: r.
pub struct Blind(Wide);

impl Blind {
    /// The blinded arguments.
    pub fn offer(
        (shape, key, fresh): (&Shape, &PublicKey, &mut Fresh),
        arguments: &Arguments,
        (stored, said): (&[u8], u64),
        rng: &mut Generator,
    ) -> Result<(Blind, Ciphertexts)> {
        if said >> shape.ots() != 0 {
            return Err(Error::peer(format!("its choice among {} places is {said}", 1_u64 << shape.ots())));
        }
        let blind = Wide::random(shape.second_mask(), rng);
        let pads = SentPads::new(stored).all(said, shape.values, shape.second_mask());
        let mut blinds: Vec<Wide> = pads.iter().map(|pad| pad.plus(&blind)).collect();
        let stream = shape.offered()?;
        let packed = match arguments {
            Arguments::Encrypted(arguments) => {
                let packed = stream.pack_ciphertexts(key, arguments).map_err(own)?;
                fresh.add(key, &packed)
            }
            Arguments::Known(indices) => {
                let indices = indices.iter().map(|&index| Wide::new(&[index]));
                blinds.iter_mut().zip(indices).for_each(|(blind, index)| *blind = blind.plus(&index));
                fresh.take(stream.len())
            }
        };
        let constants = stream.pack(&Wide::plaintexts(blinds.iter())).map_err(own)?;
        let offered = key.add_constants(&packed.map_err(own)?, &constants);
        Ok((Blind(blind), offered.map_err(own)?))
    }

    /// The argument.
    pub fn open(self, key: &PublicKey, answer: &Ciphertexts) -> Result<Ciphertexts> {
        let back = key.negatives(&Wide::plaintexts(std::iter::once(&self.0))).map_err(own)?;
        key.add_constants(answer, &back).map_err(own)
    }
}

/// The client's answer, for the place of the least value.
pub fn answer(
    (shape, key): (&Shape, &SecretKey),
    offered: &Ciphertexts,
    (pad, place): (&ReceivedPad, u64),
    rng: &mut Generator,
) -> Result<Ciphertexts> {
    let plain = key.decrypt(offered).map_err(of_peer)?;
    let slots = shape.offered()?.unpack(&plain).map_err(of_peer)?;
    let (blinded, pad) = (at(slots.iter(), place), pad.pad(shape.second_mask()));
    let argument = blinded.minus(&pad);
    let limit = Wide::power_of_two(shape.second_mask()).plus(&Wide::power_of_two(shape.second));
    if blinded.is_less(&pad) || !argument.is_less(&limit) {
        return Err(Error::peer(format!("a blinded argument is none of {} bits", shape.second)));
    }
    key.encrypt(&Wide::plaintexts(std::iter::once(&argument)), rng).map_err(own)
}
