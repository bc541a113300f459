//! The order in which the collector saw the streams.

use crate::record::{OrderEntry, StreamName};

/// Entries that an [`Order`] keeps. What is seen later is in no order.
pub const ORDER_MAX: usize = 1024;

/// Collects [`Envelope::order`](crate::Envelope::order) while the views grow. Neighbours of one
/// stream are one entry.
///
/// ```
/// use noesc_envelope::{Order, StreamName::{Stderr, Stdout}};
/// let mut order = Order::default();
/// let grown = [(Stderr, 120), (Stdout, 0), (Stderr, 5), (Stdout, 9)];
/// for (seq, (stream, view_bytes)) in (0..).zip(grown) {
///     order.push(seq, stream, view_bytes);
/// }
/// let entries = order.finish();
/// assert_eq!((entries[0].stream, entries[0].view), (Stderr, (0, 125)));
/// assert_eq!((entries[1].seq, entries[1].view), (3, (0, 9)));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Order {
    entries: Vec<OrderEntry>,
    is_full: bool,
    /// View bytes so far, by stream.
    views: [u64; StreamName::ALL.len()],
}

impl Order {
    /// The view of `stream` grew by this many bytes with the chunk of this number.
    pub fn push(&mut self, seq: u64, stream: StreamName, view_bytes: u64) {
        let view = &mut self.views[stream as usize];
        let offset = *view;
        *view += view_bytes;
        if view_bytes == 0 || self.is_full {
            return;
        }
        if let Some(last) = self.entries.last_mut()
            && last.stream == stream
        {
            last.view.1 += view_bytes;
        } else if self.entries.len() < ORDER_MAX {
            self.entries.push(OrderEntry { seq, stream, view: (offset, view_bytes) });
        } else {
            self.is_full = true;
        }
    }

    /// The entries, at most [`ORDER_MAX`].
    #[must_use]
    pub fn finish(self) -> Vec<OrderEntry> {
        self.entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_kept_up_to_the_limit() {
        for (pushed, kept) in
            [(ORDER_MAX - 1, ORDER_MAX - 1), (ORDER_MAX, ORDER_MAX), (ORDER_MAX + 1, ORDER_MAX)]
        {
            let mut order = Order::default();
            for seq in 0..pushed as u64 {
                order.push(seq, StreamName::ALL[(seq % 2) as usize], 2);
            }
            // What comes behind an entry that was not kept is not joined to one before it.
            order.push(9999, StreamName::ALL[(pushed + 1) % 2], 7);
            let entries = order.finish();
            assert_eq!(entries.len(), kept, "{pushed}");
            let last = entries.last().unwrap();
            assert_eq!(last.view.1, if pushed > ORDER_MAX { 2 } else { 9 });
        }
    }
}
