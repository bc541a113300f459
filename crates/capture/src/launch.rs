//! From a prepared command to a running program: fork, the child's set-up, exec.
//!
//! Between fork and exec only system calls are made: nothing is allocated, no lock is taken and
//! nothing can panic, since other threads of the caller may have held any lock at the moment of
//! the fork. Everything a child needs is therefore made before.

use std::ffi::{CString, OsStr};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;

use libc::{c_char, c_int};
use rustix::process::Pid;

use crate::descriptors::Inherited;

/// Strings as `execve` takes them.
struct Strings {
    /// What the pointers point to.
    _owned: Vec<CString>,
    pointers: Vec<*const c_char>,
}

impl Strings {
    /// A string with a NUL in it was refused before.
    fn new<'a>(strings: impl IntoIterator<Item = &'a [u8]>) -> io::Result<Self> {
        let owned = strings.into_iter().map(CString::new).collect::<Result<Vec<_>, _>>()?;
        let pointers = owned.iter().map(|string| string.as_ptr()).chain([std::ptr::null()]);
        let pointers = pointers.collect();
        Ok(Self { _owned: owned, pointers })
    }
}

/// A program with its arguments and environment.
pub(crate) struct Image {
    path: CString,
    argv: Strings,
    /// The arguments for `/bin/sh`, which runs a script without `#!` as `execvp` has it.
    script: Strings,
    environment: Strings,
    cwd: Option<CString>,
}

impl Image {
    /// # Errors
    /// When one of them holds a NUL.
    pub(crate) fn new(
        path: &OsStr,
        argv: &[impl AsRef<OsStr>],
        environment: &[(impl AsRef<OsStr>, impl AsRef<OsStr>)],
        cwd: Option<&OsStr>,
    ) -> io::Result<Self> {
        let rest = argv.get(1..).unwrap_or_default().iter();
        let rest = rest.map(|argument| argument.as_ref().as_bytes());
        let shell: [&[u8]; 2] = [b"/bin/sh", path.as_bytes()];
        let entries: Vec<Vec<u8>> = environment
            .iter()
            .map(|(name, value)| {
                [name.as_ref().as_bytes(), b"=", value.as_ref().as_bytes()].concat()
            })
            .collect();
        Ok(Self {
            path: CString::new(path.as_bytes())?,
            argv: Strings::new(argv.iter().map(|argument| argument.as_ref().as_bytes()))?,
            script: Strings::new(shell.into_iter().chain(rest))?,
            environment: Strings::new(entries.iter().map(Vec::as_slice))?,
            cwd: cwd.map(|cwd| CString::new(cwd.as_bytes())).transpose()?,
        })
    }
}

/// Where the child stands among groups, sessions and terminals.
pub(crate) enum Place {
    /// It leads a group of its own, and takes the terminal for it where one is given.
    Group {
        /// The controlling terminal.
        terminal: Option<OwnedFd>,
    },
    /// It leads a session of its own; its standard input is the session's terminal.
    Session,
}

/// What the child does between fork and exec.
pub(crate) struct Setup {
    /// Its descriptors 0, 1 and 2. Their own numbers are above 2.
    pub(crate) stdio: [OwnedFd; 3],
    pub(crate) place: Place,
    /// Whether it ends with its parent, whoever kills that.
    pub(crate) follows: bool,
    /// Descriptors above 2 that it inherits, where not all of them.
    pub(crate) inherits: Option<Inherited>,
    /// A descriptor, and the number at which the child finds it.
    pub(crate) extra: Option<(OwnedFd, RawFd)>,
    /// Where it tells the error number of what failed. Closed by a successful exec.
    pub(crate) failure: OwnedFd,
}

/// Starts `image` as a child of the calling process. `ready` is done, with the child's number,
/// before the program can do anything: that begins when the descriptor is closed that `ready` gets.
pub(crate) fn start(
    image: &Image,
    setup: &Setup,
    ready: impl FnOnce(Pid, RawFd),
) -> io::Result<Pid> {
    let (gate, opener) = rustix::pipe::pipe()?;
    let parent = rustix::process::getpid();
    match fork()? {
        Some(child) => {
            drop(gate);
            ready(child, opener.as_raw_fd());
            drop(opener);
            Ok(child)
        }
        None => {
            drop(opener);
            // Ends when the other side is closed, by its owner's death if nothing else.
            let _ = rustix::io::retry_on_intr(|| rustix::io::read(&gate, &mut [0_u8]));
            drop(gate);
            if setup.follows {
                follow_to_death(parent);
            }
            become_program(image, setup)
        }
    }
}

/// Forks: `None` in the child, which may make system calls only from then on and ends in exec or
/// [`quit`].
pub(crate) fn fork() -> io::Result<Option<Pid>> {
    // SAFETY: fork has no precondition. What its two callers do in the child is restricted to
    // async-signal-safe calls by the contract of this module, and does not come back to them.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        pid => Ok(Pid::from_raw(pid)),
    }
}

/// Ends this process at once, without a destructor or a handler.
pub(crate) fn quit(status: c_int) -> ! {
    // SAFETY: _exit has no precondition and does not return.
    unsafe { libc::_exit(status) }
}

/// Makes this process end with its parent, whoever kills that. What it starts does not inherit it.
#[cfg(target_os = "linux")]
fn follow_to_death(parent: Pid) {
    use rustix::process::{Signal, getppid, set_parent_process_death_signal};
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    if getppid() != Some(parent) {
        // It died before it was asked to.
        quit(127);
    }
}

#[cfg(not(target_os = "linux"))]
fn follow_to_death(_: Pid) {}

fn become_program(image: &Image, setup: &Setup) -> ! {
    let error = match set_up(image, setup) {
        Ok(()) => execute(image),
        Err(error) => error,
    };
    let _ = rustix::io::write(&setup.failure, &error.raw_os_error().to_ne_bytes());
    quit(127)
}

fn set_up(image: &Image, setup: &Setup) -> rustix::io::Result<()> {
    match &setup.place {
        Place::Group { .. } => rustix::process::setpgid(None, None)?,
        Place::Session => {
            rustix::process::setsid()?;
            rustix::process::ioctl_tiocsctty(&setup.stdio[0])?;
        }
    }
    for (fd, number) in setup.stdio.iter().zip(0..) {
        duplicate_onto(fd.as_raw_fd(), number)?;
    }
    if let Some(inherits) = &setup.inherits {
        inherits.close_others();
    }
    if let Some((fd, number)) = &setup.extra {
        // Onto itself, `dup2` does nothing and leaves the mark that closes it.
        match fd.as_raw_fd() == *number {
            true => stay_open(*number)?,
            false => duplicate_onto(fd.as_raw_fd(), *number)?,
        }
    }
    if let Some(cwd) = &image.cwd {
        rustix::process::chdir(cwd.as_c_str())?;
    }
    if let Place::Group { terminal: Some(terminal) } = &setup.place {
        // SIGTTOU is blocked by inheritance here. A failure leaves the child in the background,
        // where it is stopped when it reads and given the terminal then.
        let _ = rustix::termios::tcsetpgrp(terminal, rustix::process::getpid());
    }
    crate::signal::reset(false);
    Ok(())
}

fn execute(image: &Image) -> rustix::io::Errno {
    let exec = |path: *const c_char, argv: &Strings| {
        let environment = image.environment.pointers.as_ptr();
        // SAFETY: `path` is a C string, both vectors hold pointers to C strings and end in null,
        // and all of them live in `image`. On failure the call returns and nothing has changed.
        unsafe { libc::execve(path, argv.pointers.as_ptr(), environment) };
        errno()
    };
    match exec(image.path.as_ptr(), &image.argv) {
        rustix::io::Errno::NOEXEC => exec(c"/bin/sh".as_ptr(), &image.script),
        error => error,
    }
}

fn duplicate_onto(fd: RawFd, number: RawFd) -> rustix::io::Result<()> {
    // SAFETY: dup2 takes any two numbers. The one that is replaced is one of the child's own: the
    // caller of this process keeps its descriptors.
    match unsafe { libc::dup2(fd, number) } {
        -1 => Err(errno()),
        _ => Ok(()),
    }
}

fn stay_open(fd: RawFd) -> rustix::io::Result<()> {
    // SAFETY: F_SETFD takes an integer and touches no memory.
    match unsafe { libc::fcntl(fd, libc::F_SETFD, 0) } {
        -1 => Err(errno()),
        _ => Ok(()),
    }
}

fn errno() -> rustix::io::Errno {
    let error = io::Error::last_os_error();
    rustix::io::Errno::from_io_error(&error).unwrap_or(rustix::io::Errno::IO)
}
