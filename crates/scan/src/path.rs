//! Which of the equal ways a scan goes.

use std::sync::atomic::{AtomicU8, Ordering};

/// A way to scan. All of them find the same; they differ in what the processor must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Path {
    /// Nothing is found: each byte is left to the rows.
    Rows = 1,
    /// Any processor: a few bytes at a time in its ordinary registers.
    Swar = 2,
    /// x86-64 with AVX2 and BMI2: 64 bytes at a time.
    Avx2 = 3,
    /// x86-64 with AVX-512 (F, BW, VBMI, VBMI2) as well.
    Avx512 = 4,
}

impl Path {
    /// All of them, the fastest first.
    pub const ALL: [Self; 4] = [Self::Avx512, Self::Avx2, Self::Swar, Self::Rows];

    /// Its name in tables and records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rows => "rows",
            Self::Swar => "swar",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }

    /// Whether this processor can go it.
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            Self::Rows | Self::Swar => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                Self::Avx2.is_available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vbmi")
                    && is_x86_feature_detected!("avx512vbmi2")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx2 | Self::Avx512 => false,
        }
    }
}

/// The paths that this processor can go, the fastest first.
///
/// ```
/// use noesc_scan::{Path, available};
/// assert!(available().contains(&Path::Swar));
/// ```
#[must_use]
pub fn available() -> Vec<Path> {
    Path::ALL.into_iter().filter(|path| path.is_available()).collect()
}

/// The path in use, as its number; 0 until it was looked for.
static IN_USE: AtomicU8 = AtomicU8::new(0);

/// The path that scans go: the fastest one of this processor.
#[must_use]
#[inline]
pub fn in_use() -> Path {
    match IN_USE.load(Ordering::Relaxed) {
        1 => Path::Rows,
        2 => Path::Swar,
        3 => Path::Avx2,
        4 => Path::Avx512,
        _ => choose(),
    }
}

#[cold]
fn choose() -> Path {
    let path = chosen().unwrap_or(available()[0]);
    IN_USE.store(path as u8, Ordering::Relaxed);
    path
}

/// The path that the environment asks for, in builds of tests and benchmarks.
#[cfg(feature = "forced")]
fn chosen() -> Option<Path> {
    let name = std::env::var_os("NOESC_SCAN")?;
    Path::ALL.into_iter().find(|path| path.is_available() && name == path.name())
}

#[cfg(not(feature = "forced"))]
fn chosen() -> Option<Path> {
    None
}

/// Makes every scan of this process go a path, or its own choice again. False: this processor
/// can't.
#[cfg(feature = "forced")]
pub fn force(path: Option<Path>) -> bool {
    let is_available = path.is_none_or(Path::is_available);
    if is_available {
        IN_USE.store(path.map_or(0, |path| path as u8), Ordering::Relaxed);
    }
    is_available
}
