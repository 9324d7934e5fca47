//! What the examples that measure share.

pub const INPUTS: usize = 64;

/// The data.
pub fn data() -> Vec<bool> {
    (0..INPUTS).map(|bit| 0x9e37_79b9_7f4a_7c15u64 >> bit & 1 == 1).collect()
}

/// Time and memory of this process, where the system tells.
pub fn used() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default().to_owned();
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0) / 100.0;
    format!("{:.2} s of processor, {peak}", ticks(11) + ticks(12))
}
