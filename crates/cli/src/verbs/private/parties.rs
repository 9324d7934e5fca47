//! Both parties of a private function, whatever the method is.

use duologue::Result;
use duologue::channel::Counters;
use pfe::Offer;
use pfe::linear::{self, Linear};
use std::ops::ControlFlow;

/// Alice, who holds the function.
pub trait FunctionHolder {
    fn observe(&mut self, observer: impl FnMut(u64, u64) -> ControlFlow<()> + Send + 'static);
    fn serve(&mut self) -> Result<bool>;
    fn close(self) -> Result<Counters>;
}

/// Bob, who holds the data.
pub trait DataHolder {
    fn offer(&self) -> &Offer;
    fn limit(&mut self, runs: u32);
    fn observe(&mut self, observer: impl FnMut(u64, u64) -> ControlFlow<()> + Send + 'static);
    fn run(&mut self, x: &[bool]) -> Result<Vec<bool>>;
    fn close(self) -> Result<Counters>;
}

impl FunctionHolder for pfe::Alice<'_> {
    fn observe(&mut self, observer: impl FnMut(u64, u64) -> ControlFlow<()> + Send + 'static) {
        self.observe(observer);
    }

    fn serve(&mut self) -> Result<bool> {
        self.serve()
    }

    fn close(self) -> Result<Counters> {
        self.close()
    }
}

impl<S: Linear> FunctionHolder for linear::Alice<'_, S> {
    fn observe(&mut self, observer: impl FnMut(u64, u64) -> ControlFlow<()> + Send + 'static) {
        self.observe(observer);
    }

    fn serve(&mut self) -> Result<bool> {
        self.serve()
    }

    fn close(self) -> Result<Counters> {
        self.close()
    }
}

impl DataHolder for pfe::Bob {
    fn offer(&self) -> &Offer {
        self.offer()
    }

    fn limit(&mut self, runs: u32) {
        self.limit(runs);
    }

    fn observe(&mut self, observer: impl FnMut(u64, u64) -> ControlFlow<()> + Send + 'static) {
        self.observe(observer);
    }

    fn run(&mut self, x: &[bool]) -> Result<Vec<bool>> {
        self.run(x)
    }

    fn close(self) -> Result<Counters> {
        self.close()
    }
}

impl<S: Linear> DataHolder for linear::Bob<S> {
    fn offer(&self) -> &Offer {
        self.offer()
    }

    /// Nothing is kept for another run.
    fn limit(&mut self, _: u32) {}

    fn observe(&mut self, observer: impl FnMut(u64, u64) -> ControlFlow<()> + Send + 'static) {
        self.observe(observer);
    }

    fn run(&mut self, x: &[bool]) -> Result<Vec<bool>> {
        self.run(x)
    }

    fn close(self) -> Result<Counters> {
        self.close()
    }
}
