//! Numbers for every input port of a circuit on many lanes, and the check against a reference.

use circuit::{Circuit, Simulator};

/// Numbers for each input port.
pub type Lanes = Vec<Vec<u128>>;

/// Every combination of numbers of these widths.
pub fn every(widths: &[u32]) -> Lanes {
    let mut shift = 0;
    let port = |&width: &u32| {
        let from = shift;
        shift += width;
        (0..1u128 << widths.iter().sum::<u32>()).map(|lane| lane >> from & low(width)).collect()
    };
    widths.iter().map(port).collect()
}

/// Numbers of these widths: uniform, of any length, near a power of two, near the two ends, equal to the port before.
pub fn mixed(widths: &[u32], lanes: usize, seed: u64) -> Lanes {
    let mut random = Random(seed);
    let mut ports: Lanes = vec![Vec::with_capacity(lanes); widths.len()];
    for _ in 0..lanes {
        let mut before = 0;
        for (port, &width) in ports.iter_mut().zip(widths) {
            before = random.number(width, before);
            port.push(before);
        }
    }
    ports
}

/// Asserts that each lane of the circuit gives what the reference says, an output port after the other.
pub fn check<const N: usize>(circuit: &Circuit, ports: &Lanes, place: &str, reference: impl Fn(&[u128]) -> [u128; N]) {
    let slices: Vec<&[u128]> = ports.iter().map(Vec::as_slice).collect();
    let results = Simulator::new(circuit).numbers(&slices);
    let mut inputs = vec![0; ports.len()];
    for lane in 0..ports[0].len() {
        inputs.iter_mut().zip(ports).for_each(|(input, port)| *input = port[lane]);
        let expected = reference(&inputs);
        let came: [u128; N] = std::array::from_fn(|port| results[port][lane]);
        assert_eq!(came, expected, "{place}: of {inputs:?}");
    }
}

/// The number with the low `width` bits set.
pub fn low(width: u32) -> u128 {
    if width == 0 { 0 } else { u128::MAX >> (128 - width) }
}

/// The number in two's complement with these bits.
pub fn signed(value: u128, width: u32) -> i128 {
    ((value << (128 - width)) as i128) >> (128 - width)
}

/// ⌈log₂ n⌉.
pub fn log(n: u32) -> u32 {
    n.next_power_of_two().ilog2()
}

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
pub struct Random(pub u64);

impl Random {
    /// The next 64 bits.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e3779b97f4a7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d049bb133111eb);
        z ^ z >> 31
    }

    fn number(&mut self, width: u32, before: u128) -> u128 {
        let kind = self.word();
        let uniform = u128::from(self.word()) << 64 | u128::from(self.word());
        let near = u128::from(kind >> 8 & 3).wrapping_sub(1);
        let power = 1u128 << ((kind >> 16) % u64::from(width.max(1)));
        let number = match kind % 8 {
            0..4 => uniform,
            4 => (uniform & low(width)) >> ((kind >> 16) % u64::from(width.max(1))),
            5 => power.wrapping_add(near),
            6 => near,
            _ => before.wrapping_add(near),
        };
        number & low(width)
    }
}
