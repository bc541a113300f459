//! One stream on its way to a view: declared encoding, boundary, suspicion.

use noesc::{Boundary, Profile, ProfileError, Report, SpanReceiver};

use crate::decode::Decoder;
use crate::suspect::Suspicion;

/// A boundary with a decoder in front, if an encoding was declared, and a watch for undeclared
/// ones.
///
/// ```
/// use noesc::Profile;
/// use noesc_session::Viewer;
///
/// let mut view = String::new();
/// let mut viewer = Viewer::new(&Profile::AGENT, None)?;
/// viewer.push(b"caf\xE9", &mut view, &mut ());
/// let report = viewer.finish(&mut view, &mut ());
/// assert_eq!(view, "caf\u{FFFD}");
/// assert_eq!(report.ill_formed, 1);
/// # Ok::<(), noesc::ProfileError>(())
/// ```
#[derive(Debug)]
pub struct Viewer {
    decoder: Option<Decoder>,
    decoded: Vec<u8>,
    boundary: Boundary,
    suspicion: Suspicion,
}

impl Viewer {
    /// # Errors
    /// When the settings do not go together: see [`Profile::check`].
    pub fn new(profile: &Profile, decoder: Option<Decoder>) -> Result<Self, ProfileError> {
        let boundary = Boundary::new(profile)?;
        Ok(Self { decoder, decoded: Vec::new(), boundary, suspicion: Suspicion::default() })
    }

    /// Reads a chunk and appends to `view` what is decided.
    pub fn push(&mut self, chunk: &[u8], view: &mut String, spans: &mut impl SpanReceiver) {
        match &mut self.decoder {
            None => {
                self.suspicion.push(chunk);
                self.boundary.push_with_spans(chunk, view, spans);
            }
            Some(decoder) => {
                self.decoded.clear();
                decoder.push(chunk, &mut self.decoded);
                self.boundary.push_with_spans(&self.decoded, view, spans);
            }
        }
    }

    /// The report as it would be if the stream ended here; an encoding is suspected at the end
    /// alone.
    #[must_use]
    pub fn report(&self) -> Report {
        self.boundary.clone().finish(&mut String::new())
    }

    /// Ends the stream: appends what was held back, and gives the report.
    pub fn finish(&mut self, view: &mut String, spans: &mut impl SpanReceiver) -> Report {
        if let Some(decoder) = &mut self.decoder {
            self.decoded.clear();
            decoder.finish(&mut self.decoded);
            self.boundary.push_with_spans(&self.decoded, view, spans);
        }
        let mut report = self.boundary.finish_with_spans(view, spans);
        let is_wide = report.findings.iter().any(|finding| finding.kind == "utf-16-suspected");
        if self.decoder.is_none() && report.ill_formed > 0 && !is_wide {
            report.suspect_encoding(self.suspicion.likely());
        }
        report
    }
}
