//! Permutation networks: words in an order that one party chooses in secret.
//!
//! A. Waksman, "A permutation network" (J. ACM 1968), for any number of words as in B. Beauquier and É. Darrot, "On
//! arbitrary size Waksman networks and their vulnerability" (Parallel Processing Letters 2002). Two words meet in a
//! switch and change places or not. The switches of n words number Σ ⌈log i⌉ for i ≤ n, for a power of two
//! n·log n − n + 1. Whoever knows the permutation computes their settings ([`switches`]) outside of the circuit.

use crate::blocks::logic::select::conditional_swap;
use crate::builder::Builder;
use crate::error::{Error, Result};
use crate::graph::Bit;
use crate::words::Word;

/// How many switches permute n words: n·⌈log n⌉ − 2^⌈log n⌉ + 1.
pub fn switch_count(n: usize) -> usize {
    let size = n.next_power_of_two();
    n * size.ilog2() as usize + 1 - size
}

/// The words in the order that the switches stand for.
///
/// [`switch_count`]`(n)·w` ANDs for n words of w bits, depth 2·⌈log n⌉ − 1. Every setting of the switches is a
/// permutation.
///
/// # Panics
/// If there are not [`switch_count`] switches, or the widths differ.
pub fn permute<W: Word + Clone>(c: &mut Builder, words: &[W], switches: &[Bit]) -> Vec<W> {
    route(words.to_vec(), switches, &mut |&swap, a, b| conditional_swap(c, swap, a, b))
}

/// Permutes plain values in the order that the switches stand for, as [`permute`] does words.
///
/// # Panics
/// If there are not [`switch_count`] switches.
pub fn permute_plain<T: Clone>(values: &[T], switches: &[bool]) -> Vec<T> {
    let exchange = |&swap: &bool, a: &T, b: &T| if swap { (b.clone(), a.clone()) } else { (a.clone(), b.clone()) };
    route(values.to_vec(), switches, &mut { exchange })
}

/// The switches that bring word `permutation[i]` to place i, for every i.
///
/// Looping: the two words of a first switch leave through different halves, the two of a last switch come from
/// different halves, and the last word of all comes from the lower half. Time n·log n.
pub fn switches(permutation: &[usize]) -> Result<Vec<bool>> {
    let n = permutation.len();
    let mut inverse = vec![n; n];
    for (place, &word) in permutation.iter().enumerate() {
        match inverse.get_mut(word) {
            Some(seen) if *seen == n => *seen = place,
            _ => return Err(Error::usage(format!("no permutation of {n}: {word} at place {place}"))),
        }
    }
    let mut switches = Vec::with_capacity(switch_count(n));
    set(permutation, &inverse, &mut switches);
    Ok(switches)
}

/// First switches, upper half, lower half, last switches; the settings come in this order.
fn route<S, T: Clone>(words: Vec<T>, switches: &[S], exchange: &mut impl FnMut(&S, &T, &T) -> (T, T)) -> Vec<T> {
    let n = words.len();
    assert_eq!(switches.len(), switch_count(n), "switches for {n} words");
    if n < 2 {
        return words;
    }
    let (first, rest) = switches.split_at(n / 2);
    let (upper, rest) = rest.split_at(switch_count(n / 2));
    let (lower, last) = rest.split_at(switch_count(n - n / 2));
    let (mut above, mut below) = (Vec::new(), Vec::new());
    for (switch, pair) in first.iter().zip(words.chunks_exact(2)) {
        let (a, b) = exchange(switch, &pair[0], &pair[1]);
        above.push(a);
        below.push(b);
    }
    below.extend(words.chunks_exact(2).remainder().iter().cloned());
    let above = route(above, upper, exchange);
    let below = route(below, lower, exchange);
    join(&above, &below, last, exchange)
}

/// The last switches; where they are one too few, the last two words keep their places.
fn join<S, T: Clone>(above: &[T], below: &[T], last: &[S], exchange: &mut impl FnMut(&S, &T, &T) -> (T, T)) -> Vec<T> {
    let mut words = Vec::with_capacity(above.len() + below.len());
    for (i, a) in above.iter().enumerate() {
        let (a, b) = match last.get(i) {
            Some(switch) => exchange(switch, a, &below[i]),
            None => (a.clone(), below[i].clone()),
        };
        words.extend([a, b]);
    }
    words.extend(below[above.len()..].iter().cloned());
    words
}

/// Appends the settings for a permutation, in the order of [`route`].
fn set(permutation: &[usize], inverse: &[usize], switches: &mut Vec<bool>) {
    let n = permutation.len();
    if n < 2 {
        return;
    }
    let lower = halves(permutation, inverse);
    switches.extend((0..n / 2).map(|pair| lower[inverse[2 * pair]]));
    for half in [false, true] {
        let places = (0..n).filter(|&place| lower[place] == half);
        let inner: Vec<usize> = places.map(|place| permutation[place] / 2).collect();
        let mut inner_inverse = vec![0; inner.len()];
        inner.iter().enumerate().for_each(|(place, &word)| inner_inverse[word] = place);
        set(&inner, &inner_inverse, switches);
    }
    switches.extend((0..n.div_ceil(2) - 1).map(|pair| lower[2 * pair]));
}

/// For every place whether its word comes through the lower half.
fn halves(permutation: &[usize], inverse: &[usize]) -> Vec<bool> {
    let n = permutation.len();
    let mut lower = vec![None; n];
    for start in (0..n).rev() {
        let mut place = start;
        while lower[place].is_none() {
            lower[place] = Some(true);
            let partner = permutation[place] ^ 1;
            if partner == n {
                break;
            }
            let across = inverse[partner];
            lower[across] = Some(false);
            place = across ^ 1;
        }
    }
    lower.into_iter().map(|half| half == Some(true)).collect()
}
