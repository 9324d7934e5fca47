//! The fuzz targets on a bounded number of inputs: random bytes, and valid ones that came to harm.

use targets::ALL;
use targets::programs::Dice;

#[path = "../../../fuzz/src/lib.rs"]
mod targets;

fn noise(dice: &mut Dice, most: usize) -> Vec<u8> {
    (0..dice.roll(most)).map(|_| dice.roll(256) as u8).collect()
}

/// One to four small things happen to the input.
fn harm(dice: &mut Dice, mut bytes: Vec<u8>, other: &[u8]) -> Vec<u8> {
    for _ in 0..1 + dice.roll(4) {
        let at = dice.roll(bytes.len() + 1);
        let end = at + dice.roll((bytes.len() - at).min(40) + 1);
        match dice.roll(8) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => drop(bytes.splice(at..at, noise(dice, 9))),
            3 => bytes.extend_from_within(at..end),
            4 => drop(bytes.splice(at..end, other[..other.len().min(60)].iter().copied())),
            5 => bytes
                .iter_mut()
                .take(end)
                .skip(at)
                .for_each(|byte| *byte = if end.is_multiple_of(2) { 0xff } else { b'9' }),
            _ => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << (end % 8)),
        }
    }
    bytes
}

/// Every seed as it is, then `runs` inputs.
fn run(name: &str, runs: usize) {
    let target = ALL.iter().find(|target| target.name == name).expect("a target");
    let seeds = (target.seeds)();
    seeds.iter().for_each(|seed| (target.run)(seed));
    let mut dice = Dice(runs as u64);
    for turn in 0..runs {
        let input = match turn % 8 {
            0 => noise(&mut dice, 300),
            _ => {
                let (seed, other) = (dice.pick(&seeds), dice.pick(&seeds));
                harm(&mut dice, seed, &other)
            }
        };
        (target.run)(&input);
    }
}

macro_rules! bounded {
    ($($name:ident $runs:literal)*) => {
        $(#[test]
        fn $name() {
            run(stringify!($name), $runs);
        })*

        #[test]
        fn every_target_is_here_and_has_its_file() {
            assert_eq!(ALL.map(|target| target.name), [$(stringify!($name)),*]);
            for target in ALL {
                let file = format!("{}/../../fuzz/fuzz_targets/{}.rs", env!("CARGO_MANIFEST_DIR"), target.name);
                assert!(std::path::Path::new(&file).exists(), "{file}");
            }
        }
    };
}

// Fewer where every run does base OTs.
bounded! {
    frame 20000
    hello 10000
    terms 10000
    findings 4000
    points 4000
    setup 60
    refill 150
    summary 20000
    whole_session 100
    driver_hello 10000
    driver_message 20000
    duo 5000
    job 5000
    bristol_fashion 5000
    bristol_old 5000
    aiger 5000
    blif 5000
    shdl 5000
    public_key 10000
    identity 3000
    stored_file 40000
}
