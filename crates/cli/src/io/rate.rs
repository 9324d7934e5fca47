//! How fast something goes and how long it still takes, from how far it was when.

use std::collections::VecDeque;
use std::time::Duration;

/// The rate counts over the last seconds, so that it follows a line that becomes slower.
const WINDOW: Duration = Duration::from_secs(10);
/// A rate over less time is not worth saying.
const LEAST: Duration = Duration::from_millis(500);
/// Steps that follow one another faster are not all looked at.
const TICK: Duration = Duration::from_millis(50);

/// The progress of one phase. The clock is handed in with each step.
#[derive(Default)]
pub struct Rate {
    /// When how much was done, oldest first.
    steps: VecDeque<(Duration, u64)>,
}

impl Rate {
    /// So much is done at this time; false if that is too soon after the step before. What goes back begins anew.
    pub fn step(&mut self, now: Duration, done: u64) -> bool {
        match self.steps.back() {
            Some((_, before)) if *before > done => self.steps.clear(),
            Some((last, _)) if now.saturating_sub(*last) < TICK => return false,
            _ => {}
        }
        self.steps.push_back((now, done));
        // One step before the window stays, so that what comes rarely has a rate as well.
        while self.steps.len() > 2 && now.saturating_sub(self.steps[1].0) >= WINDOW {
            self.steps.pop_front();
        }
        true
    }

    /// What is done in a second.
    fn per_second(&self) -> Option<f64> {
        let ((first, before), (last, done)) = (self.steps.front()?, self.steps.back()?);
        let time = last.saturating_sub(*first);
        (time >= LEAST && done > before).then(|| (done - before) as f64 / time.as_secs_f64())
    }

    /// `1.20 M/s, 12 s left`; empty as long as nobody can tell.
    pub fn text(&self, total: u64) -> String {
        let done = self.steps.back().map_or(0, |(_, done)| *done);
        match self.per_second() {
            Some(rate) => format!("{}/s, {} left", scaled(rate), time(total.saturating_sub(done) as f64 / rate)),
            None => String::new(),
        }
    }
}

/// A number with three digits and its thousands as a letter.
fn scaled(number: f64) -> String {
    let (size, unit) = match number {
        n if n < 999.5 => (n, ""),
        n if n < 999.5e3 => (n / 1e3, " k"),
        n if n < 999.5e6 => (n / 1e6, " M"),
        n => (n / 1e9, " G"),
    };
    let digits = if size < 9.995 { 2 } else { usize::from(size < 99.95) };
    format!("{size:.digits$}{unit}")
}

/// A time that nobody needs more exactly.
fn time(left: f64) -> String {
    match left {
        t if t < 0.5 => "< 1 s".into(),
        t if t < 99.5 => format!("{t:.0} s"),
        t if t < 5970.0 => format!("{:.0} min", t / 60.0),
        t if t < 172_800.0 => format!("{:.1} h", t / 3600.0),
        t => format!("{:.0} days", t / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn a_steady_rate_tells_the_time_left() {
        let mut rate = Rate::default();
        assert_eq!(rate.text(1000), "");
        rate.step(at(0), 0);
        rate.step(at(100), 10);
        assert_eq!(rate.text(1000), "", "a tenth of a second tells nothing");
        for second in 1..=4 {
            rate.step(at(1000 * second), 100 * second);
        }
        assert_eq!(rate.text(1000), "100/s, 6 s left");
    }

    #[test]
    fn only_the_last_seconds_count() {
        let mut rate = Rate::default();
        for second in 0..100 {
            rate.step(at(1000 * second), 1_000_000 * second);
        }
        assert_eq!(rate.text(1_099_000_000), "1.00 M/s, 17 min left");
        // Then the line becomes a hundred times slower.
        for second in 100..120 {
            rate.step(at(1000 * second), 99_000_000 + 10_000 * (second - 99));
        }
        assert_eq!(rate.text(1_099_200_000), "10.0 k/s, 27.8 h left");
    }

    #[test]
    fn a_rare_step_has_a_rate_as_well() {
        let mut rate = Rate::default();
        rate.step(at(0), 0);
        rate.step(at(60_000), 6);
        rate.step(at(120_000), 12);
        assert_eq!(rate.text(24), "0.10/s, 2 min left");
    }

    #[test]
    fn another_phase_begins_anew() {
        let mut rate = Rate::default();
        rate.step(at(0), 0);
        rate.step(at(1000), 500);
        rate.step(at(1100), 3);
        assert_eq!(rate.text(1000), "");
    }

    #[test]
    fn a_million_steps_a_second_are_not_all_kept() {
        let mut rate = Rate::default();
        for step in 0..1_000_000 {
            rate.step(Duration::from_micros(step), step);
        }
        assert_eq!(rate.steps.len(), 20);
        assert_eq!(rate.text(3_000_000), "1.00 M/s, 2 s left");
    }

    #[test]
    fn times_are_as_exact_as_people_need() {
        let times = [0.2, 1.0, 99.0, 120.0, 5400.0, 7200.0, 400_000.0].map(time);
        assert_eq!(times, ["< 1 s", "1 s", "99 s", "2 min", "90 min", "2.0 h", "5 days"].map(String::from));
    }
}
