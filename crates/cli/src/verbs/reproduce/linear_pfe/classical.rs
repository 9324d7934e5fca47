//! Bytes of universal circuits in their classical form, where a party garbles who does not know the control bits: each AND
//! costs two ciphertexts, and each control bit a label. A switch has one of each; a gate with a hidden table is three
//! multiplexers of four bits.

const SWITCH: u64 = 32 + 16;
const GATE: u64 = 3 * 32 + 4 * 16;

/// The circuits of Liu et al., of n nodes.
pub fn liu(n: u64) -> u64 {
    SWITCH * 2 * edges_of_liu(n) + GATE * n
}

/// Switches of one edge-universal graph of n poles: S(n) = 2·S(⌈n/2⌉) + 3·(⌈n/2⌉ − 2) + (4, of odd n 3), S(2) = 1.
fn edges_of_liu(n: u64) -> u64 {
    match n {
        0..=2 => 1,
        _ => 2 * edges_of_liu(n.div_ceil(2)) + 3 * (n.div_ceil(2) - 2) + if n.is_multiple_of(2) { 4 } else { 3 },
    }
}

/// The circuits of Alhassan et al., of n nodes: twice their recursion, whose nodes count as switches, poles too.
pub fn alhassan(n: u64) -> u64 {
    SWITCH * 2 * edges_of_alhassan(n as usize)
}

/// Nodes of an edge-universal graph of n poles, poles included, which are taken in twos or in fours, whichever is smaller at
/// that size; with bodies of 18 for fours (Zhao et al.).
fn edges_of_alhassan(n: usize) -> u64 {
    let mut sizes = vec![0, 1, 2, 3, 6];
    for poles in sizes.len()..=n {
        sizes.push(in_twos(&sizes, poles).min(in_fours(&sizes, poles)));
    }
    sizes[n]
}

/// A head of 3, bodies of 5, and a tail of 1 or 4.
fn in_twos(sizes: &[u64], poles: usize) -> u64 {
    let half = poles / 2;
    match poles % 2 {
        0 => 2 * sizes[half - 1] + 5 * (half as u64 - 2) + 3 + 4,
        _ => sizes[half - 1] + sizes[half] + 5 * (half as u64 - 1) + 3 + 1,
    }
}

/// A head of 13, bodies of 18, of which the last has 17 before a tail of 1; else tails are 4, 9, 14.
fn in_fours(sizes: &[u64], poles: usize) -> u64 {
    let quarter = poles / 4;
    let bodies = 18 * quarter as u64;
    let halves = |less: u64| less * sizes[quarter - 1] + (4 - less) * sizes[quarter];
    match (poles, poles % 4) {
        (5, _) => 13,
        (6, _) => 17,
        (7, _) => 23,
        (_, 0) => halves(4) + bodies - 36 + 13 + 14,
        (_, 1) => halves(3) + bodies - 36 + 17 + 13 + 1,
        (_, 2) => halves(2) + bodies - 18 + 13 + 4,
        _ => halves(1) + bodies - 18 + 13 + 9,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the authors' own programs count them.
    #[test]
    fn sizes_are_those_of_the_papers() {
        let liu = [(100, 1_836), (1_000, 26_316), (10_000, 390_276), (100_000, 4_867_812), (1_000_000, 56_573_316)];
        liu.iter().for_each(|&(n, switches)| assert_eq!(2 * edges_of_liu(n), switches));
        let alhassan =
            [(100, 2_010), (1_000, 34_686), (10_000, 490_854), (100_000, 6_430_630), (1_000_000, 79_532_838)];
        alhassan.iter().for_each(|&(n, nodes)| assert_eq!(2 * edges_of_alhassan(n), nodes));
    }
}
