//! Inputs cut into rows, and outputs put together again, in memory. Of files the rows are read, and written one after the other.

use super::{Plan, ShardInput, Source};
use crate::data::{Inputs, Outputs};
use crate::{Error, Result};
use circuit::BitMatrix;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// One party's outputs of a job, put together shard by shard: its memory is theirs.
pub struct Merge<'a> {
    plan: &'a Plan,
    /// Which shards were added.
    added: Vec<bool>,
    /// What is put together: outputs of the whole program, and shares for the last one.
    gathered: BTreeMap<String, BitMatrix>,
}

impl<'a> Merge<'a> {
    pub(super) fn new(plan: &'a Plan) -> Merge<'a> {
        Merge { plan, added: vec![false; plan.shards() as usize], gathered: BTreeMap::new() }
    }

    /// Adds what a shard put out, in any order of shards.
    ///
    /// # Errors
    /// [`Error::Usage`] if that shard was added before or does not exist, or if these are not its outputs.
    pub fn add(&mut self, shard: u32, mut outputs: Outputs) -> Result<()> {
        match self.added.get(shard as usize) {
            None => {
                return Err(Error::usage(format!(
                    "shard {shard} of a job of {}: they count from 0",
                    self.plan.shards()
                )));
            }
            Some(true) => return Err(Error::usage(format!("the outputs of shard {shard} were added before"))),
            Some(false) => {}
        }
        let first = !self.added.contains(&true);
        for (name, rows, lanes) in self.ports(shard) {
            match outputs.take(&name) {
                Some(value) => self.put(shard, &name, rows, lanes, &value)?,
                None if first || !self.gathered.contains_key(&name) => {}
                None => {
                    return Err(Error::usage(format!("shard {shard} lacks the output '{name}', which others have")));
                }
            }
        }
        self.added[shard as usize] = true;
        Ok(())
    }

    /// Of each output of a shard its name, the lanes that it has of the whole one, and how many these are.
    fn ports(&self, shard: u32) -> Vec<(String, Range<u64>, u64)> {
        let plan = self.plan;
        let outputs = plan.outputs().iter().filter(|output| output.from == Source::Shards);
        let outputs = outputs.map(|output| (output.name.clone(), plan.output_rows(&output.name, shard), output.lanes));
        let shares = plan.last().into_iter().flat_map(|last| &last.shares);
        outputs.chain(shares.map(|share| (share.name.clone(), share.rows(shard), share.lanes()))).collect()
    }

    fn put(&mut self, shard: u32, name: &str, rows: Range<u64>, lanes: u64, value: &BitMatrix) -> Result<()> {
        let expected = rows.end - rows.start;
        if value.lanes() as u64 != expected {
            let came = value.lanes();
            return Err(Error::usage(format!("the output '{name}' of shard {shard} has {came} lanes, not {expected}")));
        }
        let too_many = |_| Error::usage(format!("the output '{name}' of {lanes} lanes does not fit into memory"));
        let lanes = usize::try_from(lanes).map_err(too_many)?;
        let all = || BitMatrix::zeros(value.rows(), lanes);
        let all = self.gathered.entry(name.to_owned()).or_insert_with(all);
        if all.rows() != value.rows() {
            let (came, expected) = (value.rows(), all.rows());
            return Err(Error::usage(format!(
                "the output '{name}' of shard {shard} has {came} bits a lane, not {expected}"
            )));
        }
        (0..value.rows()).for_each(|row| all.copy_bits(row, rows.start as usize, value, row, 0, 1, value.lanes()));
        Ok(())
    }

    /// Refuses to go on before all shards are there that have lanes.
    fn complete(&self) -> Result<()> {
        let missing = (0..).zip(&self.added).find(|&(shard, &added)| !added && !self.plan.range(shard).is_empty());
        missing.map_or(Ok(()), |(shard, _)| Err(Error::usage(format!("the outputs of shard {shard} are missing"))))
    }

    /// The inputs of the last program: of the whole program's those that it takes, and this party's shares from all shards.
    ///
    /// # Errors
    /// [`Error::Usage`] if a shard is missing, there is no last program, or an input does not have its shape.
    pub fn last_inputs(&self, whole: &Inputs) -> Result<Inputs> {
        self.complete()?;
        let last = self.plan.last().ok_or_else(|| Error::usage("this job has no last program"))?;
        let mut inputs = rows_of(&last.inputs, whole)?;
        for share in &last.shares {
            let gathered = self.gathered.get(&share.name);
            let gathered = gathered.ok_or_else(|| Error::usage(format!("no shard put out '{}'", share.name)))?;
            inputs.set(&share.name, gathered.clone());
        }
        Ok(inputs)
    }

    /// The outputs of the whole program that this party gets, with those of the last program if there is one.
    ///
    /// # Errors
    /// [`Error::Usage`] if a shard or the last program's outputs are missing.
    pub fn finish(mut self, last: Option<Outputs>) -> Result<Outputs> {
        self.complete()?;
        if self.plan.last().is_some() != last.is_some() {
            return Err(Error::usage("outputs of a last program that there is not, or none of one that there is"));
        }
        let mut last = last.unwrap_or_default();
        let named = self.plan.outputs().iter().filter_map(|output| {
            let value = match output.from {
                Source::Shards => self.gathered.remove(&output.name),
                Source::Last => last.take(&output.name),
            };
            value.map(|value| (output.name.clone(), value))
        });
        Ok(named.collect())
    }
}

/// Rows of the whole program's inputs; one that is taken whole is not copied.
pub(super) fn rows_of(inputs: &[ShardInput], whole: &Inputs) -> Result<Inputs> {
    let mut rows = Inputs::new();
    for input in inputs {
        if let Some(value) = whole.shared(&input.name) {
            rows.set(&input.name, cut_rows(input, value)?);
        }
    }
    Ok(rows)
}

fn cut_rows(input: &ShardInput, value: Arc<BitMatrix>) -> Result<Arc<BitMatrix>> {
    let (width, Range { start, end }) = (input.ty.width as usize, input.rows.clone());
    if (value.rows(), value.lanes() as u64) != (width, input.of) {
        let (name, of, lanes, rows) = (&input.name, input.of, value.lanes(), value.rows());
        return Err(Error::usage(format!(
            "the input '{name}' must have {of} lanes of {width} bits, but has {lanes} of {rows}"
        )));
    }
    if (start, end) == (0, input.of) {
        return Ok(value);
    }
    let mut rows = BitMatrix::zeros(width, (end - start) as usize);
    (0..width).for_each(|row| rows.copy_bits(row, 0, &value, row, start as usize, 1, (end - start) as usize));
    Ok(Arc::new(rows))
}
