use super::*;

/// Those that are not well-formed UTF-8; a find may be either.
const ILL_FORMED: [&str; 2] = ["random", "hostile"];

#[test]
fn each_input_has_its_size_and_whole_chunks() {
    let counted = counted().unwrap().into_iter().map(|input| (input, COUNTED_BYTES));
    for (input, bytes) in all().unwrap().into_iter().map(|input| (input, SET_BYTES)).chain(counted)
    {
        let is_call = input.name.ends_with("-4k");
        let bytes = if is_call { CALL_BYTES } else { bytes };
        assert_eq!(input.bytes().len(), bytes, "{}", input.name);
        assert_eq!(input.chunks().map(<[u8]>::len).sum::<usize>(), bytes, "{}", input.name);
        assert_eq!(input.chunks().collect::<Vec<_>>().concat(), input.bytes(), "{}", input.name);
        assert!(input.chunks().all(|chunk| chunk.len() <= CHUNK_BYTES), "{}", input.name);
        let texts: String = input.texts().collect();
        assert_eq!(texts, input.text().unwrap_or_default(), "{}", input.name);
    }
}

#[test]
fn each_input_is_the_same_at_every_call() {
    let (first, second) = (all().unwrap(), all().unwrap());
    for (first, second) in first.iter().zip(&second) {
        assert!(first == second, "{}", first.name);
    }
}

#[test]
fn names_are_distinct() {
    for inputs in [all().unwrap(), counted().unwrap()] {
        let names: std::collections::BTreeSet<&str> =
            inputs.iter().map(|input| input.name.as_str()).collect();
        assert_eq!(names.len(), inputs.len());
    }
}

#[test]
fn what_is_counted_is_the_beginning_of_what_is_measured_but_for_the_tools() {
    for (counted, measured) in counted().unwrap().iter().zip(all().unwrap()) {
        // Where a character would be cut, line ends stand at the end of the smaller set.
        let same = counted.bytes().len() - 3;
        match counted.name.starts_with(IMITATED.name) {
            true => assert_eq!(counted.name, measured.name.replace("build", IMITATED.name)),
            false => assert!(measured.bytes().starts_with(&counted.bytes()[..same])),
        }
    }
}

#[test]
fn an_input_is_utf8_unless_it_is_said_not_to_be() {
    for input in all().unwrap().iter().filter(|input| !input.name.starts_with("find-")) {
        let is_utf8 = !ILL_FORMED.contains(&input.name.as_str());
        assert_eq!(input.text().is_some(), is_utf8, "{}", input.name);
    }
}

#[test]
fn running_text_and_the_log_need_no_change() {
    let plain = ["log", "cjk", "cjk-emoji", "cyrillic", "french", "arabic", "hindi", "thai"];
    for input in all().unwrap().iter().filter(|input| plain.contains(&input.name.as_str())) {
        let view = noesc::clean(input.bytes());
        let first = view.bytes().zip(input.bytes()).position(|(a, &b)| a != b);
        assert!(view.as_bytes() == input.bytes(), "{} differs at {first:?}", input.name);
    }
}

#[test]
fn floods_and_open_strings_never_end_their_sequence() {
    for input in all().unwrap() {
        match input.name.as_str() {
            "open-osc" => {
                let payload = input.bytes().strip_prefix(b"\x1b]52;c;").unwrap();
                assert!(payload.iter().all(|byte| matches!(byte, b' ' | b'a'..=b'z')));
            }
            "endless-csi" => {
                let rest = input.bytes().strip_prefix(b"\x1b[").unwrap();
                assert!(rest.iter().all(|byte| matches!(byte, b'0'..=b'9' | b';')));
            }
            _ => {}
        }
    }
}

#[test]
fn build_output_is_coloured_and_ends_its_lines() {
    for bytes in [tools::output().to_vec(), imitated::all(4096)] {
        let text = String::from_utf8(bytes).unwrap();
        let coloured = text.lines().filter(|line| line.contains("\x1b[")).count();
        assert!(coloured * 2 > text.lines().count(), "{coloured}");
        assert!(text.ends_with('\n'));
    }
}

#[test]
fn what_is_cut_at_the_end_is_filled_with_line_ends() {
    assert_eq!(whole_characters("aé".into(), 2), b"a\n");
    assert_eq!(whole_characters("aéb".into(), 3), "aé".as_bytes());
    assert_eq!(whole_characters(b"a\xff\xc3".to_vec(), 2), b"a\xff");
    assert_eq!(fill(5, b"x", |out| out.extend("é".as_bytes())), "xéé".as_bytes());
    assert_eq!(fill(2, b"", |_| {}), b"\n\n");
}

#[test]
fn a_chunk_cuts_no_character_of_text() {
    let text = "€".repeat(CHUNK_BYTES / 3 + 10);
    let input = Input::new("a", text.clone().into_bytes());
    assert_eq!(input.texts().map(str::len).next(), Some(CHUNK_BYTES / 3 * 3));
    assert_eq!(input.texts().collect::<String>(), text);
    assert_eq!(Input::new("a", vec![0xFF; CHUNK_BYTES + 1]).chunks().count(), 2);
    assert_eq!(Input::new("a", Vec::new()).chunks().count(), 0);
}
