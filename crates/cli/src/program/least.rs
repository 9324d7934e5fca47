//! `app:argmin` as the command's flags ask for it: a form of values and a method are a program and a protocol.

use super::load;
use crate::args::{Form, Least, Method, Pair};
use crate::failure::Failure;
use apps::argmin::{self, Direction, MOST_ARGUMENT, MOST_BITS, MOST_LANES, Tournament};
use duologue::channel::Link;
use duologue::circuit::blocks::Goal;
use duologue::circuit::program::Recipient;
use duologue::circuit::{Party, Program};
use duologue::correlation::choice;
use duologue::cost::{Speed, cost_over};
use duologue::ot::Extension;
use duologue::{Conditions, Options, Scheme};

/// A program, and the protocol that its method is; none if any will do.
pub struct Chosen {
    pub program: Program,
    pub scheme: Option<Scheme>,
    /// Whether a call does all of it, which is the same whatever runs around it.
    by_call: bool,
}

impl Chosen {
    fn any(program: Program) -> Chosen {
        Chosen { program, scheme: None, by_call: false }
    }

    /// The protocol of a run.
    ///
    /// # Errors
    /// If the user asks for another than the method is.
    pub fn scheme_of_run(&self, protocol: Scheme, asked: bool) -> Result<Scheme, Failure> {
        match self.scheme {
            Some(scheme) if asked && scheme != protocol => {
                let why = format!("app:argmin: this form and method run by {scheme}, not by {protocol}");
                Err(Failure::input(why).hint("leave out --protocol, or give another --method"))
            }
            Some(scheme) => Ok(scheme),
            None => Ok(protocol),
        }
    }

    /// The protocol of prepared runs, which is Yao: what the garbler sends can be made ahead.
    ///
    /// # Errors
    /// If the method is another one.
    pub fn scheme_prepared(&self) -> Result<Scheme, Failure> {
        match self.scheme {
            Some(scheme) if scheme != Scheme::Yao && !self.by_call => {
                let why = format!("app:argmin: runs are prepared by yao, and this method runs by {scheme}");
                Err(Failure::input(why).hint("--method kolesnikov, or aby_yao with --argument, is by yao"))
            }
            _ => Ok(Scheme::Yao),
        }
    }
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
        return Ok(Chosen::any(load(text, owners)?));
    };
    let wanted = Wanted::new(width, least, sizes)?;
    match least.form.unwrap_or(Form::Shared) {
        Form::Shared => wanted.shared(least.schedule.as_ref()),
        Form::Halves => wanted.halves(least.schedule.as_ref()),
        Form::Xor => wanted.strings(least.schedule.as_ref()),
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

/// ANDs a second in setup and online, for predictions that both parties make alike.
fn speed(scheme: Scheme) -> Speed {
    let (setup, online) = if scheme == Scheme::Yao { (5e7, 5e7) } else { (2e7, 2e8) };
    Speed { setup, online }
}

impl Wanted {
    fn new(width: &str, least: &Least, sizes: &[Pair<u64>]) -> Result<Wanted, Failure> {
        let refuse = |why: String| Err(Failure::input(format!("app:argmin: {why}")));
        let width = match width.strip_prefix(':') {
            None => 32,
            Some(width) => super::number(width)?,
        };
        let values = sizes.iter().find(|size| size.name == "values").map_or(USUAL, |size| size.value);
        // A schedule for more than can be run would be long in the making; binding refuses that number by name.
        let values = values.clamp(1, MOST_LANES);
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
            Method::Auto | Method::Duologue => Ok(Chosen { program, scheme: Some(Scheme::Gmw), by_call: true }),
            _ => Err(Failure::input("app:argmin: this method takes values that are shared by XOR: --form xor")),
        }
    }

    fn shared(&self, link: Option<&Link>) -> Result<Chosen, Failure> {
        let program = |groups: &[u32]| argmin::shared(self.width, self.argument, Direction::Both, groups);
        let Some(link) = link else { return self.by_call(program(&[])) };
        let millibits_of_ot = millibits_of_ot(&program(&[]), self.values, link)?;
        let (values, bits, argument) = (self.values as usize, self.width, self.argument);
        let groups = argmin::groups(&Tournament { values, bits, argument, millibits_of_ot }, link);
        self.by_call(program(&groups))
    }

    fn halves(&self, link: Option<&Link>) -> Result<Chosen, Failure> {
        if link.is_some() {
            return Err(Failure::input("app:argmin: private halves take one comparison: leave out --schedule"));
        }
        self.by_call(argmin::halves(self.width, self.argument, Recipient::Both))
    }

    fn strings(&self, link: Option<&Link>) -> Result<Chosen, Failure> {
        if link.is_some() && self.method != Method::Auto {
            let why = "app:argmin: with form xor only the method auto looks at a line: leave out --schedule";
            return Err(Failure::input(why));
        }
        let of = |scheme, goal| (argmin::strings(self.width, self.argument, goal), scheme);
        let (program, scheme) = match self.method {
            Method::Kolesnikov | Method::AbyYao => of(Scheme::Yao, Goal::Size),
            Method::Schneider | Method::AbyGmw => of(Scheme::Gmw, Goal::Depth),
            Method::Duologue => of(Scheme::Gmw, Goal::Size),
            Method::Auto => {
                let all = [of(Scheme::Yao, Goal::Size), of(Scheme::Gmw, Goal::Size), of(Scheme::Gmw, Goal::Depth)];
                self.fastest(all, link.unwrap_or(&Link::INTERNET))?
            }
        };
        Ok(Chosen { program, scheme: Some(scheme), by_call: false })
    }

    /// The fastest of these over a link, setup included, by exact bytes and rounds and these speeds, with the maker of
    /// correlations that is chosen for the link.
    fn fastest(&self, all: [(Program, Scheme); 3], link: &Link) -> Result<(Program, Scheme), Failure> {
        let mut timed = Vec::new();
        for (program, scheme) in all {
            let binding = program.bind(&[("values", self.values)])?;
            let cost = cost_over(&binding, &Options::new(scheme), &apps::calls(), link)?;
            let (setup, online) = cost.time(link, &speed(scheme));
            timed.push((setup + online, program, scheme));
        }
        let least = timed.into_iter().min_by_key(|(time, ..)| *time);
        least.map(|(_, program, scheme)| (program, scheme)).ok_or_else(|| Failure::input("no method"))
    }
}

/// What a random OT of a program takes over a link by the maker that is chosen for it, base OTs included, in thousandths of a
/// bit. Whether a pool has them does not count: it would make another program of the same words.
fn millibits_of_ot(program: &Program, values: u64, link: &Link) -> Result<u64, Failure> {
    let binding = program.bind(&[("values", values)])?;
    let cost = |maker| cost_over(&binding, &Options::new(Scheme::Gmw).extension(maker), &apps::calls(), link);
    let demand = cost(Extension::DEFAULT)?.demand;
    let setup = cost(choice::choose(demand, &Conditions::of(link)))?.setup;
    let millibits = (setup.alice_to_bob + setup.bob_to_alice).saturating_mul(8000);
    Ok(millibits.checked_div(demand.cots_by_alice + demand.cots_by_bob).unwrap_or(0))
}
