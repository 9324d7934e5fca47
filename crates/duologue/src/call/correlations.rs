//! The correlations of a call: random OTs made of the stock's COTs, under hashes of its own.

use super::Drawn;
use crate::correlation::derived::RandomOts;
use crate::correlation::{Demand, Stock};
use crate::{Error, Party, Result};
use kernels::Block;
use kernels::ot_hash::OtHash;
use zeroize::Zeroizing;

/// The domain of a call: no other call has it. `program` is the number of the program in the session, `call` that of the
/// call in the program.
pub(crate) fn domain(session: &[u8; 32], program: u64, call: u32, (name, version): (&str, u32)) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("duologue v1 call: domain");
    hasher.update(session).update(&program.to_le_bytes()).update(&call.to_le_bytes());
    hasher.update(&version.to_le_bytes()).update(&(name.len() as u64).to_le_bytes()).update(name.as_bytes());
    *hasher.finalize().as_bytes()
}

/// Of the random OTs that `sender` sends in one exchange of a call, the id: no others have it.
fn id_of(domain: &[u8; 32], exchange: usize, sender: Party) -> [u8; 32] {
    #[cfg(test)]
    tests::IDS.set(tests::IDS.get() + 1);
    let mut hasher = blake3::Hasher::new_derive_key("duologue v1 call: random OTs");
    hasher.update(domain).update(&(exchange as u64).to_le_bytes()).update(&[sender as u8]);
    *hasher.finalize().as_bytes()
}

fn hash(id: &[u8; 32]) -> OtHash {
    let salt = blake3::derive_key("duologue v1 call: salt of random OTs", id);
    OtHash::new(Block::from_bytes(*salt.first_chunk().expect("16 of 32 bytes")))
}

/// Draws what an exchange demands. Δ is that of the COTs that we send; where none are sent there need not be one.
pub(super) fn draw(
    stock: &mut Stock,
    demand: &Demand,
    delta: Option<&Block>,
    domain: &[u8; 32],
    exchange: usize,
) -> Result<Drawn> {
    let us = stock.party();
    let (mut sent, mut received) = (([0; 32], [const { Vec::new() }; 2]), ([0; 32], Vec::new(), Vec::new()));
    let q = Zeroizing::new(stock.draw_cot_sender(demand.cots_by(us) as usize)?);
    if !q.is_empty() {
        let delta = delta.ok_or_else(|| Error::usage("a call sends OTs without Δ"))?;
        let id = id_of(domain, exchange, us);
        let [mut m0, mut m1] = [(); 2].map(|()| vec![Block::ZERO; q.len()]);
        hash(&id).pairs(0, *delta, &q, &mut m0, &mut m1);
        sent = (id, [m0, m1]);
    }
    let choices = Zeroizing::new(stock.draw_cot_receiver(demand.cots_by(us.peer()) as usize)?);
    if !choices.is_empty() {
        let id = id_of(domain, exchange, us.peer());
        let mut chosen = vec![Block::ZERO; choices.len()];
        hash(&id).chosen(0, &choices.t, &mut chosen);
        received = (id, choices.bits.clone(), chosen);
    }
    Ok(Drawn { ots: RandomOts::of_messages(sent, received), triples: stock.draw_triples(demand.triples as usize)? })
}

/// No correlations.
pub(super) fn nothing(us: Party) -> Drawn {
    let mut stock = Stock::new(us);
    let none = draw(&mut stock, &Demand::NONE, None, &[0; 32], 0);
    none.unwrap_or_else(|_| unreachable!("an empty stock gives nothing"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ot::Side;
    use kernels::generator::Generator;
    use std::cell::Cell;
    use std::collections::HashSet;

    thread_local! {
        /// How many ids were computed.
        pub static IDS: Cell<u32> = const { Cell::new(0) };
    }

    /// The broken twins leave one thing out each: then two of these are the same.
    #[test]
    fn every_part_of_a_domain_counts() {
        let parts: [(u8, u64, u32, &str, u32); 7] = [
            (1, 1, 1, "a", 1),
            (2, 1, 1, "a", 1),
            (1, 2, 1, "a", 1),
            (1, 1, 2, "a", 1),
            (1, 1, 1, "b", 1),
            (1, 1, 1, "a", 2),
            (1, 1, 1, "ab", 1),
        ];
        let domains =
            parts.map(|(session, program, call, name, version)| domain(&[session; 32], program, call, (name, version)));
        assert_eq!(domains.iter().collect::<HashSet<_>>().len(), parts.len());
        let mut ids = HashSet::new();
        for domain in &domains {
            for (exchange, sender) in [(0, Party::Alice), (0, Party::Bob), (1, Party::Alice), (1, Party::Bob)] {
                assert!(ids.insert(id_of(domain, exchange, sender)));
            }
        }
    }

    /// Dealt COTs: m_b = H(q ⊕ b·Δ) by the definition, and no message of two exchanges is the same.
    #[test]
    fn random_ots_are_hashed_cots() {
        let mut random = Generator::from_os().unwrap();
        let delta = random.block().with_lsb(true);
        let q: Vec<Block> = (0..100).map(|_| random.block().with_lsb(false)).collect();
        let t: Vec<Block> = q.iter().enumerate().map(|(i, &q)| q ^ (delta & Block::mask(i % 3 == 0))).collect();
        let mut seen = HashSet::new();
        for exchange in [0, 1] {
            let [mut alice, mut bob] = [Party::Alice, Party::Bob].map(Stock::new);
            alice.put_cots(Side::Sender, q.clone());
            bob.put_cots(Side::Receiver, t.clone());
            let demand = Demand::of_cots(Party::Alice, 100);
            let before = IDS.get();
            let sent = draw(&mut alice, &demand, Some(&delta), &[7; 32], exchange).unwrap().ots.sent;
            let received = draw(&mut bob, &demand, None, &[7; 32], exchange).unwrap().ots.received;
            assert_eq!(IDS.get(), before + 2, "each party has OTs one way");
            for i in 0..100 {
                let choice = received.choices()[i / 64] >> (i % 64) & 1;
                assert_eq!(choice, u64::from(i % 3 == 0));
                assert!(received.messages()[i] == sent.messages()[choice as usize][i]);
                assert!(sent.messages().iter().all(|m| seen.insert(m[i].get())), "OT {i}");
            }
        }
    }
    /// Every exchange online draws nothing.
    #[test]
    fn nothing_is_hashed_for_no_ots() {
        let before = IDS.get();
        for party in [Party::Alice, Party::Bob] {
            let Drawn { ots, triples } = nothing(party);
            assert!(ots.sent.is_empty() && ots.received.is_empty() && triples.len == 0);
        }
        assert_eq!(IDS.get(), before);
    }
}
