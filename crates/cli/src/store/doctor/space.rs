//! Room: on the disk, in the quota, and whether anything can be written at all.

use noesc_evidence::{Store, Usage};
use rustix::fs::{Access, StatVfsMountFlags, access, statvfs};

use super::Looked;
use crate::config::Config;
use crate::fail::Result;
use crate::figures::size;
use crate::kept;

/// Whether the store can be written to.
pub(super) fn look(config: &Config, store: &Store, looked: &mut Looked) -> Result<bool> {
    let reserve = kept::quota(config)?.run_reserve_bytes;
    let mut is_writable = true;
    if let Ok(seen) = statvfs(store.root()) {
        is_writable &= !seen.f_flag.contains(StatVfsMountFlags::RDONLY);
        let free = seen.f_bavail.saturating_mul(seen.f_frsize);
        if is_writable && free < reserve.saturating_mul(2) {
            let message = format!("the disk of the store is nearly full: {} are free", size(free));
            let hint = "\"noesc store prune\" deletes what is old; or move the store elsewhere";
            looked.fault("disk-full", message, hint);
        }
    }
    for path in [store.root().to_owned(), store.ledger_path(), store.runs_path()] {
        let is_there = std::fs::symlink_metadata(&path).is_ok();
        is_writable &= !is_there || access(&path, Access::WRITE_OK).is_ok();
    }
    if !is_writable {
        let hint =
            "no run is kept: mount it for writing, or chmod 700 the folder and 600 the ledger";
        looked.fault("read-only", "the store can not be written to", hint);
    }
    Ok(is_writable)
}

/// Seven eighths of what may be kept are used: the rest is for the reserves of runs.
pub(super) fn quota(config: &Config, used: Usage, looked: &mut Looked) -> Result<()> {
    let quota = kept::quota(config)?;
    let is_nearly = |used: u64, max: u64| used >= max - max / 8;
    if is_nearly(used.bytes, quota.store_bytes_max) || is_nearly(used.files, quota.store_files_max)
    {
        let message = format!(
            "the store is nearly full: {} of {}, {} of {} files",
            size(used.bytes),
            size(quota.store_bytes_max),
            used.files,
            quota.store_files_max
        );
        let hint = "\"noesc store prune\" deletes what is old; or raise store_bytes_max and \
                    store_files_max";
        looked.fault("store-full", message, hint);
    }
    Ok(())
}
