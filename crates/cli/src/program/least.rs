//! `app:argmin` as the command's flags ask for it: a form of values and a method are a program and a protocol.

mod fastest;

use super::load;
use crate::args::{Form, HeSecret, Least, Method, Ots, Pair, Source};
use crate::failure::Failure;
use crate::io::ciphertexts::{self, KeyOf};
use apps::argmin::encrypted::{self, Keys, Terms};
use apps::argmin::{self, Direction, Found, Held, MOST_ARGUMENT, MOST_BITS, MOST_LANES, Tournament};
use duologue::call::Calls;
use duologue::channel::Link;
use duologue::circuit::blocks::Goal;
use duologue::circuit::program::{Recipient, Step};
use duologue::circuit::{Party, Program};
use duologue::correlation::choice;
use duologue::cost::cost_over;
use duologue::ot::Extension;
use duologue::ot::silent::Set;
use duologue::{Conditions, Garbling, Options, Scheme, Timing};

/// A program, and the protocol that its method is; none if any will do.
pub struct Chosen {
    pub program: Program,
    pub scheme: Option<Scheme>,
    /// Inputs that the command draws where they are not given: they must be random, and each serves once.
    pub blinds: &'static [&'static str],
    /// Of ciphertexts: what this party has of their key, and its digest.
    pub encrypted: Option<(Keys, [u8; 32])>,
    /// How it was predicted to be garbled, where that was a choice.
    pub garbled: Option<(Garbling, Timing)>,
    /// Whether the user consents to what the program tells a party beside its results.
    leaky: bool,
    /// Whether a call does all of it, which is the same whatever runs around it.
    by_call: bool,
}

/// Where correlations come from, as far as both parties say the same of it.
#[derive(Clone, Copy, Default)]
pub struct Supply {
    /// The maker, if it is named.
    pub maker: Option<Extension>,
    pub pool: bool,
}

impl Supply {
    /// Whether the first few OTs of a direction cost next to nothing, and more in one direction less than half in each.
    fn favours_one_direction(&self) -> bool {
        !self.pool && self.maker == Some(Extension::Silent(Set::BY_DEMAND))
    }
}

impl Chosen {
    fn any(program: Program) -> Chosen {
        Chosen { program, scheme: None, blinds: &[], encrypted: None, garbled: None, leaky: false, by_call: false }
    }

    fn by(program: Program, scheme: Scheme) -> Chosen {
        Chosen { scheme: Some(scheme), ..Chosen::any(program) }
    }

    /// The calls that a session registers to run the program.
    ///
    /// # Errors
    /// If it calls one that tells a party more than its result, and the user has not consented.
    pub fn calls(&self) -> Result<Calls, Failure> {
        let keys = self.encrypted.as_ref().map_or_else(Keys::none, |(keys, _)| keys.clone());
        let calls = apps::calls_with(&keys);
        match leak_of(&self.program) {
            Some((name, tells)) if !self.leaky => {
                let why = format!("the program calls '{name}', which {tells}: it runs only if both parties consent");
                Err(Failure::input(why).hint("--leaky consents"))
            }
            Some(_) => Ok(apps::leaky_calls(&keys).iter().cloned().fold(calls, Calls::with)),
            None => Ok(calls),
        }
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
            Some(_) if self.encrypted.is_some() => {
                Err(Failure::input("app:argmin: runs over ciphertexts are not prepared: take --pool"))
            }
            Some(scheme) if scheme != Scheme::Yao && !self.by_call => {
                let why = format!("app:argmin: runs are prepared by yao, and this method runs by {scheme}");
                Err(Failure::input(why).hint("--method kolesnikov, or aby_yao with --argument, is by yao"))
            }
            _ => Ok(Scheme::Yao),
        }
    }
}

/// Loads a program, or builds the one that finds the least of many values.
pub fn load_with(
    text: &str,
    owners: &[Party],
    least: &Least,
    sizes: &[Pair<u64>],
    supply: Supply,
    ours: &Ours<'_>,
) -> Result<Chosen, Failure> {
    let Least { form, method, argument, schedule, ots, leaky, server, he_key, seal_key: _, key_bits } = least;
    let of_ciphertexts = server.is_some() || he_key.is_some() || key_bits.is_some();
    let asked = form.is_some()
        || method.is_some()
        || argument.is_some()
        || schedule.is_some()
        || ots.is_some()
        || of_ciphertexts;
    let name = text.strip_prefix("app:argmin").filter(|rest| rest.is_empty() || rest.starts_with(':'));
    let Some(width) = name else {
        if asked {
            let why =
                "--form, --method, --argument, --schedule, --ots, --server, --he-key and --key-bits are for app:argmin";
            return Err(Failure::input(why));
        }
        let chosen = Chosen { leaky: *leaky, ..Chosen::any(load(text, owners)?) };
        if *leaky && leak_of(&chosen.program).is_none() {
            let why = "--leaky is for programs that tell a party more than their results: this one tells nothing else";
            return Err(Failure::input(why));
        }
        return Ok(chosen);
    };
    let wanted = Wanted::new(width, least, sizes, supply)?;
    let form = form.unwrap_or(Form::Shared);
    if form == Form::Halves && ots.is_some() {
        return Err(Failure::input("app:argmin: --ots is for the other forms: private halves have one way"));
    }
    if form != Form::Encrypted && of_ciphertexts {
        return Err(Failure::input("app:argmin: --server, --he-key and --key-bits are for form encrypted"));
    }
    let chosen = match form {
        Form::Shared => wanted.shared(schedule.as_ref(), *ots),
        Form::Halves => wanted.halves(schedule.as_ref()),
        Form::Xor => wanted.strings(schedule.as_ref(), *ots),
        Form::Encrypted => wanted.encrypted(least, ours),
    };
    Ok(Chosen { leaky: *leaky, ..chosen? })
}

/// The first call of a program that tells a party more than its result, and what it tells.
fn leak_of(program: &Program) -> Option<(&str, &'static str)> {
    program.steps().iter().find_map(|step| match step {
        Step::Call { name, .. } => Some((name.as_str(), apps::leak_of(name)?)),
        _ => None,
    })
}

/// Who runs a program, and what it hands in.
#[derive(Default)]
pub struct Ours<'a> {
    pub party: Option<Party>,
    pub inputs: &'a [Source],
}

impl Ours<'_> {
    /// The key of all files of ciphertexts that are handed in.
    fn key_of_inputs(&self) -> Result<KeyOf, Failure> {
        let files = self.inputs.iter().filter(|input| input.value.ends_with(ciphertexts::EXTENSION));
        let keys = files.map(|file| ciphertexts::key_of(&file.value)).collect::<Result<Vec<_>, _>>()?;
        match &keys[..] {
            [] => {
                let why = "app:argmin: the server gives its ciphertexts: --input values=FILE.enc";
                Err(Failure::input(why).hint("`duologue he encrypt` makes such files"))
            }
            [first, others @ ..] if others.iter().all(|key| key == first) => Ok(*first),
            _ => Err(Failure::input("app:argmin: values and arguments are ciphertexts of two keys")),
        }
    }
}

/// What is to be found.
struct Wanted {
    width: u32,
    argument: Option<u32>,
    method: Method,
    /// How many values there are, where it is given.
    given: Option<u64>,
    supply: Supply,
}

/// Values for which a method is predicted and a schedule is made, unless their number is given.
const USUAL: u64 = 1000;

/// What a session takes from a pool at once, of both directions together, after a round trip.
const OTS_OF_A_POOL_AT_ONCE: u128 = 1 << 20;

/// Bits of values up to which circuits are laid out level by level where they need not be: all of a level is held at once.
const MOST_IN_LEVELS: u64 = 1 << 23;

impl Wanted {
    fn new(width: &str, least: &Least, sizes: &[Pair<u64>], supply: Supply) -> Result<Wanted, Failure> {
        let refuse = |why: String| Err(Failure::input(format!("app:argmin: {why}")));
        let width = match width.strip_prefix(':') {
            None => 32,
            Some(width) => super::number(width)?,
        };
        let given = sizes.iter().find(|size| size.name == "values").map(|size| size.value);
        // A schedule for more than can be run would be long in the making; binding refuses that number by name.
        let given = given.map(|values| values.clamp(1, MOST_LANES));
        let method = least.method.unwrap_or(Method::Auto);
        let (index, argument) = match method {
            Method::Kolesnikov | Method::Schneider => (true, false),
            Method::AbyYao | Method::AbyGmw | Method::Huang => (false, true),
            Method::Auto | Method::Duologue | Method::Boma | Method::Erkin => (false, false),
        };
        match least.argument {
            _ if !(1..=MOST_BITS).contains(&width) => {
                refuse(format!("bits of a value are 1 to {MOST_BITS}, not {width}"))
            }
            _ if least.leaky != matches!(method, Method::Huang | Method::Boma) => refuse(consent(least.leaky)),
            Some(bits) if !(1..=MOST_ARGUMENT).contains(&bits) => {
                refuse(format!("bits of an argument are 1 to {MOST_ARGUMENT}, not {bits}"))
            }
            Some(_) if index => refuse("this method finds an index: leave out --argument".into()),
            None if argument => refuse("this method finds an argument: --argument BITS".into()),
            argument => Ok(Wanted { width, argument, method, given, supply }),
        }
    }

    fn values(&self) -> u64 {
        self.given.unwrap_or(USUAL)
    }

    /// The methods of circuits take values that are shared by XOR.
    fn by_call(&self, program: Program, blinds: &'static [&'static str]) -> Result<Chosen, Failure> {
        match self.method {
            Method::Auto | Method::Duologue => Ok(Chosen { blinds, by_call: true, ..Chosen::by(program, Scheme::Gmw) }),
            Method::Boma | Method::Erkin => {
                Err(Failure::input("app:argmin: this method takes ciphertexts: --form encrypted"))
            }
            _ => Err(Failure::input("app:argmin: this method takes values that are shared by XOR: --form xor")),
        }
    }

    fn shared(&self, link: Option<&Link>, ots: Option<Ots>) -> Result<Chosen, Failure> {
        let direction = self.direction(ots);
        let program = |groups: &[u32]| argmin::shared(self.width, self.argument, direction, groups);
        let blinds = &["alice_least"];
        let Some(link) = link else { return self.by_call(program(&[]), blinds) };
        let millibits_of_ot = self.millibits_of_ot(&program(&[]), link)?;
        let (values, bits, argument) = (self.values() as usize, self.width, self.argument);
        let groups = argmin::groups(&Tournament { values, bits, argument, direction, millibits_of_ot }, link);
        self.by_call(program(&groups), blinds)
    }

    fn encrypted(&self, least: &Least, ours: &Ours<'_>) -> Result<Chosen, Failure> {
        let refuse = |why: &str| Err(Failure::input(format!("app:argmin: {why}")));
        let method = match self.method {
            Method::Erkin | Method::Boma if least.ots.is_some() => {
                return refuse("this method takes no OTs for its comparisons: leave out --ots");
            }
            // Whoever says how ours takes its OTs takes ours.
            Method::Auto => least.ots.map(|_| encrypted::Method::Duologue),
            Method::Duologue => Some(encrypted::Method::Duologue),
            Method::Boma => Some(encrypted::Method::Boma),
            Method::Erkin => Some(encrypted::Method::Erkin),
            _ => return refuse("this method takes values that are shared by XOR: --form xor"),
        };
        let Some(server) = least.server else {
            return refuse("--server alice or bob says who has the ciphertexts; both parties give the same");
        };
        if least.key_bits.is_some() && (ours.party.is_some() || least.he_key.is_some()) {
            return refuse("--key-bits is for costs, where there is no key: leave it out");
        }
        let mut keys = Keys::none();
        let key = match (&least.he_key, ours.party) {
            (Some(_), Some(party)) if party == server => {
                return refuse("--he-key is for the party that is not the server");
            }
            (Some(file), _) => {
                let secret = HeSecret { seal_key: least.seal_key.clone() }.load(file)?;
                let public = secret.public();
                let key = (public.id(), public.size().bits());
                keys = Keys::of_client(secret);
                key
            }
            (None, Some(party)) if party == server => ours.key_of_inputs()?,
            (None, Some(_)) => return refuse("--he-key FILE is the key of the ciphertexts"),
            (None, None) => ([0; 32], least.key_bits.unwrap_or(3072)),
        };
        let theirs = Terms { leaky: least.leaky, ..Terms::new(server, (key.1, key.0), self.width, self.argument) };
        let ours = Terms { direction: self.direction(least.ots), ..theirs.clone() };
        match (method, &least.schedule) {
            (None | Some(encrypted::Method::Duologue), None) => {
                Ok(self.of_ciphertexts(encrypted::Method::Duologue, &ours, keys))
            }
            (Some(method), None) => Ok(self.of_ciphertexts(method, &theirs, keys)),
            (Some(encrypted::Method::Boma | encrypted::Method::Erkin), Some(_)) => {
                refuse("this method compares pairs: leave out --schedule")
            }
            (method, Some(link)) => {
                let ours = Terms { groups: self.groups_of_ciphertexts(&ours, link)?, ..ours };
                let alike = Terms { statistical: theirs.statistical + self.bits_of_all_numbers(), ..theirs };
                let erkin = method.is_none() && self.prefers_erkin(&ours, &alike, link)?;
                let ours = (encrypted::Method::Duologue, &ours);
                let (method, terms) = if erkin { (encrypted::Method::Erkin, &alike) } else { ours };
                Ok(self.of_ciphertexts(method, terms, keys))
            }
        }
    }

    /// The groups of our tournament over a line.
    fn groups_of_ciphertexts(&self, ours: &Terms, link: &Link) -> Result<Vec<u32>, Failure> {
        let program = argmin::of_ciphertexts(encrypted::Method::Duologue, ours);
        let millibits_of_ot = self.millibits_of_ot(&program, link)?;
        // All that is carried is selected as one number, an index too.
        let argument = Some(self.argument.unwrap_or(self.values().next_power_of_two().ilog2()) + 1);
        let (values, bits, direction) = (self.values() as usize, self.width, ours.direction);
        Ok(argmin::groups(&Tournament { values, bits, argument, direction, millibits_of_ot }, link))
    }

    /// By so many bits more each number of Erkin's tournament is blinded, four of them a value, where all together are to be hidden
    /// as well as ours.
    fn bits_of_all_numbers(&self) -> u32 {
        (4 * self.values()).next_power_of_two().ilog2()
    }

    fn of_ciphertexts(&self, method: encrypted::Method, terms: &Terms, keys: Keys) -> Chosen {
        let program = argmin::of_ciphertexts(method, terms);
        Chosen { encrypted: Some((keys, terms.key)), by_call: true, ..Chosen::by(program, Scheme::Gmw) }
    }

    fn direction(&self, ots: Option<Ots>) -> Direction {
        match ots {
            Some(Ots::One) => Direction::One,
            None if self.supply.favours_one_direction() => Direction::One,
            _ => Direction::Both,
        }
    }

    fn halves(&self, link: Option<&Link>) -> Result<Chosen, Failure> {
        if link.is_some() {
            return Err(Failure::input("app:argmin: private halves take one comparison: leave out --schedule"));
        }
        self.by_call(argmin::halves(self.width, self.argument, Recipient::Both), &[])
    }

    fn strings(&self, link: Option<&Link>, ots: Option<Ots>) -> Result<Chosen, Failure> {
        if ots.is_some() && self.method != Method::Duologue {
            return Err(Failure::input(
                "app:argmin: with form xor, --ots is for --method duologue: the others are circuits",
            ));
        }
        if link.is_some() && self.method != Method::Auto {
            let why = "app:argmin: with form xor only the method auto looks at a line: leave out --schedule";
            return Err(Failure::input(why));
        }
        match self.method {
            Method::Kolesnikov => Ok(Chosen::by(self.levels(Found::Index, Goal::Size)?, Scheme::Yao)),
            Method::Schneider => Ok(Chosen::by(self.levels(Found::Index, Goal::Depth)?, Scheme::Gmw)),
            Method::Huang => {
                Ok(Chosen::by(self.levels(Found::Walk(self.argument.unwrap_or(1)), Goal::Size)?, Scheme::Yao))
            }
            Method::AbyYao => Ok(Chosen::by(self.pairs(Goal::Size), Scheme::Yao)),
            Method::AbyGmw => Ok(Chosen::by(self.pairs(Goal::Depth), Scheme::Gmw)),
            Method::Duologue if ots.is_some() || self.supply.favours_one_direction() => {
                Ok(self.strings_by_ots(self.direction(ots)))
            }
            Method::Duologue => Ok(Chosen::by(self.pairs(Goal::Size), Scheme::Gmw)),
            Method::Auto => self.fastest_of_strings(link.unwrap_or(&Link::INTERNET)),
            Method::Boma | Method::Erkin => {
                Err(Failure::input("app:argmin: this method takes ciphertexts: --form encrypted"))
            }
        }
    }

    fn strings_by_ots(&self, direction: Direction) -> Chosen {
        let program = argmin::strings_by_ots(self.width, self.argument, direction);
        Chosen { by_call: true, ..Chosen::by(program, Scheme::Gmw) }
    }

    /// A program for as many values as are given, level by level.
    fn levels(&self, found: Found, goal: Goal) -> Result<Program, Failure> {
        let values = self.given.ok_or_else(|| {
            let why = "app:argmin: a program of this method is made for a number of values: --size values=N";
            Failure::input(why).hint("both parties give the same")
        })?;
        Ok(argmin::levels(self.width, found, goal, Held::Shared(values)))
    }

    /// The circuits of pairs. An index takes fewer ANDs where the number of values is known.
    fn pairs(&self, goal: Goal) -> Program {
        match (self.argument, self.given) {
            (None, Some(values)) if values * u64::from(self.width) <= MOST_IN_LEVELS => {
                argmin::levels(self.width, Found::Index, goal, Held::Shared(values))
            }
            (argument, _) => argmin::strings(self.width, argument, goal),
        }
    }

    /// What a random OT of a program takes over a link by the maker that is named, or chosen for it, base OTs included, in
    /// thousandths of a bit; from a pool its part of a round trip.
    fn millibits_of_ot(&self, program: &Program, link: &Link) -> Result<u64, Failure> {
        if self.supply.pool {
            let rate = u128::from(link.bits_per_second.unwrap_or(0));
            let bits_of_round_trip = link.round_trip.as_micros() * rate / 1_000_000;
            return Ok(u64::try_from(1000 * bits_of_round_trip / OTS_OF_A_POOL_AT_ONCE).unwrap_or(u64::MAX));
        }
        let binding = program.bind(&[("values", self.values())])?;
        let cost = |maker| cost_over(&binding, &Options::new(Scheme::Gmw).extension(maker), &apps::calls(), link);
        let demand = cost(Extension::DEFAULT)?.demand;
        let maker = self.supply.maker.unwrap_or_else(|| choice::choose(demand, &Conditions::of(link)));
        let setup = cost(maker)?.setup;
        let millibits = (setup.alice_to_bob + setup.bob_to_alice).saturating_mul(8000);
        Ok(millibits.checked_div(demand.cots_by_alice + demand.cots_by_bob).unwrap_or(0))
    }
}

/// Why a method that leaks needs a flag, or a flag a method.
fn consent(given: bool) -> String {
    match given {
        true => "--leaky is for the methods huang and boma: this one leaks nothing".into(),
        false => "huang shows Bob the place of the least value, and boma the key's owner the sizes of all differences that are \
                  compared: both parties consent by --leaky"
            .into(),
    }
}

#[cfg(test)]
mod tests;
