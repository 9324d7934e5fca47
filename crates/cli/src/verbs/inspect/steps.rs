//! The steps of a program as text, so that whoever reads them knows what is computed.
//!
//! What may be very long, the value of a constant and the bits or lanes that a view takes, is shortened unless all of it
//! is asked for: then its beginning is shown, how much there is, and the digest of the whole.

use crate::io::consent::{owner, recipient};
use crate::io::console::{hex, thousands};
use crate::io::shown;
use duologue::circuit::program::{CallPort, Lanes, Step, Value, View};
use duologue::circuit::{Binding, BitMatrix, Program, Type};
use values::lane;

/// Characters of the text of a constant, and pieces of a list, that are shown of a long one.
const CHARACTERS: usize = 64;
const PIECES: usize = 12;

/// A program, perhaps bound, as it is shown.
pub struct Look<'a> {
    pub program: &'a Program,
    pub binding: Option<&'a Binding>,
    /// Whether nothing is shortened.
    pub full: bool,
}

impl Look<'_> {
    /// A number of lanes, in numbers if sizes are given.
    pub fn count(&self, lanes: &Lanes) -> String {
        let sizes = lanes.sizes().iter().map(|size| size.number());
        if let Some(binding) = self.binding {
            let count = sizes.fold(lanes.factor(), |all, size| all.saturating_mul(binding.sizes()[size]));
            return thousands(count);
        }
        let names = sizes.map(|size| shown::name(&self.program.sizes()[size].name));
        let factor = (lanes.factor() != 1 || lanes.sizes().is_empty()).then(|| thousands(lanes.factor()));
        factor.into_iter().chain(names).collect::<Vec<_>>().join(" × ")
    }

    /// A line for each step, with the values that it defines.
    pub fn steps(&self) -> Vec<String> {
        let mut defined = 0;
        let line = |step: &Step| {
            let from = defined;
            defined += self.results(step);
            let left: Vec<String> = (from..defined).map(|value| format!("v{value}")).collect();
            let arrow = if left.is_empty() { "" } else { " = " };
            format!("{}{arrow}{}", left.join(", "), self.step(step))
        };
        self.program.steps().iter().map(line).collect()
    }

    /// How many values a step defines.
    pub fn results(&self, step: &Step) -> usize {
        match step {
            Step::Map { circuit, .. } | Step::Iterate { circuit, .. } => {
                self.program.circuits()[*circuit as usize].outputs().len()
            }
            Step::Reduce { args, .. } => args.len(),
            Step::Call { name, version, parameters, args } => self.results_of_call(name, *version, parameters, args),
            Step::Output { .. } => 0,
            Step::Input { .. } | Step::Constant { .. } | Step::View { .. } => 1,
        }
    }

    fn results_of_call(&self, name: &str, version: u32, parameters: &[u8], args: &[Value]) -> usize {
        let port = |&arg: &Value| CallPort { ty: self.program.type_of(arg), holder: self.program.holder(arg) };
        let args: Vec<CallPort> = args.iter().map(port).collect();
        let found = self.program.functionalities().find(name, version);
        found.and_then(|known| known.results(parameters, &args)).map_or(0, |results| results.len())
    }

    fn step(&self, step: &Step) -> String {
        let name = |circuit: &u32| shown::name(self.program.circuits()[*circuit as usize].name());
        match step {
            Step::Input { name, owner: by, ty, lanes } => {
                format!("{} {}: {ty} × {}", owner(*by), shown::name(name), self.count(lanes))
            }
            Step::Constant { ty, lanes, bits } => {
                format!("constant {}: {ty} × {}", self.constant(bits, *ty), self.count(lanes))
            }
            Step::Map { circuit, args } => format!("map {}({})", name(circuit), values(args)),
            Step::Reduce { circuit, args } => format!("reduce {}({})", name(circuit), values(args)),
            Step::Iterate { circuit, cycles, state, inputs } => {
                let (cycles, state, inputs) = (self.count(cycles), values(state), values(inputs));
                format!("iterate {}, cycles: {cycles} ({state}; {inputs})", name(circuit))
            }
            Step::View { view, args } => format!("{} ({})", self.view(view), values(args)),
            Step::Call { name, version, parameters, args } => {
                let with = match &parameters[..] {
                    [] => String::new(),
                    some => format!(", parameters {}", self.shortened(hex(some))),
                };
                format!("call {} version {version}{with} ({})", shown::name(name), values(args))
            }
            Step::Output { name, recipient: to, value } => {
                format!("{} {}: {}", recipient(*to), shown::name(name), values(&[*value]))
            }
        }
    }

    fn view(&self, view: &View) -> String {
        match view {
            View::Bits(bits) => {
                format!("bits {} of", self.list(&bits.iter().map(|&bit| bit.into()).collect::<Vec<_>>()))
            }
            View::Join => "bits of all".into(),
            View::Repeat(times) => format!("all lanes × {} of", self.count(times)),
            View::Slice { start, step, count } => {
                format!("lanes from {start} in steps of {step} × {} of", self.count(count))
            }
            View::Chain => "lanes of all".into(),
            View::Lanes(lanes) => format!("lanes {} of", self.list(lanes)),
            View::Split(parts) => format!("each lane split into {parts} lanes:"),
            View::Merge(parts) => format!("every {parts} lanes joined into one:"),
        }
    }

    fn constant(&self, bits: &[bool], ty: Type) -> String {
        self.shortened(lane::text(&BitMatrix::from_lanes(bits.len(), &[bits.to_vec()]), 0, ty))
    }

    /// A text of ASCII.
    fn shortened(&self, text: String) -> String {
        if self.full || text.len() <= CHARACTERS {
            return text;
        }
        format!("{}… ({} characters, BLAKE3 {})", &text[..CHARACTERS], thousands(text.len() as u64), digest(&text))
    }

    /// Numbers in their order, those that follow one another as a range.
    fn list(&self, numbers: &[u64]) -> String {
        let pieces = pieces(numbers);
        if self.full || pieces.len() <= PIECES + 1 {
            return pieces.join(", ");
        }
        let (count, digest) = (thousands(numbers.len() as u64), digest(&pieces.join(", ")));
        format!("{}, … ({count} numbers, BLAKE3 {digest})", pieces[..PIECES].join(", "))
    }
}

/// The digest of a text in full, with which two shortened ones are told apart.
fn digest(text: &str) -> String {
    hex(&blake3::hash(text.as_bytes()).as_bytes()[..16])
}

/// `0-7, 3, 9-6`: runs of three and more are ranges, upwards or downwards.
fn pieces(numbers: &[u64]) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut rest = numbers;
    while let [first, ..] = rest {
        let run = |next: fn(u64) -> Option<u64>| {
            1 + rest.windows(2).take_while(|pair| next(pair[0]) == Some(pair[1])).count()
        };
        let run = run(|n| n.checked_add(1)).max(run(|n| n.checked_sub(1)));
        let taken = if run > 2 { run } else { 1 };
        let last = rest[taken - 1];
        pieces.push(if taken > 1 { format!("{first}-{last}") } else { first.to_string() });
        rest = &rest[taken..];
    }
    pieces
}

fn values(values: &[Value]) -> String {
    let names: Vec<String> = values.iter().map(|value| format!("v{}", value.number())).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use duologue::circuit::{Party, bits, uint};

    #[test]
    fn runs_are_ranges() {
        for (numbers, expected) in [
            (&[][..], ""),
            (&[5], "5"),
            (&[1, 2], "1, 2"),
            (&[0, 1, 2, 3, 9, 8, 7, 7, 7], "0-3, 9-7, 7, 7"),
            (&[u64::MAX - 1, u64::MAX, 0], "18446744073709551614, 18446744073709551615, 0"),
        ] {
            assert_eq!(pieces(numbers).join(", "), expected);
        }
    }

    /// A program of one view and one constant, as text.
    fn shown(view: &[u64], constant: &[bool], full: bool) -> Vec<String> {
        let mut p = Program::new("views");
        let x = p.input("x", Party::Alice, uint(8), 1000);
        let y = p.view(View::Lanes(view.to_vec()), &[x]);
        let z = p.view(View::Bits(vec![7, 6, 5, 0]), &[y]);
        p.constant(bits(constant.len() as u32), 3, constant);
        p.output("z", Party::Bob, z);
        p.check().unwrap();
        Look { program: &p, binding: None, full }.steps()
    }

    #[test]
    fn views_and_constants_are_told_apart() {
        let steps = shown(&[3, 4, 5, 999], &[true, false, true], false);
        let expected = [
            "v0 = alice supplies x: uint(8) × 1,000",
            "v1 = lanes 3-5, 999 of (v0)",
            "v2 = bits 7-5, 0 of (v1)",
            "v3 = constant 101: bits(3) × 3",
            "bob learns z: v2",
        ];
        assert_eq!(steps, expected);
    }

    #[test]
    fn long_ones_are_shortened_with_a_digest_of_the_whole() {
        let mut lanes: Vec<u64> = (0..400).map(|lane| lane * 2).collect();
        let mut constant = vec![true; 801];
        let (short, full) = (shown(&lanes, &constant, false), shown(&lanes, &constant, true));
        assert!(short.iter().all(|line| line.len() < 200), "{short:?}");
        assert!(short[1].starts_with("v1 = lanes 0, 2, 4, ") && short[1].contains("(400 numbers, BLAKE3 "));
        assert!(full[1].ends_with("796, 798 of (v0)") && full[3].contains(&"1".repeat(801)), "{full:?}");
        // A change in what is left out changes the digest.
        (lanes[399], constant[800]) = (799, false);
        let other = shown(&lanes, &constant, false);
        assert!(other[1] != short[1] && other[3] != short[3], "{other:?}");
    }
}
