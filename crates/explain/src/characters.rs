//! Which characters of a text deceive a reader, by the rules of the views.

use noesc_text::{Context, Verdict, is_ordinary};

use crate::item::Deceiving;

/// Judges characters beside their neighbours, and counts by class.
#[derive(Clone, Debug, Default)]
pub(crate) struct Characters {
    context: Context,
    found: Vec<Deceiving>,
}

impl Characters {
    pub(crate) fn push(&mut self, c: char) {
        if is_ordinary(c) && !self.context.is_holding() {
            return self.context.ordinary(c);
        }
        let Self { context, found } = self;
        context.push(c, &mut |_, verdict| note(found, verdict));
    }

    /// ASCII without controls, while nothing is held. Not empty.
    pub(crate) fn push_plain(&mut self, text: &str) {
        if let Some(last) = text.chars().next_back() {
            self.context.ordinary(last);
        }
    }

    /// Something that is no text stood here.
    pub(crate) fn interrupt(&mut self) {
        let Self { context, found } = self;
        context.interrupt(&mut |_, verdict| note(found, verdict));
    }

    pub(crate) fn line_end(&mut self) {
        let Self { context, found } = self;
        context.line_end(&mut |_, verdict| note(found, verdict));
    }

    /// Whether characters wait for what follows them.
    pub(crate) fn is_holding(&self) -> bool {
        self.context.is_holding()
    }

    /// What was found since the last time, one for each class.
    pub(crate) fn take(&mut self) -> Vec<Deceiving> {
        std::mem::take(&mut self.found)
    }
}

fn note(found: &mut Vec<Deceiving>, verdict: Verdict) {
    let (class, severity) = match verdict {
        Verdict::Keep => return,
        Verdict::Noted(class, severity)
        | Verdict::Drop(class, severity)
        | Verdict::Substitute(class, _, severity) => (class, severity),
    };
    match found.iter_mut().find(|deceiving| deceiving.class == class) {
        Some(deceiving) => {
            deceiving.count += 1;
            deceiving.severity = deceiving.severity.max(severity);
        }
        None => found.push(Deceiving { class, count: 1, severity }),
    }
}
