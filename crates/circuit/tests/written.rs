//! Circuits that are written where they are applied, and values that belong to one program.

use circuit::blocks::{Goal, add, greater, mux};
use circuit::program::reference::{Table, evaluate};
use circuit::{Bits, Int, Party, Program, UInt, Word, bits, int, uint};

/// The lanes of the output `made`, least significant bit first, as numbers.
fn made(p: &Program, inputs: &[(&str, Vec<u64>)]) -> Vec<u64> {
    let binding = p.bind(&[]).unwrap();
    let table = |name: &str, lanes: &[u64]| -> Table {
        let width = binding.input(name).unwrap().ty.width;
        lanes.iter().map(|lane| (0..width).map(|bit| bit < 64 && lane >> bit & 1 == 1).collect()).collect()
    };
    let inputs = inputs.iter().map(|(name, lanes)| (name.to_string(), table(name, lanes))).collect();
    let number = |lane: &Vec<bool>| lane.iter().rev().fold(0, |n, &bit| n << 1 | u64::from(bit));
    evaluate(&binding, &inputs)["made"].iter().map(number).collect()
}

#[test]
fn a_map_is_written_in_place() {
    let mut p = Program::new("larger");
    let [a, b] = ["a", "b"].map(|name| p.input(name, Party::Alice, uint(8), 4));
    let larger = p.map_with([a, b], |c, [a, b]: [UInt; 2]| {
        let more = greater(c, &a, &b, Goal::Size);
        mux(c, more, &a, &b)
    });
    p.output("made", Party::Alice, larger);
    let (a, b) = (vec![1, 200, 7, 255], vec![2, 100, 7, 0]);
    assert_eq!(made(&p, &[("a", a), ("b", b)]), [2, 200, 7, 255]);
    assert_eq!(p.type_of(larger), uint(8));
}

#[test]
fn a_reduction_is_written_in_place() {
    for lanes in [1, 2, 3, 64, 65] {
        let mut p = Program::new("sum and parity");
        let x = p.input("x", Party::Bob, uint(16), lanes);
        let y = p.map_with([x], |_, [x]: [Bits; 1]| Bits(x.0[..1].to_vec()));
        let [sum] = p.reduce_with([x], |c, [a], [b]: [UInt; 1]| [add(c, &a, &b, Goal::Size)]);
        let [parity] = p.reduce_with([y], |c, [a], [b]: [Bits; 1]| [Bits::from(c.xor(a.bits()[0], b.bits()[0]))]);
        let both = p.view(circuit::program::View::Join, &[sum, parity]);
        p.output("made", Party::Alice, both);
        let numbers: Vec<u64> = (0..lanes).map(|i| i * 977 % 1009).collect();
        let parity = numbers.iter().fold(0, |a, b| a ^ (b & 1));
        let expected = (numbers.iter().sum::<u64>() % (1 << 16)) | (parity << 16);
        assert_eq!(made(&p, &[("x", numbers)]), [expected], "{lanes} lanes");
    }
}

#[test]
fn constants_of_any_width() {
    let mut p = Program::new("constants");
    let x = p.input("x", Party::Alice, uint(200), 1);
    let five = p.number(uint(200), 1, 5);
    let made_of = p.map_with([x, five], |c, [x, five]: [UInt; 2]| {
        let less = add(c, &x, &UInt::ones(200), Goal::Size); // modulo 2^200: one less
        add(c, &less, &five, Goal::Size).resized(64)
    });
    p.output("made", Party::Alice, made_of);
    assert_eq!(made(&p, &[("x", vec![40])]), [44]);
    p.number(uint(3), 1, 8);
    assert!(p.check().unwrap_err().to_string().contains("8 does not fit into 3 bits"));
}

#[test]
fn a_word_is_read_as_what_it_is() {
    let mut p = Program::new("kinds");
    let (number, signed, raw) = (
        p.input("n", Party::Alice, uint(8), 1),
        p.input("s", Party::Alice, int(8), 1),
        p.input("r", Party::Alice, bits(8), 1),
    );
    p.map_with([number, signed, raw], |_, [n, _, _]: [Bits; 3]| n);
    p.map_with([signed, raw], |_, [s, _]: [Int; 2]| s);
    p.check().unwrap();
    p.map_with([signed], |_, [_]: [UInt; 1]| -> UInt { panic!("it is not called") });
    assert!(p.check().unwrap_err().to_string().contains("read as another kind of number"));
}

#[test]
fn a_value_of_another_program_is_refused() {
    let mut other = Program::new("other");
    let foreign = other.input("a", Party::Alice, uint(8), 1);
    type Use = fn(&mut Program, circuit::program::Value);
    let uses: [Use; 4] = [
        |p, foreign| p.output("out", Party::Alice, foreign),
        |p, foreign| assert_ne!(p.repeat(foreign, 3), foreign),
        |p, foreign| assert_ne!(p.map_with([foreign], |_, [a]: [UInt; 1]| a), foreign),
        |p, foreign| assert_ne!(p.reduce_with([foreign], |_, [a], [_]: [UInt; 1]| [a]), [foreign]),
    ];
    for use_it in uses {
        let mut p = Program::new("ours");
        let own = p.input("a", Party::Alice, uint(8), 1);
        assert_eq!((p.type_of(own), p.type_of(foreign)), (uint(8), bits(0)));
        use_it(&mut p, foreign);
        let error = p.check().unwrap_err().to_string();
        assert!(error.contains("value 0 belongs to another program"), "{error}");
        assert_eq!(p.bind(&[]).err().map(|error| error.to_string()), Some(error));
    }
}

/// What a program is does not depend on which process made it, and what is read of a file can be gone on with.
#[test]
fn values_belong_to_clones_and_to_what_was_read() {
    let make = || {
        let mut p = Program::new("same");
        let a = p.input("a", Party::Alice, uint(8), 1);
        (p, a)
    };
    let [(first, a), (second, _)] = [make(), make()];
    assert_eq!(first.to_bytes().unwrap(), second.to_bytes().unwrap());
    let mut clone = first.clone();
    clone.output("a", Party::Bob, a);
    clone.check().unwrap();
    let mut read = Program::from_bytes(&clone.to_bytes().unwrap()).unwrap();
    let circuit::program::Step::Output { value, .. } = read.steps()[1].clone() else { panic!("an output") };
    read.output("b", Party::Bob, value);
    read.check().unwrap();
    assert_ne!(value, a, "another program's");
}
