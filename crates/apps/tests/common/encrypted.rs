//! The least of encrypted values by any of the protocols, over a pair of channels, against going through the values.
//!
//! Keys are made of fixed primes, as making them takes long: everybody has them.

use super::Random;
use apps::argmin::encrypted::{Keys, Method, Terms, lanes_of, numbers_of};
use duologue::channel::Channel;
use duologue::circuit::program::{Functionality, Holder};
use duologue::circuit::{BitMatrix, Party};
use duologue::session::CallArg;
use duologue::{Options, Outcome, Result, Scheme, Session};
use he::paillier::SecretKey;
use he::{KeySize, Plaintexts};
use kernels::Block;
use kernels::generator::Generator;
use std::sync::Arc;
use std::thread;

/// A key of this many bits, 1,024, 2,048 or 3,072.
pub fn key(bits: u32) -> SecretKey {
    let (_, p, q) = PRIMES.iter().find(|(length, ..)| *length == bits).expect("a length with primes");
    let size = KeySize::even_if_it_can_be_broken(bits).expect("a length");
    SecretKey::from_primes(size, &words(p), &words(q), &[3, 5]).expect("primes of a key")
}

fn words(hex: &str) -> Vec<u64> {
    let digits: Vec<char> = hex.chars().filter(char::is_ascii_hexdigit).collect();
    let word =
        |digits: &[char]| digits.iter().fold(0, |word, digit| word << 4 | u64::from(digit.to_digit(16).unwrap()));
    digits.rchunks(16).map(word).collect()
}

/// Values and arguments, with the terms for them.
#[derive(Clone)]
pub struct Case {
    pub method: Method,
    pub terms: Terms,
    pub values: Vec<u128>,
    /// As many, or none with an index.
    pub arguments: Vec<u128>,
}

impl Case {
    /// Values of which many are equal, and some are 0 or the largest there is.
    pub fn new(method: Method, terms: Terms, values: usize, dice: &mut Random) -> Case {
        let number =
            |dice: &mut Random, bits: u32| (u128::from(dice.word()) << 64 | u128::from(dice.word())) >> (128 - bits);
        let largest = u128::MAX >> (128 - terms.bits);
        let few = [0, largest, largest - 1, number(dice, terms.bits), number(dice, terms.bits)];
        let kind = dice.below(3);
        let value = |dice: &mut Random| match kind {
            0 => number(dice, terms.bits),
            1 => few[1 + dice.below(4) as usize],
            _ => few[dice.below(5) as usize],
        };
        let list = (0..values).map(|_| value(dice)).collect();
        let argument = |dice: &mut Random, bits: u32| match dice.below(4) {
            0 => u128::MAX >> (128 - bits),
            _ => number(dice, bits),
        };
        let arguments = terms.argument.map(|bits| (0..values).map(|_| argument(dice, bits)).collect());
        Case { method, terms, values: list, arguments: arguments.unwrap_or_default() }
    }

    /// The least value and its argument or index, the first of equals.
    pub fn expected(&self) -> (u128, u128) {
        let place = (0..self.values.len()).min_by_key(|&place| self.values[place]).expect("a value");
        (self.values[place], self.arguments.get(place).copied().unwrap_or(place as u128))
    }

    /// The server's ciphertexts.
    pub fn encrypted(&self, key: &SecretKey, dice: &mut Random) -> Vec<BitMatrix> {
        let mut random = Generator::from_seed(Block::new(dice.word().into()));
        let mut lanes = |numbers: &[u128]| {
            let ciphertexts = key.encrypt(&Plaintexts::new(numbers), &mut random).expect("numbers that fit");
            lanes_of(&key.public().write_numbers(&ciphertexts).expect("of the key"), self.terms.key_bits)
                .expect("whole")
        };
        [&self.values, &self.arguments]
            .into_iter()
            .filter(|numbers| !numbers.is_empty())
            .map(|numbers| lanes(numbers))
            .collect()
    }

    /// One party's run; `args` are the server's.
    pub fn run(&self, session: &mut Session, args: &[BitMatrix], keys: &Keys, options: &Options) -> Result<Outcome> {
        let server = self.terms.server;
        let call: Arc<dyn Functionality> = self.method.call(keys);
        let arg = |value: &BitMatrix| {
            let own = (session.party() == server).then(|| value.clone());
            CallArg::new(Holder::Party(server), value.rows() as u32, value.lanes() as u64, own)
        };
        let args = args.iter().map(arg).collect();
        session.call(&call, &self.terms.to_bytes(), args, options)
    }
}

/// The terms for a key, by which Alice is the server.
pub fn terms(key: &SecretKey, bits: u32, argument: Option<u32>) -> Terms {
    let public = key.public();
    Terms::new(Party::Alice, (public.size().bits(), public.id()), bits, argument)
}

/// Runs cases of one key in one session; the outcomes of both parties.
pub fn run_all(cases: &[Case], key: &SecretKey) -> [Vec<Outcome>; 2] {
    let mut dice = Random(99);
    let args: Vec<Vec<BitMatrix>> = cases.iter().map(|case| case.encrypted(key, &mut dice)).collect();
    let (alice, bob) = Channel::pair();
    let act = |channel, party| {
        let clients = [keys_of(key), Keys::none().even_if_they_can_be_broken()];
        let mut session = Session::connect(channel, party).unwrap();
        let run = |(case, args): (&Case, &Vec<BitMatrix>)| {
            let keys = &clients[usize::from(case.terms.server == party)];
            session.register(case.method.call(keys));
            case.run(&mut session, args, keys, &Options::new(Scheme::Gmw)).unwrap()
        };
        let outcomes = cases.iter().zip(&args).map(run).collect();
        session.close().unwrap();
        outcomes
    };
    thread::scope(|scope| {
        let bob = scope.spawn(|| act(bob, Party::Bob));
        [act(alice, Party::Alice), bob.join().unwrap()]
    })
}

/// The client's, of any length.
pub fn keys_of(key: &SecretKey) -> Keys {
    let file = key.to_file(None).expect("random bytes");
    let copy = SecretKey::from_file(&file, None, KeySize::even_if_it_can_be_broken).expect("a key");
    Keys::of_client(copy).even_if_they_can_be_broken()
}

/// The plaintexts of the server's results; the client has none.
pub fn found(case: &Case, outcomes: [&Outcome; 2], key: &SecretKey) -> (u128, u128) {
    let [server, client] = [case.terms.server, case.terms.server.peer()].map(|party| outcomes[party as usize]);
    assert!(client.outputs.iter().next().is_none(), "the client gets nothing");
    plain(server, key)
}

/// The plaintexts of what the server got.
pub fn plain(server: &Outcome, key: &SecretKey) -> (u128, u128) {
    let plain = ["0", "1"].map(|name| {
        let numbers = numbers_of(server.outputs.get(name).expect("the server gets it"));
        let ciphertexts = key.public().read_numbers(&numbers).expect("a ciphertext");
        key.decrypt(&ciphertexts).expect("of the key").to_u128s().expect("a number of 128 bits")[0]
    });
    (plain[0], plain[1])
}

/// Runs cases of one key in one session and checks what they find, by their order's first of equals.
pub fn check_all(cases: &[Case], key: &SecretKey) {
    let [alice, bob] = run_all(cases, key);
    for ((case, alice), bob) in cases.iter().zip(&alice).zip(&bob) {
        let what = format!("{:?}, {} values, {:?}", case.method, case.values.len(), case.terms);
        assert_eq!(found(case, [alice, bob], key), case.expected(), "{what}");
    }
}

/// Primes p and q that are 3 modulo 4, with no odd factor of p − 1 or q − 1 below 2^16, for keys of these lengths.
const PRIMES: [(u32, &str, &str); 3] = [
    (
        1024,
        "e336d7d1ed934d3dae585e6f3db237cc6222df4fe87a5f4f12c57eca0ae0c80b5c35135e92d109d9825bdd4dc86c2406 \
         d0fe377d0ba6eaf094b866abc5e5513f",
        "fe66c33e2373bcf35cad706d53b6fdd643d4f9b6991311876128e73e4597127e5f316b3a2310feaa9246e0f865938528 \
         7b70f9450b562561756097efa306e73b",
    ),
    (
        2048,
        "c4af9a2f6ed93dbc5fb3d8d9763032d36cad8470f6a2086c434b2a567fed2ca6fd662946580c108193019c7239d11de0 \
         cfef45457ed6e0e595698e74b3df20c93e5559983c1dd09372ba18f2bdb40163f4311845baa989f42c062b6fc30244be \
         5e8b7264adb40b8ebb15d2043fef1888f7dd5c28d55c4df3d71b451099330833",
        "d055a1008d3ba0f4f5d21f7caa49ec390d90735b519b98b22067013651f604ae779feec25ebd3d7dcdc20ea566e34512 \
         66dcaea5fe96d13b09bf20e617da8eb86c1c5777388f0f00f7208139a3dbdf9c6f4f2b2a82339bb2be8e6cfc6ba95254 \
         88e86ab474fe178ea133de177a041aaa61f7d21b3cc9e06d1071d514eb921f67",
    ),
    (
        3072,
        "d6f7e66f8061682b7b19347a5077862092d1e17d2144a8235970d02588f1231a049d35376ac44bc755ddbf2ef8f535e5 \
         939b86d1ccf6d60ff2d8e3d8cdfc39f403e6678a77b70274d77853807aea7ea8958129e000ffab4100e375dd21327993 \
         418d65dcf2961ee9e0c1a2a42b28b41decfa98e25345fe783d86704f46267bda7fc199771344e72ab4b588664b4e6ff4 \
         f005267fa7512e30cff6322b8b47f75165e53901b023f61d722ef8b30088ee7439e7201d818f3c4144cbf8ef82cdd953",
        "e902820c182d917f8e4d810ccce628b6fe6a58509d778cc7a7943dd6637af146f811364c328ea2deeb0c025d1e94fcc7 \
         a1e4726a0eade10fb9d131dae0dbab7c794fa94649336ec6a24710a3fcd5378bde2c900293744bc001582839b624bc97 \
         ce56cbdcd804eb13963cb3a8c7b0e5fba2dcc75a0dd0c8884a3c95277f4b77bf5ec03d3a70db38a4633ec9a3da264828 \
         700f4aa5d4a7dc563afb90fc9e5d5ec6f353bb3c587e3bc2d638aa5588e164b31c26a591f9e9e839c872c0148c86e6f3",
    ),
];
