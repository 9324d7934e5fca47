//! Bits of a comparison, and correlations against their definitions.

use super::chain::Chain;
use super::compare::{Comparisons, multiply};
use super::layout::{Layout, Level, Opening, Part};
use super::material::Material;
use super::parameters::{Direction, Form, Parameters};
use super::rows::{NONE, Rows};
use duologue::call::{Call, CallValue, Holder};
use duologue::circuit::{Party, bits};

fn layout(bits_of_value: u32, values: u64, parameters: &Parameters) -> Layout {
    let (alice, bob) = (Holder::Party(Party::Alice), Holder::Party(Party::Bob));
    let value = |holder, lanes| CallValue { ty: bits(bits_of_value + 1), lanes, holder };
    let args = vec![value(alice, values), value(bob, values), value(alice, 1)];
    Layout::new(&Call { number: 0, parameters: parameters.to_bytes(), args, results: Vec::new() }, parameters)
}

/// The figures of the design, which a program of its own counted.
#[test]
fn a_comparison_takes_207_429_and_875_bits() {
    for (bits, figure) in [(32, 207), (64, 429), (128, 875)] {
        for direction in [Direction::Both, Direction::One] {
            let layout = layout(bits, 2, &Parameters { direction, ..Parameters::new(Form::Shared, 1) });
            let parts = layout.messages.iter().flat_map(|message| message.parts.clone());
            let of_comparison = parts.filter(|part| match part {
                Part::Masked(_) | Part::Answers(_) => true,
                Part::Open(_, opening) => matches!(opening, Opening::Nodes(_)),
                Part::Least => false,
            });
            let sum: usize =
                of_comparison.map(|part| layout.shape_of_part(part)).map(|(rows, lanes)| rows * lanes).sum();
            assert_eq!(sum, figure, "{bits} bits");
        }
    }
}

/// Whoever writes a message has read the one before.
#[test]
fn messages_alternate_and_levels_take_few() {
    for (bits, of_level) in [(32, 6), (64, 7), (128, 8)] {
        let layout = layout(bits, 1000, &Parameters::new(Form::Shared, 10));
        assert!(layout.messages.windows(2).all(|pair| pair[0].writer != pair[1].writer));
        assert_eq!(layout.messages.len(), 10 * of_level + 1, "{bits} bits");
        assert_eq!(layout.messages.last().map(|message| message.writer), Some(Party::Alice));
    }
}

#[test]
fn pairs_selections_and_ands_are_those_of_the_groups() {
    for values in 1..40 {
        for group in 2..=values {
            let layout =
                layout(8, values, &Parameters { groups: vec![group as u32], ..Parameters::new(Form::Shared, 0) });
            let level = &layout.levels[0];
            let sizes: Vec<usize> = level.groups().map(|(_, size)| size).collect();
            assert_eq!(sizes.iter().sum::<usize>() as u64, values);
            assert_eq!(level.comparisons(), sizes.iter().map(|size| size * (size - 1) / 2).sum::<usize>());
            assert_eq!(level.selections(), sizes.iter().map(|size| size - 1).sum::<usize>());
            let ands: usize = sizes.iter().map(|size| (size - 1) * size.saturating_sub(2)).sum();
            assert_eq!(level.ands().iter().sum::<usize>(), ands, "{values} by {group}");
        }
    }
}

/// Tiles are the groups of a level in their order, each with a pair, and all but the last fill words; a level of few values is
/// one, so that its messages are one exchange each.
#[test]
fn tiles_are_levels_of_whole_words() {
    for (bits, values, group) in [
        (32, 1000, 2),
        (32, 90_113, 2),
        (32, 90_112, 2),
        (128, 22_529, 2),
        (128, 100_001, 3),
        (31, 70_000, 64),
        (1, 1, 2),
    ] {
        for form in [Form::Shared, Form::Strings] {
            let parameters = Parameters { groups: vec![group; 2], ..Parameters::new(form, 0) };
            let layout = layout(bits, values, &parameters);
            let bits_of = |exchange| layout.bits_of_exchange(exchange);
            assert_eq!(
                layout.exchanges.iter().map(bits_of).sum::<u64>(),
                layout.messages.iter().map(|message| layout.bits_of(message)).sum::<u64>()
            );
            // Half as many again as a tile: pieces of two parts may travel together, and groups of 64 are no less than 64.
            assert!(
                layout.exchanges.iter().all(|exchange| bits_of(exchange) < 1 << 24),
                "{bits} bits, {values} values"
            );
            for (number, level) in layout.levels.iter().enumerate() {
                let tiles = &layout.tiles[number];
                let sum = |of: &dyn Fn(&Level) -> usize| tiles.iter().map(|tile| of(&tile.level)).sum::<usize>();
                assert_eq!(sum(&|level| level.values), level.values);
                assert_eq!(sum(&Level::comparisons), level.comparisons());
                assert_eq!(sum(&Level::selections), level.selections());
                assert!(tiles.windows(2).all(|pair| pair[0].from + pair[0].level.values == pair[1].from));
                assert!(tiles.iter().all(|tile| tile.level.values > 1 && tile.from % (64 * level.group) == 0));
            }
            let most = layout.levels.iter().map(|level| level.comparisons()).max().unwrap_or(0);
            let longest = if form == Form::Shared { 6 * layout.leaves() - 3 } else { 2 * layout.bits + 3 };
            assert_eq!(layout.exchanges.len() == layout.messages.len(), most * longest <= 1 << 22);
        }
    }
}

#[test]
fn rows_count_modulo_a_power_of_two() {
    let numbers =
        |seed: u64| -> Vec<u64> { (0..130).map(|i| (seed + i).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 51).collect() };
    let rows = |numbers: &[u64]| Rows::tabulate(13, numbers.len(), |lane| numbers[lane]);
    let back = |rows: &Rows| -> Vec<u64> {
        let number = |lane: Vec<bool>| lane.iter().rev().fold(0, |number, &bit| number << 1 | u64::from(bit));
        rows.to_matrix().to_lanes().into_iter().map(number).collect()
    };
    let (a, b) = (numbers(1), numbers(77));
    let of = |f: &dyn Fn(u64, u64) -> u64| a.iter().zip(&b).map(|(&a, &b)| f(a, b) & 0x1fff).collect::<Vec<_>>();
    let [mut sum, mut difference, mut negated] = [rows(&a), rows(&a), rows(&a)];
    sum.add(&rows(&b));
    difference.subtract(&rows(&b));
    negated.negate(rows(&b).row(0));
    assert_eq!(back(&sum), of(&|a, b| a + b));
    assert_eq!(back(&difference), of(&|a, b| a.wrapping_sub(b)));
    assert_eq!(back(&negated), of(&|a, b| if b & 1 == 1 { a.wrapping_neg() } else { a }));
    assert_eq!(back(&rows(&a).gather(&[129, NONE, 0])), [a[129], 0, a[0]]);
}

fn noise(rows: usize, lanes: usize, seed: u64) -> Rows {
    Rows::tabulate(rows, lanes, |lane| {
        let z = (seed + lane as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb) >> 20
    })
}

/// The twin takes the choices of one OT for two leaves: then their sum is the sum of what they mask.
#[test]
fn no_choice_masks_two_leaves() {
    let layout = layout(4, 601, &Parameters::new(Form::Shared, 10));
    let section = layout.sections()[0];
    let lanes = section.lanes;
    let receiver = section.sender.peer();
    let differences = noise(5, lanes, 1);
    let equal_sums = |material: &Rows| {
        let material = Material::holding(material);
        let masked = Comparisons::new(&layout, &section, receiver, &differences, material).masked();
        let mut sums = masked.slice(0, 2);
        sums.xor(&masked.slice(2, 2));
        sums.xor(&differences.slice(0, 2));
        sums.xor(&differences.slice(2, 2));
        sums.to_matrix().to_lanes().into_iter().filter(|sum| !sum[0] && !sum[1]).count()
    };
    let rows = layout.rows(&section, receiver);
    let honest = noise(rows, lanes, 1000);
    let mut twin = honest.clone();
    (0..2).for_each(|bit| twin.row_mut(3 + bit).copy_from_slice(honest.row(bit)));
    assert_eq!(equal_sums(&twin), lanes, "the twin is caught");
    // A quarter of 300, and six standard deviations.
    assert!(equal_sums(&honest).abs_diff(lanes / 4) < 45);
}

/// The twin takes one triple for two bits of a chain: then their openings tell the sum of what they mask.
#[test]
fn no_triple_masks_two_bits_of_a_chain() {
    let layout = layout(2, 1200, &Parameters::new(Form::Shared, 11));
    let level = &layout.levels[0];
    let (lanes, values) = (level.comparisons(), noise(2, 1200, 1));
    let [left, right] = level.sides().map(|side| values.gather(&side));
    let (first, other, opened) = (noise(3, lanes, 2000), noise(3, lanes, 4000), noise(2, lanes, 6000));
    let told = |second: &Rows| {
        let mut chain = Chain::new(level, 2, &values);
        let mut said = chain.half(&first, Party::Bob);
        chain.join(&first, &opened, Party::Bob);
        said.xor(&chain.half(second, Party::Bob));
        let less = multiply(&first, &opened, Party::Bob);
        let mut masked = left.slice(0, 1).then(&right.slice(0, 1));
        masked.xor(&left.slice(1, 1).then(&right.slice(1, 1)));
        masked.xor(&less.clone().then(&less));
        said.xor(&masked);
        said.to_matrix().to_lanes().into_iter().filter(|sum| !sum[0] && !sum[1]).count()
    };
    assert_eq!(told(&first), lanes, "the twin is caught");
    // A quarter of 600, and six standard deviations.
    assert!(told(&other).abs_diff(lanes / 4) < 64);
}
