#![no_main]
//! Text of others in a terminal program: classes of content, the floor, titles and links, fitting.
//! The first byte chooses a place to cut and a number of columns.

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/boundary/tests/common/content.rs"]
mod common;

fuzz_target!(|bytes: &[u8]| {
    let [number, input @ ..] = bytes else { return };
    let number = usize::from(*number);
    common::content_of_every_class_is_inert(input, number % 2 == 0);
    common::derived_is_one_line_whatever_the_setting(input);
    common::any_cut_gives_the_same(input, number % (input.len() + 1));
    common::the_floor_keeps_chrome_and_nothing_else(input);
    common::a_second_pass_over_a_view_changes_nothing(input);
    common::what_is_truncated_fits(input, number % 40);
    common::a_single_line_hides_nothing(input, 8 + number % 52);
    common::titles_and_links_end_where_we_end_them(input);
});
