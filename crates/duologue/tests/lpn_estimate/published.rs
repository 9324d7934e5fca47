//! The published attacks, as their authors' scripts count them; the page names papers and formulas.

use crate::{Set, least, log2_choose, log2_sum, steps};

// --- attacks on a random code, as Liu, Wang, Yang, Yu count them -----------------------------------------------

pub fn pooled_gauss(n: f64, k: f64, t: f64) -> f64 {
    2.8 * k.log2() + log2_choose(n, t) - log2_choose(n - k, t)
}

pub fn statistical_decoding(n: f64, k: f64, t: f64) -> f64 {
    (k + 1.0).log2() + 2.0 * t * ((n - t + 1.0) / (n - k - t)).log2()
}

pub fn statistical_decoding_2(n: f64, k: f64, t: f64) -> f64 {
    statistical_decoding(n, k - pooled_gauss(n, k, t).floor(), t)
}

/// One elimination with the code's whole length, as the script of that paper charges it, and the lists' part.
pub fn isd_try(n: f64, redundancy: f64, lists: &[f64]) -> f64 {
    let gauss = (redundancy * n / redundancy.log2()).log2();
    log2_sum(&[&[gauss], lists].concat()) + n.log2()
}

pub fn stern(n: f64, k: f64, t: f64) -> f64 {
    let cost = |p: f64, l: f64| {
        let l = 2.0 * ((k + l) / 2.0).floor() - k + 2.0;
        let list = log2_choose(((k + l) / 2.0).floor(), p / 2.0);
        let success = log2_choose(n - k - l, t - p) - log2_choose(n, t) + 2.0 * list;
        if success >= 0.0 {
            return f64::INFINITY;
        }
        isd_try(n, n - k - l, &[1.0 + list, 1.0 + 2.0 * list - l]) - success
    };
    least(steps(24, 2).flat_map(|p| steps(200, 1).map(move |l| cost(p, l))))
}

/// Becker, Joux, May, Meurer with three levels, p2 ones on the lowest, e1 and e2 that cancel.
pub fn bjmm(n: f64, k: f64, t: f64) -> f64 {
    let cost = |p2: f64, l: f64, e2: f64, e1: f64| {
        let l = 2.0 * ((k + l) / 2.0).floor() - k + 2.0;
        let (p1, all) = (2.0 * (p2 - e2), k + l);
        let p = 2.0 * (p1 - e1);
        let cancel = |p: f64, e: f64| log2_choose(p, e) + log2_choose(all - p, p - e);
        let list3 = log2_choose((all / 2.0).floor(), p2 / 2.0);
        let kept2 = cancel(p2, e2) - log2_choose(all, p2);
        let r2 = (kept2 + 4.0 * list3 - log2_choose(all, p1)).trunc().max(0.0).min(l - 1.0);
        let ways = cancel(p1, e1) + log2_choose(all, p1) - log2_choose(all, p);
        let r1 = (ways.trunc() - r2).max(0.0).min(l - r2 - 1.0);
        let pairs3 = 2.0 * list3 - r2;
        let pairs2 = 2.0 * pairs3 - r1;
        let list1 = (kept2 + pairs2).min(log2_choose(all, p1) - r1 - r2);
        let pairs1 = 2.0 * list1 - l + r1 + r2;
        let kept1 = cancel(p1, e1) - log2_choose(all, p1);
        let found = (kept1 + pairs1).min(log2_choose(all, p) - l);
        let success = log2_choose(n - all, t - p) + l + found - log2_choose(n, t);
        if success >= 0.0 {
            return f64::INFINITY;
        }
        isd_try(n, n - all, &[3.0 + list3, 2.0 + pairs3, 1.0 + pairs2, 1.0 + pairs1]) - success
    };
    let cancelled =
        |p2: f64| steps(p2 as u32, 1).flat_map(move |e2| steps(2 * (p2 - e2) as u32, 1).map(move |e1| (e2, e1)));
    let lengths = |p2: f64| steps(240, 2).map(move |l| (p2, l));
    least(
        [2.0, 4.0, 6.0]
            .into_iter()
            .flat_map(lengths)
            .flat_map(|(p2, l)| cancelled(p2).map(move |(e2, e1)| cost(p2, l, e2, e1))),
    )
}

/// The same attack where each block's sum, which is known to be one, gives a parity check for nothing.
pub fn regular(attack: fn(f64, f64, f64) -> f64, set: &Set) -> f64 {
    attack(set.n() - set.t, set.k() - set.t, set.t)
}

// --- attacks on regular noise ----------------------------------------------------------------------------------

/// Esser and Santini's success of p errors within v = (k + l)/t positions of each block.
pub fn split_blocks(set: &Set, v: f64, p: f64) -> f64 {
    let inside = set.noisy * v / set.block();
    2.0 * log2_choose(set.t / 2.0, p / 2.0) + p * inside.log2() + (set.t - p) * (1.0 - inside).log2()
}

pub fn regular_isd(set: &Set, p: f64, l: f64, list_time: impl Fn(f64) -> f64) -> f64 {
    let k = set.k() - set.t;
    let v = (k + l) / set.t;
    let time = set.n().log2() + (2.0 * (set.n() - k).log2()).max(list_time(v));
    time - split_blocks(set, v, p)
}

pub fn regular_isd_permutation(set: &Set) -> f64 {
    let k = set.k() - set.t;
    2.0 * (set.n() - k).log2() + set.n().log2() - set.t * (1.0 - set.noisy * k / set.n()).log2()
}

pub fn regular_isd_enumeration(set: &Set) -> f64 {
    let list = |v: f64, p: f64| log2_choose(set.t / 2.0, p / 2.0) + v.log2() * p / 2.0;
    let cost = |p: f64, l: f64| regular_isd(set, p, l, |v| (1.0 + list(v, p)).max(2.0 * list(v, p) - l));
    least(steps(20, 2).flat_map(|p| steps(200, 1).map(move |l| cost(p, l))))
}

pub fn regular_isd_representations(set: &Set) -> f64 {
    let cost = |p: f64, e: f64, l: f64| {
        let ways = (2.0 * (log2_choose(p / 2.0, p / 4.0) + log2_choose(set.t / 2.0 - p / 2.0, e / 2.0))).floor();
        let ones = p / 2.0 + e;
        if ways > l {
            return f64::INFINITY;
        }
        regular_isd(set, p, l, |v| {
            let low = log2_choose(set.t / 2.0, ones / 2.0) + v.log2() * ones / 2.0;
            let middle = 2.0 * low - ways;
            (2.0 + low).max(1.0 + middle).max(2.0 * middle - (l - ways))
        })
    };
    let sizes = steps(20, 4).flat_map(|p| steps(12, 2).map(move |e| (p, e)));
    least(sizes.flat_map(|(p, e)| steps(200, 1).map(move |l| cost(p, e, l))))
}

/// The coefficients of (1 + base·z)^exponent up to z^4.
pub fn power(base: f64, exponent: f64) -> [f64; 5] {
    let mut series = [1.0; 5];
    for i in 1..5 {
        series[i] = series[i - 1] * base * (exponent - (i - 1) as f64) / i as f64;
    }
    series
}

pub fn product(a: &[f64; 5], b: &[f64; 5]) -> [f64; 5] {
    std::array::from_fn(|i| (0..=i).map(|j| a[j] * b[i - j]).sum())
}

/// Guess μ zeros in each of f blocks: what the guess costs, the monomials, and the Hilbert series of the system.
pub struct Guess {
    tries: f64,
    monomials: [f64; 5],
    series: [f64; 5],
    left: f64,
}

pub fn guess(set: &Set, f: f64, mu: f64) -> Guess {
    let b = set.block();
    let monomials = product(&power(b - 1.0, set.t - f), &power(b - mu - 1.0, f));
    let series = product(&monomials, &power(1.0, -(set.n() - set.k() - 1.0)));
    Guess { tries: -f * (1.0 - set.noisy * mu / b).log2(), monomials, series, left: set.k() + 1.0 - f * mu }
}

/// All guesses whose tries alone are below a bound that shrinks as better attacks are found.
pub fn guesses(set: &Set, mut try_one: impl FnMut(Guess) -> f64) {
    let mut bound = f64::INFINITY;
    for f in steps(set.t as u32 + 1, 1) {
        let most = if f == 0.0 { 1.0 } else { (set.k() / f).min(set.block() - 1.0) };
        for mu in steps(most as u32, 1) {
            let guess = guess(set, f, mu);
            if guess.tries > bound {
                break;
            }
            bound = try_one(guess);
        }
    }
}

pub fn monomials_up_to(guess: &Guess, degree: usize) -> f64 {
    guess.monomials[1..=degree].iter().sum::<f64>().max(1.0)
}

/// Briaud and Øygarden: Wiedemann in the first degree whose coefficient of the series is not positive.
pub fn algebraic(set: &Set) -> f64 {
    let mut best = f64::INFINITY;
    guesses(set, |guess| {
        if let Some(degree) = (2..5).find(|&degree| guess.series[degree] < 1.0) {
            let cost = guess.tries + 2.0 * monomials_up_to(&guess, degree).log2() + (3.0 * guess.left).log2();
            best = best.min(cost);
        }
        best
    });
    best
}

/// Its second version, in degree 2: eliminate after a smaller guess, finish after the whole guess. A lower bound,
/// since the smaller guess is not held to be a part of the larger one.
pub fn algebraic_2(set: &Set) -> f64 {
    let mut whole = f64::INFINITY;
    guesses(set, |guess| {
        if guess.series[2] < 1.0 {
            whole = whole.min(guess.tries);
        }
        whole
    });
    let mut best = f64::INFINITY;
    guesses(set, |guess| {
        let (all, rest) = (monomials_up_to(&guess, 2), guess.series[2].max(1.0));
        let pivots = (all - rest).max(2.0);
        let wiedemann = (3.0 * guess.left).log2() + 2.0 * all.log2();
        let dense = all.log2() + 2.0 * pivots.log2() - pivots.log2().log2();
        let finish = 5.64f64.log2() + 2.8 * rest.min(pivots).log2();
        best = best.min(log2_sum(&[guess.tries + wiedemann.min(dense), whole + finish]));
        best.min(whole)
    });
    best
}

/// The hybrid of guessing and quadratic equations: u or u + 1 zeros guessed in t - q blocks, q blocks found by trial.
pub fn hybrid(set: &Set) -> f64 {
    let (n, k, t, b) = (set.n(), set.k(), set.t, set.block());
    let mut best = f64::INFINITY;
    for (u, q) in steps((k / t) as u32 + 1, 1).flat_map(|u| steps((k / b) as u32 + 2, 1).map(move |q| (u, q))) {
        let [more, fewer] = [u + 1.0, u].map(|zeros| -(1.0 - set.noisy * zeros / b).log2());
        // No fewer zeros leave a system of quadratic equations that can be solved.
        let solvable = ((t - q) * (b - u - 2.0) * (b - u - 1.0)).sqrt() - 2.0;
        let start = (k - t - (t - q) * u - (b - 1.0) * q - solvable).ceil().max(0.0);
        for f in steps((t - q) as u32, 1).skip(start as usize) {
            let tries = f * more + (t - q - f) * fewer;
            if tries > best {
                break;
            }
            best = best.min(tries + hybrid_try(set, [u, q, f], ((n - k) / (b - 1.0)).floor()));
        }
    }
    best
}

pub fn hybrid_try(set: &Set, [u, q, f]: [f64; 3], per_value: f64) -> f64 {
    let (n, k, t, b) = (set.n(), set.k(), set.t, set.block());
    let unknown = k - t - (u + 1.0) * f - (t - f - q) * u;
    let equations = (t - f - q) * (b - u - 2.0) * (b - u - 1.0) / 2.0 + f * (b - u - 2.0) * (b - u - 3.0) / 2.0;
    let tried = (b - 1.0) * q;
    let v = unknown - tried;
    if unknown > 0.0 && (v < 0.0 || v > (2.0 * equations).sqrt() - 2.0) {
        return f64::INFINITY;
    }
    let rows = n - k - per_value * (b - u - 2.0);
    let linear = (rows * (n - k) * (rows + unknown)).max(1.0).log2();
    if unknown <= 0.0 {
        return linear;
    }
    let once = v.powi(4) * unknown * unknown / 8.0 / (v * v / 2.0).max(2.0).log2();
    let each = 1.25 * (2.0 * v * v * tried + v * tried * tried) + (2.5 * v).powi(3) / (2.5 * v).max(2.0).log2();
    log2_sum(&[linear, once.max(1.0).log2(), each.max(1.0).log2() + q * b.log2()])
}
