//! Starting the process.

use std::ffi::{OsStr, OsString};
use std::io::{self, PipeReader, Read};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{Access, AtFlags, CWD};
use rustix::io::Errno;

use crate::launch::{Image, Place, Setup};
use crate::process::{Left, Process};
use crate::terminal::{Terminal, stdin_read_only};
use crate::{Command, SpawnReason, Stdin, Stream, descriptors, pty};

/// A started process and what its output is read from.
pub(crate) struct Spawned {
    pub(crate) process: Process,
    pub(crate) executable: PathBuf,
    pub(crate) outputs: Vec<(Stream, OwnedFd)>,
    /// The child's side of a terminal of its own.
    pub(crate) terminal: Option<OwnedFd>,
}

/// Why it was not started, and the path that is to blame.
pub(crate) struct SpawnFailure {
    pub(crate) reason: SpawnReason,
    pub(crate) path: Option<PathBuf>,
    pub(crate) executable: Option<PathBuf>,
}

impl SpawnFailure {
    fn new(reason: SpawnReason, path: Option<PathBuf>) -> Self {
        Self { reason, path, executable: None }
    }
}

impl From<io::Error> for SpawnFailure {
    fn from(error: io::Error) -> Self {
        Self::new(SpawnReason::Refused(error.raw_os_error().unwrap_or(0)), None)
    }
}

/// Starts `command` in a process group of its own, or a session where it has a terminal of its own.
pub(crate) fn spawn(
    command: &Command,
    terminal: Option<&mut Terminal>,
) -> Result<Spawned, SpawnFailure> {
    check(command)?;
    let executable = resolve(command)?;
    let cwd = command.cwd.as_deref().map(Path::as_os_str);
    let image = Image::new(executable.as_os_str(), &command.argv, &environment(command), cwd)?;
    // From the first writing end to the last: a supervisor of another run that was forked meanwhile
    // would hold them for a moment, and the end of a stream would not be seen in time.
    let alone = SPAWNING.lock().unwrap_or_else(PoisonError::into_inner);
    let Wiring { mut outputs, stdio } = wire(command)?;
    let own = command.terminal.map(|_| stdio[0].try_clone()).transpose()?;
    let (extra, _reserved) = match command.extra_fd {
        None => (None, None),
        Some(number) => {
            let (extra, writer) = io::pipe()?;
            outputs.push((Stream::Extra, extra.into()));
            let writer: OwnedFd = writer.into();
            let reserved = descriptors::reserve(&writer, number)?;
            (Some((writer, number)), Some(reserved))
        }
    };
    let (told, failure) = io::pipe()?;
    let place = match (command.terminal, terminal) {
        (Some(_), _) => Place::Session,
        (None, Some(terminal)) => Place::Group { terminal: terminal.for_child()? },
        (None, None) => Place::Group { terminal: None },
    };
    let inherits = command.keep_fds.as_ref().map(|keep| descriptors::Inherited::new(keep));
    let failure = descriptors::above_standard(failure.into())?;
    let follows = command.supervised;
    let setup = Setup { stdio, place, follows, inherits, extra, failure };
    let process = start(&image, &setup, command.supervised)?;
    // With the writing ends here no end of file would ever come.
    drop((setup, alone));
    match failure_of(told) {
        None => Ok(Spawned { process, executable, outputs, terminal: own }),
        Some(error) => {
            process.release(Left::default());
            Err(classify(&error, &executable, command))
        }
    }
}

/// Held while a child is started.
static SPAWNING: Mutex<()> = Mutex::new(());

/// What the child writes to, and what it is read from.
struct Wiring {
    outputs: Vec<(Stream, OwnedFd)>,
    stdio: [OwnedFd; 3],
}

fn wire(command: &Command) -> Result<Wiring, SpawnFailure> {
    if let Some(size) = command.terminal {
        let (ours, theirs) = pty::open(size)?;
        let theirs = descriptors::above_standard(theirs)?;
        let stdio = [theirs.try_clone()?, theirs.try_clone()?, theirs];
        return Ok(Wiring { outputs: vec![(Stream::Pty, ours)], stdio });
    }
    let (stdout, stdout_writer) = io::pipe()?;
    let (stderr, stderr_writer) = io::pipe()?;
    let outputs = vec![(Stream::Stdout, stdout.into()), (Stream::Stderr, stderr.into())];
    let stdio = [stdin(command.stdin)?, stdout_writer.into(), stderr_writer.into()];
    let [stdin, stdout, stderr] = stdio.map(descriptors::above_standard);
    Ok(Wiring { outputs, stdio: [stdin?, stdout?, stderr?] })
}

/// The caller's environment, and what the command sets in it.
fn environment(command: &Command) -> Vec<(OsString, OsString)> {
    let is_set = |name: &OsStr| command.env.iter().any(|(set, _)| set == name);
    let inherited = std::env::vars_os().filter(|(name, _)| !is_set(name));
    let last = |at: usize, name: &OsStr| command.env.iter().skip(at + 1).all(|(n, _)| n != name);
    let set = command.env.iter().enumerate().filter(|(at, (name, _))| last(*at, name));
    inherited.chain(set.map(|(_, entry)| entry.clone())).collect()
}

/// Starts the child, under a supervisor where it is to have one and the system lets it.
fn start(image: &Image, setup: &Setup, supervised: bool) -> io::Result<Process> {
    #[cfg(target_os = "linux")]
    if supervised {
        return start_supervised(image, setup);
    }
    let _ = supervised;
    Ok(Process::own(crate::launch::start(image, setup, |_, _| ())?))
}

#[cfg(target_os = "linux")]
fn start_supervised(image: &Image, setup: &Setup) -> io::Result<Process> {
    use crate::link::Link;
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

    let flags = SocketFlags::CLOEXEC;
    let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
    let Some(supervisor) = crate::launch::fork()? else {
        crate::supervisor::supervise(&theirs, image, setup);
    };
    drop(theirs);
    let mut link = Link::new(ours, supervisor);
    let pid = link.started()?;
    Ok(Process::supervised(pid, link))
}

/// What failed in the child before its program began; `None` when that began.
fn failure_of(told: PipeReader) -> Option<io::Error> {
    let mut bytes = [0; 4];
    let mut told = told;
    told.read_exact(&mut bytes).ok()?;
    Some(io::Error::from_raw_os_error(i32::from_ne_bytes(bytes)))
}

fn stdin(stdin: Stdin) -> Result<OwnedFd, SpawnFailure> {
    let stdio = rustix::stdio::stdin();
    match stdin {
        Stdin::Null => Ok(std::fs::File::open("/dev/null")?.into()),
        Stdin::Inherit if rustix::termios::isatty(stdio) => {
            stdin_read_only().map_err(|_| SpawnFailure::new(SpawnReason::Terminal, None))
        }
        Stdin::Inherit => Ok(stdio.try_clone_to_owned()?),
    }
}

fn check(command: &Command) -> Result<(), SpawnFailure> {
    let has_nul = |text: &OsStr| text.as_bytes().contains(&0);
    let nul = command.argv.iter().any(|argument| has_nul(argument))
        || command.cwd.as_ref().is_some_and(|cwd| has_nul(cwd.as_os_str()))
        || command.env.iter().any(|(name, value)| has_nul(name) || has_nul(value));
    if nul {
        return Err(SpawnFailure::new(SpawnReason::Nul, None));
    }
    match &command.cwd {
        Some(cwd)
            if rustix::fs::accessat(CWD, cwd, Access::EXEC_OK, AtFlags::EACCESS).is_err()
                || !cwd.is_dir() =>
        {
            Err(SpawnFailure::new(SpawnReason::WorkingFolder, Some(cwd.clone())))
        }
        _ => Ok(()),
    }
}

/// The file that the name stands for, as `execvp` would find it: the first executable file; else
/// the first file that is there counts as not executable.
fn resolve(command: &Command) -> Result<PathBuf, SpawnFailure> {
    let name = match command.argv.first() {
        None => return Err(SpawnFailure::new(SpawnReason::EmptyArgv, None)),
        Some(name) => name,
    };
    let not_found = || SpawnFailure::new(SpawnReason::NotFound, Some(PathBuf::from(name)));
    if name.is_empty() {
        return Err(not_found());
    }
    if name.as_bytes().contains(&b'/') {
        return examine(PathBuf::from(name), command.cwd.as_deref());
    }
    let mut first: Option<SpawnFailure> = None;
    for folder in std::env::split_paths(&search_path(command)) {
        // An empty entry is the working folder.
        let folder = if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder };
        match examine(folder.join(name), command.cwd.as_deref()) {
            Ok(found) => return Ok(found),
            Err(failure) if failure.reason == SpawnReason::NotExecutable => {
                first.get_or_insert(failure);
            }
            Err(_) => {}
        }
    }
    Err(first.unwrap_or_else(not_found))
}

fn search_path(command: &Command) -> OsString {
    let set = command.env.iter().rev().find(|(name, _)| name == "PATH");
    set.map(|(_, value)| value.clone())
        .or_else(|| std::env::var_os("PATH"))
        .unwrap_or_else(|| OsString::from("/usr/bin:/bin"))
}

/// Whether `path`, relative to the child's working folder, is an executable file.
fn examine(path: PathBuf, cwd: Option<&Path>) -> Result<PathBuf, SpawnFailure> {
    let seen = cwd.map_or_else(|| path.clone(), |cwd| cwd.join(&path));
    let reason = match std::fs::metadata(&seen) {
        Ok(meta) if meta.is_dir() => SpawnReason::IsFolder,
        Ok(_) if rustix::fs::accessat(CWD, &seen, Access::EXEC_OK, AtFlags::EACCESS).is_ok() => {
            return Ok(path);
        }
        Ok(_) => SpawnReason::NotExecutable,
        // A folder on the way may not be searched: the file is not known to be missing.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => SpawnReason::NotExecutable,
        Err(_) => SpawnReason::NotFound,
    };
    Err(SpawnFailure::new(reason, Some(path)))
}

fn classify(error: &io::Error, executable: &Path, command: &Command) -> SpawnFailure {
    let path = Some(executable.to_path_buf());
    let (reason, path) = match error.raw_os_error().map(Errno::from_raw_os_error) {
        // The file was there a moment ago, so it is what it names that is missing.
        Some(Errno::NOENT) => match examine(executable.to_path_buf(), command.cwd.as_deref()) {
            Ok(_) => (SpawnReason::InterpreterNotFound, path),
            Err(failure) => (failure.reason, failure.path),
        },
        Some(Errno::ACCESS | Errno::PERM) => (SpawnReason::NotExecutable, path),
        Some(Errno::NOEXEC) => (SpawnReason::NotAProgram, path),
        Some(Errno::TOOBIG) => (SpawnReason::TooLong, None),
        Some(errno) => (SpawnReason::Refused(errno.raw_os_error()), None),
        None => (SpawnReason::Refused(0), None),
    };
    SpawnFailure { reason, path, executable: Some(executable.to_path_buf()) }
}
