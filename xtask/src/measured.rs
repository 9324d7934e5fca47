//! Raw figures: how they are taken, and their files in the book, `measured/SUITE/DATE-MACHINE.json`.

use crate::Result;
use crate::book::Book;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::process::{Command, Stdio};

/// The machine on which figures were taken, as `duologue bench --json` names it.
#[derive(Deserialize)]
pub struct Machine {
    pub machine: String,
    pub commit: Option<String>,
    /// R.
    pub openssl_blocks_per_second: Option<f64>,
}

/// The day and the remarks of a raw file.
#[derive(Deserialize)]
pub struct Origin {
    date: String,
    /// What a reader has to know besides.
    #[serde(default)]
    note: String,
}

/// Where the figures of `duologue reproduce --json` come from.
#[derive(Deserialize)]
pub struct Source {
    pub machine: String,
    pub commit: Option<String>,
    pub date: String,
    /// What was particular about the machine on that day.
    #[serde(default)]
    pub note: String,
}

impl Source {
    /// The sentence that says so, with the raw file.
    pub fn line(&self, file: &str) -> String {
        let commit = self.commit.as_deref().unwrap_or("unknown");
        let note = if self.note.is_empty() { String::new() } else { format!(" {}", self.note) };
        format!("{}, {}, commit `{commit}`. [The raw figures]({file}).{note}", self.date, self.machine)
    }
}

/// Runs the command as users have it, which tells its progress on standard error; its JSON.
pub fn duologue(arguments: &[&str]) -> Result<Value> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["run", "--quiet", "--release", "-p", "duologue-cli", "--"]).args(arguments).arg("--json");
    let done = command.current_dir(env!("CARGO_MANIFEST_DIR")).stderr(Stdio::inherit()).output()?;
    match done.status.success() {
        true => Ok(serde_json::from_slice(&done.stdout)?),
        false => Err(format!("duologue {} failed: {}", arguments.join(" "), done.status).into()),
    }
}

/// Saves raw figures under today's date; `report` says on which machine they were taken.
pub fn save(book: &Book, suite: &str, report: &Value, mut raw: Value) -> Result<()> {
    let date = Command::new("date").args(["-u", "+%F"]).output()?.stdout;
    let date = String::from_utf8(date)?.trim().to_string();
    let machine = slug(report["machine"].as_str().unwrap_or_default());
    raw["date"] = date.clone().into();
    let name = format!("measured/{suite}/{date}-{machine}.json");
    book.save(&name, &lines(&raw))?;
    println!("{name}: render it with `make pages`");
    Ok(())
}

/// The newest raw figures, and the name of their file.
pub fn newest<T: DeserializeOwned>(book: &Book, suite: &str) -> Result<(T, String)> {
    let name = book.newest(&format!("measured/{suite}"))?;
    let raw = serde_json::from_str(&book.read(&name)?).map_err(|why| format!("{name}: {why}"))?;
    Ok((raw, name))
}

/// The processor and its cores, in letters that a file name may have.
fn slug(machine: &str) -> String {
    let words = machine.split(", ").take(2).collect::<Vec<_>>().join(" ").to_lowercase().replace("(r)", "");
    let words = words.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

/// JSON with a row of a list a line, so that differences can be read.
fn lines(raw: &Value) -> String {
    raw.to_string().replace("[{", "[\n{").replace("},{", "},\n{").replace("}]", "}\n]") + "\n"
}

/// The sentence on where figures come from.
pub fn origin(machine: &Machine, origin: &Origin, file: &str) -> String {
    let commit = machine.commit.as_ref().map_or(String::new(), |commit| format!(", commit `{commit}`"));
    let blocks = machine.openssl_blocks_per_second.map_or("not known".into(), millions);
    let note = if origin.note.is_empty() { String::new() } else { format!(" {}", origin.note) };
    format!("{}, {}{commit}; R = {blocks}. [The raw figures]({file}).{note}", origin.date, machine.machine)
}

pub fn millions(number: f64) -> String {
    format!("{:.1} M/s", number / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_have_names_of_files() {
        assert_eq!(slug("Intel(R) Xeon(R) Processor, 2 cores, VAES-512, linux"), "intel-xeon-processor-2-cores");
    }

    #[test]
    fn raw_figures_have_a_row_a_line() {
        let raw = serde_json::json!({"date": "2026-01-01", "figures": [{"a": 1}, {"a": 2}]});
        assert_eq!(lines(&raw), "{\"date\":\"2026-01-01\",\"figures\":[\n{\"a\":1},\n{\"a\":2}\n]}\n");
        assert_eq!(serde_json::from_str::<Value>(&lines(&raw)).unwrap(), raw);
    }
}
