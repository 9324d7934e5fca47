//! `duologue he`: keys, encryption and decryption through files.

use crate::process::Place;

use he::paillier::SecretKey;
use he::{KeySize, SealKey};

/// Primes of a key of 2,048 bits, so that no test looks for any.
const P: &str = concat!(
    "ce1e3670d04f837fca7c45dc8073891fcf70d49bfa12801b476e7c7dff15827332563a26ea26875dbf4de2b1f83815ef",
    "83f55252f81b762ce344042c009528470cc5ba83fccd1df24b1caa17383b463e138b6ed7ee05dd063439a8e16292181f",
    "602476e626bb9cf87f4738f79dd8810deaec48d956a79a4751e692737a521a7f",
);
const Q: &str = concat!(
    "d72569877834a0e58e6bf5fae8e804ca66bdc04988cfbf75c2800bc7ab2a6580f25bc322af111181866caab83e724737",
    "43a07de4bbe40f1af8b7a13e8e86084d00a9f2a2c1eb909e8d39fca4cb6a276c09e82d7fd9b09d5a8a2c5ccefa36bb75",
    "f930dc8354b505c8c48c4aef448528094c61892ae7f8f7acc0cb066a6a8f4523",
);

fn secret() -> SecretKey {
    let words = |text: &str| -> Vec<u64> {
        let digits = text.as_bytes().rchunks(16).map(|digits| std::str::from_utf8(digits).expect("digits"));
        digits.map(|digits| u64::from_str_radix(digits, 16).expect("digits")).collect()
    };
    SecretKey::from_primes(KeySize::new(2048).expect("a length"), &words(P), &words(Q), &[5]).expect("a key")
}

/// Writes a file that its owner alone may read.
fn write_private(place: &Place, name: &str, content: &[u8]) {
    place.write(name, content);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(place.path(name), std::fs::Permissions::from_mode(0o600)).unwrap();
    }
}

fn with_key(place: &Place) {
    let secret = secret();
    write_private(place, "my.key", &secret.to_file(None).expect("random bytes"));
    place.write("my.key.pub", secret.public().to_bytes());
    let shown = place.run("he keys my.key --json").json();
    assert_eq!((&shown["bits"], &shown["sealed"]), (&2048.into(), &false.into()));
}

#[test]
fn numbers_go_there_and_back() {
    let place = Place::new();
    with_key(&place);
    let largest = u128::MAX.to_string();
    place.write("numbers", format!("0\n1\n{largest}\n"));
    for whose in ["--public my.key.pub", "--key my.key"] {
        place.run(&format!("he encrypt numbers {whose} -o secret")).succeeded();
        let shown = place.run("he decrypt secret --key my.key");
        assert_eq!(shown.succeeded().stdout, format!("0\n1\n{largest}\n"));
        let shown = place.run("he decrypt secret --key my.key --json").json();
        assert_eq!(shown["numbers"][2], largest);
    }
    place.write("small", "7\n0\n1023\n5\n");
    let packed = place.run("he encrypt small --public my.key.pub -o secret --width 10 --json").json();
    assert_eq!((&packed["numbers"], &packed["ciphertexts"]), (&4.into(), &1.into()));
    let shown = place.run("he decrypt secret --key my.key --width 10 --count 4");
    assert_eq!(shown.succeeded().stdout, "7\n0\n1023\n5\n");
    let too_few = place.run("he decrypt secret --key my.key --width 10 --count 3");
    too_few.failed(7, &["peer misbehaved", "hint: --width and --count"]);
    let too_many = place.run("he decrypt secret --key my.key --width 10 --count 300");
    too_many.failed(1, &["--count 300 numbers of --width 10 bits are 2 ciphertexts, not 1"]);
}

#[test]
fn what_cannot_be_used_is_refused() {
    let place = Place::new();
    with_key(&place);
    place.write("numbers", "1\n2\n");
    place.write("words", "one\n");
    place.run("he encrypt numbers --key my.key -o good").succeeded();
    let mut bytes = std::fs::read(place.path("good")).unwrap();
    place.write("cut", &bytes[..60]);
    bytes[44..].fill(0);
    place.write("zero", &bytes);
    let public = std::fs::read(place.path("my.key.pub")).unwrap();
    place.write("even.pub", [&public[..12], &[public[12] ^ 1], &public[13..]].concat());
    let short = [&public[..8], &512_u32.to_le_bytes(), &[1; 128]].concat();
    place.write("short.pub", short);
    write_private(&place, "large", &[0; (1 << 16) + 1]);
    // 2²¹ ciphertexts of 512 bytes are 1 GiB, and 44 bytes go before them.
    place.write("many", "0\n".repeat(1 << 21));
    for (args, code, words) in [
        ("keys my.key --new", 1, &["never overwritten"][..]),
        ("keys other --new --bits 512", 1, &["2048"]),
        ("keys my.key --breakable", 2, &["--breakable"]),
        ("keys large", 1, &["large has more than 65536 bytes"]),
        ("encrypt numbers --public short.pub -o x", 1, &["2048", "512"]),
        ("keys none", 8, &["none"]),
        ("encrypt words --key my.key -o x", 1, &["words, line 1"]),
        ("encrypt numbers --public even.pub -o x", 7, &["its modulus is even"]),
        ("encrypt numbers --public my.key -o x", 7, &["not a public key"]),
        ("encrypt numbers --key my.key -o x --width 1", 1, &["value 1 does not fit its slot of 1 bits"]),
        ("encrypt numbers --key my.key -o x --width 2048", 1, &["do not fit"]),
        ("encrypt many --key my.key -o x", 1, &["2097152 ciphertexts are 1073741868 bytes", "hint: --width"]),
        ("decrypt cut --key my.key", 7, &["not as long"]),
        ("decrypt zero --key my.key", 7, &["ciphertext 0: it is zero"]),
        ("decrypt numbers --key my.key", 7, &["do not begin"]),
    ] {
        place.run(&format!("he {args}")).failed(code, words);
    }
}

#[test]
fn private_keys_are_sealed_and_for_their_owner_alone() {
    let place = Place::new();
    write_private(&place, "seal", &[7; 32]);
    write_private(&place, "other", &[8; 32]);
    write_private(&place, "long", &[8; 4097]);
    let seal_key = SealKey::new(&[7; 32]).expect("long enough");
    write_private(&place, "my.key", &secret().to_file(Some(&seal_key)).expect("random bytes"));
    assert_eq!(place.run("he keys my.key --seal-key seal --json").json()["sealed"], true);
    place.run("he keys my.key --seal-key other").failed(7, &["its seal does not open"]);
    place.run("he keys my.key --seal-key long").failed(1, &["long has more than 4096 bytes"]);
    place.run("he keys my.key").failed(7, &["hint: --seal-key FILE"]);
    write_private(&place, "open.key", &secret().to_file(None).expect("random bytes"));
    place.run("he keys open.key --seal-key seal").failed(7, &["it is not sealed", "hint: leave --seal-key out"]);
    let made = place.run("he keys new.key --new --bits 2048");
    assert!(made.succeeded().stderr.contains("new.key, unsealed: keep it to yourself"), "{}", made.stderr);
    assert!(made.stdout.contains("2048 bits, unsealed"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &str| std::fs::metadata(place.path(path)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode("new.key"), 0o600);
        std::fs::set_permissions(place.path("my.key"), std::fs::Permissions::from_mode(0o644)).unwrap();
        place.run("he keys my.key --seal-key seal").failed(1, &["others may read", "chmod 600"]);
    }
}

/// Alice has ciphertexts of values and arguments, Bob the key; two processes over TCP, in every way.
#[test]
fn the_least_of_ciphertexts_is_found_between_two_processes() {
    let place = Place::new();
    with_key(&place);
    place.write("values", "900\n7\n65535\n7\n12\n");
    place.write("arguments", "1\n200\n3\n4\n255\n");
    for name in ["values", "arguments"] {
        place.run(&format!("he encrypt {name} --public my.key.pub -o {name}.enc")).succeeded();
    }
    let common = "app:argmin:16 --form encrypted --server alice --insecure-plaintext --yes";
    let decrypted = |name: &str| place.run(&format!("he decrypt {name}.enc --key my.key")).succeeded().stdout.clone();
    let index = ("--input values=values.enc --output least=l.enc --output index=s.enc", "1\n");
    let inputs = "--argument 8 --input values=values.enc --input arguments=arguments.enc";
    let argument = (&*format!("{inputs} --output least=l.enc --output argument=s.enc"), "200\n");
    for (flags, (alice, second)) in [
        ("", index),
        ("--correlations silent", argument),
        ("--schedule 200ms,10Mbit", index),
        ("--method duologue --ots one", argument),
        ("--method erkin", argument),
        ("--method erkin", index),
    ] {
        let bob = if second == "1\n" { "" } else { "--argument 8" };
        let bob = format!("{bob} --he-key my.key --size values=5");
        let alice = if flags.contains("schedule") { format!("{alice} --size values=5") } else { alice.to_string() };
        let (alice, bob) = place.both(&format!("{common} {flags}"), &alice, &bob);
        assert_eq!((decrypted("l"), decrypted("s")), ("7\n".into(), second.into()), "{flags}");
        assert!(bob.stdout.contains("bob learns nothing") && alice.stdout.contains("in "), "{}", alice.stdout);
    }
}

#[test]
fn runs_over_ciphertexts_that_cannot_be_say_why() {
    let place = Place::new();
    with_key(&place);
    place.write("values", "9\n7\n");
    place.run("he encrypt values --public my.key.pub -o values.enc").succeeded();
    place.write("other.enc", "duo-hec");
    let run = "run app:argmin:16 --form encrypted --insecure-plaintext --yes --connect 127.0.0.1:1 --wait 0";
    for (flags, words) in [
        ("--as alice", &["--server alice or bob"][..]),
        ("--as alice --server alice", &["--input values=FILE.enc"]),
        ("--as alice --server alice --input values=1,2", &["--input values=FILE.enc"]),
        ("--as alice --server alice --he-key my.key", &["--he-key is for the party that is not the server"]),
        ("--as bob --server alice", &["--he-key FILE"]),
        ("--as bob --server alice --he-key my.key --method kolesnikov --size values=2", &["--form xor"]),
        ("--as bob --server alice --he-key my.key --method boma", &["--leaky"]),
        ("--as bob --server alice --he-key my.key --leaky", &["--leaky is for"]),
    ] {
        place.run(&format!("{run} {flags}")).failed(1, words);
    }
    place.run(&format!("{run} --as alice --server alice --input values=other.enc")).failed(7, &["other.enc"]);
    let cost = "cost app:argmin:32 --form encrypted --server alice --argument 32 --size values=1000 --json";
    assert!(place.run(cost).json()["protocols"][0]["setup"].is_object());
    let prepare = "prepare app:argmin:16 --as bob --insecure-plaintext --connect 127.0.0.1:1 --to runs --size values=2";
    place.run(&format!("{prepare} --form encrypted --server alice --he-key my.key")).failed(1, &["are not prepared"]);
}
