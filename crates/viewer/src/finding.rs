//! What an investigator should see, and where it is.

use noesc_explain::{Deceiving, Item, Items, What};
use noesc_grammar::{Kind, Severity};

/// One thing that an investigator should see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) at: u64,
    pub(crate) bytes: u64,
    pub(crate) kind: &'static str,
    pub(crate) severity: Severity,
}

/// The findings of an item, which lies `base` bytes further than it says. `text` is its bytes, if
/// it is text and they are known: then each character that deceives has its own place.
pub(crate) fn findings(item: &Item<'_>, base: u64, text: &[u8], found: &mut impl FnMut(Finding)) {
    let (at, bytes) = (base + item.offset, item.length);
    let mut here = |kind, severity| found(Finding { at, bytes, kind, severity });
    match &item.what {
        What::Text { hidden, deceiving, .. } => {
            if let Some(hidden) = hidden {
                here(hidden.finding(), Severity::High);
            }
            characters(
                deceiving,
                Finding { at, bytes, kind: "", severity: Severity::Info },
                text,
                found,
            );
        }
        What::Control { code, .. } => {
            if let Some((kind, severity)) = control(*code) {
                here(kind, severity);
            }
        }
        What::IllFormed { .. } => here("ill-formed", Severity::Info),
        What::SplitIntroducer { .. } => here("split-introducer", Severity::High),
        What::Sequence(explained) => {
            let sequence = &explained.sequence;
            let (at, bytes) = (base + sequence.start, sequence.end - sequence.start);
            let mut whole = |kind, severity| found(Finding { at, bytes, kind, severity });
            if let Some(severity) = sequence.severity {
                whole(sequence.kind.name(), severity);
            }
            for finding in explained.findings {
                whole(
                    finding,
                    match *finding {
                        "held-back-lines" => Severity::Critical,
                        _ => Severity::High,
                    },
                );
            }
        }
        _ => {}
    }
}

/// Characters that deceive, each in its place; those that are not found alone, in that of `whole`.
fn characters(
    deceiving: &[Deceiving],
    whole: Finding,
    text: &[u8],
    found: &mut impl FnMut(Finding),
) {
    if deceiving.is_empty() {
        return;
    }
    let mut left: Vec<&Deceiving> = deceiving.iter().collect();
    let mut sink = |item: Item<'_>| {
        let What::Text { deceiving: alone, .. } = item.what else { return };
        for of in alone.iter().filter(|of| deceiving.iter().any(|all| all.class == of.class)) {
            left.retain(|left| left.class != of.class);
            let (at, bytes) = (whole.at + item.offset, item.length);
            found(Finding { at, bytes, kind: of.class.name(), severity: level(of.severity) });
        }
    };
    let mut items = Items::new(1);
    items.push(text, &mut sink);
    items.finish(&mut sink);
    for of in left {
        found(Finding { kind: of.class.name(), severity: level(of.severity), ..whole });
    }
}

/// The kind and the severity of a single control that does more than a line end does.
const fn control(code: u8) -> Option<(&'static str, Severity)> {
    let kind = match code {
        0x05 | 0x9A => Kind::ReportQuery,
        0x0E | 0x0F | 0x8E | 0x8F => Kind::CharsetShift,
        0x84 | 0x85 | 0x88 | 0x8D => Kind::Cursor,
        0x08 => return Some(("backspace", Severity::Info)),
        b'\r' => return Some(("carriage-return", Severity::Info)),
        _ => return None,
    };
    match kind.severity() {
        Some(severity) => Some((kind.name(), severity)),
        None => None,
    }
}

const fn level(severity: noesc_text::Severity) -> Severity {
    match severity {
        noesc_text::Severity::Info => Severity::Info,
        noesc_text::Severity::Low => Severity::Low,
        noesc_text::Severity::High => Severity::High,
        noesc_text::Severity::Critical => Severity::Critical,
    }
}
