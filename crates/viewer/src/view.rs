//! The viewer on the terminal of the process.

use std::fs::File;
use std::io::{self, BufWriter};
use std::sync::Arc;

use ratatui::backend::{Backend, CrosstermBackend};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::device::Device;
use crate::key::{Decoder, Key};
use crate::layout::CELLS_MAX;
use crate::original::{Ended, Original, Seen, Start, ViewerError};
use crate::signals::{Asked, Signals};
use crate::viewer::Viewer;

/// How long an ESC waits for what would make it another key.
const ESC_WAITS: Timespec = Timespec { tv_sec: 0, tv_nsec: 40_000_000 };

/// Steps of work between two looks at the keys: some milliseconds.
const STEPS: usize = 8;

/// Shows an original on the terminal until the user leaves, and says what was looked at.
///
/// It opens the terminal by its device: the standard streams are neither read nor written. On every
/// way out, by a key, an error, a signal or a panic, the terminal gets its modes back. A signal
/// that ends the process ends the viewing, and [`Seen::ended`] names it: the caller is to end too.
///
/// Signals are held back from the calling thread alone. In a program of several threads, others
/// must block them, or a signal ends the program before the terminal has its modes back.
///
/// # Errors
/// Where there is no terminal, or it can't show anything. Nothing was shown then. A read that
/// fails is shown and is no error.
///
/// ```no_run
/// use noesc_viewer::{Bytes, Start, colour_wanted, view};
///
/// let mut original = Bytes::new([("stdout", b"one\x1b[2Jtwo".to_vec())]);
/// let start = Start { title: "make".into(), colour: colour_wanted(), ..Start::default() };
/// let seen = view(&mut original, &start)?;
/// for copied in seen.copied {
///     println!("{}", copied.text);
/// }
/// # Ok::<(), noesc_viewer::ViewerError>(())
/// ```
pub fn view(original: &mut dyn Original, start: &Start) -> Result<Seen, ViewerError> {
    if original.streams().is_empty() {
        return Err(ViewerError::NoStream);
    }
    if std::env::var_os("TERM").is_some_and(|value| value == "dumb") {
        return Err(ViewerError::DumbTerminal);
    }
    let device = Arc::new(Device::open().map_err(ViewerError::NoTerminal)?);
    let signals = Signals::hold().map_err(ViewerError::Signals)?;
    let _hook = Hook::set(&device);
    device.enter().map_err(ViewerError::Modes)?;
    let _modes = Modes(&device);
    let mut viewer = Viewer::new(original, start);
    let ended = run(&mut viewer, &device, &signals).unwrap_or(Ended::TerminalLost);
    Ok(Seen { ended, ..viewer.seen() })
}

/// The modes of the terminal, put back at the end of the scope.
struct Modes<'a>(&'a Device);

impl Drop for Modes<'_> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

type PanicHook = Box<dyn Fn(&std::panic::PanicHookInfo<'_>) + Sync + Send + 'static>;

/// Puts the modes back before a panic of this thread is told, so that it can be read.
struct Hook(Arc<PanicHook>);

impl Hook {
    fn set(device: &Arc<Device>) -> Self {
        let before = Arc::new(std::panic::take_hook());
        let (device, then) = (Arc::downgrade(device), Arc::clone(&before));
        let thread = std::thread::current().id();
        std::panic::set_hook(Box::new(move |panicked| {
            if std::thread::current().id() == thread
                && let Some(device) = device.upgrade()
            {
                device.leave();
            }
            then(panicked);
        }));
        Self(before)
    }
}

impl Drop for Hook {
    fn drop(&mut self) {
        // In a panic it must stay, and does nothing more.
        if !std::thread::panicking() {
            let before = Arc::clone(&self.0);
            std::panic::set_hook(Box::new(move |panicked| before(panicked)));
        }
    }
}

fn run(viewer: &mut Viewer<'_>, device: &Device, signals: &Signals) -> io::Result<Ended> {
    let mut screen = Screen::of(device)?;
    let mut decoder = Decoder::default();
    loop {
        screen.draw(viewer, device.size())?;
        let wait = match (viewer.is_working(), decoder.is_waiting()) {
            (true, _) => Some(Timespec { tv_sec: 0, tv_nsec: 0 }),
            (false, true) => Some(ESC_WAITS),
            (false, false) => None,
        };
        let mut stop = None;
        match wait_for(device, signals, wait)? {
            Ready { signal: true, .. } => match signals.next() {
                Some(Asked::End(number)) => return Ok(Ended::Signal(number)),
                Some(Asked::Stop) => stop = Some(false),
                Some(Asked::GoOn) => {
                    device.enter()?;
                    screen.forget();
                }
                Some(Asked::Draw) | None => {}
            },
            Ready { keys: true, .. } => {
                let mut buffer = [0; 256];
                let read = rustix::io::read(device.file(), &mut buffer)?;
                if read == 0 {
                    return Ok(Ended::TerminalLost);
                }
                decoder.push(&buffer[..read], &mut |key| take(viewer, key, &mut stop));
            }
            _ if decoder.is_waiting() => decoder.settle(&mut |key| take(viewer, key, &mut stop)),
            _ => {}
        }
        if let Some(group) = stop {
            device.leave();
            signals.stop(group);
            device.enter()?;
            screen.forget();
        }
        if viewer.is_done() {
            return Ok(Ended::Quit);
        }
        for _ in 0..STEPS {
            if !viewer.work() {
                break;
            }
        }
    }
}

/// What is on the screen. No more than what changed is sent.
///
/// Not `ratatui`'s own terminal: that asks for the place of the cursor, by way of the standard
/// streams.
struct Screen {
    backend: CrosstermBackend<BufWriter<File>>,
    shown: Option<Buffer>,
}

impl Screen {
    fn of(device: &Device) -> io::Result<Self> {
        let backend = CrosstermBackend::new(BufWriter::new(device.file().try_clone()?));
        Ok(Self { backend, shown: None })
    }

    /// Somebody else wrote to the screen.
    fn forget(&mut self) {
        self.shown = None;
    }

    fn draw(&mut self, viewer: &mut Viewer<'_>, (columns, rows): (u16, u16)) -> io::Result<()> {
        let area = Rect::new(0, 0, columns.min(CELLS_MAX), rows.min(CELLS_MAX));
        let mut buffer = Buffer::empty(area);
        viewer.draw(&mut buffer);
        let before = match self.shown.take().filter(|shown| shown.area == area) {
            Some(shown) => shown,
            None => {
                self.backend.clear()?;
                Buffer::empty(area)
            }
        };
        self.backend.draw(before.diff(&buffer).into_iter())?;
        Backend::flush(&mut self.backend)?;
        self.shown = Some(buffer);
        Ok(())
    }
}

fn take(viewer: &mut Viewer<'_>, key: Key, stop: &mut Option<bool>) {
    match key {
        Key::Ctrl('z') => *stop = Some(true),
        _ => viewer.key(key),
    }
}

struct Ready {
    signal: bool,
    keys: bool,
}

fn wait_for(device: &Device, signals: &Signals, wait: Option<Timespec>) -> io::Result<Ready> {
    let descriptor = signals.descriptor();
    let mut fds =
        [PollFd::new(&descriptor, PollFlags::IN), PollFd::new(device.file(), PollFlags::IN)];
    match poll(&mut fds, wait.as_ref()) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(Ready { signal: !fds[0].revents().is_empty(), keys: !fds[1].revents().is_empty() })
}
