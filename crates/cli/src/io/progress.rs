//! A progress bar for what takes longer than a second, if standard error is a terminal.

use crate::io::rate::Rate;
use duologue::{Phase, Progress};
use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(1);

/// Shows how far a run is; it goes on whatever happens here.
pub fn bar(title: String) -> impl FnMut(&Progress) -> ControlFlow<()> + Send + use<> {
    let start = Instant::now();
    let mut line = Line::new(title);
    move |&Progress { phase, done, total, .. }| {
        line.update(start.elapsed(), name(phase), done, total);
        ControlFlow::Continue(())
    }
}

/// Shows how far a run is that is counted in points.
pub fn points(title: &str) -> impl FnMut(u64, u64) -> ControlFlow<()> + Send + use<> {
    let start = Instant::now();
    let mut line = Line::new(title.to_owned());
    move |done, total| {
        line.update(start.elapsed(), "gates and outputs", done, total);
        ControlFlow::Continue(())
    }
}

/// What is shown of a run, and how fast its phase goes.
struct Line {
    title: String,
    phase: &'static str,
    rate: Rate,
    bar: Option<ProgressBar>,
}

impl Line {
    fn new(title: String) -> Line {
        Line { title, phase: "", rate: Rate::default(), bar: None }
    }

    fn update(&mut self, now: Duration, phase: &'static str, done: u64, total: u64) {
        if phase != self.phase {
            (self.phase, self.rate) = (phase, Rate::default());
        }
        let news = self.rate.step(now, done);
        if now < PATIENCE {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| make(total));
        if news {
            bar.set_message(format!("{}, {phase}", self.title));
            bar.set_length(total);
            bar.set_prefix(self.rate.text(total));
        }
        bar.set_position(done);
    }
}

fn name(phase: Phase) -> &'static str {
    match phase {
        Phase::Setup => "setup ",
        Phase::Online => "online",
    }
}

fn make(total: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg}  {wide_bar}  {human_pos} of {human_len}  {elapsed}  {prefix}");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::new(total).with_finish(ProgressFinish::AndClear);
    bar.with_style(style)
}
