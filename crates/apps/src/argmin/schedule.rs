//! How many values are compared with each other on each level, for a link.
//!
//! Groups of two need the fewest comparisons, n − 1, and ⌈log₂ n⌉ levels; larger ones more comparisons and fewer levels, down
//! to O(log log n) of them (Valiant, *Parallelism in comparison problems*, SIAM J. Comput. 1975). Which is faster hangs on how
//! long a message is under way and how long its bits take. How many values are left after a level decides how the levels below
//! it are best grouped, whatever the ones above were, so that dynamic programming finds the best groups; time is counted in whole nanoseconds, so that both parties find the same.

use super::layout::{Layout, Level, bits_of};
use super::parameters::Direction;
use duologue::channel::Link;
use duologue::circuit::Party;
use std::collections::BTreeMap;

/// The largest group that is tried.
const LARGEST: usize = 64;

/// What is to be compared, and how.
#[derive(Clone, Copy, Debug)]
pub struct Tournament {
    /// How many values.
    pub values: usize,
    /// Bits of a value.
    pub bits: u32,
    /// Bits of an argument; none with an index.
    pub argument: Option<u32>,
    /// Who sends the OTs, of which one party alone takes more.
    pub direction: Direction,
    /// Thousandths of a bit that making one random OT takes: 0 if a pool has them.
    pub millibits_of_ot: u64,
}

/// The groups of each level that take the least time over a link, bits and round trips together.
pub fn groups(tournament: &Tournament, link: &Link) -> Vec<u32> {
    let mut best = BTreeMap::from([(1, (0, 0))]);
    search(tournament, link, tournament.values.max(1), &mut best);
    let (mut left, mut groups) = (tournament.values, Vec::new());
    while left > 1 {
        let group = best[&left].1;
        groups.push(group as u32);
        left = left.div_ceil(group);
    }
    groups
}

/// For so many values the nanoseconds that the best groups take, and the first of these.
fn search(tournament: &Tournament, link: &Link, left: usize, best: &mut BTreeMap<usize, (u128, usize)>) -> u128 {
    if let Some(&(time, _)) = best.get(&left) {
        return time;
    }
    let fits = |group: usize| tournament.argument.is_some() || group.is_power_of_two();
    let groups = (2..=LARGEST.min(left)).filter(|&group| fits(group) || group == left);
    let found = groups.map(|group| (time_of(tournament, link, left, group), group)).collect::<Vec<_>>();
    let all =
        found.into_iter().map(|(time, group)| (time + search(tournament, link, left.div_ceil(group), best), group));
    let least = all.min().unwrap_or((0, 2));
    best.insert(left, least);
    least.0
}

/// One level.
fn level_of(tournament: &Tournament, left: usize, group: usize) -> Layout {
    let digits = if tournament.argument.is_some() { 0 } else { bits_of(tournament.values.div_ceil(left)) };
    let level = Level { sender: Party::Alice, opener: Party::Alice, values: left, group, digits };
    let carried = tournament.bits as usize + 1 + tournament.argument.unwrap_or(0) as usize;
    Layout::of_level(tournament.bits as usize, carried, level, tournament.direction)
}

/// Messages of a level before the next one begins. Its last one is the first of the next, unless one party sends the OTs of both
/// and is the last to speak in this one.
fn messages_of(level: &Layout) -> usize {
    let [first, last] = [level.messages.first(), level.messages.last()].map(|message| message.map(|said| said.writer));
    let is_final = level.levels.iter().all(|level| level.values <= level.group);
    let goes_on = level.direction == Direction::Both || is_final || first == last;
    level.messages.len() - usize::from(goes_on)
}

/// Nanoseconds of one level.
fn time_of(tournament: &Tournament, link: &Link, left: usize, group: usize) -> u128 {
    let layout = level_of(tournament, left, group);
    let messages = messages_of(&layout) as u128;
    let (bits, ots) = layout.totals();
    let millibits = u128::from(bits) * 1000 + ots as u128 * u128::from(tournament.millibits_of_ot);
    let transmission = link.bits_per_second.map_or(0, |rate| millibits * 1_000_000 / u128::from(rate.max(1)));
    messages * link.round_trip.as_nanos() / 2 + transmission
}

#[cfg(test)]
mod tests {
    use super::super::parameters::{Form, Parameters};
    use super::*;
    use duologue::call::{Call, CallValue, Holder};
    use duologue::circuit::bits;

    fn tournament(values: usize, argument: Option<u32>) -> Tournament {
        Tournament { values, bits: 32, argument, direction: Direction::Both, millibits_of_ot: 0 }
    }

    /// All ways to group few values, one by one.
    fn least(tournament: &Tournament, link: &Link, left: usize) -> u128 {
        let fits = |&group: &usize| tournament.argument.is_some() || group.is_power_of_two() || group == left;
        let of = |group: usize| time_of(tournament, link, left, group) + least(tournament, link, left.div_ceil(group));
        (2..=left.min(LARGEST)).filter(fits).map(of).min().unwrap_or(0)
    }

    #[test]
    fn no_other_groups_are_faster() {
        for link in ["200ms,10Mbit", "1ms,1Mbit", "10ms,100kbit", "20ms"] {
            let link = link.parse().unwrap();
            for (values, argument) in (1..40).flat_map(|values| [(values, None), (values, Some(7))]) {
                let tournament = tournament(values, argument);
                let (mut left, mut sum) = (values, 0);
                for group in groups(&tournament, &link) {
                    sum += time_of(&tournament, &link, left, group as usize);
                    left = left.div_ceil(group as usize);
                }
                assert_eq!((left, sum), (1, least(&tournament, &link, values)), "{values}, {link}");
            }
        }
    }

    /// The levels that are counted are those of the call.
    #[test]
    fn levels_have_the_messages_and_bits_of_a_call() {
        let (alice, bob) = (Holder::Party(Party::Alice), Holder::Party(Party::Bob));
        let cases = [
            (1000, None, &[4, 8, 32][..]),
            (1000, Some(7), &[2, 3, 7, 24]),
            (1000, None, &[2; 10]),
            (77, None, &[2, 16, 3]),
            (5, Some(128), &[5]),
            (3, None, &[2, 2]),
        ];
        let directions = [Direction::Both, Direction::One];
        for ((values, argument, groups), direction) in
            cases.into_iter().flat_map(|case| directions.map(|by| (case, by)))
        {
            let tournament = Tournament { direction, ..tournament(values, argument) };
            let parameters = Parameters {
                direction,
                groups: groups.iter().map(|&group| group as u32).collect(),
                ..Parameters::new(Form::Shared, if argument.is_some() { 0 } else { 10 })
            };
            let value = |holder, width, lanes| CallValue { ty: bits(width), lanes, holder };
            let n = values as u64;
            let mut args = vec![value(alice, 33, n), value(bob, 33, n), value(alice, 33, 1)];
            args.extend(argument.map(|width| value(Holder::Shared, width, n)));
            let call = Call { number: 0, parameters: parameters.to_bytes(), args, results: Vec::new() };
            let whole = Layout::new(&call, &parameters);
            let (mut left, mut messages, mut bits, mut ots) = (values, 1, 33, 0);
            for &group in groups {
                let level = level_of(&tournament, left, group);
                messages += messages_of(&level);
                bits += level.totals().0;
                ots += level.totals().1;
                left = left.div_ceil(group);
            }
            assert_eq!((left, messages), (1, whole.messages.len()), "{values} by {groups:?}");
            assert_eq!((bits, ots), whole.totals(), "{values} by {groups:?}");
        }
    }

    #[test]
    fn far_parties_take_large_groups_and_thin_lines_small_ones() {
        let groups = |link: &str, argument| groups(&tournament(1000, argument), &link.parse().unwrap());
        assert_eq!(groups("1us,100kbit", None), [2; 10]);
        for argument in [None, Some(32)] {
            let far = groups("200ms,10Mbit", argument);
            assert!(far.len() <= 5, "{far:?}");
            let below = &far[..far.len() - 1];
            assert!(argument.is_some() || below.iter().all(|group| group.is_power_of_two()), "{far:?}");
        }
    }

    /// The groups that a program of its own found, in another language.
    #[test]
    fn groups_are_those_of_another_program() {
        let link = "200ms,10Mbit".parse().unwrap();
        for (bits, argument, millibits_of_ot, expected) in [
            (32, None, 32_000, &[4, 8, 32][..]),
            (64, Some(64), 32_000, &[4, 8, 32]),
            (128, None, 32_000, &[2, 4, 8, 16]),
            (128, Some(128), 32_000, &[2, 3, 7, 24]),
            (128, Some(128), 16_000, &[4, 8, 32]),
            (32, None, 0, &[16, 63]),
        ] {
            let found = groups(&Tournament { bits, millibits_of_ot, ..tournament(1000, argument) }, &link);
            assert_eq!(found, expected, "{bits} bits, {argument:?}, {millibits_of_ot}");
        }
    }

    #[test]
    fn a_million_values_are_scheduled_quickly() {
        let left = groups(&tournament(1_000_000, Some(32)), &"50ms,100Mbit".parse().unwrap());
        assert_eq!(left.iter().fold(1_000_000usize, |left, &group| left.div_ceil(group as usize)), 1);
    }
}
