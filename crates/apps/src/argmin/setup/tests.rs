//! Setup with dealt random OTs: its correlations by their definitions, and what the peer cannot tell of their masks.

use super::super::compare::Comparisons;
use super::super::layout::Level;
use super::super::material::Material;
use super::*;

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn block(&mut self) -> Block {
        Block::new(u128::from(self.word()) << 64 | u128::from(self.word()))
    }
}

/// Random OTs of one direction.
struct Dealt {
    m: [Vec<Block>; 2],
    choices: Vec<u64>,
    chosen: Vec<Block>,
}

impl Dealt {
    /// OTs of which both parties' halves are these functions of the place.
    fn of(count: usize, mut ot: impl FnMut(usize) -> (Block, Block, u64)) -> Dealt {
        let mut dealt = Dealt { m: [Vec::new(), Vec::new()], choices: vec![0; count.div_ceil(64)], chosen: Vec::new() };
        for place in 0..count {
            let (zero, one, choice) = ot(place);
            dealt.m[0].push(zero);
            dealt.m[1].push(one);
            dealt.choices[place / 64] |= choice << (place % 64);
            dealt.chosen.push(if choice == 1 { one } else { zero });
        }
        dealt
    }

    fn random(count: usize, dice: &mut Dice) -> Dealt {
        Dealt::of(count, |_| (dice.block(), dice.block(), dice.word() & 1))
    }

    /// What the receiver knows is the same in every lane and what it does not know is fresh.
    fn known_to_receiver(ots: usize, lanes: usize, choices: u64, dice: &mut Dice) -> Dealt {
        let known: Vec<Block> = (0..ots).map(|_| dice.block()).collect();
        Dealt::of(ots * lanes, |place| {
            let (ot, fresh) = (place / lanes, dice.block());
            if choices >> ot & 1 == 1 { (fresh, known[ot], 1) } else { (known[ot], fresh, 0) }
        })
    }

    /// What the sender knows is the same in every lane, and choices are fresh.
    fn known_to_sender(ots: usize, lanes: usize, dice: &mut Dice) -> Dealt {
        let known: Vec<[Block; 2]> = (0..ots).map(|_| [dice.block(), dice.block()]).collect();
        Dealt::of(ots * lanes, |place| (known[place / lanes][0], known[place / lanes][1], dice.word() & 1))
    }
}

/// The OTs of a party, who sends the first and receives the second.
fn ots<'a>(sent: &'a Dealt, received: &'a Dealt, lanes: usize) -> Ots<'a> {
    let m = sent.m.each_ref().map(Vec::as_slice);
    Ots { sent: m, choices: &received.choices, received: &received.chosen, lanes, used: [0, 0] }
}

fn bit(rows: &Rows, row: usize, lane: usize) -> u64 {
    rows.row(row)[lane / 64] >> (lane % 64) & 1
}

/// The number of these rows in a lane, the first row lowest.
fn number(rows: &Rows, places: &[usize], lane: usize) -> u64 {
    places.iter().enumerate().fold(0, |number, (place, &row)| number | bit(rows, row, lane) << place)
}

/// Whether so many numbers below `cells` are spread as evenly as chance does it: the sum of squares by Pearson, with its mean
/// cells − 1 and variance 2·(cells − 1), six standard deviations.
fn even(numbers: &[u64], cells: usize) -> bool {
    let mut counts = vec![0i64; cells];
    numbers.iter().for_each(|&number| counts[number as usize] += 1);
    let expected = (numbers.len() / cells) as i64;
    let squares: i64 = counts.iter().map(|count| (count - expected) * (count - expected)).sum();
    let (found, free) = (squares as f64 / expected as f64, (cells - 1) as f64);
    found < free + 6.0 * (2.0 * free).sqrt()
}

/// m_x by its definition: bits 2x and 2x + 1 of k_0^{x_0} ⊕ k_1^{x_1}.
fn message(keys: [[Block; 2]; 2], x: usize) -> u64 {
    let mixed = keys[0][x & 1].get() ^ keys[1][x >> 1].get();
    (mixed >> (2 * x)) as u64 & 3
}

/// The twin of the definition that takes the same two bits for all x.
fn twin(keys: [[Block; 2]; 2], x: usize) -> u64 {
    (keys[0][x & 1].get() ^ keys[1][x >> 1].get()) as u64 & 3
}

fn keys(dealt: &Dealt, lanes: usize, lane: usize) -> [[Block; 2]; 2] {
    [lane, lanes + lane].map(|ot| dealt.m.each_ref().map(|m| m[ot]))
}

const DIRECTIONS: [Direction; 2] = [Direction::Both, Direction::One];

/// Comparisons of pairs, so many.
fn layout(bits: usize, lanes: usize, direction: Direction) -> Layout {
    let (sender, opener) = (Party::Alice, Party::Alice);
    Layout::of_level(bits, 1, Level { sender, opener, values: 2 * lanes, group: 2, digits: 0 }, direction)
}

/// Both parties' rows of the section of comparisons, by setup with dealt OTs, Alice the sender; and the OTs that she sent.
fn compared(layout: &Layout, dice: &mut Dice) -> ([Rows; 2], Dealt) {
    let chunk = layout.chunks()[0];
    let section = layout.sections()[0];
    assert_eq!((chunk.section, chunk.lanes), (0, section.lanes), "one chunk");
    let [by_sender, by_other] = layout.ots(&section).map(|ots| Dealt::random(ots * chunk.lanes, dice));
    let mut parties = [Party::Alice, Party::Bob].map(|party| Setup::new(layout.clone(), party));
    let mut outboxes = [Outbox::default(), Outbox::default()];
    parties[0].compare(chunk, &mut ots(&by_sender, &by_other, chunk.lanes), &mut outboxes[0]);
    parties[1].compare(chunk, &mut ots(&by_other, &by_sender, chunk.lanes), &mut outboxes[1]);
    for (us, setup) in parties.iter_mut().enumerate() {
        setup.next = 1;
        setup.correct(&outboxes[1 - us]).unwrap();
    }
    let rows = |setup: &Setup| {
        let bit =
            |lane: usize, row: usize| setup.stored[setup.place(chunk, row, lane / 64) + lane % 64 / 8] >> (lane % 8);
        let mut rows = Rows::zeros(layout.rows(&section, setup.party), chunk.lanes);
        for (row, lane) in (0..rows.rows()).flat_map(|row| (0..chunk.lanes).map(move |lane| (row, lane))) {
            rows.row_mut(row)[lane / 64] |= u64::from(bit(lane, row) & 1) << (lane % 64);
        }
        rows
    };
    (parties.each_ref().map(rows), by_sender)
}

#[test]
fn leaves_and_triples_are_those_of_their_definitions() {
    let mut dice = Dice(1);
    for direction in DIRECTIONS {
        for (bits, lanes) in [(1, 3), (2, 64), (5, 1), (8, 65), (9, 130), (32, 100)] {
            let layout = layout(bits, lanes, direction);
            let ([sender, receiver], dealt) = compared(&layout, &mut dice);
            for lane in 0..lanes {
                let (mut s, mut r) = (0, 0);
                for leaf in 0..layout.leaves() {
                    let width = if leaf > 0 { 2 } else { 1 };
                    let cut = (1 << width) - 1;
                    let keys = [2 * leaf, 2 * leaf + 1].map(|ot| dealt.m.each_ref().map(|m| m[ot * lanes + lane]));
                    let m = |x: usize| message(keys, x) & cut;
                    let places = |from: usize| (from..from + width).collect::<Vec<_>>();
                    let sent = |x: usize| number(&sender, &places(s + width * x), lane);
                    assert_eq!(sent(0), m(0));
                    (1..4).for_each(|x| assert_eq!(sent(x), m(x) ^ m(0), "m_{x} of leaf {leaf}"));
                    let choice = number(&receiver, &[r, r + 1], lane) as usize;
                    assert_eq!(number(&receiver, &places(r + 2), lane), m(choice), "m_c of leaf {leaf}");
                    (s, r) = (s + 4 * width, r + 2 + width);
                }
                for width in widths(&layout) {
                    let open = |row: usize| bit(&sender, s + row, lane) ^ bit(&receiver, r + row, lane);
                    (1..=width)
                        .for_each(|b| assert_eq!(open(b + width), open(0) & open(b), "{bits} bits, {direction:?}"));
                    (s, r) = (s + 1 + 2 * width, r + 1 + 2 * width);
                }
                assert_eq!((s, r), (sender.rows(), receiver.rows()));
            }
        }
    }
}

/// All shares P and Q of a difference of l bits and its sign, as lanes of one comparison.
#[test]
fn every_two_shares_have_the_sign_of_their_sum() {
    let mut dice = Dice(5);
    for (bits, direction) in [1, 2, 3, 4, 5].into_iter().flat_map(|bits| DIRECTIONS.map(|direction| (bits, direction)))
    {
        let (each, modulus) = (bits + 1, 1 << (bits + 1));
        let lanes = modulus * modulus;
        let layout = layout(bits, lanes, direction);
        let section = layout.sections()[0];
        let (material, _) = compared(&layout, &mut dice);
        let shares = |party: Party| {
            Rows::tabulate(
                each,
                lanes,
                |lane| if party == Party::Alice { lane % modulus } else { lane / modulus } as u64,
            )
        };
        let mut parties = [Party::Alice, Party::Bob]
            .into_iter()
            .zip(material)
            .map(|(party, material)| (party, Material::holding(&material)))
            .map(|(party, material)| (party, Comparisons::new(&layout, &section, party, &shares(party), material)));
        let ((alice, mut sender), (bob, mut receiver)) = (parties.next().unwrap(), parties.next().unwrap());
        let answers = sender.answer(&receiver.masked());
        receiver.choose(&answers);
        for _ in layout.nodes() {
            let mut opened = sender.nodes();
            opened.xor(&receiver.nodes());
            sender.join(&opened, alice);
            receiver.join(&opened, bob);
        }
        let mut less = sender.finish();
        less.xor(&receiver.finish());
        for lane in 0..lanes {
            let (p, q) = (lane % modulus, lane / modulus);
            let negative = (p + q) % modulus >= modulus / 2;
            assert_eq!(bit(&less, 0, lane), u64::from(negative), "{p} and {q} of {bits} bits, {direction:?}");
        }
    }
}

const LANES: usize = 6400;

/// With the receiver's choice and its keys fixed, the three messages that it did not choose take all values alike. If they
/// did not, y_1 ⊕ y_2 ⊕ y_3 of an answer would tell it of the sender's number.
#[test]
fn messages_that_were_not_chosen_say_nothing_of_each_other() {
    let mut dice = Dice(2);
    let nothing = Dealt::random(0, &mut dice);
    for choice in 0..4 {
        let dealt = Dealt::known_to_receiver(2, LANES, choice, &mut dice);
        let rows = ots(&dealt, &nothing, LANES).sent_leaf(1);
        let m = |lane: usize, x: usize| {
            let first = number(&rows, &[0, 1], lane);
            if x == 0 { first } else { first ^ number(&rows, &[2 * x, 2 * x + 1], lane) }
        };
        let unchosen = |m: &dyn Fn(usize, usize) -> u64| -> Vec<u64> {
            let all = |lane| (0..4).filter(|&x| x != choice as usize).fold(0, |all, x| all << 2 | m(lane, x));
            (0..LANES).map(all).collect()
        };
        assert!(even(&unchosen(&m), 64), "choice {choice}");
        let chosen: Vec<u64> = (0..LANES).map(|lane| m(lane, choice as usize)).collect();
        assert!(chosen.iter().all(|m| *m == chosen[0]), "the receiver knows its own");
        let of_twin = unchosen(&|lane, x| twin(keys(&dealt, LANES, lane), x));
        assert!(!even(&of_twin, 64), "the twin is caught");
    }
    // Of the lowest leaf "greater" alone, three bits.
    for choice in 0..4 {
        let dealt = Dealt::known_to_receiver(2, LANES, choice, &mut dice);
        let rows = ots(&dealt, &nothing, LANES).sent_leaf(0);
        let m = |lane: usize, x: usize| bit(&rows, 0, lane) ^ if x > 0 { bit(&rows, x, lane) } else { 0 };
        let all = |lane| (0..4).filter(|&x| x != choice as usize).fold(0, |all, x| all << 1 | m(lane, x));
        assert!(even(&(0..LANES).map(all).collect::<Vec<_>>(), 8), "the lowest leaf, choice {choice}");
    }
}

/// What masks the factors of an AND, a and each b, takes all values alike given what the peer knows; with what the sender of
/// all OTs said to correct its triples. The twin has one b for two factors.
#[test]
fn masks_of_triples_say_nothing_of_each_other() {
    let mut dice = Dice(3);
    let nothing = Dealt::random(0, &mut dice);
    let check = |rows: &Rows, said: Option<&Rows>, width: usize, what: &str| {
        let places: Vec<usize> = (0..=width).collect();
        let masks =
            |lane: usize| number(rows, &places, lane) | said.map_or(0, |said| bit(said, 0, lane) << (1 + width));
        let cells = 1 << (1 + width + usize::from(said.is_some()));
        let all: Vec<u64> = (0..LANES).map(masks).collect();
        assert!(even(&all, cells), "{what}, {width}");
        let of_twin: Vec<u64> = all.iter().map(|masks| masks & !4 | (masks & 2) << 1).collect();
        assert!(width == 1 || !even(&of_twin, cells), "the twin is caught");
    };
    for (width, choices) in [1, 2].into_iter().flat_map(|width| (0..8).map(move |choices| (width, choices))) {
        let sent = Dealt::known_to_receiver(1, LANES, choices, &mut dice);
        let received = Dealt::known_to_sender(1, LANES, &mut dice);
        check(&ots(&sent, &received, LANES).triple_by_both(width), None, width, "by both");
        let sent = Dealt::known_to_receiver(1 + width, LANES, choices, &mut dice);
        let mut corrections = BitWriter::default();
        let rows = ots(&sent, &nothing, LANES).triple_by_sender(width, &mut corrections);
        let bytes = corrections.bytes();
        let said = (width == 2).then(|| Rows::tabulate(1, LANES, |lane| u64::from(bytes[lane / 8] >> (lane % 8) & 1)));
        check(&rows, said.as_ref(), width, "by the sender");
        let received = Dealt::known_to_sender(1 + width, LANES, &mut dice);
        check(&ots(&nothing, &received, LANES).triple_by_receiver(width), None, width, "by the receiver");
    }
}

/// What masks a number and a string that are selected, m_1 ⊖ m_0, takes all values alike given m_c; and what masks the bit,
/// the choice, does so given both messages. Once all is open, one OT has masked one thing.
#[test]
fn masks_of_selections_say_nothing() {
    let mut dice = Dice(4);
    for choice in [0, 1] {
        let known = dice.word() & 31;
        let fresh: Vec<u64> = (0..LANES).map(|_| dice.word() & 31).collect();
        let known = Rows::tabulate(5, LANES, |_| known);
        let fresh = Rows::tabulate(5, LANES, |lane| fresh[lane]);
        let m = if choice == 0 { [known.clone(), fresh] } else { [fresh, known.clone()] };
        let choices: Vec<u64> = (0..LANES).map(|_| dice.word() & 1).collect();
        let choices = Rows::tabulate(1, LANES, |lane| choices[lane]);
        let rows = selection(3, m.clone(), &choices, &known);
        assert_eq!(rows.rows(), 3 * 5 + 1);
        for lane in 0..LANES {
            let [zero, one] = m.each_ref().map(|m| number(m, &[0, 1, 2, 3, 4], lane));
            let expected = (one & 7).wrapping_sub(zero & 7) & 7 | (one ^ zero) & 24;
            assert_eq!(number(&rows, &[5, 6, 7, 8, 9], lane), expected);
            assert_eq!(number(&rows, &[0, 1, 2, 3, 4], lane), zero);
        }
        let masks: Vec<u64> = (0..LANES).map(|lane| number(&rows, &[5, 6, 7, 8, 9, 10], lane)).collect();
        assert!(even(&masks, 64), "choice {choice}");
        let of_twin: Vec<u64> = masks.iter().map(|mask| mask & !16 | (mask & 8) << 1).collect();
        assert!(!even(&of_twin, 64), "the twin is caught");
    }
}

/// What comes with the corrections of the sender has their length and zeros behind them, or the peer is blamed.
#[test]
fn corrections_of_another_length_or_padding_are_refused() {
    let layout = layout(8, 9, Direction::One);
    let exact = layout.corrections(&layout.sections()[0]) * 9;
    assert!(!exact.is_multiple_of(8), "there is padding");
    let finish = |bytes: &[u8]| {
        let mut setup = Setup::new(layout.clone(), Party::Bob);
        setup.next = 1;
        Box::new(setup).finish(bytes).map(|_| ())
    };
    let honest = vec![0; exact.div_ceil(8)];
    assert!(finish(&honest).is_ok(), "the twin");
    let mut padded = honest.clone();
    *padded.last_mut().unwrap() = 0x80;
    for bytes in [vec![], honest[1..].to_vec(), [&honest[..], &[0]].concat(), padded, vec![0; 1000]] {
        let error = finish(&bytes).expect_err("a wrong message");
        assert!(matches!(error, duologue::Error::Peer(_)), "{bytes:?}: {error}");
    }
}
