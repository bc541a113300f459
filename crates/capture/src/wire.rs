//! What collector and supervisor say to each other: small messages over a socket that keeps them
//! apart, made and read without allocating.

use rustix::process::WaitIdStatus;

use crate::Exit;
use crate::outcome::Unknown;

/// Processes that one answer names. More are counted.
pub(crate) const PIDS_MAX: usize = 64;

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Exited(i32),
    Signalled { signal: i32, core: bool },
    Unknown(i32),
}

impl Fate {
    pub(crate) fn of(status: &WaitIdStatus) -> Self {
        match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => Self::Exited(code),
            (None, Some(signal)) => Self::Signalled { signal, core: status.dumped() },
            (None, None) => Self::Unknown(0),
        }
    }

    pub(crate) fn exit(self) -> Exit {
        match self {
            // POSIX: the low eight bits are the status; some systems hand out more through waitid.
            Self::Exited(code) => Exit::Exited { code: code.to_le_bytes()[0] },
            Self::Signalled { signal, core } => Exit::Signalled { signal, core },
            Self::Unknown(errno) => Exit::Unknown { why: Unknown::NotTold(errno) },
        }
    }

    fn numbers(self) -> [i32; 3] {
        match self {
            Self::Exited(code) => [0, code, 0],
            Self::Signalled { signal, core } => [1, signal, i32::from(core)],
            Self::Unknown(errno) => [2, errno, 0],
        }
    }

    fn from_numbers(numbers: [i32; 3]) -> Option<Self> {
        match numbers {
            [0, code, _] => Some(Self::Exited(code)),
            [1, signal, core] => Some(Self::Signalled { signal, core: core != 0 }),
            [2, errno, _] => Some(Self::Unknown(errno)),
            _ => None,
        }
    }
}

/// What the supervisor says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "a box would have to be allocated")]
pub(crate) enum Word {
    /// The child was forked; whether its program was found the child tells itself.
    Started { pid: i32 },
    /// It could not be forked.
    Failed { errno: i32 },
    /// It has ended. Alone: nothing else of the tree was alive, so nothing ever will be.
    Ended { fate: Fate, is_alone: bool },
    /// A signal stopped it.
    Stopped { signal: i32 },
    /// After an order to end the tree: nothing of it is alive.
    Gone,
    /// The lock of the file for the count is taken.
    Listening,
    /// The answer to [`Order::Count`]: whether the number is known, the number, and the first of
    /// them, zero where there is none.
    Alive { is_known: bool, count: i32, pids: [i32; PIDS_MAX] },
}

impl Word {
    /// Room for the longest.
    pub(crate) const BYTES_MAX: usize = 4 * (3 + PIDS_MAX);

    /// Writes the message and returns its length.
    pub(crate) fn encode(&self, to: &mut [u8; Self::BYTES_MAX]) -> usize {
        let mut numbers = [0_i32; 3 + PIDS_MAX];
        let length = match self {
            Self::Started { pid } => put(&mut numbers, &[1, *pid]),
            Self::Failed { errno } => put(&mut numbers, &[2, *errno]),
            Self::Ended { fate, is_alone } => {
                let [kind, value, core] = fate.numbers();
                put(&mut numbers, &[3, i32::from(*is_alone), kind, value, core])
            }
            Self::Stopped { signal } => put(&mut numbers, &[4, *signal]),
            Self::Gone => put(&mut numbers, &[5]),
            Self::Listening => put(&mut numbers, &[7]),
            Self::Alive { is_known, count, pids } => {
                put(&mut numbers, &[6, i32::from(*is_known), *count]);
                let rest = numbers.iter_mut().skip(3);
                rest.zip(pids).for_each(|(place, pid)| *place = *pid);
                3 + PIDS_MAX
            }
        };
        for (bytes, number) in to.chunks_exact_mut(4).zip(numbers) {
            bytes.copy_from_slice(&number.to_le_bytes());
        }
        4 * length
    }

    /// The message that these bytes are; `None` when they are none.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut numbers = [0_i32; 3 + PIDS_MAX];
        let mut length = 0;
        for (place, bytes) in numbers.iter_mut().zip(bytes.chunks_exact(4)) {
            *place = i32::from_le_bytes(bytes.try_into().ok()?);
            length += 1;
        }
        match numbers.get(..length)? {
            [1, pid] => Some(Self::Started { pid: *pid }),
            [2, errno] => Some(Self::Failed { errno: *errno }),
            [3, is_alone, kind, value, core] => Some(Self::Ended {
                fate: Fate::from_numbers([*kind, *value, *core])?,
                is_alone: *is_alone != 0,
            }),
            [4, signal] => Some(Self::Stopped { signal: *signal }),
            [5] => Some(Self::Gone),
            [7] => Some(Self::Listening),
            [6, is_known, count, pids @ ..] => Some(Self::Alive {
                is_known: *is_known != 0,
                count: *count,
                pids: pids.try_into().ok()?,
            }),
            _ => None,
        }
    }
}

fn put(to: &mut [i32], numbers: &[i32]) -> usize {
    to.iter_mut().zip(numbers).for_each(|(place, number)| *place = *number);
    numbers.len()
}

/// What the collector says: one byte, with descriptors where the run is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Order {
    /// Everything is to be asked to end that was not asked yet, until nothing is left.
    AskAll = b'A',
    /// Everything is to be killed, until nothing is left.
    KillAll = b'K',
    /// Who is alive?
    Count = b'C',
    /// The run is over. With it come the pipes of those that outlive it.
    Release = b'R',
    /// The same, and the first descriptor is a file for the number of their bytes.
    ReleaseCounted = b'r',
}

impl Order {
    pub(crate) fn decode(byte: u8) -> Option<Self> {
        let all = [Self::AskAll, Self::KillAll, Self::Count, Self::Release, Self::ReleaseCounted];
        all.into_iter().find(|order| *order as u8 == byte)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_understood() {
        let mut pids = [0; PIDS_MAX];
        pids[0] = 7;
        pids[PIDS_MAX - 1] = i32::MAX;
        for word in [
            Word::Started { pid: 4711 },
            Word::Failed { errno: 11 },
            Word::Ended { fate: Fate::Exited(-1), is_alone: true },
            Word::Ended { fate: Fate::Signalled { signal: 9, core: true }, is_alone: false },
            Word::Ended { fate: Fate::Unknown(10), is_alone: false },
            Word::Stopped { signal: 20 },
            Word::Gone,
            Word::Listening,
            Word::Alive { is_known: true, count: 65, pids },
        ] {
            let mut bytes = [0; Word::BYTES_MAX];
            let length = word.encode(&mut bytes);
            assert_eq!(Word::decode(&bytes[..length]), Some(word));
            assert_eq!(Word::decode(&bytes[..length - 1]), None);
        }
        assert_eq!(Word::decode(&[]), None);
        assert_eq!(Word::decode(&[9, 0, 0, 0]), None);
    }

    #[test]
    fn an_order_is_one_byte() {
        assert_eq!(Order::decode(Order::KillAll as u8), Some(Order::KillAll));
        assert_eq!(Order::decode(0), None);
    }
}
