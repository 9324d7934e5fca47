//! Programs for golden digests. They use no circuit of the library, whose gates may change: a digest moves when the
//! protocols do.

use circuit::program::{Binding, Owner, Party, Recipient, View};
use circuit::{Bit, Bits, Builder, Circuit, Program, Word, bits};

/// A circuit over ports of these widths, with one output.
fn gadget(name: &str, widths: &[u32], gates: impl Fn(&mut Builder, &[Bits]) -> Vec<Bit>) -> Circuit {
    let mut c = Builder::new(name);
    let ports: Vec<Bits> = (0..).zip(widths).map(|(i, &width)| c.bits(format!("in{i}"), width)).collect();
    let out = gates(&mut c, &ports);
    c.output("out", &Bits::from_bits(out));
    c.finish()
}

/// Sum and carry of three bits: one AND.
fn full_adder(c: &mut Builder, [x, y, carry]: [Bit; 3]) -> [Bit; 2] {
    let [left, right] = [c.xor(x, carry), c.xor(y, carry)];
    let (both, sum) = (c.and(left, right), c.xor(left, y));
    [sum, c.xor(both, carry)]
}

/// Modulo a power of two; as deep as it is wide.
fn sum(c: &mut Builder, x: &[Bit], y: &[Bit]) -> Vec<Bit> {
    let mut carry = Bit::FALSE;
    let digit = |(&x, &y): (&Bit, &Bit)| {
        let [digit, next] = full_adder(c, [x, y, carry]);
        carry = next;
        digit
    };
    x.iter().zip(y).map(digit).collect()
}

/// Modulo a power of two, row by row.
fn product(c: &mut Builder, x: &[Bit], y: &[Bit]) -> Vec<Bit> {
    let mut total: Vec<Bit> = x.iter().map(|&bit| c.and(bit, y[0])).collect();
    for (row, &by) in y.iter().enumerate().skip(1) {
        let shifted: Vec<Bit> = x[..x.len() - row].iter().map(|&bit| c.and(bit, by)).collect();
        let upper = sum(c, &total[row..], &shifted);
        total.splice(row.., upper);
    }
    total
}

/// The conjunction of all bits, one after the other.
fn all(c: &mut Builder, bits: &[Bit]) -> Bit {
    bits.iter().fold(Bit::TRUE, |all, &bit| c.and(all, bit))
}

/// One large map: so many lanes of a product of 12 bits.
pub fn products(lanes: u64) -> Binding {
    let mut p = Program::new("products");
    let [x, y] = [Party::Alice, Party::Bob].map(|party| p.input(&party.to_string(), party, bits(12), lanes));
    let times = gadget("times", &[12, 12], |c, w| product(c, w[0].bits(), w[1].bits()));
    let out = p.map(&times, &[x, y]);
    p.output("product", Recipient::Both, out);
    p.bind(&[]).unwrap()
}

/// A long chain of small maps, of which every third has no AND: many layers and many tasks.
pub fn deep() -> Binding {
    let mut p = Program::new("deep");
    let [mut x, y] = [Party::Alice, Party::Bob].map(|party| p.input(&party.to_string(), party, bits(3), 5));
    let add = gadget("add", &[3, 3], |c, w| sum(c, w[0].bits(), w[1].bits()));
    let mix = gadget("mix", &[3, 3], |c, w| (0..3).map(|i| c.xor(w[0].bits()[i], !w[1].bits()[2 - i])).collect());
    for link in 0..90 {
        x = p.map(if link % 3 == 2 { &mix } else { &add }, &[x, y]);
    }
    p.output("end", Recipient::Both, x);
    p.bind(&[]).unwrap()
}

/// Inputs of everybody in many widths, in all lanes and in one; an output of each width to everybody.
pub fn ports() -> Binding {
    let mut p = Program::new("ports");
    let owners = [Owner::Party(Party::Alice), Owner::Party(Party::Bob), Owner::Public, Owner::Shared];
    let recipients = [Recipient::Party(Party::Alice), Recipient::Party(Party::Bob), Recipient::Both, Recipient::Shared];
    for width in [1, 7, 8, 64, 65, 130] {
        let wide = owners.map(|owner| p.input(&format!("{owner:?} {width}"), owner, bits(width), 70));
        let single = owners.map(|owner| p.input(&format!("one {owner:?} {width}"), owner, bits(width), 1));
        let single = single.map(|value| p.repeat(value, 70));
        let add = gadget("add", &[width, width], |c, w| sum(c, w[0].bits(), w[1].bits()));
        let tree = gadget("tree", &[width, width], |c, w| {
            let both = [w[0].bits(), w[1].bits()].concat();
            vec![all(c, &both)]
        });
        for (i, to) in recipients.into_iter().enumerate() {
            let out = p.map(&add, &[wide[i], wide[(i + 1) % 4]]);
            let flag = p.map(&tree, &[out, single[i]]);
            p.output(&format!("{to:?} {width}"), to, out);
            p.output(&format!("flag {to:?} {width}"), to, flag);
        }
        p.output(&format!("given {width}"), Recipient::Both, wide[width as usize % 4]);
    }
    p.bind(&[]).unwrap()
}

/// Multiplexers: ANDs that share an operand.
pub fn choices() -> Binding {
    let mut p = Program::new("choices");
    let [x, y] = [Party::Alice, Party::Bob].map(|party| p.input(&party.to_string(), party, bits(100), 130));
    let which = p.input("which", Owner::Shared, bits(2), 130);
    let choose = gadget("choose", &[100, 100, 2], |c, w| {
        let (x, y, which) = (w[0].bits(), w[1].bits(), w[2].bits());
        let first: Vec<Bit> = x.iter().zip(y).map(|(&x, &y)| c.mux(which[0], x, y)).collect();
        first.iter().zip(y.iter().rev()).map(|(&x, &y)| c.mux(which[1], x, y)).collect()
    });
    let chosen = p.map(&choose, &[x, y, which]);
    let folded = gadget("fold", &[100, 100], |c, w| {
        let pairs = w[0].bits().iter().zip(w[1].bits());
        pairs.map(|(&x, &y)| c.and(x, !y)).collect()
    });
    let rest = p.reduce(&folded, &[chosen]);
    p.output("chosen", Party::Alice, chosen);
    p.output("rest", Recipient::Both, rest[0]);
    p.bind(&[]).unwrap()
}

/// A step of a computation whose state stays shared: the state goes in and out, and both see a part of it.
pub fn shared_step() -> Binding {
    let mut p = Program::new("shared step");
    let state = p.input("state", Owner::Shared, bits(16), 65);
    let x = p.input("x", Party::Alice, bits(16), 65);
    let y = p.input("y", Party::Bob, bits(16), 1);
    let y = p.repeat(y, 65);
    let add = gadget("add", &[16, 16], |c, w| sum(c, w[0].bits(), w[1].bits()));
    let times = gadget("times", &[16, 16], |c, w| product(c, w[0].bits(), w[1].bits()));
    let moved = p.map(&add, &[state, x]);
    let next = p.map(&times, &[moved, y]);
    let low = p.view(View::Bits(vec![0, 1, 2]), &[next]);
    p.output("state", Recipient::Shared, next);
    p.output("low", Recipient::Both, low);
    p.bind(&[]).unwrap()
}
