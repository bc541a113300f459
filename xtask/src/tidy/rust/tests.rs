//! Each rule for Rust files can fail.

use super::*;

fn violations(files: &[(&str, &str)], roots: &[&str]) -> Vec<(usize, &'static str)> {
    let texts: Vec<_> = files.iter().map(|(p, t)| ((*p).to_owned(), (*t).to_owned())).collect();
    let roots = roots.iter().map(|&p| p.to_owned()).collect();
    check(&texts, &roots).iter().map(|v| (v.line, v.rule)).collect()
}

fn rules(path: &str, text: &str) -> Vec<(usize, &'static str)> {
    violations(&[(path, text)], &[])
}

#[test]
fn a_file_holds_600_lines_of_code() {
    for (count, expected) in [(599, 0), (600, 0), (601, 1)] {
        assert_eq!(rules("a.rs", &"struct A;\n".repeat(count)).len(), expected, "{count}");
    }
}

#[test]
fn blank_lines_comments_and_test_modules_are_no_code() {
    let code = "struct A;\n".repeat(600);
    for more in [
        "\n \n".to_owned(),
        "// one\n/* two\n three */\n".to_owned(),
        format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "struct B;\n".repeat(30)),
    ] {
        assert_eq!(rules("a.rs", &format!("//! one\n{code}{more}")), []);
    }
    let documented = "/// one\n/** two\n three */\nstruct A;\n".repeat(600);
    assert_eq!(rules("a.rs", &documented), []);
    let text = format!("{code}#[cfg(not(test))]\nmod b {{}}\n");
    assert_eq!(rules("a.rs", &text), [(0, "file-size")]);
}

#[test]
fn a_test_module_in_its_own_file_may_be_long_and_a_test_program_may_not() {
    let (code, tests) = ("struct A;\n".repeat(601), "#[cfg(test)]\nmod proof;\n");
    assert_eq!(violations(&[("src/lib.rs", tests), ("src/proof.rs", &code)], &[]), []);
    assert_eq!(rules("tests/proof.rs", &code), [(0, "file-size")]);
}

#[test]
fn generated_files_and_rule_tables_may_be_long() {
    let code = "struct A;\n".repeat(601);
    assert_eq!(rules("a.rs", &format!("// @generated\n{code}")), []);
    assert_eq!(rules("a.rs", &format!("//! Rows.\n// tidy: rule table\n{code}")), []);
    let late = format!("{code}// tidy: rule table\n// @generated\n");
    assert_eq!(rules("a.rs", &late), [(0, "file-size")]);
}

#[test]
fn a_function_holds_70_lines_wherever_it_stands() {
    for (count, expected) in [(67, 0), (68, 0), (69, 1)] {
        let body = "    f(\"}\", '}'); // }\n\n".repeat(count);
        let function = format!("fn a() {{\n{body}}}\n");
        assert_eq!(rules("a.rs", &function).len(), expected, "{count}");
        let nested = format!("impl A {{\n{function}}}\ntrait T {{\n{function}}}\n");
        assert_eq!(rules("a.rs", &nested).len(), 2 * expected, "{count}");
    }
}

#[test]
fn unsafe_stands_only_in_its_folders() {
    let text = "// SAFETY: none.\nunsafe impl A {}\n";
    assert_eq!(rules("crates/scan/src/lib.rs", text), []);
    assert_eq!(rules("crates/capture/src/unix.rs", text), []);
    assert_eq!(rules("crates/grammar/src/lib.rs", text), [(2, "unsafe")]);
    assert_eq!(rules("fuzz/fuzz_targets/a.rs", "m! { unsafe {} }"), [(1, "unsafe")]);
    assert_eq!(rules("crates/text/src/lib.rs", "// unsafe\nconst A: &str = \"unsafe\";"), []);
}

#[test]
fn an_unsafe_block_says_why() {
    let at = |text: &str| rules("crates/capture/src/a.rs", text);
    assert_eq!(at("fn a() {\n    unsafe { b() }\n}"), [(2, "safety-comment")]);
    assert_eq!(at("fn a() {\n    // Quick.\n    unsafe { b() }\n}"), [(3, "safety-comment")]);
    assert_eq!(at("fn a() {\n    // SAFETY: b is.\n    // More.\n    unsafe { b() }\n}"), []);
    assert_eq!(at("fn a() {\n    // SAFETY: b is.\n    let c =\n        unsafe { b() };\n}"), []);
    let far = "fn a() {\n    // SAFETY: b is.\n    unsafe { b() };\n    unsafe { c() }\n}";
    assert_eq!(at(far), [(4, "safety-comment")]);
    let doc = "fn a() {\n    /// SAFETY: no reason.\n    unsafe { b() }\n}";
    assert_eq!(at(doc), [(3, "safety-comment")]);
}

#[test]
fn a_crate_root_forbids_unsafe() {
    let root = "crates/text/src/lib.rs";
    assert_eq!(violations(&[(root, "//! A.\n")], &[root]), [(1, "unsafe")]);
    assert_eq!(violations(&[(root, "#![deny(unsafe_code)]\n")], &[root]), [(1, "unsafe")]);
    assert_eq!(violations(&[(root, "#![forbid(unsafe_code)]\n//! A.\n")], &[root]), []);
    assert_eq!(violations(&[("crates/scan/src/lib.rs", "")], &["crates/scan/src/lib.rs"]), []);
}

#[test]
fn a_limit_is_named_in_a_test() {
    let path = "crates/text/src/lib.rs";
    let limit = "/// A.\npub const HELD_MAX: usize = 3;\n";
    assert_eq!(rules(path, limit), [(2, "untested-limit")]);
    assert_eq!(rules(path, &limit.replace("pub", "pub(crate)")), [(2, "untested-limit")]);
    let inside = "impl A {\n    pub const HELD_MAX: usize = 3;\n}\n";
    assert_eq!(rules(path, inside), [(2, "untested-limit")]);
    assert_eq!(rules(path, &limit.replace("pub ", "")), []);
    assert_eq!(rules("crates/testkit/src/lib.rs", limit), []);
    let test = "#[cfg(test)]\nmod tests {\n    fn a() { b(HELD_MAX) }\n}\n";
    assert_eq!(rules(path, &format!("{limit}{test}")), []);
    let comment = "#[cfg(test)]\nmod tests {\n    // HELD_MAX\n}\n";
    assert_eq!(rules(path, &format!("{limit}{comment}")), [(2, "untested-limit")]);
    assert_eq!(violations(&[(path, limit), ("crates/text/tests/a.rs", "use HELD_MAX;")], &[]), []);
}

#[test]
fn a_test_module_may_lie_in_its_own_file() {
    let limit = "pub const HELD_MAX: usize = 3;\n#[cfg(test)]\nmod proof;\n";
    let proof = "use super::HELD_MAX;\n";
    for (file, module) in [
        ("crates/text/src/lib.rs", "crates/text/src/proof.rs"),
        ("crates/text/src/held.rs", "crates/text/src/held/proof.rs"),
    ] {
        assert_eq!(violations(&[(file, limit), (module, proof)], &[]), []);
        let other = limit.replace("mod proof", "mod other");
        assert_eq!(violations(&[(file, &other), (module, proof)], &[]), [(1, "untested-limit")]);
    }
}

#[test]
fn a_file_that_cannot_be_read_as_rust_is_a_violation() {
    assert_eq!(rules("a.rs", "fn a( {}"), [(1, "syntax")]);
    assert_eq!(rules("a.rs", "struct A;\nfn fn"), [(2, "syntax")]);
}
