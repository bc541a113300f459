//! What arrives of the two streams, and how each of them ends.

// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::time::{Duration, Instant};

use common::{Keep, captured, command, kill, sh};
use noesc_capture::{
    CHUNK_BYTES_MAX, Chunk, Cutoff, End, Exit, Flow, Limits, Outcome, Sink, Stream, run,
};

#[test]
fn the_streams_stay_apart() {
    let (captured, keep) = captured(&sh("echo out; echo err >&2; printf 'no end' >&2"));
    assert_eq!((keep.stdout().as_str(), keep.stderr().as_str()), ("out\n", "err\nno end"));
    assert_eq!((captured.stdout.bytes, captured.stdout.lines), (4, 1));
    assert_eq!((captured.stderr.bytes, captured.stderr.lines), (10, 1));
    for end in [captured.stdout.end, captured.stderr.end] {
        assert_eq!((end.eof, end.cutoff), (true, Cutoff::None));
    }
}

#[test]
fn one_sequence_orders_both_streams() {
    let script = "for i in 1 2 3; do echo o$i; sleep 0.1; echo e$i >&2; sleep 0.1; done";
    let (captured, keep) = captured(&sh(script));
    let seen: Vec<_> = keep.chunks.iter().map(|chunk| (chunk.0, chunk.3.as_slice())).collect();
    let wanted: [(u64, &[u8]); 6] =
        [(0, b"o1\n"), (1, b"e1\n"), (2, b"o2\n"), (3, b"e2\n"), (4, b"o3\n"), (5, b"e3\n")];
    assert_eq!(seen, wanted);
    assert_eq!(captured.chunks, 6);
}

#[test]
fn offsets_and_sizes_fit_together() {
    let (captured, keep) = captured(&sh("head -c 300001 /dev/zero; head -c 99 /dev/zero >&2"));
    let mut expected = [0_u64; 2];
    for (seq, chunk) in keep.chunks.iter().enumerate() {
        assert_eq!(chunk.0, seq as u64);
        let at = &mut expected[usize::from(chunk.1 == Stream::Stderr)];
        assert_eq!(chunk.2, *at);
        assert!((1..=CHUNK_BYTES_MAX).contains(&chunk.3.len()));
        *at += chunk.3.len() as u64;
    }
    assert_eq!(expected, [300_001, 99]);
    assert_eq!((captured.stdout.bytes, captured.stderr.bytes), (300_001, 99));
}

#[test]
fn what_was_read_is_handed_over_at_once() {
    struct Clocked(Instant, Vec<Duration>);
    impl Sink for Clocked {
        fn chunk(&mut self, _: Chunk<'_>) -> Flow {
            self.1.push(self.0.elapsed());
            Flow::Continue
        }
        fn end(&mut self, _: Stream, _: End) -> Flow {
            Flow::Continue
        }
    }
    let mut clocked = Clocked(Instant::now(), Vec::new());
    let captured = run(&sh("printf a; sleep 2; printf b"), &Limits::default(), &mut clocked);
    assert_eq!(clocked.1.len(), 2);
    assert!(clocked.1[0] + Duration::from_secs(1) < captured.duration, "{:?}", clocked.1);
}

#[test]
fn each_stream_ends_once() {
    let (_, keep) = captured(&sh("exec >&-; sleep 0.1; echo late >&2"));
    let order: Vec<_> = keep.ends.iter().map(|end| end.0).collect();
    assert_eq!(order, [Stream::Stdout, Stream::Stderr]);
    assert_eq!(keep.stderr(), "late\n");
}

#[test]
fn a_process_that_closed_its_streams_is_waited_for() {
    let (captured, _) = captured(&sh("exec >&- 2>&-; sleep 0.3; exit 5"));
    assert_eq!(captured.outcome, Outcome::Exited { code: 5 });
    assert!(captured.stdout.end.eof && captured.duration >= Duration::from_millis(300));
}

/// Far longer than a run takes that does not wait for what it leaves behind, on any machine.
const HANGS: Duration = Duration::from_secs(60);

/// Runs a script that leaves a process behind whose id it prints first.
fn leaves_behind(script: &str) -> (noesc_capture::Captured, String) {
    leaves_behind_within(&Limits::default(), script)
}

fn leaves_behind_within(limits: &Limits, script: &str) -> (noesc_capture::Captured, String) {
    let mut keep = Keep::default();
    let captured = run(&sh(script), limits, &mut keep);
    let output = keep.stdout();
    let (pid, rest) = output.split_once('\n').unwrap();
    let alive = std::path::Path::new("/proc").join(pid).exists();
    kill(pid);
    assert!(alive, "the survivor of a normal exit was killed");
    (captured, rest.to_owned())
}

#[test]
fn a_survivor_that_holds_the_pipe_does_not_hang_the_run() {
    for start in ["sleep 300 &", "setsid sleep 300 &"] {
        let (captured, rest) = leaves_behind(&format!("{start} echo $!; echo a; echo b"));
        assert_eq!(rest, "a\nb\n");
        assert_eq!(captured.outcome, Outcome::Exited { code: 0 });
        for end in [captured.stdout.end, captured.stderr.end] {
            assert_eq!((end.eof, end.cutoff), (false, Cutoff::WriterAlive));
        }
        assert!(captured.duration < HANGS, "{:?}", captured.duration);
    }
}

#[test]
fn survivors_are_counted_with_their_own_children() {
    let (record, keep) = captured(&sh("(sleep 300; :) & echo $!"));
    let survivors = record.survivors;
    survivors.listed.iter().for_each(|survivor| kill(&survivor.pid.to_string()));
    let names: Vec<_> = survivors.listed.iter().map(|survivor| survivor.name.clone()).collect();
    assert_eq!(names, [&b"sh"[..], b"sleep"]);
    assert_eq!(survivors.count, Some(2));
    assert_eq!(survivors.listed[0].pid.to_string(), keep.stdout().trim());
}

#[test]
fn survivors_are_named_up_to_a_number_and_counted_beyond() {
    for wanted in [63, 64, 65] {
        let script = format!(
            "n=0; while [ $n -lt {wanted} ]; do sleep 300 >&- 2>&- & echo $!; n=$((n + 1)); done"
        );
        let (record, keep) = captured(&sh(&script));
        keep.stdout().lines().for_each(kill);
        let survivors = record.survivors;
        assert_eq!(survivors.count, Some(wanted));
        assert_eq!(survivors.listed.len(), 64.min(wanted as usize));
    }
}

#[test]
fn a_survivor_that_holds_one_pipe_cuts_only_that_one() {
    let (captured, _) = leaves_behind("sleep 300 2>/dev/null & echo $!");
    assert_eq!(captured.stdout.end.cutoff, Cutoff::WriterAlive);
    assert!(captured.stderr.end.eof);
}

#[test]
fn a_survivor_that_goes_on_writing_is_listened_to_for_a_while() {
    let script = "(trap '' PIPE; while sleep 0.1; do echo more || exit; done) & echo $!";
    let mut limits = Limits::default();
    limits.linger = Duration::from_secs(20);
    let (captured, rest) = leaves_behind_within(&limits, script);
    assert!(rest.lines().count() > 1, "{rest:?}");
    assert_eq!(captured.stdout.end.cutoff, Cutoff::WriterAlive);
    assert!(captured.duration < HANGS, "{:?}", captured.duration);
}

#[test]
fn a_survivor_that_ends_in_time_leaves_an_end_of_file() {
    let mut limits = Limits::default();
    (limits.linger, limits.linger_max) = (HANGS, HANGS);
    let mut keep = Keep::default();
    let captured = run(&sh("(sleep 0.1; echo late) & echo first"), &limits, &mut keep);
    assert_eq!(keep.stdout(), "first\nlate\n");
    assert!(captured.stdout.end.eof && captured.exit == Exit::Exited { code: 0 });
}

/// Takes `after` bytes of standard output, then has had enough.
struct Closing {
    after: u64,
    kept: Keep,
}

impl Sink for Closing {
    fn chunk(&mut self, chunk: Chunk<'_>) -> Flow {
        let enough =
            chunk.stream == Stream::Stdout && chunk.offset + chunk.bytes.len() as u64 >= self.after;
        let _ = self.kept.chunk(chunk);
        if enough { Flow::Closed } else { Flow::Continue }
    }
    fn end(&mut self, stream: Stream, end: End) -> Flow {
        self.kept.end(stream, end)
    }
}

#[test]
fn a_reader_that_goes_away_breaks_the_childs_pipe() {
    let mut sink = Closing { after: 1, kept: Keep::default() };
    let captured = run(&command(&["yes"]), &Limits::default(), &mut sink);
    assert_eq!(captured.outcome, Outcome::Signalled { signal: 13, core: false });
    let cut = captured.stdout.end;
    assert_eq!((cut.eof, cut.cutoff), (false, Cutoff::Caller));
    assert!(captured.stderr.end.eof);
    assert_eq!(sink.kept.ends.len(), 2);
}

#[test]
fn the_run_goes_on_after_a_reader_went_away() {
    let mut sink = Closing { after: 1, kept: Keep::default() };
    let script = "echo one; sleep 0.2; echo still here >&2; exit 4";
    let captured = run(&sh(script), &Limits::default(), &mut sink);
    assert_eq!(captured.outcome, Outcome::Exited { code: 4 });
    assert_eq!(sink.kept.stderr(), "still here\n");
}

/// Blocks standard output on a pipe that nobody reads until standard error says so.
struct Stuck {
    reader: std::io::PipeReader,
    outlet: noesc_capture::Outlet,
    released: bool,
    stdout: u64,
    stderr: Vec<u8>,
}

impl Stuck {
    fn new() -> Self {
        let (reader, writer) = std::io::pipe().unwrap();
        let mut outlet = noesc_capture::Outlet::new(writer.into());
        outlet.buffer().resize(1 << 20, b'x');
        assert_eq!(outlet.write(), Flow::Blocked);
        Self { reader, outlet, released: false, stdout: 0, stderr: Vec::new() }
    }
}

impl Sink for Stuck {
    fn chunk(&mut self, chunk: Chunk<'_>) -> Flow {
        if chunk.stream == Stream::Stdout {
            self.stdout += chunk.bytes.len() as u64;
            return if self.released { Flow::Continue } else { Flow::Blocked };
        }
        self.stderr.extend_from_slice(chunk.bytes);
        if chunk.bytes.ends_with(b"go\n") {
            self.released = true;
            let reader = self.reader.try_clone().unwrap();
            std::thread::spawn(move || std::io::copy(&mut { reader }, &mut std::io::sink()));
        }
        Flow::Continue
    }
    fn end(&mut self, _: Stream, _: End) -> Flow {
        Flow::Continue
    }
    fn blocked_on(&self, _: Stream) -> Option<std::os::fd::BorrowedFd<'_>> {
        Some(self.outlet.fd())
    }
    fn writable(&mut self, _: Stream) -> Flow {
        self.outlet.write()
    }
}

#[test]
fn a_blocked_stream_holds_the_child_back_but_not_the_other_stream() {
    let mut sink = Stuck::new();
    // What a pipe cannot hold is waited for: `head` ends only when standard output goes on.
    let script =
        "head -c 1000000 /dev/zero & sleep 0.3; echo one >&2; sleep 0.3; echo go >&2; wait";
    let captured = run(&sh(script), &Limits::default(), &mut sink);
    assert_eq!(sink.stderr, b"one\ngo\n");
    assert_eq!((sink.stdout, captured.stdout.bytes), (1_000_000, 1_000_000));
    assert!(captured.stdout.end.eof);
}

#[test]
fn a_slow_reader_loses_nothing_that_was_written_before_the_end() {
    /// Blocks after every chunk for longer than the linger time.
    struct Slow(Option<Instant>, u64);
    impl Sink for Slow {
        fn chunk(&mut self, chunk: Chunk<'_>) -> Flow {
            self.1 += chunk.bytes.len() as u64;
            self.0 = Some(Instant::now());
            Flow::Blocked
        }
        fn end(&mut self, _: Stream, _: End) -> Flow {
            Flow::Continue
        }
        fn writable(&mut self, _: Stream) -> Flow {
            let waited = self.0.map(|since| since.elapsed() > Duration::from_millis(400));
            if waited == Some(true) { Flow::Continue } else { Flow::Blocked }
        }
    }
    let mut slow = Slow(None, 0);
    let script = "head -c 120000 /dev/zero";
    let captured = run(&sh(script), &Limits::default(), &mut slow);
    assert_eq!((slow.1, captured.stdout.bytes), (120_000, 120_000));

    // The same with a survivor, so that no end of file comes to the rescue.
    let mut slow = Slow(None, 0);
    let folder = common::Folder::new("slow");
    let pid = folder.file("pid");
    let script = format!("sleep 300 & echo $! > {}; head -c 120000 /dev/zero", pid.display());
    let captured = run(&sh(&script), &Limits::default(), &mut slow);
    kill(&std::fs::read_to_string(pid).unwrap());
    assert_eq!((slow.1, captured.stdout.end.cutoff), (120_000, Cutoff::WriterAlive));
}

#[test]
fn linger_times_are_the_callers() {
    let mut limits = Limits::default();
    limits.linger = Duration::from_secs(60);
    limits.linger_max = Duration::from_millis(700);
    let mut keep = Keep::default();
    let captured = run(&sh("sleep 300 & echo $!"), &limits, &mut keep);
    kill(&keep.stdout());
    assert_eq!(captured.stdout.end.cutoff, Cutoff::WriterAlive);
    let range = Duration::from_millis(700)..HANGS;
    assert!(range.contains(&captured.duration), "{:?}", captured.duration);
}

#[test]
fn a_full_rate_writer_does_not_starve_the_linger_clock() {
    let (captured, keep) = captured_counted("yes & echo $! >&2");
    kill(&keep);
    assert_eq!(captured.stdout.end.cutoff, Cutoff::WriterAlive);
    assert!(captured.duration < HANGS, "{:?}", captured.duration);
}

/// Keeps standard error only.
fn captured_counted(script: &str) -> (noesc_capture::Captured, String) {
    struct Counted(Vec<u8>);
    impl Sink for Counted {
        fn chunk(&mut self, chunk: Chunk<'_>) -> Flow {
            if chunk.stream == Stream::Stderr {
                self.0.extend_from_slice(chunk.bytes);
            }
            Flow::Continue
        }
        fn end(&mut self, _: Stream, _: End) -> Flow {
            Flow::Continue
        }
    }
    let mut counted = Counted(Vec::new());
    let captured = run(&sh(script), &Limits::default(), &mut counted);
    (captured, String::from_utf8_lossy(&counted.0).into_owned())
}

#[test]
fn every_line_feed_is_counted() {
    for lines in [0, 1, 254, 255, 256, 511, 65_535, 65_536, 65_537] {
        let (captured, _) = captured(&sh(&format!("yes '' | head -n {lines}; printf x")));
        assert_eq!((captured.stdout.lines, captured.stdout.bytes), (lines, lines + 1));
    }
}
