//! A mobile social network: which of many users is near and shares the most interests?
//!
//! Schneider and Zohner, "GMW vs Yao? Efficient secure two-party computation with low depth circuits" (FC 2013), §5.1
//! and Appendix C, after Choi, Hwang, Katz, Malkin and Rubenstein (CT-RSA 2012). A user is near if the Manhattan
//! distance is within a limit; of those who are near the one with the most common interests is found.

use crate::tournament::{Tournament, greater_in_blocks};
use duologue::circuit::blocks::{Goal, add_carry, greater, population_count};
use duologue::circuit::{Bit, Bits, Builder, Circuit, Party, Program, UInt, bits, uint};

/// Bits of the number of a user.
const INDEX: u32 = 17;

/// The whole search: Alice asks with her position, her interests and the limit of the distance; Bob has `users` users
/// (a public size). Alice learns the number of the user, the lowest one of equals, and `found`: 0 and no if nobody near
/// shares an interest.
///
/// For 128 users with 255 interests and coordinates of 32 bits, beside the paper's figures:
///
/// | goal | ANDs | depth | paper |
/// |---|---|---|---|
/// | size | 87,586 | 96 | 89,321 ANDs of depth 98 |
/// | depth | 135,881 | 29 | 203,102 ANDs of depth 68 |
///
/// # Panics
/// If `interests` or `coordinate` is zero.
pub fn social(interests: u32, coordinate: u32, goal: Goal) -> Program {
    let tournament = tournament(interests, goal);
    let mut p = Program::new("social");
    let users = p.size("users", 1..=1 << INDEX);
    let types = [("x", uint(coordinate)), ("y", uint(coordinate)), ("interests", bits(interests))];
    let mut args: Vec<_> = types.iter().map(|&(name, ty)| p.input(name, Party::Alice, ty, 1)).collect();
    args.push(p.input("limit", Party::Alice, uint(coordinate + 1), 1));
    args.iter_mut().for_each(|arg| *arg = p.repeat(*arg, users));
    args.extend(types.map(|(name, ty)| p.input(&format!("user_{name}"), Party::Bob, ty, users)));
    let keys = p.map(&social_user(interests, coordinate, goal), &args);
    let start = tournament.start(&mut p, users);
    let (key, user) = tournament.reduce(&mut p, keys, start);
    let found = p.map(&somebody(&tournament), &[key]);
    p.output("user", Party::Alice, user);
    p.output("found", Party::Alice, found);
    p
}

/// One user: inputs `x`, `y`, `interests` and `limit` of who asks, `user_x`, `user_y` and `user_interests`; output
/// `key`, the smaller the more interests are shared, and the largest there is if the user is too far away.
///
/// The interests are l ANDs and their counter l minus the ones of l, which no circuit can undercut.
///
/// # Panics
/// If `interests` or `coordinate` is zero.
pub fn social_user(interests: u32, coordinate: u32, goal: Goal) -> Circuit {
    let mut c = Builder::new("social_user");
    let (x, y) = (c.uint("x", coordinate), c.uint("y", coordinate));
    let wanted = c.bits("interests", interests);
    let limit = c.uint("limit", coordinate + 1);
    let (user_x, user_y) = (c.uint("user_x", coordinate), c.uint("user_y", coordinate));
    let offered = c.bits("user_interests", interests);
    let common = wanted.0.iter().zip(&offered.0).map(|(&a, &b)| c.and(a, b)).collect();
    let count = population_count(&mut c, &Bits(common));
    let near = near(&mut c, (&x, &user_x), (&y, &user_y), &limit, goal);
    let few = UInt(count.0.iter().map(|&bit| !bit).collect());
    let key = tournament(interests, goal).encode(&mut c, &few);
    let key = Bits(key.0.iter().map(|&bit| !c.and(near, !bit)).collect());
    c.output("key", &key);
    c.finish()
}

fn tournament(interests: u32, goal: Goal) -> Tournament {
    Tournament { key: interests.ilog2() as usize + 1, index: INDEX, goal }
}

/// Whether the winner shares an interest at all.
fn somebody(tournament: &Tournament) -> Circuit {
    let mut c = Builder::new("somebody");
    let key = c.bits("key", tournament.width());
    let nobody = tournament.is_largest(&mut c, &key);
    c.output("found", &Bits::from(!nobody));
    c.finish()
}

/// |x₁ − x₂| + |y₁ − y₂| ≤ limit: whether the distances and the limit's complement stay below 2^(m + 1).
///
/// Their sum is never computed. Carry-save adders take the three to two, whose lowest free places hold the ones that
/// complete two negations; a single carry is left to find.
fn near(c: &mut Builder, x: (&UInt, &UInt), y: (&UInt, &UInt), limit: &UInt, goal: Goal) -> Bit {
    let ((x, one_more_x), (y, one_more_y)) = (apart(c, x, goal), apart(c, y, goal));
    let rest: Vec<Bit> = limit.0.iter().map(|&bit| !bit).collect();
    let (mut sums, mut carries) = (vec![one_more_y], vec![one_more_y, one_more_x]);
    for i in 0..x.len() {
        let (left, right) = (c.xor(x[i], rest[i]), c.xor(y[i], rest[i]));
        let both = c.and(left, right);
        sums.push(c.xor(left, y[i]));
        carries.push(c.xor(rest[i], both));
    }
    sums.push(rest[x.len()]);
    let carries: Vec<Bit> = carries.into_iter().map(|bit| !bit).collect();
    let beyond = match goal {
        Goal::Size => greater_in_blocks(c, &sums, &carries, sums.len().div_ceil(2)),
        Goal::Depth => greater(c, &Bits(sums), &Bits(carries), goal),
    };
    !beyond
}

/// |a − b| as a word and a one that is still to be added to it.
fn apart(c: &mut Builder, (a, b): (&UInt, &UInt), goal: Goal) -> (Vec<Bit>, Bit) {
    let b = UInt(b.0.iter().map(|&bit| !bit).collect());
    // a + ¬b is a − b − 1, with a carry if a is larger; else its complement is b − a.
    let (difference, larger) = add_carry(c, a, &b, goal);
    (difference.0.iter().map(|&bit| c.xor(bit, !larger)).collect(), larger)
}
