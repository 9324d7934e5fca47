//! `app:argmin` as the command's flags ask for it: a form of values and a method are a program and a protocol.

use super::load;
use crate::args::{Form, Least, Method, Pair};
use crate::failure::Failure;
use apps::argmin::{self, Direction, MOST_ARGUMENT, MOST_BITS, Tournament};
use duologue::channel::Link;
use duologue::circuit::blocks::Goal;
use duologue::circuit::program::Recipient;
use duologue::circuit::{Party, Program};
use duologue::cost::{Speed, cost_with};
use duologue::{Options, Scheme};

/// A program, and the protocol that its method is; none if any will do.
pub struct Chosen {
    pub program: Program,
    pub scheme: Option<Scheme>,
}

/// Loads a program, or builds the one that finds the least of many values.
pub fn load_with(text: &str, owners: &[Party], least: &Least, sizes: &[Pair<u64>]) -> Result<Chosen, Failure> {
    let asked = least.form.is_some() || least.method.is_some() || least.argument.is_some() || least.schedule.is_some();
    let name = text.strip_prefix("app:argmin").filter(|rest| rest.is_empty() || rest.starts_with(':'));
    let Some(width) = name else {
        if asked {
            let why = "--form, --method, --argument and --schedule are for app:argmin";
            return Err(Failure::input(why));
        }
        return Ok(Chosen { program: load(text, owners)?, scheme: None });
    };
    let wanted = Wanted::new(width, least, sizes)?;
    match least.form.unwrap_or(Form::Shared) {
        Form::Shared => wanted.shared(least.schedule.as_ref()),
        Form::Halves => wanted.halves(),
        Form::Xor => wanted.strings(least.schedule.unwrap_or(Link::INTERNET)),
    }
}

/// What is to be found.
struct Wanted {
    width: u32,
    argument: Option<u32>,
    method: Method,
    /// How many values there are, where it decides how they are compared.
    values: u64,
}

/// Values for which a method is predicted and a schedule is made, unless their number is given.
const USUAL: u64 = 1000;

/// What a random OT takes by the maker that is taken unless another is named, 128 / 4 bits, in thousandths.
const MILLIBITS_OF_OT: u64 = 32_000;

/// ANDs a second in setup and online, for predictions that both parties make alike.
const SPEEDS: [(Scheme, f64, f64); 2] = [(Scheme::Yao, 5e7, 5e7), (Scheme::Gmw, 2e7, 2e8)];

impl Wanted {
    fn new(width: &str, least: &Least, sizes: &[Pair<u64>]) -> Result<Wanted, Failure> {
        let refuse = |why: String| Err(Failure::input(format!("app:argmin: {why}")));
        let width = match width.strip_prefix(':') {
            None => 32,
            Some(width) => super::number(width)?,
        };
        let values = sizes.iter().find(|size| size.name == "values").map_or(USUAL, |size| size.value);
        let method = least.method.unwrap_or(Method::Auto);
        let (index, argument) = match method {
            Method::Kolesnikov | Method::Schneider => (true, false),
            Method::AbyYao | Method::AbyGmw => (false, true),
            Method::Auto | Method::Duologue => (false, false),
        };
        match least.argument {
            _ if !(1..=MOST_BITS).contains(&width) => {
                refuse(format!("bits of a value are 1 to {MOST_BITS}, not {width}"))
            }
            Some(bits) if !(1..=MOST_ARGUMENT).contains(&bits) => {
                refuse(format!("bits of an argument are 1 to {MOST_ARGUMENT}, not {bits}"))
            }
            Some(_) if index => refuse("this method finds an index: leave out --argument".into()),
            None if argument => refuse("this method finds an argument: --argument BITS".into()),
            argument => Ok(Wanted { width, argument, method, values }),
        }
    }

    /// The methods of circuits take values that are shared by XOR.
    fn by_call(&self, program: Program) -> Result<Chosen, Failure> {
        match self.method {
            Method::Auto | Method::Duologue => Ok(Chosen { program, scheme: Some(Scheme::Gmw) }),
            _ => Err(Failure::input("app:argmin: this method takes values that are shared by XOR: --form xor")),
        }
    }

    fn shared(&self, link: Option<&Link>) -> Result<Chosen, Failure> {
        let (values, bits, argument) = (self.values as usize, self.width, self.argument);
        let tournament = Tournament { values, bits, argument, millibits_of_ot: MILLIBITS_OF_OT };
        let groups = link.map_or(Vec::new(), |link| argmin::groups(&tournament, link));
        self.by_call(argmin::shared(self.width, self.argument, Direction::Both, &groups))
    }

    fn halves(&self) -> Result<Chosen, Failure> {
        self.by_call(argmin::halves(self.width, self.argument, Recipient::Both))
    }

    fn strings(&self, link: Link) -> Result<Chosen, Failure> {
        let of = |scheme, goal| (argmin::strings(self.width, self.argument, goal), scheme);
        let (program, scheme) = match self.method {
            Method::Kolesnikov | Method::AbyYao => of(Scheme::Yao, Goal::Size),
            Method::Schneider | Method::AbyGmw => of(Scheme::Gmw, Goal::Depth),
            Method::Duologue => of(Scheme::Gmw, Goal::Size),
            Method::Auto => {
                let all = [of(Scheme::Yao, Goal::Size), of(Scheme::Gmw, Goal::Size), of(Scheme::Gmw, Goal::Depth)];
                self.fastest(all, link)?
            }
        };
        Ok(Chosen { program, scheme: Some(scheme) })
    }

    /// The fastest of these over a link, setup included, by exact bytes and rounds and these speeds.
    fn fastest(&self, all: [(Program, Scheme); 3], link: Link) -> Result<(Program, Scheme), Failure> {
        let mut timed = Vec::new();
        for (program, scheme) in all {
            let cost = cost_with(&program.bind(&[("values", self.values)])?, &Options::new(scheme), &apps::calls())?;
            let speed = SPEEDS.iter().find(|(known, ..)| *known == scheme);
            let (setup, online) = speed.map_or((1e7, 1e7), |&(_, setup, online)| (setup, online));
            let (setup, online) = cost.time(&link, &Speed { setup, online });
            timed.push((setup + online, program, scheme));
        }
        let least = timed.into_iter().min_by_key(|(time, ..)| *time);
        least.map(|(_, program, scheme)| (program, scheme)).ok_or_else(|| Failure::input("no method"))
    }
}
