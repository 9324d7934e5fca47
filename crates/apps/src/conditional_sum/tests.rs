//! What a test from outside cannot see: lengths, shares, broken twins, and messages that no honest party sends.

use super::stages::Online;
use super::*;
use duologue::call::{CallValue, Outbox};
use duologue::circuit::int;
use kernels::Block;
use kernels::generator::Generator;
use proptest::prelude::*;

const PARTIES: [Party; 2] = [Party::Alice, Party::Bob];

fn random(seed: u128) -> Generator {
    Generator::from_seed(Block::new(seed))
}

/// A call of so many bits of a condition and so many lanes with values of these parties.
fn call(bytes: u8, conditions: u16, lanes: u64, owners: &[Party]) -> Call {
    let condition = CallValue { ty: bits(conditions.into()), lanes, holder: Holder::Shared };
    let value = |&party: &Party| CallValue { ty: int(40), lanes, holder: Holder::Party(party) };
    let args = [condition].into_iter().chain(owners.iter().map(value)).collect();
    let parameters = if conditions == 1 { vec![bytes] } else { parameters(bytes, conditions) };
    Call { number: 0, parameters, args, results: Vec::new() }
}

/// Each party's lengths are the other's, and messages are small.
#[test]
fn lengths_fit_together() {
    for owners in [&[][..], &[Party::Bob], &PARTIES] {
        for (conditions, lanes) in
            [0, 1, 64, CHUNK as u64, CHUNK as u64 + 1, 1 << 21].map(|lanes| (1 + lanes as u16 % 3, lanes))
        {
            let call = call(8, conditions, lanes, owners);
            let [alice, bob] = PARTIES.map(|party| ConditionalSum.lengths(&call, party).unwrap());
            for (a, b) in [(&alice.setup, &bob.setup), (&alice.online, &bob.online)] {
                assert_eq!(a.len(), b.len());
                assert!(a.iter().zip(b).all(|(a, b)| (a.sent, a.read, a.demand) == (b.read, b.sent, b.demand)));
                assert!(a.iter().all(|exchange| exchange.sent.max(exchange.read) <= 1 << 22), "a message in memory");
            }
            let drawn: u64 = alice.setup.iter().map(|exchange| exchange.demand.total()).sum();
            let terms = owners.len().max(1) as u64 * u64::from(conditions);
            assert_eq!(drawn, lanes * terms, "an OT for each lane, value and bit");
        }
    }
}

/// What setup stores for both parties, of dealt OTs.
fn deal(layout: &Layout, random: &mut Generator) -> [Zeroizing<Vec<u8>>; 2] {
    let mut stored = [(); 2].map(|()| Zeroizing::new(Vec::new()));
    for (term, lanes) in layout.parts() {
        let (sender, count) = (layout.sender(term), lanes.len());
        let [zeros, ones] = [(); 2].map(|()| {
            let mut messages = vec![0; layout.bytes * count];
            random.fill(&mut messages);
            messages
        });
        let mut choices = vec![0u64; count.div_ceil(64)];
        random.words(&mut choices);
        let chosen = (0..count).flat_map(|lane| {
            let from = if choices[lane / 64] >> (lane % 64) & 1 == 1 { &ones } else { &zeros };
            from[layout.bytes * lane..][..layout.bytes].to_vec()
        });
        let chosen: Vec<u8> = chosen.collect();
        stored[sender.peer() as usize].extend(choices.iter().flat_map(|word| word.to_le_bytes()));
        stored[sender.peer() as usize].extend_from_slice(&chosen);
        stored[sender as usize].extend([zeros, ones].concat());
    }
    stored
}

struct Case {
    call: Call,
    layout: Layout,
    /// The shares of the condition, lane by lane, a number of as many bits.
    conditions: [Vec<u64>; 2],
    values: Vec<(Party, Vec<i64>)>,
}

impl Case {
    fn new(bytes: u8, lanes: usize, owners: &[Party], seed: u128) -> Case {
        Case::of_bits(bytes, 1, lanes, owners, seed)
    }

    fn of_bits(bytes: u8, bits: u16, lanes: usize, owners: &[Party], seed: u128) -> Case {
        let mut random = random(seed);
        let mut numbers = |shift: u32| {
            let mut words = vec![0u64; lanes];
            random.words(&mut words);
            words.iter().map(|&word| word as i64 >> shift).collect::<Vec<i64>>()
        };
        let mask = (1 << bits) - 1;
        let conditions = [(); 2].map(|()| numbers(0).iter().map(|&word| word as u64 & mask).collect());
        let values = owners.iter().map(|&owner| (owner, numbers(24))).collect();
        let call = call(bytes, bits, lanes as u64, owners);
        Case { layout: Layout::new(&call).unwrap(), call, conditions, values }
    }

    /// The sum of a bit of the condition, modulo 2⁶⁴.
    fn expected(&self, bit: usize) -> u64 {
        let set = |lane: &usize| (self.conditions[0][*lane] ^ self.conditions[1][*lane]) >> bit & 1 == 1;
        let set: Vec<usize> = (0..self.layout.lanes).filter(set).collect();
        match self.values.is_empty() {
            true => set.len() as u64,
            false => {
                self.values.iter().flat_map(|(_, own)| set.iter().map(|&i| own[i] as u64)).fold(0, u64::wrapping_add)
            }
        }
    }

    fn party(&self, us: Party, stored: Zeroizing<Vec<u8>>) -> Online {
        let condition = BitMatrix::from_numbers(self.layout.conditions, &self.conditions[us as usize]).unwrap();
        let own = |(owner, own): &(Party, Vec<i64>)| (*owner == us).then(|| BitMatrix::from_numbers(40, own).unwrap());
        let args = [Some(condition)].into_iter().chain(self.values.iter().map(own)).collect();
        Online::new(self.layout.clone(), us, stored, args).unwrap()
    }

    /// Runs both; `change` may change each message. Both parties' shares.
    fn run(
        &self,
        seed: u128,
        mut change: impl FnMut(Message, &mut Vec<u8>),
    ) -> duologue::Result<[Zeroizing<Vec<u64>>; 2]> {
        let [alice, bob] = deal(&self.layout, &mut random(seed));
        let mut parties = [self.party(Party::Alice, alice), self.party(Party::Bob, bob)];
        let mut inboxes = [Vec::new(), Vec::new()];
        for (message, ..) in self.layout.exchanges() {
            let mut outboxes = [Outbox::default(), Outbox::default()];
            for ((party, inbox), outbox) in parties.iter_mut().zip(&inboxes).zip(&mut outboxes) {
                party.advance(inbox, outbox)?;
            }
            inboxes = [outboxes[1].to_vec(), outboxes[0].to_vec()];
            inboxes.iter_mut().filter(|inbox| !inbox.is_empty()).for_each(|inbox| change(message, inbox));
        }
        let mut shares = parties.into_iter().zip(&inboxes).map(|(party, inbox)| party.end(inbox));
        Ok([shares.next().expect("two")?, shares.next().expect("two")?])
    }
}

fn modulo(bytes: u8, number: u64) -> u64 {
    number & u64::MAX >> (64 - 8 * u32::from(bytes))
}

#[test]
fn shares_add_up_to_the_sum() {
    for owners in [&[][..], &[Party::Alice], &[Party::Bob], &PARTIES] {
        for (seed, (bytes, bits, lanes)) in
            (0..).zip([(8, 1, 0), (1, 2, 1), (8, 1, 64), (3, 5, 65), (7, 1, CHUNK), (8, 3, CHUNK + 100)])
        {
            let case = Case::of_bits(bytes, bits, lanes, owners, seed);
            let [a, b] = case.run(seed + 100, |_, _| {}).unwrap();
            let both = case.conditions.each_ref().map(|own| BitMatrix::from_numbers(bits.into(), own).unwrap());
            let plain = [both[0].xor(&both[1])].into_iter();
            let plain = plain.chain(case.values.iter().map(|(_, own)| BitMatrix::from_numbers(40, own).unwrap()));
            let results = ConditionalSum.evaluate(&case.call.parameters, &plain.collect::<Vec<_>>());
            let meaning = results[0].to_numbers::<u64>().unwrap();
            assert_eq!((a.len(), b.len(), meaning.len()), (bits.into(), bits.into(), bits.into()));
            for bit in 0..usize::from(bits) {
                let sum = modulo(bytes, a[bit].wrapping_add(b[bit]));
                let expected = modulo(bytes, case.expected(bit));
                assert_eq!((sum, meaning[bit]), (expected, expected), "{bytes} bytes, {lanes} lanes, {owners:?}");
            }
        }
    }
}

/// Of the same inputs no two runs have the same shares or messages. The broken twin takes the same OTs again: then they do.
#[test]
fn shares_and_messages_are_masked_anew() {
    let case = Case::new(8, 200, &PARTIES, 5);
    let run = |seed| {
        let mut all = Vec::new();
        let shares = case.run(seed, |_, bytes| all.extend_from_slice(bytes)).unwrap();
        (shares, all)
    };
    let (one, other, twin) = (run(1), run(2), run(1));
    let same = one.1.chunks(8).zip(other.1.chunks(8)).filter(|(one, other)| one == other).count();
    assert!(one.0[0] != other.0[0] && one.0[1] != other.0[1] && same == 0, "{same} of {}", one.1.len());
    assert_eq!(one, twin);
}

/// The receiver guesses the sender's values by what it has, of lanes where its own bit is not set: y + m_c is v then, up to the
/// mask of the other message. The broken twin deals equal messages: then every value shows.
#[test]
fn corrections_hide_the_values() {
    let case = Case::new(8, 300, &[Party::Bob], 6);
    let mut stored = deal(&case.layout, &mut random(7));
    for twin in [false, true] {
        let count = 8 * case.layout.lanes;
        if twin {
            stored[1].copy_within(..count, count);
        }
        let mut bob = case.party(Party::Bob, stored[1].clone());
        let mut outbox = Outbox::default();
        bob.advance(&[], &mut Outbox::default()).unwrap();
        bob.advance(&vec![0; 300usize.div_ceil(8)], &mut outbox).unwrap();
        let answers = outbox.as_chunks::<8>().0.iter().map(|&answer| i64::from_le_bytes(answer));
        let own = &case.values[0].1;
        let shown = answers.zip(own).filter(|(answer, own)| [**own, -**own].contains(answer)).count();
        assert_eq!(shown, if twin { 300 } else { 0 });
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Any bytes of the peer's are another sum, or an error of the peer's: never a panic.
    #[test]
    fn any_messages_are_read(seed: u64, lanes in 1usize..200, broken in 0usize..2, shorter: bool) {
        let case = Case::new(5, lanes, &PARTIES, 8);
        let message = [Message::Masked, Message::Corrections][broken];
        let run = case.run(9, |which, bytes| {
            if which == message {
                random(seed.into()).fill(bytes);
                bytes.truncate(bytes.len() - usize::from(shorter && broken == 0));
            }
        });
        prop_assert!(run.is_ok() || matches!(run, Err(duologue::Error::Peer(_))));
    }
}
