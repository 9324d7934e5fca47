//! A function as a few ANDs of affine forms.

use super::truth::{INPUT, INPUTS};

/// The most ANDs of a recipe.
pub const MOST_ANDS: usize = 9;

/// An affine form: bit i for input i, bit 6 + j for AND j, and the highest bit for the constant.
pub type Form = u16;

/// The constant of a form.
pub const ONE: Form = 1 << 15;

/// A function of up to six inputs: ANDs of affine forms of the inputs and of earlier ANDs, and such a form of all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recipe {
    /// The operands of each AND.
    pub ands: Vec<[Form; 2]>,
    /// The function.
    pub output: Form,
}

/// The form of AND number `j`.
pub fn and_form(j: usize) -> Form {
    1 << (INPUTS + j)
}

/// The terms of a form but for its constant.
pub fn terms(form: Form) -> impl Iterator<Item = usize> {
    (0..INPUTS + MOST_ANDS).filter(move |i| form >> i & 1 == 1)
}

/// The table of a form, given those of the ANDs.
fn table_of(form: Form, ands: &[u64]) -> u64 {
    let value = |term: usize| if term < INPUTS { INPUT[term] } else { ands[term - INPUTS] };
    terms(form).fold(if form & ONE == 0 { 0 } else { u64::MAX }, |table, term| table ^ value(term))
}

impl Recipe {
    /// An affine function.
    pub fn affine(output: Form) -> Recipe {
        Recipe { ands: Vec::new(), output }
    }

    /// The tables of its ANDs.
    pub fn and_tables(&self) -> Vec<u64> {
        let mut tables = Vec::with_capacity(self.ands.len());
        for &[a, b] in &self.ands {
            let table = table_of(a, &tables) & table_of(b, &tables);
            tables.push(table);
        }
        tables
    }

    /// The table of the function.
    pub fn table(&self) -> u64 {
        table_of(self.output, &self.and_tables())
    }

    /// The recipe of x ↦ f(forms(x)): input i becomes an affine form of the inputs.
    pub fn over(&self, inputs: &[Form]) -> Recipe {
        let moved = |form: Form| {
            let ands = form & !(ONE | ((1 << INPUTS) - 1));
            terms(form).filter(|&term| term < INPUTS).fold(ands | form & ONE, |moved, term| moved ^ inputs[term])
        };
        Recipe { ands: self.ands.iter().map(|pair| pair.map(moved)).collect(), output: moved(self.output) }
    }

    /// Appends another recipe's ANDs and returns its output as a form here.
    pub fn append(&mut self, other: &Recipe) -> Form {
        let before = self.ands.len();
        let moved = |form: Form| {
            let low = form & (ONE | ((1 << INPUTS) - 1));
            terms(form).filter(|&term| term >= INPUTS).fold(low, |moved, term| moved ^ 1 << (term + before))
        };
        self.ands.extend(other.ands.iter().map(|pair| pair.map(moved)));
        moved(other.output)
    }
}
