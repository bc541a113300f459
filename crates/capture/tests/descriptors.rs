//! Alone in its process, since it counts what the process has open.

// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{captured, command, sh};
use noesc_capture::Command;

fn open_descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

#[test]
fn runs_leave_no_descriptor_and_no_child_behind() {
    let _ = captured(&Command::new(["true"]));
    let before = open_descriptors();
    for round in 0..100 {
        let (run, _) = match round % 5 {
            0 => captured(&sh("echo a; echo b >&2; exit 3")),
            1 => captured(&command(&["/nonexistent"])),
            2 => captured(&command(&["/etc/passwd"])),
            3 => {
                let mut command = sh("echo x >&9");
                command.extra_fd = Some(9);
                captured(&command)
            }
            _ => captured(&Command::new(["true"])),
        };
        if let Some(pid) = run.pid {
            assert!(!std::path::Path::new("/proc").join(pid.to_string()).exists());
        }
    }
    assert_eq!(open_descriptors(), before);
}
