//! Steps whose circuits are written where they are applied.

use super::{Program, Value};
use crate::builder::Builder;
use crate::error::Result;
use crate::graph::{Kind, bits};
use crate::words::Word;

impl Program {
    /// A circuit that `build` writes in place, on every lane. It gets a word for each argument, as wide as the value, and
    /// its result is the value.
    ///
    /// ```
    /// use circuit::blocks::{Goal, add};
    /// use circuit::{Party, Program, UInt, uint};
    ///
    /// let mut p = Program::new("sums");
    /// let [hers, his] = [Party::Alice, Party::Bob].map(|party| p.input(&party.to_string(), party, uint(16), 100));
    /// let sums = p.map_with([hers, his], |c, [a, b]: [UInt; 2]| add(c, &a, &b, Goal::Size));
    /// p.output("sums", Party::Alice, sums);
    /// # p.bind(&[])?;
    /// # Ok::<(), circuit::Error>(())
    /// ```
    ///
    /// [`Bits`](crate::Bits) read a value of any kind; as [`UInt`](crate::UInt) or [`Int`](crate::Int) it is a mistake to
    /// read the other. Where arguments are of several kinds, or there are several results, a [`Builder`] and
    /// [`map_all`](Self::map_all) do the same.
    pub fn map_with<W: Word, R: Word, const N: usize>(
        &mut self,
        args: [Value; N],
        build: impl FnOnce(&mut Builder, [W; N]) -> R,
    ) -> Value {
        let Some(_) = self.readable::<W>(&args) else { return self.value(u32::MAX) };
        let mut c = Builder::new("map");
        let words = self.words(&mut c, "in", args);
        let result = build(&mut c, words);
        c.output("out", &result);
        match self.finished(c) {
            Some(circuit) => self.map(&circuit, &args),
            None => self.value(u32::MAX),
        }
    }

    /// All lanes folded to one by a circuit that `build` writes in place: from the words of two neighbouring lanes it
    /// makes those of one, of the same widths. An odd last lane moves up unchanged, so `build` must be associative.
    ///
    /// ```
    /// use circuit::blocks::{Goal, add};
    /// use circuit::{Party, Program, UInt, uint};
    ///
    /// let mut p = Program::new("total");
    /// let amounts = p.input("amounts", Party::Bob, uint(32), 1000);
    /// let [total] = p.reduce_with([amounts], |c, [a], [b]: [UInt; 1]| [add(c, &a, &b, Goal::Size)]);
    /// p.output("total", Party::Alice, total);
    /// # p.bind(&[])?;
    /// # Ok::<(), circuit::Error>(())
    /// ```
    pub fn reduce_with<W: Word, const N: usize>(
        &mut self,
        args: [Value; N],
        build: impl FnOnce(&mut Builder, [W; N], [W; N]) -> [W; N],
    ) -> [Value; N] {
        let nothing = [self.value(u32::MAX); N];
        let Some(_) = self.readable::<W>(&args) else { return nothing };
        let mut c = Builder::new("reduce");
        let [left, right] = ["left", "right"].map(|side| self.words(&mut c, side, args));
        let results = build(&mut c, left, right);
        for (i, result) in results.iter().enumerate() {
            c.output(format!("out{i}"), result);
        }
        let reduced = self.finished(c).map(|circuit| self.reduce(&circuit, &args));
        reduced.and_then(|values| values.try_into().ok()).unwrap_or(nothing)
    }

    /// Whether words of this kind can be read from the values; else that is a mistake.
    fn readable<W: Word>(&mut self, args: &[Value]) -> Option<()> {
        let kind = W::from_bits(Vec::new()).ty().kind;
        let wrong = args.iter().find_map(|&arg| self.refuse_kind(arg, kind).err());
        wrong.map_or(Some(()), |error| {
            self.remember(error);
            None
        })
    }

    fn refuse_kind(&self, arg: Value, kind: Kind) -> Result<()> {
        self.width(arg)?;
        let ty = self.type_of(arg);
        let raw = bits(0).kind;
        if kind == ty.kind || [kind, ty.kind].contains(&raw) {
            return Ok(());
        }
        Err(self.invalid(format!("value {} is {ty}, and is read as another kind of number", arg.0)))
    }

    fn words<W: Word, const N: usize>(&self, c: &mut Builder, name: &str, args: [Value; N]) -> [W; N] {
        let mut number = 0..;
        args.map(|arg| {
            let i: usize = number.next().unwrap_or_default();
            W::from_bits(c.input(format!("{name}{i}"), self.type_of(arg)))
        })
    }

    fn finished(&mut self, c: Builder) -> Option<crate::Circuit> {
        c.try_finish().map_err(|error| self.remember(error)).ok()
    }
}
