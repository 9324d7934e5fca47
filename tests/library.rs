//! The table of the library: what is committed in the book is what is built, and no published figure is lost.

#[path = "support/process.rs"]
mod process;

use process::Place;
use serde_json::Value;
use std::fs;

fn table(place: &Place, args: &str) -> Vec<Value> {
    place.run(args).json().as_array().expect("a list").clone()
}

#[test]
fn the_book_shows_what_is_built() {
    let place = Place::new();
    let rows = table(&place, "circuits --book . --json");
    for name in ["circuits.md", "circuits.svg"] {
        let committed = fs::read_to_string(format!("{}/../../docs/{name}", env!("CARGO_MANIFEST_DIR"))).expect(name);
        let made = fs::read_to_string(place.path(name)).expect(name);
        assert!(committed == made, "docs/{name} is not what is built: run `make tables`");
    }
    let published: Vec<&Value> = rows.iter().filter(|row| !row["source"].is_null()).collect();
    let csv = include_str!("../crates/cli/data/published.csv");
    let lines = csv.lines().filter(|line| !line.starts_with('#')).count() - 1;
    let mut names: Vec<(String, String, String)> = published.iter().map(|row| key(row)).collect();
    names.dedup();
    assert_eq!(names.len(), lines, "no row is hidden");
    for row in published {
        assert_ne!(row["verdict"], "loss", "{row}");
    }
}

fn key(row: &Value) -> (String, String, String) {
    let text = |name: &str| row[name].to_string();
    (text("name"), text("width"), text("reference_ands"))
}

#[test]
fn words_choose_rows() {
    let place = Place::new();
    let rows = table(&place, "circuits subtract --json");
    assert!(!rows.is_empty() && rows.iter().all(|row| row["program"].as_str().unwrap().contains("subtract")));
    for row in &rows {
        for name in
            ["name", "width", "goal", "ands", "depth", "live", "reference_ands", "reference_depth", "source", "proof"]
        {
            assert!(row.get(name).is_some(), "no {name} in {row}");
        }
    }
    let sub = rows.iter().find(|row| row["name"] == "sub" && row["width"] == 32 && row["goal"] == "size").unwrap();
    assert_eq!((&sub["ands"], &sub["reference_ands"]), (&31.into(), &241.into()));
    assert!(place.run("circuits subtract").succeeded().stdout.contains(" 0 loss."));
    place.run("circuits nothing_of_this_name").failed(1, &["no circuit is called", "hint: "]);
}
