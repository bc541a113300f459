//! Starting the process.

use std::ffi::{OsStr, OsString};
use std::io::{self, PipeReader};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rustix::fs::{Access, AtFlags, CWD};
use rustix::io::Errno;
use rustix::process::Pid;

use crate::descriptors;
use crate::reap::Process;
use crate::terminal::{Terminal, stdin_read_only};
use crate::{Command, SpawnReason, Stdin, Stream};

/// A started process and the reading ends of its pipes.
pub(crate) struct Spawned {
    pub(crate) process: Process,
    pub(crate) executable: PathBuf,
    pub(crate) pipes: Vec<(Stream, PipeReader)>,
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

/// Starts `command` in a process group of its own.
pub(crate) fn spawn(
    command: &Command,
    terminal: Option<&mut Terminal>,
) -> Result<Spawned, SpawnFailure> {
    check(command)?;
    let executable = resolve(command)?;
    let (stdout, stdout_writer) = io::pipe()?;
    let (stderr, stderr_writer) = io::pipe()?;
    let mut child = std::process::Command::new(&executable);
    if let Some((name, rest)) = command.argv.split_first() {
        child.arg0(name).args(rest);
    }
    child.envs(command.env.iter().map(|(name, value)| (name, value)));
    if let Some(cwd) = &command.cwd {
        child.current_dir(cwd);
    }
    child.stdin(stdin(command.stdin)?).stdout(stdout_writer).stderr(stderr_writer);
    child.process_group(0);
    if let Some(keep) = &command.keep_fds {
        descriptors::close(&mut child, keep);
    }
    let mut pipes = vec![(Stream::Stdout, stdout), (Stream::Stderr, stderr)];
    if let Some(number) = command.extra_fd {
        let (extra, writer) = io::pipe()?;
        descriptors::place(&mut child, writer.into(), number)?;
        pipes.push((Stream::Extra, extra));
    }
    if let Some(terminal) = terminal {
        let setup = terminal.child_setup()?;
        // SAFETY: runs between fork and exec. `apply` makes system calls on descriptors and a mask
        // that live in the closure; it allocates nothing, takes no lock and cannot panic.
        unsafe {
            child.pre_exec(move || {
                setup.apply();
                Ok(())
            });
        }
    }
    let started = child.spawn().map_err(|error| classify(&error, &executable, command))?;
    // `child` still holds the writing ends; with them here no end of file would ever come.
    drop(child);
    let pid = i32::try_from(started.id()).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| SpawnFailure::new(SpawnReason::Refused(0), None))?;
    Ok(Spawned { process: Process::new(pid), executable, pipes })
}

fn stdin(stdin: Stdin) -> Result<Stdio, SpawnFailure> {
    match stdin {
        Stdin::Null => Ok(Stdio::null()),
        Stdin::Inherit if rustix::termios::isatty(rustix::stdio::stdin()) => stdin_read_only()
            .map(Stdio::from)
            .map_err(|_| SpawnFailure::new(SpawnReason::Terminal, None)),
        Stdin::Inherit => Ok(Stdio::inherit()),
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
