//! The columns that a query speaks of, how their cells are read, and constants of them.

use crate::args::Join;
use crate::failure::{Exit, Failure};
use apps::join::{Column, Number};
use duologue::circuit::{Kind, Party, Type, int};
use values::{Form, Wanted, csv};

/// How the cells of a column are read.
pub enum Cells {
    /// Whole numbers, or what a form makes such of.
    Numbers {
        ty: Type,
        form: Form,
        digits: u32,
    },
    Text,
}

/// A column that both parties declare.
pub struct Declared {
    pub column: Column,
    pub cells: Cells,
}

/// All columns of both tables.
pub struct Columns(Vec<Declared>);

impl Columns {
    pub fn new(args: &Join) -> Result<Columns, Failure> {
        let mut all: Vec<Declared> = Vec::new();
        for (party, texts) in [(Party::Alice, &args.alice), (Party::Bob, &args.bob)] {
            for text in texts {
                let new = Declared::new(party, text)?;
                if all.iter().any(|known| known.column.party == party && known.column.name == new.column.name) {
                    return Err(refuse(format!("the column {} is declared twice", new.column)));
                }
                all.push(new);
            }
        }
        Ok(Columns(all))
    }

    /// The column of a name, which may have that of its party before it.
    pub fn find(&self, name: &str) -> Result<&Declared, Failure> {
        let (party, plain) = match name.split_once('.') {
            Some(("alice", rest)) => (Some(Party::Alice), rest),
            Some(("bob", rest)) => (Some(Party::Bob), rest),
            _ => (None, name),
        };
        let of = |declared: &&Declared| {
            declared.column.name == name
                || declared.column.name == plain && party.is_none_or(|party| party == declared.column.party)
        };
        let mut found = self.0.iter().filter(of);
        match (found.next(), found.next()) {
            (Some(one), None) => Ok(one),
            (Some(_), Some(_)) => {
                Err(refuse(format!("both tables have a column '{name}'")).hint("write alice.NAME or bob.NAME"))
            }
            (None, _) => Err(refuse(format!("no column '{name}' is declared"))
                .hint("--alice COLUMN or --bob COLUMN, at both parties")),
        }
    }

    /// The column of a name as numbers.
    pub fn number(&self, name: &str) -> Result<Number, Failure> {
        let declared = self.find(name)?;
        let bits =
            declared.bits().ok_or_else(|| refuse(format!("{} is text, and is not added up", declared.column)))?;
        Ok(Number { column: declared.column.clone(), bits })
    }

    /// What was declared of a column of the query.
    pub fn of(&self, column: &Column) -> Option<&Declared> {
        self.0.iter().find(|declared| declared.column == *column)
    }

    pub fn all(&self, party: Party) -> impl Iterator<Item = &Declared> {
        self.0.iter().filter(move |declared| declared.column.party == party)
    }
}

fn refuse(why: String) -> Failure {
    Failure::new(Exit::CommandLine, why)
}

impl Declared {
    fn new(party: Party, text: &str) -> Result<Declared, Failure> {
        let (name, form) = text.split_once(':').unwrap_or((text, ""));
        let column = Column { party, name: name.into(), form: form.into() };
        if name.is_empty() {
            return Err(refuse(format!("'{text}' has no name of a column")));
        }
        let cells = cells(form).map_err(|why| Failure { message: format!("{column}: {}", why.message), ..why })?;
        Ok(Declared { column, cells })
    }

    /// Bits of a number with its sign.
    fn bits(&self) -> Option<u32> {
        match &self.cells {
            Cells::Numbers { ty, .. } if ty.kind == Kind::Int => Some(ty.width),
            Cells::Numbers { ty, .. } => Some(ty.width + 1),
            Cells::Text => None,
        }
    }

    /// A constant as the query has it: a number as the cells are read, text as it is.
    pub fn constant(&self, text: &str) -> Result<String, Failure> {
        let Cells::Numbers { ty, form, .. } = &self.cells else { return Ok(text.into()) };
        let cell = format!("constant\n\"{}\"\n", text.replace('"', "\"\""));
        let wanted = Wanted { column: "constant", ty: *ty, form };
        let read = csv::columns(cell.as_bytes(), "the query", &[wanted]).ok().and_then(|mut read| read.pop().flatten());
        let number = read.and_then(|read| read.to_numbers::<i64>().ok()?.pop());
        let number = number.ok_or_else(|| refuse(format!("'{text}' is no constant of {}, {ty}", self.column)))?;
        Ok(number.to_string())
    }
}

/// A form whose type is of whole numbers of up to 64 bits with their sign.
fn cells(text: &str) -> Result<Cells, Failure> {
    if text == "text" {
        return Ok(Cells::Text);
    }
    let (said, empty) = match text.find("null=") {
        Some(at) if at == 0 || text.as_bytes()[at - 1] == b':' => text.split_at(at),
        _ => (text, ""),
    };
    let parts: Vec<&str> = said.split(':').filter(|part| !part.is_empty()).collect();
    let ty: Vec<Type> = parts.iter().filter_map(|part| part.parse().ok()).collect();
    let (ty, more) = (ty.first().copied().unwrap_or(int(32)), ty.len() > 1);
    let most = if ty.kind == Kind::Int { 64 } else { 63 };
    if more || !matches!(ty.kind, Kind::Int | Kind::UInt) || ty.width > most {
        return Err(refuse(
            "columns are text, or whole numbers of one type: int(1) to int(64), uint(1) to uint(63)".into(),
        ));
    }
    let mut rest: Vec<&str> = parts.into_iter().filter(|part| part.parse::<Type>().is_err()).collect();
    let digits = rest.iter().find_map(|part| part.strip_prefix("decimal(")?.strip_suffix(')')?.parse().ok());
    if !empty.is_empty() {
        rest.push(empty);
    }
    let form = if rest.is_empty() { Form::default() } else { rest.join(":").parse()? };
    Ok(Cells::Numbers { ty, form, digits: digits.unwrap_or(0) })
}
