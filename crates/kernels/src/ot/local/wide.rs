//! The local code: indices from a counter stream, and the sums of what they name.

use crate::Block;
use crate::backend::lanes::{Kernel, Lanes};
use crate::backend::table::{Lookups, REGISTERS, Table};
use crate::cipher::wide::RoundKeys;

/// Adds the code's outputs from number `first` on, an even one.
pub(crate) struct Local<'a> {
    pub keys: &'a RoundKeys,
    pub first: u64,
    pub table: Table<'a>,
    pub out: &'a mut [Block],
}

impl Kernel for Local<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes, N: Lanes>(self, wide: W, narrow: N) {
        if W::LANES == 4 {
            self.steps::<W, N, 16>(wide, narrow);
        } else {
            self.steps::<N, N, 4>(narrow, narrow);
        }
    }
}

impl Local<'_> {
    /// Steps of as many outputs as the registers of the stream are for. The stream of the next step is computed between
    /// the sums of this one, most of whose time is waiting for the table.
    #[inline(always)]
    fn steps<W: Lanes, N: Lanes, const STEP: usize>(self, wide: W, narrow: N) {
        let mut lookups = Lookups::<STEP>::new(self.table);
        let mut stream = Stream::new(wide, self.keys, self.first / 2 * 3);
        for round in 1..10 {
            stream.round(round);
        }
        let mut steps = self.out.chunks_exact_mut(STEP);
        for out in &mut steps {
            lookups.set(wide, stream.turn());
            for i in 0..STEP {
                // Nine rounds between sixteen sums.
                if i < 9 {
                    stream.round(i + 1);
                }
                lookups.add(narrow, i, &mut out[i]);
            }
            for round in STEP + 1..10 {
                stream.round(round);
            }
        }
        lookups.set(wide, stream.turn());
        for (i, out) in steps.into_remainder().iter_mut().enumerate() {
            lookups.add(narrow, i, out);
        }
    }
}

/// A counter stream, some rounds of AES at a time.
struct Stream<'a, C: Lanes> {
    cpu: C,
    keys: &'a RoundKeys,
    x: [C::Reg; REGISTERS],
    number: C::Reg,
    before: C::Reg,
}

impl<'a, C: Lanes> Stream<'a, C> {
    #[inline(always)]
    fn new(cpu: C, keys: &'a RoundKeys, first: u64) -> Self {
        let number = cpu.count(first);
        let mut stream = Stream { cpu, keys, x: [number; REGISTERS], number, before: number };
        stream.begin();
        stream
    }

    #[inline(always)]
    fn begin(&mut self) {
        let (cpu, step) = (self.cpu, self.cpu.splat(Block::new(C::LANES as u128)));
        self.before = cpu.splat(self.keys.get(0));
        for x in &mut self.x {
            *x = cpu.begin(cpu.reverse_bytes(self.number), self.before);
            self.number = cpu.add(self.number, step);
        }
    }

    /// One of the nine rounds in the middle.
    #[inline(always)]
    fn round(&mut self, round: usize) {
        let after = self.cpu.splat(self.keys.get(round));
        for x in &mut self.x {
            *x = self.cpu.round(*x, self.before, after);
        }
        self.before = after;
    }

    /// Ends these registers and begins the next.
    #[inline(always)]
    fn turn(&mut self) -> [C::Reg; REGISTERS] {
        let (mut done, last) = (self.x, self.cpu.splat(self.keys.get(10)));
        for x in &mut done {
            *x = self.cpu.end(*x, self.before, last);
        }
        self.begin();
        done
    }
}
