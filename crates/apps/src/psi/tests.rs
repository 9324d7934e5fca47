//! What a test from outside cannot see: broken twins, tags one by one, and messages that no honest party sends.

use super::layout::{Layout, Message};
use super::tags::{Comparison, Tags};
use super::*;
use duologue::call::CallValue;
use kernels::Block;
use kernels::generator::Generator;
use proptest::prelude::*;

fn call(learns: Learns, sizes: [u64; 2]) -> Call {
    let held = |party, lanes| CallValue { ty: bits(128), lanes, holder: Holder::Party(party) };
    let args = vec![held(Party::Alice, sizes[0]), held(Party::Bob, sizes[1])];
    Call { number: 0, parameters: vec![learns.number()], args, results: Vec::new() }
}

fn blocks(count: usize, random: &mut Generator) -> Vec<Block> {
    let mut blocks = vec![Block::ZERO; count];
    random.fill_blocks(&mut blocks);
    blocks
}

/// Tags of strings that decode to themselves.
fn tags(strings: &[Block]) -> Tags {
    Tags::new(&[7; 32], 10, strings, strings)
}

#[test]
fn tags_have_forty_bits_more_than_the_pairs() {
    for (sizes, bytes) in
        [([1, 1], 5), ([2, 2], 6), ([16, 16], 6), ([17, 16], 7), ([1 << 20, 1 << 20], 10), ([MOST, MOST], 12)]
    {
        let layout = Layout::new(&call(Learns::Both, sizes)).unwrap();
        assert_eq!(layout.tag, bytes, "{sizes:?}");
        // The broken twin has shorter ones.
        let pairs = (sizes[0] as f64).log2() + (sizes[1] as f64).log2();
        assert!(8.0 * layout.tag as f64 >= 40.0 + pairs, "{sizes:?}");
    }
}

#[test]
fn the_larger_set_of_both_is_the_one_that_sends_tags() {
    for (learns, sizes, receiver) in [
        (Learns::Both, [10, 3], Party::Bob),
        (Learns::Both, [3, 10], Party::Alice),
        (Learns::Both, [3, 3], Party::Alice),
        (Learns::Only(Party::Bob), [3, 10], Party::Bob),
        (Learns::Only(Party::Alice), [10, 3], Party::Alice),
    ] {
        assert_eq!(Layout::new(&call(learns, sizes)).unwrap().receiver, receiver, "{learns}, {sizes:?}");
    }
}

/// Each party's lengths are the other's, no message is large, and there are none if a set is empty.
pub(in crate::psi) fn assert_lengths_fit(protocol: &dyn CallProtocol, call: &Call, empty: bool) {
    let [alice, bob] = [Party::Alice, Party::Bob].map(|party| protocol.lengths(call, party).unwrap());
    for (a, b) in [(&alice.setup, &bob.setup), (&alice.online, &bob.online)] {
        assert_eq!(a.len(), b.len());
        assert!(a.iter().zip(b).all(|(a, b)| (a.sent, a.read, a.demand) == (b.read, b.sent, b.demand)));
        assert!(a.iter().all(|exchange| exchange.sent.max(exchange.read) <= 1 << 22), "a message in memory");
    }
    assert_eq!(alice == CallLengths::default(), empty);
}

/// Each party's lengths are the other's, and an empty set costs nothing.
#[test]
fn lengths_fit_together() {
    for learns in Learns::ALL {
        for sizes in [[0, 0], [0, 5], [5, 0], [1, 1], [100, 1 << 20], [1 << 20, 1 << 20]] {
            let call = call(learns, sizes);
            assert_lengths_fit(&Psi, &call, sizes.contains(&0));
        }
    }
}

/// The broken twin sends them as they come: then the order of the strings shows.
#[test]
fn tags_travel_in_an_order_of_their_own() {
    let strings = blocks(1000, &mut Generator::from_seed(Block::new(1)));
    let mut reversed = strings.clone();
    reversed.reverse();
    let [ours, theirs] = [&strings, &reversed].map(|strings| tags(strings).write(0..1000));
    assert!(ours == theirs && ours.len() == 10_000, "tags do not hang on the order of strings");
}

/// The broken twin sends the same tag twice: then it shows how often a string comes.
#[test]
fn equal_strings_have_one_tag() {
    let mut random = Generator::from_seed(Block::new(2));
    let mut strings = blocks(100, &mut random);
    strings.extend_from_within(..30);
    strings.extend_from_within(..10);
    let mut tags = tags(&strings);
    let mut again = tags.make_distinct(&mut random);
    again.sort_unstable();
    assert_eq!(again.len(), 40);
    assert!(again.iter().all(|&(one, first)| strings[one as usize] == strings[first as usize] && one != first));
    let written = tags.write(0..140);
    assert_eq!(written.chunks(10).collect::<HashSet<_>>().len(), 140);
    assert_eq!((0..140).filter_map(|place| tags.string(place)).collect::<HashSet<_>>().len(), 100);
    // The peer finds each string once among them, and knows nothing of the others.
    let mut found = Vec::new();
    Comparison::new(self::tags(&strings[..100])).read(&written, |_, string| found.push(string)).unwrap();
    found.sort_unstable();
    assert_eq!(found, (0..100).collect::<Vec<_>>());
}

/// A tag hangs on what a string decodes to, on the string and on the call.
#[test]
fn tags_hang_on_everything() {
    let [zero, one] = [0, 1].map(Block::new);
    let of = |key: u8, value, string| Tags::new(&[key; 32], 10, &[value], &[string]).write(0..1);
    let all = [of(0, zero, zero), of(1, zero, zero), of(0, one, zero), of(0, zero, one), of(0, one, one)];
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
}

#[test]
fn tags_that_do_not_ascend_are_refused() {
    let strings = blocks(50, &mut Generator::from_seed(Block::new(3)));
    let written = tags(&strings).write(0..50);
    let read = |bytes: &[u8]| Comparison::new(tags(&strings)).read(bytes, |_, _| {});
    assert!(read(&written).is_ok());
    let mut swapped = written.clone();
    swapped[..20].rotate_left(10);
    let again = [&written[..10], &written[..]].concat();
    for bytes in [swapped, again, vec![0; 20]] {
        let error = read(&bytes).unwrap_err();
        assert!(matches!(error, duologue::Error::Peer(_)), "{error}");
    }
    // Also from one message to the next.
    let mut comparison = Comparison::new(tags(&strings));
    comparison.read(&written[10..], |_, _| {}).unwrap();
    assert!(comparison.read(&written[..10], |_, _| {}).is_err());
}

proptest! {
    /// Whatever the peer sends as tags: an error, or places and strings that there are.
    #[test]
    fn any_tags_are_read(bytes in prop::collection::vec(any::<u8>(), 0..300), sort: bool) {
        let strings = blocks(20, &mut Generator::from_seed(Block::new(4)));
        let mut chunks: Vec<&[u8]> = bytes.chunks_exact(10).collect();
        if sort {
            chunks.sort_by_key(|chunk| chunk.iter().rev().copied().collect::<Vec<_>>());
        }
        let found = Comparison::new(tags(&strings)).read(&chunks.concat(), |place, string| {
            assert!(place < chunks.len() && string < 20);
        });
        prop_assert!(found.is_ok() || matches!(found, Err(duologue::Error::Peer(_))));
    }
}

/// Parties by hand, from what a dealer of VOLE stores for them, so that either can be broken.
mod by_hand {
    use super::super::okvs::Rows;
    use super::super::online::{Receiver, Sender};
    use super::super::oprf::rows;
    use super::*;
    use duologue::call::Outbox;
    use kernels::field;

    /// What setup stores for receiver and sender, with this Δ.
    fn deal(layout: &Layout, delta: Block, random: &mut Generator) -> [Zeroizing<Vec<u8>>; 2] {
        let [a, b] = [(); 2].map(|()| blocks(layout.shape.len(), random));
        let c: Vec<Block> = a.iter().zip(&b).map(|(&a, &b)| b ^ field::mul(delta, a)).collect();
        let bytes = |blocks: &[Block]| blocks.iter().flat_map(|block| block.to_bytes()).collect::<Vec<_>>();
        [[vec![9; 32], bytes(&a), bytes(&c)].concat(), [vec![9; 32], bytes(&[delta]), bytes(&b)].concat()]
            .map(Zeroizing::new)
    }

    fn matrix(strings: &[Block]) -> BitMatrix {
        BitMatrix::from_numbers(128, &strings.iter().map(|string| string.get()).collect::<Vec<_>>()).unwrap()
    }

    /// Runs both; `change` may change each message. The results of receiver and sender, or the first error.
    fn run(
        (learns, delta): (Learns, Block),
        sets: [&[Block]; 2],
        mut change: impl FnMut(Message, &mut Vec<u8>),
    ) -> duologue::Result<[Vec<Option<BitMatrix>>; 2]> {
        let layout = Layout::new(&call(learns, sets.map(|set| set.len() as u64))).unwrap();
        let own = if layout.receiver == Party::Alice { sets } else { [sets[1], sets[0]] };
        let [received, sent] = deal(&layout, delta, &mut Generator::from_seed(Block::new(11)));
        let mut receiver = Receiver::new(layout, received, &matrix(own[0]))?;
        let mut sender = Sender::new(layout, sent, &matrix(own[1]));
        let mut inboxes = [Vec::new(), Vec::new()];
        for (message, _) in layout.exchanges() {
            let mut outboxes = [Outbox::default(), Outbox::default()];
            receiver.advance(&inboxes[0], &mut outboxes[0])?;
            sender.advance(&inboxes[1], &mut outboxes[1])?;
            inboxes = [outboxes[1].to_vec(), outboxes[0].to_vec()];
            inboxes.iter_mut().filter(|inbox| !inbox.is_empty()).for_each(|inbox| change(message, inbox));
        }
        Ok([receiver.end(&inboxes[0])?, sender.end(&inboxes[1])?])
    }

    fn found(result: &[Option<BitMatrix>]) -> Vec<usize> {
        let found = result.iter().flatten().next().expect("it learns");
        (0..found.lanes()).filter(|&lane| found.get(0, lane)).collect()
    }

    const DELTA: Block = Block::new(0xfeed_5eed << 77 | 0x1234_5678_9abc_def1);

    #[test]
    fn both_find_what_is_in_both() {
        let strings = blocks(30, &mut Generator::from_seed(Block::new(5)));
        let [receiver, sender] = run((Learns::Both, DELTA), [&strings[..12], &strings[8..]], |_, _| {}).unwrap();
        assert_eq!((found(&receiver), found(&sender)), ((8..12).collect(), (0..4).collect()));
    }

    /// The receiver guesses strings of the sender's and looks for their tags by all that it has. The broken twin has no
    /// Δ, or leaves Δ·H(y) out of a tag: then every guess that is right is found.
    #[test]
    fn guesses_are_not_found_among_the_tags() {
        let strings = blocks(40, &mut Generator::from_seed(Block::new(6)));
        let layout = Layout::new(&call(Learns::Only(Party::Alice), [20, 20])).unwrap();
        for (delta, expected) in [(DELTA, 0), (Block::ZERO, 20)] {
            let (mut seed, mut sent) = (Block::ZERO, Vec::new());
            run(
                (Learns::Only(Party::Alice), delta),
                [&strings[..20], &strings[20..]],
                |message, bytes| match message {
                    Message::Table => seed = Block::from_bytes(*bytes.first_chunk().unwrap()),
                    _ => sent.clone_from(bytes),
                },
            )
            .unwrap();
            let [received, _] = deal(&layout, delta, &mut Generator::from_seed(Block::new(11)));
            let vectors = received[32..].as_chunks::<16>().0;
            let rows: Rows = rows(layout.shape, &[9; 32], seed);
            let mut values = blocks(20, &mut Generator::from_seed(Block::ZERO));
            values.fill(Block::ZERO);
            rows.decode(&vectors[layout.shape.len()..], &strings[20..], &mut values);
            let guesses = Tags::new(&[9; 32], layout.tag, &values, &strings[20..]);
            let sent: HashSet<&[u8]> = sent.chunks(layout.tag).collect();
            let hits = guesses.write(0..20).chunks(layout.tag).filter(|guess| sent.contains(guess)).count();
            assert_eq!(hits, expected, "Δ is {}", if expected == 0 { "random" } else { "zero" });
        }
    }

    /// What the sender sees of the table is masked: under another mask the same table is other bytes everywhere.
    #[test]
    fn the_table_is_masked() {
        let strings = blocks(20, &mut Generator::from_seed(Block::new(7)));
        let tables = [DELTA; 2].map(|delta| {
            let mut table = Vec::new();
            let keep = |message, bytes: &mut Vec<u8>| {
                if message == Message::Table {
                    table = bytes.clone()
                }
            };
            run((Learns::Only(Party::Bob), delta), [&strings, &strings], keep).unwrap();
            table
        });
        let same = tables[0].chunks(16).zip(tables[1].chunks(16)).filter(|(one, other)| one == other).count();
        assert!(same < 2, "seed and random columns are the receiver's own each time");
    }

    #[test]
    fn messages_that_cannot_be_are_refused() {
        let strings = blocks(30, &mut Generator::from_seed(Block::new(8)));
        let sets = [&strings[..13], &strings[10..]];
        for (broken, at, why) in [(Message::Tags, 0, "ascend"), (Message::Found, 2, "were not sent")] {
            let change = |message, bytes: &mut Vec<u8>| {
                if message == broken {
                    bytes[at..].fill(0xff);
                }
            };
            let error = run((Learns::Both, DELTA), sets, change).unwrap_err();
            assert!(matches!(&error, duologue::Error::Peer(text) if text.contains(why)), "{error}");
        }
        // A table can be any bytes: then nothing is found.
        let change = |message, bytes: &mut Vec<u8>| {
            if message == Message::Table {
                bytes.fill(0x5a);
            }
        };
        let [receiver, _] = run((Learns::Both, DELTA), sets, change).unwrap();
        assert_eq!(found(&receiver), [0; 0]);
    }
}
