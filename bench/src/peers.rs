//! Who is measured: each as its authors mean it to be used over a stream, into a buffer that is
//! kept where it has that.

use std::cell::RefCell;
use std::hint::black_box;
use std::io::{self, Write};

use noesc::{Boundary, Profile, Removed, Run, SpanReceiver};

use crate::inputs::{CHUNK_BYTES, Input};

/// Takes what is left of each chunk.
pub(crate) type Each<'a> = &'a mut dyn FnMut(&[u8]);

/// One pass over an input: every chunk once, and the end. Nothing is kept from pass to pass but
/// the room of the buffers.
type Pass = fn(&Input, &mut Buffers, Each<'_>);

/// What a peer does, and so with whom it is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Does {
    /// Copies or looks, and removes nothing: a bound.
    Bound,
    /// Removes sequences.
    Strips,
    /// This project, with the settings that are compared.
    Ours,
    /// This project, with other settings.
    OursToo,
}

/// Who is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer {
    pub(crate) name: &'static str,
    pub(crate) does: Does,
    /// Whether it is measured under `--quick`.
    pub(crate) is_quick: bool,
    /// Whether it takes this input.
    pub(crate) takes: fn(&Input) -> bool,
    /// The same code at each place where the program has it; the fastest counts.
    pub(crate) passes: &'static [Pass],
}

/// All peers, in the order of the table.
pub(crate) const PEERS: [Peer; 13] = [
    peer("memcpy", Does::Bound, true, &[copy]),
    peer("simdutf8", Does::Bound, true, &[validate]),
    peer("fast-strip-ansi", Does::Strips, true, &FAST_STRIP_ANSI),
    peer("strip-ansi-escapes", Does::Strips, false, &[strip_ansi_escapes]),
    peer("anstream", Does::Strips, true, &[anstream]),
    Peer {
        takes: |input| input.text().is_some(),
        ..peer("console", Does::Strips, true, &[console])
    },
    peer("vte", Does::Strips, false, &[vte]),
    peer("noesc", Does::Ours, true, &[agent]),
    peer("noesc-mark", Does::OursToo, false, &[mark]),
    peer("noesc-display", Does::OursToo, false, &[display]),
    peer("noesc-spans", Does::OursToo, false, &[spans]),
    Peer { takes: is_unchanged, ..peer("noesc-clean", Does::OursToo, false, &[clean]) },
    Peer { takes: is_one_call, ..peer("noesc-view", Does::OursToo, true, &[view]) },
];

const fn peer(name: &'static str, does: Does, is_quick: bool, passes: &'static [Pass]) -> Peer {
    Peer { name, does, is_quick, takes: |_| true, passes }
}

/// Whether the view is the input, so that `clean` borrows it.
fn is_unchanged(input: &Input) -> bool {
    matches!(noesc::clean(input.bytes()), std::borrow::Cow::Borrowed(_))
}

fn is_one_call(input: &Input) -> bool {
    input.chunks().nth(1).is_none()
}

/// Room that is used again.
#[derive(Debug)]
pub(crate) struct Buffers {
    bytes: Vec<u8>,
    text: String,
}

impl Buffers {
    /// With room for what a chunk can become.
    pub(crate) fn new() -> Self {
        let room = 4 * CHUNK_BYTES;
        Self { bytes: Vec::with_capacity(room), text: String::with_capacity(room) }
    }
}

fn copy(input: &Input, buffers: &mut Buffers, each: Each<'_>) {
    for chunk in input.chunks() {
        buffers.bytes.clear();
        buffers.bytes.extend_from_slice(chunk);
        each(&buffers.bytes);
    }
}

fn validate(input: &Input, _: &mut Buffers, each: Each<'_>) {
    for chunk in input.chunks() {
        black_box(simdutf8::basic::from_utf8(chunk).is_ok());
        each(chunk);
    }
}

/// Its loop takes a byte at a time, and is a quarter faster or slower by where in a line of the
/// cache it begins, which any change of this program moves. Of four places one is a good one.
const FAST_STRIP_ANSI: [Pass; 4] =
    [fast_strip_ansi::<0>, fast_strip_ansi::<1>, fast_strip_ansi::<2>, fast_strip_ansi::<3>];

fn fast_strip_ansi<const PLACE: usize>(input: &Input, buffers: &mut Buffers, each: Each<'_>) {
    // Without it, all places would be one.
    black_box(PLACE);
    let mut stripper = fast_strip_ansi::StreamingStripper::new();
    for chunk in input.chunks() {
        buffers.bytes.clear();
        stripper.feed(chunk, &mut |text| buffers.bytes.extend_from_slice(text));
        each(&buffers.bytes);
    }
}

/// A buffer that a writer keeps, and that is read and emptied between its writes.
struct Shared<'a>(&'a RefCell<&'a mut Vec<u8>>);

impl Write for Shared<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn strip_ansi_escapes(input: &Input, buffers: &mut Buffers, each: Each<'_>) {
    let shared = RefCell::new(&mut buffers.bytes);
    let mut writer = strip_ansi_escapes::Writer::new(Shared(&shared));
    for chunk in input.chunks() {
        shared.borrow_mut().clear();
        // A buffer in memory takes everything.
        black_box(writer.write_all(chunk).and_then(|()| writer.flush()).is_ok());
        each(&shared.borrow());
    }
}

fn anstream(input: &Input, buffers: &mut Buffers, each: Each<'_>) {
    let mut stripper = anstream::adapter::StripBytes::new();
    for chunk in input.chunks() {
        buffers.bytes.clear();
        for text in stripper.strip_next(chunk) {
            buffers.bytes.extend_from_slice(text);
        }
        each(&buffers.bytes);
    }
}

/// It knows no stream: each chunk is text of its own. The time to see that it is UTF-8 is not in
/// it, since whoever calls it has a string.
fn console(input: &Input, _: &mut Buffers, each: Each<'_>) {
    for text in input.texts() {
        each(console::strip_ansi_codes(text).as_bytes());
    }
}

/// Collects what a terminal would print, and line ends and tabs.
struct Printed<'a>(&'a mut String);

impl vte::Perform for Printed<'_> {
    fn print(&mut self, character: char) {
        self.0.push(character);
    }

    fn execute(&mut self, byte: u8) {
        if matches!(byte, b'\n' | b'\t') {
            self.0.push(char::from(byte));
        }
    }
}

fn vte(input: &Input, buffers: &mut Buffers, each: Each<'_>) {
    let mut parser = vte::Parser::new();
    for chunk in input.chunks() {
        buffers.text.clear();
        parser.advance(&mut Printed(&mut buffers.text), chunk);
        each(buffers.text.as_bytes());
    }
}

/// A boundary over the chunks, with its report at the end.
fn boundary<S: SpanReceiver>(
    profile: &Profile,
    spans: &mut S,
    input: &Input,
    buffers: &mut Buffers,
    each: Each<'_>,
) {
    let Ok(mut boundary) = Boundary::new(profile) else { return };
    for chunk in input.chunks() {
        buffers.text.clear();
        boundary.push_with_spans(chunk, &mut buffers.text, spans);
        each(buffers.text.as_bytes());
    }
    buffers.text.clear();
    black_box(boundary.finish_with_spans(&mut buffers.text, spans));
    each(buffers.text.as_bytes());
}

fn agent(input: &Input, buffers: &mut Buffers, each: Each<'_>) {
    boundary(&Profile::AGENT, &mut (), input, buffers, each);
}

fn mark(input: &Input, buffers: &mut Buffers, each: Each<'_>) {
    let profile = Profile { removed: Removed::Mark, ..Profile::AGENT };
    boundary(&profile, &mut (), input, buffers, each);
}

fn display(input: &Input, buffers: &mut Buffers, each: Each<'_>) {
    boundary(&Profile::DISPLAY, &mut (), input, buffers, each);
}

/// Takes runs and keeps their number.
struct Counted(u64);

impl SpanReceiver for Counted {
    fn run(&mut self, run: Run) {
        black_box(run);
        self.0 += 1;
    }
}

fn spans(input: &Input, buffers: &mut Buffers, each: Each<'_>) {
    let mut counted = Counted(0);
    boundary(&Profile::AGENT, &mut counted, input, buffers, each);
    black_box(counted.0);
}

/// The whole set at once.
fn clean(input: &Input, _: &mut Buffers, each: Each<'_>) {
    each(noesc::clean(input.bytes()).as_bytes());
}

fn view(input: &Input, _: &mut Buffers, each: Each<'_>) {
    if let Ok(view) = noesc::view(input.bytes(), &Profile::AGENT) {
        each(view.text.as_bytes());
        black_box(view.report);
    }
}
