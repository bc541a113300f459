#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::panic)]
//! Head and tail: what may be cut, what is omitted, in fixed memory and however the view comes.

use noesc::{Boundary, Profile, Run, view_with_spans};
use noesc_envelope::*;
use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation as _;

/// The selection of a view in one piece.
fn select(view: &str, budget: usize) -> Selection {
    let mut excerpt = Excerpt::new(budget);
    excerpt.push(view);
    excerpt.finish()
}

/// The same from pieces of these lengths, over and over.
fn select_in_pieces(view: &str, budget: usize, lengths: &[usize]) -> Selection {
    let mut excerpt = Excerpt::new(budget);
    let mut rest = view;
    for length in lengths.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (piece, after) = rest.split_at(rest.ceil_char_boundary(*length.min(&rest.len())));
        excerpt.push(piece);
        rest = after;
    }
    excerpt.finish()
}

/// Where a view may be cut: between clusters, or between the characters of a long one; not inside
/// of a style.
fn places(view: &str) -> Vec<usize> {
    let mut places = Vec::new();
    for (at, cluster) in view.grapheme_indices(true) {
        if cluster.len() > CLUSTER_BYTES_MAX {
            places.extend(cluster.char_indices().map(|(inside, _)| at + inside));
        } else {
            places.push(at);
        }
    }
    places.push(view.len());
    let styles = styles(view);
    places.retain(|&at| !styles.iter().any(|&(from, to)| from < at && at < to));
    places
}

fn styles(view: &str) -> Vec<(usize, usize)> {
    let style = |(from, _): (usize, &str)| {
        let end = from + view[from..].find('m')? + 1;
        let inside = view.get(from + 1..end - 1)?.strip_prefix('[')?;
        let is_style = inside.bytes().all(|b| b.is_ascii_digit() || b == b';' || b == b':');
        (is_style && end - from <= STYLE_BYTES_MAX).then_some((from, end))
    };
    view.match_indices('\x1b').filter_map(style).collect()
}

/// The slow obvious twin: the longest head and tail that end and begin at places, unless a line
/// end is near.
fn twin(view: &str, budget: usize) -> (usize, usize) {
    if view.len() <= budget {
        return (view.len(), view.len());
    }
    let (head_max, tail_max) = (budget / 2, budget - budget / 2);
    let places = places(view);
    let lines = || view.match_indices('\n').map(|(at, _)| at + 1);
    let near = head_max - head_max / 4;
    let head = lines()
        .rfind(|at| (near..=head_max).contains(at))
        .unwrap_or_else(|| *places.iter().rfind(|&&at| at <= head_max).unwrap());
    let min = view.len() - tail_max;
    let near = min + tail_max / 4;
    let tail = lines().find(|at| (min..=near).contains(at) && *at < view.len());
    let tail = tail.unwrap_or_else(|| *places.iter().find(|&&at| at >= min).unwrap());
    (head, tail)
}

fn agrees(view: &str, budget: usize) {
    let chosen = select(view, budget);
    let (head, tail) = twin(view, budget);
    let what = || format!("{budget} of {:?}", view.escape_unicode().to_string());
    assert_eq!(chosen.head, view[..head], "{}", what());
    assert_eq!(chosen.tail, view[tail..], "{}", what());
    assert_eq!(chosen.omitted.bytes, (tail - head) as u64);
    let lfs = |text: &str| text.matches('\n').count() as u64;
    assert_eq!(chosen.omitted.lines, lfs(&view[head..tail]));
    assert_eq!((chosen.bytes, chosen.lines), (view.len() as u64, lfs(view)));
    assert!(chosen.head.len() + chosen.tail.len() <= budget);
    assert_eq!(chosen.omitted.raw, None, "no spans were pushed");
    assert_eq!(select_in_pieces(view, budget, &[1]), chosen);
}

#[test]
fn every_small_budget_over_wide_and_joined_characters() {
    let view =
        "AAAA\u{20ac}\u{20ac}\u{20ac}\u{20ac}\u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467} e\u{301}";
    for budget in 0..=60 {
        agrees(view, budget);
    }
    let chosen = select(view, 20);
    assert_eq!((&*chosen.head, &*chosen.tail), ("AAAA\u{20ac}\u{20ac}", " e\u{301}"));
    assert_eq!(chosen.omitted, Omitted { bytes: 24, lines: 0, raw: None });
    for budget in 0..=1 {
        let chosen = select("\u{20ac}\u{20ac}", budget);
        assert_eq!((&*chosen.head, &*chosen.tail), ("", ""));
    }
}

#[test]
fn a_budget_keeps_all_up_to_its_size() {
    for size in [0, 1, 2, 255, 256, 32_767, 32_768] {
        let view = "x".repeat(size);
        assert_eq!(select(&view, size).head, view);
        assert_eq!(select(&view, size).tail, "");
        assert_eq!(select(&view, size + 1).head, view);
        if let Some(below) = size.checked_sub(1) {
            assert_eq!(select(&view, below).omitted.bytes, 1);
        }
    }
}

#[test]
fn a_near_line_end_is_preferred() {
    let view = "one\ntwo\nthree and more\nfour\nfive\nsix\n";
    let chosen = select(view, 18);
    assert_eq!((&*chosen.head, &*chosen.tail), ("one\ntwo\n", "five\nsix\n"));
    assert_eq!(chosen.omitted.lines, 2);
}

#[test]
fn a_cluster_is_spared_up_to_the_limit() {
    for (bytes, spared) in
        [(CLUSTER_BYTES_MAX - 1, true), (CLUSTER_BYTES_MAX, true), (CLUSTER_BYTES_MAX + 1, false)]
    {
        // One cluster: a base of one or two bytes under marks of two.
        let base = if bytes % 2 == 1 { "e" } else { "\u{e9}" };
        let one = format!("{base}{}", "\u{301}".repeat((bytes - base.len()) / 2));
        assert_eq!((one.len(), one.graphemes(true).count()), (bytes, 1));
        let view = format!("{one}{one}");
        agrees(&view, 200);
        assert_eq!(select(&view, 200).head.is_empty(), spared, "{bytes}");
        assert_eq!(select(&view, 200).tail.is_empty(), spared, "{bytes}");
    }
}

#[test]
fn a_style_is_spared_up_to_the_limit() {
    for (bytes, spared) in
        [(STYLE_BYTES_MAX - 1, true), (STYLE_BYTES_MAX, true), (STYLE_BYTES_MAX + 1, false)]
    {
        let style = format!("\x1b[{}m", "1".repeat(bytes - 3));
        let view = format!("{style}{style}");
        agrees(&view, 400);
        assert_eq!(select(&view, 400).head.is_empty(), spared, "{bytes}");
        assert_eq!(select(&view, 400).tail.is_empty(), spared, "{bytes}");
    }
}

#[test]
fn a_long_text_without_ascii_is_cut_between_its_clusters() {
    let flags = "\u{1f1e9}\u{1f1ea}".repeat(3000);
    let family = "\u{1f469}\u{200d}\u{1f467}".repeat(2000);
    let han = "\u{6f22}".repeat(5000);
    let marks = format!("e{}", "\u{301}".repeat(9000));
    let hangul = "\u{1100}\u{1161}\u{11a8}".repeat(2000);
    let prepend = "\u{600}\u{600}a".repeat(2000);
    for view in [&flags, &family, &han, &marks, &hangul, &prepend] {
        for budget in [0, 1, 7, 64, 255, 256, 1001, 4099] {
            agrees(view, budget);
            agrees(&format!("x{view}"), budget);
            agrees(&format!("{view}\n{view}"), budget);
        }
    }
}

#[test]
fn the_end_of_a_flood_is_there() {
    let mut excerpt = Excerpt::new(1024);
    for n in 0..200_000 {
        excerpt.push(&format!("line {n}\n"));
    }
    let chosen = excerpt.finish();
    assert!(chosen.head.starts_with("line 0\n") && chosen.head.ends_with('\n'));
    assert!(chosen.tail.starts_with("line ") && chosen.tail.ends_with("line 199999\n"));
    let shown = chosen.head.matches('\n').count() + chosen.tail.matches('\n').count();
    assert_eq!(chosen.omitted.lines, 200_000 - shown as u64);
    assert_eq!(chosen.lines, 200_000);
}

/// The raw range by the runs of the whole stream.
fn raw_between(runs: &[Run], start: u64, end: u64, raw_bytes: u64) -> (u64, u64) {
    let holds = |run: &&Run, at: u64| run.view <= at && at < run.view + run.view_len;
    let kept = |run: &Run| run.fate == noesc::Fate::Kept;
    let before = start.checked_sub(1).and_then(|at| runs.iter().find(|run| holds(run, at)));
    let from = before.map_or(0, |run| match kept(run) {
        true => run.raw + start - run.view,
        false => run.raw + run.raw_len,
    });
    let to = runs.iter().find(|run| holds(run, end)).map_or(raw_bytes, |run| match kept(run) {
        true => run.raw + end - run.view,
        false => run.raw,
    });
    (from, to.saturating_sub(from))
}

fn raw() -> impl Strategy<Value = Vec<u8>> {
    let piece = proptest::sample::select(vec![
        &b"a"[..],
        b"\n",
        b"line of text\n",
        b"\x1b[31m",
        b"\x1b[0m",
        b"\x1b]0;title\x07",
        b"\r",
        b"\x08",
        b"\xe2\x82\xac",
        b"\xff",
        b"\xf0\x9f\x87\xa9",
        b"\xe2\x80\xae",
        b"e\xcc\x81",
        b"\xe2\x80\x8d",
        b"\xf0\x9f\x91\xa9",
        b"\xd8\x80",
        b"\xc2\x85",
        b"\\",
        b"\xe0\xa4\x95\xe0\xa5\x8d",
    ]);
    proptest::collection::vec(piece, 0..400).prop_map(|pieces| pieces.concat())
}

fn profile() -> impl Strategy<Value = Profile> {
    proptest::sample::select(vec![Profile::AGENT, Profile::DISPLAY, Profile::AUDIT])
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_choice_is_that_of_the_twin(raw in raw(), profile in profile(), budget in 0..900_usize) {
        let view = noesc::view(&raw, &profile).unwrap();
        agrees(&view.text, budget);
    }

    #[test]
    fn pieces_and_spans_do_not_show(
        raw in raw(),
        profile in profile(),
        budget in 0..400_usize,
        lengths in proptest::collection::vec(1..40_usize, 1..5),
    ) {
        let (whole, runs) = view_with_spans(&raw, &profile).unwrap();
        let expected = select(&whole.text, budget);
        prop_assert_eq!(&select_in_pieces(&whole.text, budget, &lengths), &expected);

        let mut boundary = Boundary::new(&profile).unwrap();
        let (mut excerpt, mut view) = (Excerpt::new(budget), String::new());
        let mut rest = &raw[..];
        for length in lengths.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (chunk, after) = rest.split_at(*length.min(&rest.len()));
            boundary.push_with_spans(chunk, &mut view, &mut excerpt);
            excerpt.push(&view);
            view.clear();
            rest = after;
        }
        boundary.finish_with_spans(&mut view, &mut excerpt);
        excerpt.push(&view);
        let mut chosen = excerpt.finish();
        let (start, bytes) = (chosen.head.len() as u64, chosen.omitted.bytes);
        let raw_range = (bytes > 0)
            .then(|| raw_between(&runs, start, start + bytes, raw.len() as u64));
        prop_assert_eq!(chosen.omitted.raw, raw_range);
        chosen.omitted.raw = None;
        prop_assert_eq!(chosen, expected);
    }
}
