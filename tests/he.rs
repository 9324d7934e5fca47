//! `duologue he`: keys, encryption and decryption through files.

#[path = "support/process.rs"]
mod process;

use process::Place;

/// Short keys are made quickly, and can be broken.
const SHORT: &str = "--breakable";

fn with_key(place: &Place) {
    let made = place.run(&format!("he keys my.key --new --bits 512 {SHORT} --json")).json();
    assert_eq!(made["bits"], 512);
    assert_eq!(place.run(&format!("he keys my.key {SHORT} --json")).json()["key"], made["key"]);
}

#[test]
fn numbers_go_there_and_back() {
    let place = Place::new();
    with_key(&place);
    let largest = u128::MAX.to_string();
    place.write("numbers", format!("0\n1\n{largest}\n"));
    for whose in ["--public my.key.pub", "--key my.key"] {
        place.run(&format!("he encrypt numbers {whose} -o secret {SHORT}")).succeeded();
        let shown = place.run(&format!("he decrypt secret --key my.key {SHORT}"));
        assert_eq!(shown.succeeded().stdout, format!("0\n1\n{largest}\n"));
        let shown = place.run(&format!("he decrypt secret --key my.key {SHORT} --json")).json();
        assert_eq!(shown["numbers"][2], largest);
    }
    place.write("small", "7\n0\n1023\n5\n");
    let packed = place.run(&format!("he encrypt small --public my.key.pub -o secret --width 10 {SHORT} --json")).json();
    assert_eq!((&packed["numbers"], &packed["ciphertexts"]), (&4.into(), &1.into()));
    let shown = place.run(&format!("he decrypt secret --key my.key --width 10 --count 4 {SHORT}"));
    assert_eq!(shown.succeeded().stdout, "7\n0\n1023\n5\n");
    place.run(&format!("he decrypt secret --key my.key --width 10 --count 3 {SHORT}")).failed(7, &["peer misbehaved"]);
}

#[test]
fn what_cannot_be_used_is_refused() {
    let place = Place::new();
    with_key(&place);
    place.write("numbers", "1\n2\n");
    place.write("words", "one\n");
    place.run(&format!("he encrypt numbers --key my.key -o good {SHORT}")).succeeded();
    let mut bytes = std::fs::read(place.path("good")).unwrap();
    place.write("cut", &bytes[..60]);
    bytes[44..].fill(0);
    place.write("zero", &bytes);
    let public = std::fs::read(place.path("my.key.pub")).unwrap();
    place.write("even.pub", [&public[..12], &[public[12] ^ 1], &public[13..]].concat());
    for (args, code, words) in [
        ("keys my.key --new --bits 512 --breakable", 1, &["never overwritten"][..]),
        ("keys other --new --bits 512", 1, &["2048", "hint: --breakable"]),
        ("keys my.key", 1, &["hint: --breakable"]),
        ("keys none", 8, &["none"]),
        ("encrypt words --key my.key -o x --breakable", 1, &["words, line 1"]),
        ("encrypt numbers --public even.pub -o x --breakable", 7, &["its modulus is even"]),
        ("encrypt numbers --public my.key -o x --breakable", 7, &["not a public key"]),
        ("encrypt numbers --key my.key -o x --breakable --width 1", 1, &["value 1 does not fit its slot of 1 bits"]),
        ("encrypt numbers --key my.key -o x --breakable --width 600", 1, &["do not fit"]),
        ("decrypt cut --key my.key --breakable", 7, &["not as long"]),
        ("decrypt zero --key my.key --breakable", 7, &["ciphertext 0: it is zero"]),
        ("decrypt numbers --key my.key --breakable", 7, &["do not begin"]),
    ] {
        place.run(&format!("he {args}")).failed(code, words);
    }
}

#[test]
fn private_keys_are_sealed_and_for_their_owner_alone() {
    let place = Place::new();
    place.write("seal", [7; 32]);
    place.write("other", [8; 32]);
    #[cfg(unix)]
    for file in ["seal", "other"] {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(place.path(file), std::fs::Permissions::from_mode(0o600)).unwrap();
    }
    place.run(&format!("he keys my.key --new --bits 256 --seal-key seal {SHORT}")).succeeded();
    place.run(&format!("he keys my.key --seal-key seal {SHORT}")).succeeded();
    place.run(&format!("he keys my.key --seal-key other {SHORT}")).failed(7, &["its seal does not open"]);
    place.run(&format!("he keys my.key {SHORT}")).failed(7, &["hint: --seal-key FILE"]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &str| std::fs::metadata(place.path(path)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode("my.key"), 0o600);
        std::fs::set_permissions(place.path("my.key"), std::fs::Permissions::from_mode(0o644)).unwrap();
        place.run(&format!("he keys my.key --seal-key seal {SHORT}")).failed(1, &["others may read", "chmod 600"]);
    }
}
