//! The list of what every circuit costs.

use crate::process::Place;
use serde_json::Value;

fn table(place: &Place, args: &str) -> Vec<Value> {
    place.run(args).json().as_array().expect("a list").clone()
}

#[test]
fn words_choose_rows() {
    let place = Place::new();
    let rows = table(&place, "circuits subtract --json");
    assert!(!rows.is_empty() && rows.iter().all(|row| row["program"].as_str().unwrap().contains("subtract")));
    for row in &rows {
        for name in ["name", "width", "goal", "ands", "depth", "live"] {
            assert!(row.get(name).is_some(), "no {name} in {row}");
        }
    }
    let sub = rows.iter().find(|row| row["name"] == "subtract" && row["goal"] == "size").unwrap();
    assert_eq!(sub["ands"], sub["width"].as_u64().unwrap() - 1);
    let shown = place.run("circuits subtract").succeeded().stdout.clone();
    assert!(shown.contains("size: ANDs") && shown.contains("  block:subtract:"), "{shown}");
    place.run("circuits nothing_of_this_name").failed(1, &["no circuit is called", "hint: "]);
}
