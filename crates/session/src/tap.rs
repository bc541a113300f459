//! One stream on its way to a view, observed: what the record says of it.

use noesc::{ProfileError, Report, SpanReceiver};
use noesc_capture::StreamRecord;
use noesc_envelope as envelope;
use sha2::{Digest, Sha256};

use crate::decode::Decoder;
use crate::live::Settings;
use crate::record::RunKey;
use crate::viewer::Viewer;

/// A viewer, the piece of view that it made last, and digests of what passed, if they are wanted.
pub(crate) struct Tap {
    viewer: Viewer,
    /// What the last push or finish decided.
    pub(crate) view: String,
    report: Report,
    is_finished: bool,
    digests: Option<Digests>,
    view_bytes: u64,
    encoding: Option<&'static str>,
}

#[derive(Default)]
struct Digests {
    raw: Sha256,
    view: Sha256,
}

impl Tap {
    /// # Errors
    /// When the settings do not go together.
    pub(crate) fn new(settings: &Settings, digests: bool) -> Result<Self, ProfileError> {
        let label = settings.encoding.as_deref().unwrap_or("utf-8");
        let decoder = Decoder::for_label(label).unwrap_or_default();
        let encoding = decoder.as_ref().map(Decoder::name);
        Ok(Self {
            viewer: Viewer::new(&settings.profile, decoder)?,
            view: String::new(),
            report: Report::default(),
            is_finished: false,
            digests: digests.then(Digests::default),
            view_bytes: 0,
            encoding,
        })
    }

    /// Reads a chunk; `view` holds what it decided.
    pub(crate) fn push(&mut self, bytes: &[u8], spans: &mut impl SpanReceiver) {
        self.view.clear();
        self.viewer.push(bytes, &mut self.view, spans);
        if let Some(digests) = &mut self.digests {
            digests.raw.update(bytes);
        }
        self.account();
    }

    /// Ends the stream; `view` holds what was held back.
    pub(crate) fn finish(&mut self, spans: &mut impl SpanReceiver) {
        self.view.clear();
        self.is_finished = true;
        self.report = self.viewer.finish(&mut self.view, spans);
        self.account();
    }

    /// Makes the report what it is by now, as if the stream ended here.
    pub(crate) fn look(&mut self) {
        if !self.is_finished {
            self.report = self.viewer.report();
        }
    }

    fn account(&mut self) {
        self.view_bytes += self.view.len() as u64;
        if let Some(digests) = &mut self.digests {
            digests.view.update(self.view.as_bytes());
        }
    }

    /// SHA-256 of the raw bytes, in hex, for who may know it.
    pub(crate) fn raw_sha256(&self) -> Option<String> {
        let raw = self.digests.as_ref()?.raw.clone().finalize();
        Some(envelope::Digest::from(<[u8; 32]>::from(raw)).to_string())
    }

    /// What was removed, and what a reader should know.
    pub(crate) fn report(&self) -> &Report {
        &self.report
    }

    /// The stream as the record has it. `selection` is `None` where the view went out live.
    pub(crate) fn record(
        &self,
        observed: &StreamRecord,
        profile: &str,
        selection: Option<envelope::Selection>,
        (key, is_keyed): (&RunKey, bool),
    ) -> envelope::Stream {
        let (raw, view) = match &self.digests {
            Some(digests) => (digests.raw.clone().finalize(), digests.view.clone().finalize()),
            None => (Sha256::digest(b""), Sha256::digest(b"")),
        };
        let is_whole = selection.as_ref().is_none_or(|chosen| chosen.omitted.bytes == 0);
        // The view is the bytes, so that their digest gives nothing away. Of anything else, however
        // harmless, there were others that would have left the same view: who guesses at what was
        // left out could confirm it.
        let plain = !is_keyed && is_whole && observed.end.eof && raw == view;
        let raw = match plain {
            true => envelope::RawDigest::Plain(<[u8; 32]>::from(raw).into()),
            false => envelope::RawDigest::Keyed(key.digest(&raw).into()),
        };
        let view_record = match selection {
            Some(selection) => envelope::View::new(profile, selection),
            None => envelope::View {
                profile: profile.into(),
                text: None,
                omitted: envelope::Omitted::default(),
                parts: None,
                found: None,
            },
        };
        envelope::Stream {
            trust: envelope::Trust::UntrustedProcessOutput,
            view: view_record,
            bytes: envelope::Bytes {
                observed: observed.bytes,
                kept: observed.kept,
                complete: observed.end.eof && observed.kept == observed.bytes,
            },
            lines: observed.lines,
            eof: observed.end.eof,
            cutoff: crate::record::cutoff(observed.end.cutoff),
            digest: envelope::Digests {
                raw,
                covers: match observed.end.eof {
                    true => envelope::Covers::All,
                    false => envelope::Covers::ObservedPart,
                },
                view_sha256: <[u8; 32]>::from(view).into(),
            },
            encoding: self.encoding.map(Into::into),
            report: (&self.report).into(),
        }
    }
}
