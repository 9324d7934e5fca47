//! Consent to a run: before the first run of a program with a peer, the user sees who supplies and who learns what.
//!
//! It is remembered for one program (its digest covers every step), one peer and one part in it. Sizes are not part of
//! it: each party sets its own, and a peer with others is refused. Without keys nobody knows who the peer is, so nothing
//! is remembered.

use crate::failure::{Exit, Failure};
use crate::io::console::{self, Console};
use crate::io::{paths, shown, sizes};
use duologue::Party;
use duologue::circuit::Binding;
use duologue::circuit::program::{Owner, Recipient};
use std::fmt::Display;
use std::fs::{self, OpenOptions};
use std::io::{self, BufRead, ErrorKind, IsTerminal, Write};
use std::path::Path;

/// How the user consents.
pub enum Given<'a> {
    /// In advance, to anything.
    Yes,
    /// In advance, to the program with this digest.
    Digest(&'a str),
    /// When asked, or once before.
    Ask,
}

/// A run as the user sees it.
pub struct Proposal<'a> {
    pub binding: &'a Binding,
    pub digest: String,
    pub party: Party,
    /// The protocol, or how it is found.
    pub protocol: String,
    /// The peer's key, if there is one.
    pub peer: Option<String>,
    /// The name that the user gave to it.
    pub peer_name: Option<String>,
}

impl Proposal<'_> {
    /// Fails unless the user consents.
    pub fn obtain(&self, given: &Given, console: &Console) -> Result<(), Failure> {
        match given {
            Given::Yes => Ok(()),
            Given::Digest(expected) => self.compare(expected),
            Given::Ask => self.ask_once(console),
        }
    }

    fn compare(&self, expected: &str) -> Result<(), Failure> {
        if expected.eq_ignore_ascii_case(&self.digest) {
            return Ok(());
        }
        let name = self.binding.program().name();
        let why = format!("'{name}' has the digest {}, not the expected one", self.digest);
        Err(Failure::new(Exit::Refused, why))
    }

    fn ask_once(&self, console: &Console) -> Result<(), Failure> {
        let file = paths::consent()?;
        if self.is_remembered(&file)? {
            console.note("You consented to this program with this peer before.");
            return Ok(());
        }
        if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
            let why = "nobody is at a terminal to consent to this run";
            let hint = format!("--yes, or --expect-digest {}", self.digest);
            return Err(Failure::new(Exit::Refused, why).hint(hint));
        }
        if !ask(self, io::stdin().lock(), io::stderr())? {
            return Err(Failure::new(Exit::Refused, "you did not consent: nothing was sent"));
        }
        self.remember(&file)
    }

    /// The line that is remembered.
    fn line(&self) -> Option<String> {
        let peer = self.peer.as_ref()?;
        Some(format!("{} {peer} {}", self.digest, self.party))
    }

    fn is_remembered(&self, file: &Path) -> Result<bool, Failure> {
        let Some(line) = self.line() else {
            return Ok(false);
        };
        match fs::read_to_string(file) {
            Ok(text) => Ok(text.lines().any(|known| known == line)),
            Err(why) if why.kind() == ErrorKind::NotFound => Ok(false),
            Err(why) => Err(Failure::io(format!("reading {}", file.display()))(why)),
        }
    }

    fn remember(&self, file: &Path) -> Result<(), Failure> {
        let Some(line) = self.line() else {
            return Ok(());
        };
        paths::make_folder(file)?;
        let append = |line: String| {
            let mut file = OpenOptions::new().append(true).create(true).open(file)?;
            // One write: two processes do not mix their lines.
            file.write_all(line.as_bytes())
        };
        append(line + "\n").map_err(Failure::io(format!("writing {}", file.display())))
    }
}

/// Fails unless the user consents to what is shown, now: nothing of it is remembered.
pub fn obtain(shown: &impl Display, yes: bool) -> Result<(), Failure> {
    if yes {
        return Ok(());
    }
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        let why = "nobody is at a terminal to consent to this run";
        return Err(Failure::new(Exit::Refused, why).hint("--yes consents in advance"));
    }
    let consents = ask(shown, io::stdin().lock(), io::stderr())?;
    if consents { Ok(()) } else { Err(Failure::new(Exit::Refused, "you did not consent: no data was used")) }
}

fn ask(proposal: &impl Display, mut answer: impl BufRead, mut to: impl Write) -> Result<bool, Failure> {
    let terminal = || Failure::io("asking on the terminal");
    write!(to, "{proposal}\nRun it? [y/N] ").map_err(terminal())?;
    to.flush().map_err(terminal())?;
    let mut line = String::new();
    answer.read_line(&mut line).map_err(terminal())?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

impl Display for Proposal<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let peer = self.peer.as_deref().unwrap_or("whoever connects, without encryption");
        let name = self.peer_name.as_ref().map_or(String::new(), |name| format!("{}, ", shown::name(name)));
        writeln!(f, "program  {}", shown::name(self.binding.program().name()))?;
        writeln!(f, "digest   {}", self.digest)?;
        writeln!(f, "peer     {name}{peer}")?;
        writeln!(f, "you are  {}, by {}", self.party, self.protocol)?;
        if !self.binding.sizes().is_empty() {
            writeln!(f, "sizes    {}", sizes::text(self.binding))?;
        }
        write!(f, "\n{}", ports(self.binding, Some(self.party)))
    }
}

/// Who supplies and who learns what; `us` marks what concerns us.
pub fn ports(binding: &Binding, us: Option<Party>) -> String {
    let inputs = binding.inputs().iter().map(|port| {
        let ours = us.is_some_and(|us| port.who == Owner::Party(us));
        row(owner(port.who), &port.name, port.ty.to_string(), port.lanes, ours)
    });
    let outputs = binding.outputs().iter().map(|port| {
        let learns = |us| matches!(port.who, Recipient::Both) || port.who == Recipient::Party(us);
        let ours = us.is_some_and(learns);
        row(recipient(port.who), &port.name, port.ty.to_string(), port.lanes, ours)
    });
    console::table("lllrl", &inputs.chain(outputs).collect::<Vec<_>>())
}

fn row(who: &str, name: &str, ty: String, lanes: u64, ours: bool) -> Vec<String> {
    let mark = if ours { "(you)" } else { "" };
    vec![who.into(), shown::name(name), ty, console::count(lanes, "lane"), mark.into()]
}

/// Who supplies an input, as the start of a sentence about it.
pub fn owner(owner: Owner) -> &'static str {
    match owner {
        Owner::Party(Party::Alice) => "alice supplies",
        Owner::Party(Party::Bob) => "bob supplies",
        Owner::Public => "both know",
        Owner::Shared => "both hold a share of",
    }
}

/// Who learns an output, as the start of a sentence about it.
pub fn recipient(recipient: Recipient) -> &'static str {
    match recipient {
        Recipient::Party(Party::Alice) => "alice learns",
        Recipient::Party(Party::Bob) => "bob learns",
        Recipient::Both => "both learn",
        Recipient::Shared => "both get a share of",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use duologue::circuit::{Program, uint};

    #[test]
    fn names_cannot_be_taken_for_what_the_screen_says() {
        let mut p = Program::new("sum  alice learns  x");
        let lanes = p.size("n = 1, m\u{202e}", 1..=9);
        let x = p.input("x  uint(8)  1 lane  (you)", Party::Bob, uint(8), lanes);
        p.output("nothing\u{200b}\u{a0}", Party::Alice, x);
        let binding = p.bind(&[("n = 1, m\u{202e}", 3)]).unwrap();
        let digest = "d".repeat(64);
        let proposal = Proposal {
            binding: &binding,
            digest,
            party: Party::Alice,
            protocol: "yao".into(),
            peer: Some("duo1".into()),
            peer_name: Some("bob".into()),
        };
        let expected = [
            r#"program  "sum \u{20}alice learns \u{20}x""#,
            &format!("digest   {}", "d".repeat(64)),
            "peer     bob, duo1",
            "you are  alice, by yao",
            r#"sizes    "n = 1, m\u{202e}" = 3"#,
            "",
            r#"  bob supplies  "x \u{20}uint(8) \u{20}1 lane \u{20}(you)"  uint(8)  3 lanes"#,
            r#"  alice learns  "nothing\u{200b}\u{a0}"                     uint(8)  3 lanes  (you)"#,
        ];
        assert_eq!(proposal.to_string().lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn only_yes_is_yes() {
        for (answer, yes) in
            [("y\n", true), ("yes\n", true), ("Y\n", true), ("\n", false), ("", false), ("no\n", false)]
        {
            let mut shown = Vec::new();
            assert_eq!(ask(&"a program", answer.as_bytes(), &mut shown).unwrap(), yes, "{answer:?}");
            assert_eq!(shown, b"a program\nRun it? [y/N] ");
        }
    }
}
