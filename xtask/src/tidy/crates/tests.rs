//! Each rule about crates can fail.

use super::*;

/// A member `crates/NAME` of package `noesc-NAME`; a need that starts with `~` is for tests.
fn member(name: &str, needs: &[&str]) -> Member {
    let dependencies = needs.iter().map(|need| {
        let is_dev = need.starts_with('~');
        let need = need.trim_start_matches('~');
        // What has a dash comes from outside of the workspace.
        let package = if need.contains('-') { need.to_owned() } else { format!("noesc-{need}") };
        Dependency { package, is_dev }
    });
    Member {
        package: format!("noesc-{name}"),
        folder: format!("crates/{name}"),
        roots: vec![format!("crates/{name}/src/lib.rs")],
        dependencies: dependencies.collect(),
    }
}

fn drawing(rows: &str) -> String {
    format!("# A\n\n```text\nL0 none\n```\n\n{FENCE}\n{rows}\n```\n\nL3 after -> it\n")
}

fn violations(rows: &str, members: &[(&str, &[&str])]) -> Vec<(String, &'static str)> {
    let members: Vec<_> = members.iter().map(|(name, needs)| member(name, needs)).collect();
    check(&drawing(rows), &members).into_iter().map(|v| (v.path, v.rule)).collect()
}

fn one(path: &str, rule: &'static str) -> Vec<(String, &'static str)> {
    vec![(path.to_owned(), rule)]
}

#[test]
fn a_drawing_that_agrees_holds() {
    let rows = "L2 session  -> boundary capture # both\nL1 boundary -> grammar\nL1 capture\n\
                L0 grammar\n\ndev testkit -> grammar";
    let members: &[(&str, &[&str])] = &[
        ("session", &["boundary", "capture", "~testkit"]),
        ("boundary", &["grammar", "serde-json", "~testkit"]),
        ("capture", &[]),
        ("grammar", &["~testkit", "~proptest-like"]),
        ("testkit", &["grammar"]),
    ];
    assert_eq!(violations(rows, members), []);
}

#[test]
fn the_layer_rule_binds_the_drawing() {
    let lower: &[(&str, &[&str])] = &[("scan", &["capture"]), ("capture", &[])];
    assert_eq!(violations("L0 scan -> capture\nL1 capture", lower), one(DRAWING, "layers"));
    let same: &[(&str, &[&str])] = &[("boundary", &["capture"]), ("capture", &[])];
    assert_eq!(violations("L1 boundary -> capture\nL1 capture", same), one(DRAWING, "layers"));
    let named: &[(&str, &[&str])] = &[("session", &["envelope"]), ("envelope", &[])];
    assert_eq!(violations("L2 session -> envelope\nL2 envelope", named), []);
    let turned: &[(&str, &[&str])] = &[("session", &[]), ("envelope", &["session"])];
    assert_eq!(violations("L2 session\nL2 envelope -> session", turned), one(DRAWING, "layers"));
}

#[test]
fn the_crates_and_the_drawing_are_the_same() {
    let scan: &[(&str, &[&str])] = &[("scan", &[])];
    assert_eq!(violations("L0 scan\nL1 capture", scan), one(DRAWING, "drawing"));
    let two: &[(&str, &[&str])] = &[("scan", &[]), ("capture", &["scan"])];
    assert_eq!(violations("L0 scan", two), one("crates/capture/Cargo.toml", "drawing"));
    assert_eq!(violations("L0 scan\nL1 capture", two), one("crates/capture/Cargo.toml", "drawing"));
    let none: &[(&str, &[&str])] = &[("scan", &[]), ("capture", &[])];
    assert_eq!(violations("L0 scan\nL1 capture -> scan", none), one(DRAWING, "drawing"));
}

#[test]
fn a_dev_dependency_needs_an_arrow_too_unless_it_serves_tests() {
    let members: &[(&str, &[&str])] = &[("scan", &[]), ("capture", &["~scan"])];
    assert_eq!(
        violations("L0 scan\nL1 capture", members),
        one("crates/capture/Cargo.toml", "drawing")
    );
}

#[test]
fn the_tests_of_a_crate_may_need_the_crate() {
    assert_eq!(violations("L0 scan", &[("scan", &["~scan"])]), []);
    assert_eq!(
        violations("L0 scan", &[("scan", &["scan"])]),
        one("crates/scan/Cargo.toml", "drawing")
    );
}

#[test]
fn testkit_serves_tests_alone() {
    let members: &[(&str, &[&str])] = &[("testkit", &[]), ("capture", &["testkit"])];
    assert_eq!(
        violations("dev testkit\nL1 capture", members),
        one("crates/capture/Cargo.toml", "layers")
    );
    assert_eq!(violations("dev testkit\nL1 capture -> testkit", members).len(), 2);
}

#[test]
fn grammar_and_text_import_nothing() {
    for name in NO_DEPENDENCIES {
        let path = format!("crates/{name}/Cargo.toml");
        let rows = format!("L0 {name}");
        assert_eq!(violations(&rows, &[(name, &["serde-json"])]), one(&path, "layers"));
        assert_eq!(violations(&rows, &[(name, &["~serde-json"])]), []);
    }
}

#[test]
fn a_broken_drawing_is_found() {
    let scan: &[(&str, &[&str])] = &[("scan", &[])];
    assert_eq!(violations("L0 scan\nL0 scan", scan), one(DRAWING, "drawing"));
    assert_eq!(violations("L0 scan\nL7 scan", scan), one(DRAWING, "drawing"));
    assert_eq!(violations("L0 scan\nL1 a b", scan), one(DRAWING, "drawing"));
    assert_eq!(check("# A\n", &[]).len(), 1);
}

#[test]
fn a_crate_takes_the_lints_of_the_workspace() {
    let at = |text| check_manifest("crates/a/Cargo.toml", text).is_some();
    assert!(!at("[package]\nname = \"a\"\n\n[lints]\nworkspace = true\n\n[dependencies]\n"));
    assert!(at("[package]\nname = \"a\"\n"));
    assert!(at("[lints]\nworkspace = false\n"));
    assert!(at("[lints]\n[dependencies]\nworkspace = true\n"));
    assert!(is_member_manifest("crates/a/Cargo.toml"));
    assert!(!is_member_manifest("xtask/Cargo.toml"));
}

#[test]
fn metadata_is_read_into_members() {
    let metadata = serde_json::json!({
        "workspace_root": "/r",
        "packages": [{
            "name": "noesc",
            "manifest_path": "/r/crates/boundary/Cargo.toml",
            "dependencies": [{"name": "noesc-text", "kind": null}, {"name": "x", "kind": "dev"}],
            "targets": [
                {"kind": ["lib"], "src_path": "/r/crates/boundary/src/lib.rs"},
                {"kind": ["test"], "src_path": "/r/crates/boundary/tests/a.rs"},
            ],
        }],
    });
    let members = read_members(&metadata).unwrap();
    assert_eq!(members[0].name(), "boundary");
    assert_eq!(members[0].roots, ["crates/boundary/src/lib.rs"]);
    assert_eq!(members[0].dependencies.iter().filter(|d| d.is_dev).count(), 1);
    let roots = roots(&members);
    assert!(roots.contains("crates/boundary/src/lib.rs") && roots.contains("xtask/src/main.rs"));
    assert!(read_members(&serde_json::json!({})).is_none());
}
