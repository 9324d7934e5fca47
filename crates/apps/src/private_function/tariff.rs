//! A tariff: each class of customers has a fixed price, and a rate for each band of what is used; what is used within a band
//! costs its rate.
//!
//! ```text
//! class 3 1500     # class 3 pays 1,500 in any case,
//!   0 12           # then 12 each up to 100,
//!   100 9          # and 9 each beyond
//! ```
//!
//! Inputs are `class`, of 8 bits, and `used`, of 16; the output is `price`, of 32. Of a class that the tariff does not have
//! the price is 0.
//!
//! The price is a + rate·(used − from) of the band that is reached, where a is the price of all before it: three constants for
//! each class and band, of which one triple is taken, and one product.

use super::{Steps, lines, number, words};
use duologue::circuit::blocks::{Goal, add, equal, greater_or_equal, multiply, subtract};
use duologue::circuit::{Bit, Builder, Circuit, UInt};

const CLASS: u32 = 8;
const USED: u32 = 16;
const PRICE: u32 = 32;

/// A tariff, which is its owner's secret.
pub struct Tariff {
    classes: Vec<Class>,
}

struct Class {
    number: u64,
    fixed: u64,
    /// Rates, from an amount on.
    bands: Steps,
}

/// What is paid from an amount on: a price, and a rate for what is used beyond it.
#[derive(Clone, Copy)]
struct Band {
    from: u64,
    price: u64,
    rate: u64,
}

impl Tariff {
    /// Reads a tariff.
    ///
    /// # Errors
    /// What is wrong, with the line.
    pub fn parse(text: &str) -> Result<Tariff, String> {
        let mut classes: Vec<Class> = Vec::new();
        for (at, line) in lines(text) {
            match (&words(line)[..], classes.last_mut()) {
                (["class", class, fixed], _) => {
                    let (class, fixed) = (number(class, CLASS, at)?, number(fixed, PRICE, at)?);
                    if classes.iter().any(|other| other.number == class) {
                        return Err(format!("line {at}: class {class} is there already"));
                    }
                    classes.push(Class { number: class, fixed, bands: Steps(Vec::new()) });
                }
                ([from, rate], Some(class)) => {
                    class.bands.push(number(from, USED, at)?, number(rate, USED, at)?, at)?;
                }
                _ => return Err(format!("line {at}: 'class NUMBER FIXED', or a band FROM RATE of one")),
            }
        }
        let tariff = Tariff { classes };
        let last = (1 << USED) - 1;
        let dearest = tariff.classes.iter().map(|class| class.price(last)).max();
        match tariff.classes.iter().find(|class| class.bands.0.is_empty()) {
            Some(class) => Err(format!("class {} has no band", class.number)),
            None if dearest.is_none() => Err("no class".into()),
            None if dearest.is_some_and(|price| price >> PRICE > 0) => {
                Err(format!("a price may be {}, and has {PRICE} bits", dearest.unwrap_or(0)))
            }
            None => Ok(tariff),
        }
    }

    /// The price for a customer of a class who has used so much.
    pub fn evaluate(&self, class: u64, used: u64) -> u64 {
        self.classes.iter().find(|one| one.number == class).map_or(0, |class| class.price(used))
    }

    /// The tariff as a circuit of `class` and `used`, with `price`.
    pub fn circuit(&self) -> Circuit {
        let mut c = Builder::new("tariff");
        let (class, used) = (c.uint("class", CLASS), c.uint("used", USED));
        let [mut from, mut rate] = [(); 2].map(|()| UInt::constant(0, USED));
        let mut price = UInt::constant(0, PRICE);
        for one in &self.classes {
            let is_class = equal(&mut c, &class, &UInt::constant(one.number.into(), CLASS));
            for (is_band, band) in one.reached(&mut c, &used) {
                let taken = c.and(is_class, is_band);
                take(&mut c, taken, band.from, &mut from);
                take(&mut c, taken, band.rate, &mut rate);
                take(&mut c, taken, band.price, &mut price);
            }
        }
        let beyond = subtract(&mut c, &used, &from, Goal::Size);
        let product = multiply(&mut c, &beyond, &rate, Goal::Size);
        let sum = add(&mut c, &price, &product, Goal::Size);
        c.output("price", &sum);
        c.finish()
    }
}

/// Adds a constant where a bit is set; of all these bits at most one is.
fn take(c: &mut Builder, taken: Bit, constant: u64, to: &mut UInt) {
    for (_, bit) in to.0.iter_mut().enumerate().filter(|(i, _)| constant >> i & 1 == 1) {
        *bit = c.xor(*bit, taken);
    }
}

impl Class {
    /// What is paid, amount by amount.
    fn price(&self, used: u64) -> u64 {
        let ends = self.bands.0.iter().skip(1).map(|&(from, _)| from).chain([u64::MAX]);
        let paid =
            self.bands.0.iter().zip(ends).map(|(&(from, rate), end)| rate * (used.min(end).saturating_sub(from)));
        self.fixed + paid.sum::<u64>()
    }

    /// The bands, with a bit for each that says whether what is used ends in it.
    fn reached(&self, c: &mut Builder, used: &UInt) -> Vec<(Bit, Band)> {
        let froms = self.bands.0.iter().map(|&(from, _)| UInt::constant(from.into(), USED));
        let at_least: Vec<Bit> = froms.map(|from| greater_or_equal(c, used, &from, Goal::Size)).collect();
        let is = |i: usize, c: &mut Builder| match at_least.get(i + 1) {
            // Whoever has reached the next band has reached this one.
            Some(&next) => c.xor(at_least[i], next),
            None => at_least[i],
        };
        let band = |&(from, rate): &(u64, u64)| Band { from, rate, price: self.price(from) };
        self.bands.0.iter().enumerate().map(|(i, one)| (is(i, c), band(one))).collect()
    }
}
