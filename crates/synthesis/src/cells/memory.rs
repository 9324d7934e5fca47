//! Memories that are never written: tables.

use super::select::{MOST_INDEX, read};
use super::{Inputs, misshapen};
use crate::cells::arithmetic::{Term, sum};
use crate::cells::state::refuse;
use crate::error::{Error, Result};
use crate::number::Number;
use circuit::{Bit, Builder, UInt};

/// The words that all ports read. What lies outside of the memory, or was not given a value, may be anything.
pub(super) fn reads(c: &mut Builder, inputs: &Inputs) -> Result<Vec<Bit>> {
    let cell = inputs.cell;
    if cell.number("WR_PORTS")? > 0 || cell.flag("RD_CLK_ENABLE") {
        return Err(refuse(cell));
    }
    let rom = Rom::new(inputs)?;
    let address_bits = cell.number("ABITS")?;
    let (addresses, ports) = (inputs.bits("RD_ADDR"), cell.number("RD_PORTS")?);
    if address_bits == 0 || address_bits.checked_mul(ports) != Some(addresses.len()) {
        return Err(misshapen(cell, "RD_ADDR does not have RD_PORTS × ABITS bits"));
    }
    let words = addresses.chunks(address_bits).map(|address| rom.word(c, address, inputs));
    Ok(words.collect::<Result<Vec<_>>>()?.concat())
}

/// A table and the address where it begins.
struct Rom {
    bits: Vec<Bit>,
    size: usize,
    width: usize,
    offset: usize,
}

/// The most bits of a table.
const MOST_BITS: usize = 1 << 22;

impl Rom {
    fn new(inputs: &Inputs) -> Result<Self> {
        let cell = inputs.cell;
        let (size, width, offset) = (cell.number("SIZE")?, cell.number("WIDTH")?, cell.number("OFFSET")?);
        let count = size.checked_mul(width).filter(|bits| (1..=MOST_BITS).contains(bits));
        let Some(count) = count.filter(|_| size <= 1 << MOST_INDEX) else {
            let why = format!("a table of {size} words of {width} bits; the most are 2^16 words and 2^22 bits");
            return Err(Error::design(&cell.place, why, "give one party the table as an input"));
        };
        let init = cell.parameter("INIT").map(|init| init.bits()).unwrap_or_default();
        if init.iter().all(Option::is_none) {
            let hint = "fill it in an initial block, or with $readmemh";
            return Err(Error::design(&cell.place, "a memory that nothing writes or fills", hint));
        }
        let bit = |i: usize| Bit::constant(init.get(i).copied().flatten().unwrap_or(false));
        Ok(Rom { bits: (0..count).map(bit).collect(), size, width, offset })
    }

    fn word(&self, c: &mut Builder, address: &[Bit], inputs: &Inputs) -> Result<Vec<Bit>> {
        let places = self.size.next_power_of_two().ilog2() as usize;
        let address = match self.offset {
            0 => address.to_vec(),
            offset => {
                let offset = Number::unsigned(&UInt::constant(offset as u128, address.len() as u32).0);
                let terms = vec![Term::Word(Number::unsigned(address), false), Term::Word(offset, true)];
                sum(c, terms, address.len(), inputs.goal)
            }
        };
        read(c, &UInt(address).resized(places).0, &self.bits, self.width, inputs.goal)
    }
}
