//! How fast a pass is: the fastest of many, since whatever else the machine does only adds time.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::inputs::Input;
use crate::paths::{self, Path};
use crate::peers::{Buffers, Does, PEERS, Peer};

/// Passes that are timed as one take at least this long together, so that reading the clock does
/// not count.
const SAMPLE: Duration = Duration::from_micros(100);

/// A peer works this long until it is the next one's turn.
const TURN: Duration = Duration::from_millis(15);

/// How long is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// Time for each peer and path on one input, the first passes aside.
    pub(crate) time: Duration,
    /// Whether only the peers for a quick look are measured.
    pub(crate) is_quick: bool,
}

/// What was measured of one peer, over one path of the engine where it is ours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Speed {
    pub(crate) peer: Peer,
    pub(crate) path: Option<Path>,
    /// Of the fastest pass.
    pub(crate) ns: f64,
}

/// A peer that waits for its next turn.
struct Runner {
    speed: Speed,
    buffers: Buffers,
    /// Passes that are timed as one.
    passes: u32,
    used: Duration,
}

impl Runner {
    fn new(peer: Peer, path: Option<Path>, input: &Input) -> Self {
        let speed = Speed { peer, path, ns: f64::INFINITY };
        let mut runner = Self { speed, buffers: Buffers::new(), passes: 1, used: Duration::ZERO };
        runner.sample(input);
        let once = runner.sample(input).as_nanos().max(1);
        runner.passes = u32::try_from(SAMPLE.as_nanos() / once + 1).unwrap_or(u32::MAX);
        runner
    }

    /// Times some passes at each place, and gives the time of all.
    fn sample(&mut self, input: &Input) -> Duration {
        let mut all = Duration::ZERO;
        for pass in self.speed.peer.passes {
            let start = Instant::now();
            for _ in 0..self.passes {
                pass(input, &mut self.buffers, &mut |left| {
                    black_box(left);
                });
            }
            let time = start.elapsed();
            self.speed.ns = self.speed.ns.min(time.as_secs_f64() * 1e9 / f64::from(self.passes));
            all += time;
        }
        all
    }

    /// Times passes for one turn.
    fn turn(&mut self, input: &Input) {
        paths::force(self.speed.path);
        let mut time = self.sample(input);
        while time < TURN {
            time += self.sample(input);
        }
        self.used += time;
    }
}

/// Measures everyone who takes the input, in turns.
pub(crate) fn speeds(input: &Input, budget: Budget) -> Vec<Speed> {
    let mut runners: Vec<Runner> = runs(budget.is_quick)
        .filter(|(peer, _)| (peer.takes)(input))
        .map(|(peer, path)| {
            paths::force(path);
            Runner::new(peer, path, input)
        })
        .collect();
    while runners.iter().any(|runner| runner.used < budget.time) {
        for runner in runners.iter_mut().filter(|runner| runner.used < budget.time) {
            runner.turn(input);
        }
    }
    paths::force(None);
    runners.into_iter().map(|runner| runner.speed).collect()
}

/// Who is measured: the settings that are compared over every path, other settings over the first.
pub(crate) fn runs(is_quick: bool) -> impl Iterator<Item = (Peer, Option<Path>)> {
    let peers = PEERS.into_iter().filter(move |peer| peer.is_quick || !is_quick);
    peers.flat_map(|peer| {
        let paths = paths::available();
        let count = match peer.does {
            Does::Bound | Does::Strips => return vec![(peer, None)],
            Does::Ours => paths.len(),
            Does::OursToo => 1,
        };
        paths.into_iter().take(count).map(|path| (peer, Some(path))).collect()
    })
}
