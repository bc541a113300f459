//! The parameters of a control sequence, and words that depend on them.

/// A value that is no number, or too large for one.
pub(crate) const UNREADABLE: u32 = u32::MAX;

/// Parameter bytes without a private marker.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parameters<'a>(pub(crate) &'a [u8]);

impl<'a> Parameters<'a> {
    /// The values between `;`; `None` where there are no digits. A `:` begins the rest of a value,
    /// which is not read.
    pub(crate) fn values(self) -> impl Iterator<Item = Option<u32>> + use<'a> {
        self.0.split(|&b| b == b';').map(|field| {
            let head = field.split(|&b| b == b':').next().unwrap_or_default();
            if head.is_empty() { None } else { Some(value(head)) }
        })
    }

    /// How many there are; none in an empty list.
    pub(crate) fn count(self) -> usize {
        if self.0.is_empty() { 0 } else { self.values().count() }
    }

    /// The value at a place, or what stands for one that is absent.
    pub(crate) fn get(self, place: usize, absent: u32) -> u32 {
        self.values().nth(place).flatten().unwrap_or(absent)
    }

    /// A count or a coordinate: absent and 0 are 1.
    pub(crate) fn at_least_one(self, place: usize) -> u32 {
        self.get(place, 1).max(1)
    }
}

/// A decimal number; what has another byte, or is too large, is [`UNREADABLE`].
pub(crate) fn value(digits: &[u8]) -> u32 {
    let step = |n: u32, &b: &u8| match b {
        b'0'..=b'9' => n.saturating_mul(10).saturating_add(u32::from(b - b'0')),
        _ => UNREADABLE,
    };
    digits.iter().fold(0, step)
}

/// A number in words.
pub(crate) fn number(n: u32) -> String {
    match n {
        UNREADABLE => "an unreadable number".to_owned(),
        n => n.to_string(),
    }
}

/// `1 line`, `2 lines`.
pub(crate) fn counted(n: u32, unit: &str) -> String {
    match n {
        1 => format!("1 {unit}"),
        n => format!("{} {unit}s", number(n)),
    }
}

/// How the words of a row depend on the parameters.
#[derive(Clone, Copy)]
pub(crate) enum Words {
    /// They do not.
    Is(&'static str),
    /// `before N units`; N is the first parameter, absent and 0 are 1.
    Count(&'static str, &'static str),
    /// `before N`; N is the first parameter, absent is 0.
    Value(&'static str),
    /// By the first parameter, absent is 0; with words for any other value.
    Pick(&'static [(u32, &'static str)], &'static str),
    /// In a way of its own.
    By(fn(Parameters<'_>) -> String),
}

impl Words {
    pub(crate) fn say(self, parameters: Parameters<'_>) -> std::borrow::Cow<'static, str> {
        match self {
            Self::Is(words) => words.into(),
            Self::Count(before, unit) => {
                format!("{before} {}", counted(parameters.at_least_one(0), unit)).into()
            }
            Self::Value(before) => format!("{before} {}", number(parameters.get(0, 0))).into(),
            Self::Pick(table, otherwise) => {
                let first = parameters.get(0, 0);
                match table.iter().find(|(n, _)| *n == first) {
                    Some(&(_, words)) => words.into(),
                    None => format!("{otherwise}: value {}", number(first)).into(),
                }
            }
            Self::By(say) => say(parameters).into(),
        }
    }
}

/// The last two of `top;left;bottom;right` may be absent: to the edge.
pub(crate) fn rectangle(parameters: Parameters<'_>, place: usize) -> String {
    let edge = |at: usize| match parameters.values().nth(place + at).flatten() {
        None | Some(0) => "the edge".to_owned(),
        Some(n) => number(n),
    };
    format!(
        "lines {} to {}, columns {} to {}",
        number(parameters.at_least_one(place)),
        edge(2),
        number(parameters.at_least_one(place + 1)),
        edge(3),
    )
}
