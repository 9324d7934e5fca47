use super::*;
use duologue::Scheme;
use duologue::channel::Identity;
use duologue::ot::Extension;
use proptest::prelude::*;
use std::sync::LazyLock;

static KEY: LazyLock<String> = LazyLock::new(|| Identity::generate().unwrap().public().to_string());

fn read(text: &str) -> Result<Config, Failure> {
    let path = PathBuf::from("folder/config.toml");
    Ok(Config { content: parse(text, &path)?, path: Some(path) })
}

#[test]
fn everything_that_it_may_hold_is_read() {
    let text = format!(
        "key = 'my.key'\n[defaults]\nprotocol = 'gmw-masked'\ngarbling = 'three-halves'\ncorrelations = 'softspoken2'\n\
         threads = 2\nbackend = 'portable'\n[peers.bob]\nkey = '{0}'\naddress = 'b:7'\n[peers.\"b.2\"]\nkey = '{0}'\n",
        *KEY
    );
    let config = read(&text).unwrap();
    let Defaults { protocol, garbling, correlations, threads, backend } = config.defaults();
    assert_eq!((*protocol, *garbling), (Some(Protocol::This(Scheme::MaskedGmw)), Some(Garbling::ThreeHalves)));
    assert_eq!((*correlations, *threads), (Some(Maker(Some(Extension::SoftSpoken { k: 2 }))), Some(2)));
    assert_eq!(backend.map(Backend::name), Some("portable"));
    assert_eq!(config.key(None).unwrap(), Path::new("folder/my.key"));
    assert_eq!(config.key(Some(&"other".into())).unwrap(), Path::new("other"));
    assert_eq!(config.peer_key(&"bob".parse().unwrap()).unwrap().to_string(), *KEY);
    assert_eq!((config.address("bob").unwrap(), config.address("h:1").unwrap()), ("b:7", "h:1"));
    assert_eq!(config.name_of(&KEY.parse().unwrap()).map(PeerName::as_str), Some("b.2"));
    let auto = read("[defaults]\nprotocol = 'auto'\ncorrelations = 'auto'").unwrap();
    assert_eq!((auto.defaults().protocol, auto.defaults().correlations), (Some(Protocol::Auto), Some(Maker(None))));
    assert!(read("").unwrap().peers().is_empty());
}

#[test]
fn what_it_may_not_hold_is_named_with_its_line() {
    let peer = format!("[peers.bob]\nkey = '{}'\n", *KEY);
    for (text, line, words) in [
        ("kee = 1", 1, "unknown field 'kee'"),
        ("\n[defaults]\n\ntreads = 4", 4, "unknown field 'treads'"),
        ("[defaults]\nlink = 'lan'", 2, "unknown field 'link'"),
        (&format!("{peer}adress = 'x:1'"), 3, "unknown field 'adress'"),
        ("[peers.bob]\naddress = 'x:1'", 1, "missing field 'key'"),
        ("[peers.bob]\nkey = 'duo1x'", 2, "characters"),
        ("[peers.'b o b']\nkey = 'x'", 1, "is no name"),
        ("[defaults]\nthreads = 0", 2, "1 to 256, not 0"),
        ("[defaults]\nprotocol = 'yoa'", 2, "auto, or a protocol: no protocol is called 'yoa'"),
        ("[defaults]\ncorrelations = 'silence'", 2, "'silence' is no maker of correlations"),
        ("[defaults]\nbackend = 'sse'", 2, "'sse' is no set of instructions"),
        ("key = 1\n", 1, "string"),
        ("key = '''\n-----BEGIN PRIVATE KEY-----\n'''", 1, "no key stands here itself"),
        ("a = 1\n=", 2, ""),
        ("key = 'a'\nkey = 'b'\n", 2, "duplicate key"),
    ] {
        let Err(failure) = read(text) else { panic!("{text:?} is read") };
        assert_eq!(failure.exit, Exit::Malformed);
        let place = format!("folder/config.toml, line {line}: ");
        assert!(failure.message.starts_with(&place), "{text:?}: {}", failure.message);
        assert!(failure.message.contains(words) && !failure.message.contains('\n'), "{text:?}: {}", failure.message);
    }
}

#[test]
fn names_are_neither_keys_nor_addresses() {
    for good in ["bob", "b", "Bob-2.example_x", "0"] {
        assert!(good.parse::<PeerName>().is_ok(), "{good}");
    }
    let long = "a".repeat(41);
    for bad in ["", "duo1abc", "DUO1", "a b", "a:1", "-x", ".", "bob\u{202e}", "b\u{f6}b", &long] {
        assert!(bad.parse::<PeerName>().is_err(), "{bad}");
    }
    assert!(matches!(KEY.parse(), Ok(PeerKey::Key(_))));
    assert!(matches!("bob".parse(), Ok(PeerKey::Name(_))));
    assert!(format!("{}x", *KEY).parse::<PeerKey>().is_err());
}

#[test]
fn whoever_has_no_name_or_no_address_is_told() {
    let config = read(&format!("[peers.bob]\nkey = '{}'\n", *KEY)).unwrap();
    for (given, words) in [("bob", "no address of 'bob'"), ("carol", "no port and is no peer's name")] {
        let failure = config.address(given).unwrap_err();
        assert!(failure.message.contains(words), "{}", failure.message);
    }
    assert!(config.peer("carol").is_err_and(|failure| failure.hint.unwrap().contains("bob")));
}

#[test]
fn defaults_reach_the_command_line_and_flags_go_before_them() {
    use crate::args::Args;
    let text = "[defaults]\nprotocol = 'gmw'\ngarbling = 'three-halves'\ncorrelations = 'softspoken2'\nthreads = 3\n\
                backend = 'portable'\n";
    let command = read(text).unwrap().defaults().apply(Args::whole());
    let value = |line: &str, flag: &str| {
        let matches = command.clone().try_get_matches_from(line.split(' ')).unwrap_or_else(|why| panic!("{why}"));
        let mut at = &matches;
        while let Some((_, deeper)) = at.subcommand() {
            at = deeper;
        }
        let mut raw = at.get_raw(flag).unwrap_or_else(|| panic!("no {flag}"));
        raw.next().unwrap().to_str().unwrap().to_string()
    };
    let run = "duologue run x --as bob --connect a:1 --insecure-plaintext";
    for (flag, default) in
        [("protocol", "gmw"), ("garbling", "three-halves"), ("correlations", "softspoken2"), ("threads", "3")]
    {
        assert_eq!(value(run, flag), default);
    }
    assert_eq!(value(&format!("{run} --protocol yao --threads 1"), "protocol"), "yao");
    assert_eq!(value(&format!("{run} --protocol yao --threads 1"), "threads"), "1");
    let auto = read("[defaults]\nprotocol = 'auto'").unwrap().defaults().apply(Args::whole());
    let matches = auto.try_get_matches_from(run.split(' ')).unwrap();
    let protocol: &Protocol = matches.subcommand().unwrap().1.get_one("protocol").unwrap();
    assert_eq!(*protocol, Protocol::Auto);
    // A default contradicts no flag.
    assert_eq!(value(&format!("{run} --prepared folder"), "protocol"), "gmw");
    assert_eq!(value("duologue cost x", "garbling"), "three-halves");
    assert_eq!(value("duologue prepare x --as bob --connect a:1 --insecure-plaintext --to f", "threads"), "3");
    assert_eq!(value("duologue pool fill --as bob --connect a:1 --insecure-plaintext --pool f", "threads"), "3");
}

proptest! {
    #[test]
    fn no_text_is_a_panic(text in "[a-z0-9.\\[\\]='\"\\n #{},\\\\]{0,200}", at in any::<prop::sample::Index>(), with in any::<char>()) {
        let _ = read(&text);
        let good = format!("key = 'k'\n[defaults]\nthreads = 2\n[peers.bob]\nkey = '{}'\naddress = 'b:7'\n", *KEY);
        let mut changed: Vec<char> = good.chars().collect();
        let at = at.index(changed.len());
        changed[at] = with;
        let _ = read(&changed.into_iter().collect::<String>());
    }
}
