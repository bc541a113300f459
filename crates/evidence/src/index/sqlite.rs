//! The index in an SQLite file of its own.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Row, params};

use super::{COMMAND_BYTES_MAX, Index, IndexError, Query, RunEvent, SEVERITIES, WORD_BYTES_MAX};
use super::{WORDS_MAX, inert};
use crate::files;
use crate::tree::Digest;
use crate::verify::Position;

/// The shape of the tables below. A file of another one is made anew.
const SHAPE: i64 = 1;

/// How long another process is waited for.
const BUSY: Duration = Duration::from_secs(5);

const TABLES: &str = "
    CREATE TABLE place (
        id INTEGER PRIMARY KEY CHECK (id = 0), records INTEGER NOT NULL, last INTEGER NOT NULL,
        end INTEGER NOT NULL, hash TEXT NOT NULL
    ) STRICT;
    CREATE TABLE runs (
        run TEXT PRIMARY KEY, started TEXT NOT NULL, ended TEXT NOT NULL, command TEXT NOT NULL,
        outcome TEXT NOT NULL, code INTEGER, findings TEXT NOT NULL, severity INTEGER NOT NULL,
        bytes INTEGER NOT NULL, evidence TEXT NOT NULL, artifact TEXT
    ) STRICT, WITHOUT ROWID;
";

const RUNS: &str = "
    SELECT run, started, ended, command, outcome, code, findings, severity, bytes, evidence,
        artifact
    FROM runs
    WHERE (?1 IS NULL OR outcome = ?1)
        AND (?2 = 0 OR outcome <> 'exited' OR code IS NOT 0)
        AND (?3 IS NULL OR instr(findings, ?3) > 0)
        AND severity >= ?4
        AND (?5 IS NULL OR started >= ?5)
        AND (?6 IS NULL OR started < ?6)
    ORDER BY run DESC
";

/// An index in an SQLite file, or in memory.
#[derive(Debug)]
pub struct SqliteIndex {
    connection: Connection,
}

impl SqliteIndex {
    /// Opens an index, or makes it, for this user alone. A symbolic link is not followed, and what
    /// is no regular file is not opened.
    ///
    /// # Errors
    /// [`IndexError`].
    pub fn open(path: &Path) -> Result<Self, IndexError> {
        // SQLite follows no link at all with NOFOLLOW: those of the folder are the user's choice.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).canonicalize().map_err(IndexError::Io)?;
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput.into());
        let path = folder.join(name.map_err(IndexError::Io)?);
        let file = files::open(&path, OpenOptions::new().read(true).write(true).create(true));
        let seen = file.and_then(|file| file.metadata()).map_err(IndexError::Io)?;
        if !seen.is_file() {
            return Err(IndexError::Io(io::Error::other("it is no plain file")));
        }
        check_side_files(&path).map_err(IndexError::Io)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        Self::with(Connection::open_with_flags(&path, flags)?)
    }

    /// An index that is gone when it is dropped.
    ///
    /// # Errors
    /// [`IndexError`].
    pub fn in_memory() -> Result<Self, IndexError> {
        Self::with(Connection::open_in_memory()?)
    }

    /// Removes an index with all that SQLite may have left beside it. That there is none is no
    /// error.
    ///
    /// # Errors
    /// [`IndexError`].
    pub fn remove(path: &Path) -> Result<(), IndexError> {
        let sides = SIDES.into_iter().try_for_each(|end| remove(&beside(path, end)));
        sides.and_then(|()| remove(path)).map_err(IndexError::Io)
    }

    fn with(connection: Connection) -> Result<Self, IndexError> {
        connection.busy_timeout(BUSY)?;
        connection.execute_batch(
            "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0;
             PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY;",
        )?;
        // Whoever is killed while it writes leaves what the next one undoes, and nothing half done.
        let mode: String =
            connection.query_row("PRAGMA journal_mode = DELETE", [], |row| row.get(0))?;
        if !["delete", "memory"].contains(&mode.as_str()) {
            return Err(IndexError::Damaged("its journal is another one".into()));
        }
        let mut index = Self { connection };
        index.shape()?;
        Ok(index)
    }

    /// Makes the tables, where there are none.
    fn shape(&mut self) -> Result<(), IndexError> {
        let immediate = rusqlite::TransactionBehavior::Immediate;
        let transaction = self.connection.transaction_with_behavior(immediate)?;
        let shape: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        let tables: i64 =
            transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        match (shape, tables) {
            (SHAPE, _) => {}
            (0, 0) => {
                transaction.execute_batch(TABLES)?;
                transaction.execute_batch(&format!("PRAGMA user_version = {SHAPE}"))?;
            }
            _ => return Err(IndexError::Damaged("it has another shape".into())),
        }
        Ok(transaction.commit()?)
    }
}

impl Index for SqliteIndex {
    fn position(&self) -> Result<Position, IndexError> {
        let place = "SELECT records, last, end, hash FROM place WHERE id = 0";
        let place = self.connection.query_row(place, [], |row| {
            let number = |at| row.get::<_, i64>(at);
            Ok((number(0)?, number(1)?, number(2)?, row.get::<_, String>(3)?))
        });
        let Some((records, last, end, hash)) = place.optional()? else {
            return Ok(Position::default());
        };
        let number = |number| u64::try_from(number).ok();
        let position = || {
            let hash = Digest::from_hex(&hash)?;
            Some(Position {
                records: number(records)?,
                last: number(last)?,
                end: number(end)?,
                hash,
            })
        };
        position().ok_or_else(|| IndexError::Damaged("its place in the ledger is none".into()))
    }

    fn apply(&mut self, events: &[RunEvent], to: Position) -> Result<(), IndexError> {
        let transaction = self.connection.transaction()?;
        {
            let mut insert = transaction.prepare(
                "INSERT OR REPLACE INTO runs VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11)",
            )?;
            for run in events {
                insert.execute(params![
                    run.run,
                    run.started,
                    run.ended,
                    run.command,
                    run.outcome,
                    run.code,
                    // Each between blanks, so that a kind is found and no part of one.
                    format!(" {} ", run.findings.join(" ")),
                    signed(run.rank() as u64),
                    signed(run.bytes),
                    run.evidence,
                    run.artifact,
                ])?;
            }
        }
        transaction.execute(
            "INSERT OR REPLACE INTO place VALUES (0, ?1, ?2, ?3, ?4)",
            params![signed(to.records), signed(to.last), signed(to.end), to.hash.to_string()],
        )?;
        Ok(transaction.commit()?)
    }

    fn clear(&mut self) -> Result<(), IndexError> {
        let transaction = self.connection.transaction()?;
        transaction.execute_batch("DELETE FROM runs; DELETE FROM place;")?;
        Ok(transaction.commit()?)
    }

    fn query(
        &self,
        query: &Query,
        visit: &mut dyn FnMut(RunEvent) -> bool,
    ) -> Result<(), IndexError> {
        let least = query
            .severity
            .as_ref()
            .map_or(Some(0), |severity| SEVERITIES.iter().position(|word| word == severity));
        // Nothing is as grave as a word that is none.
        let Some(least) = least else { return Ok(()) };
        let mut runs = self.connection.prepare(RUNS)?;
        let finding = query.finding.as_ref().map(|kind| format!(" {kind} "));
        let mut rows = runs.query(params![
            query.outcome,
            query.failed,
            finding,
            signed(least as u64),
            query.since,
            query.until
        ])?;
        while let Some(row) = rows.next()? {
            if !visit(event(row)?) {
                break;
            }
        }
        Ok(())
    }

    fn has(&self, run: &str) -> Result<bool, IndexError> {
        let found = "SELECT 1 FROM runs WHERE run = ?1";
        let mut found = self.connection.prepare(found)?;
        Ok(found.exists([run])?)
    }
}

/// A run as a row tells it. Any program of this user can write in the file.
fn event(row: &Row<'_>) -> rusqlite::Result<RunEvent> {
    let text = |at: usize, max: usize| {
        row.get_ref(at)?.as_str().map(|text| inert(text, max)).map_err(Into::into)
    };
    let word = |at: usize| -> rusqlite::Result<String> { text(at, WORD_BYTES_MAX) };
    let findings = text(6, WORDS_MAX * (WORD_BYTES_MAX + 1) + 2)?;
    let severity = usize::try_from(row.get::<_, i64>(7)?).ok();
    let severity = severity.and_then(|rank| SEVERITIES.get(rank)).copied().unwrap_or("none");
    let artifact = match row.get_ref(10)? {
        rusqlite::types::ValueRef::Null => None,
        _ => Some(word(10)?),
    };
    Ok(RunEvent {
        run: word(0)?,
        started: word(1)?,
        ended: word(2)?,
        command: text(3, COMMAND_BYTES_MAX)?,
        outcome: word(4)?,
        code: row.get(5)?,
        findings: findings.split_whitespace().map(str::to_owned).collect(),
        severity: severity.to_owned(),
        bytes: u64::try_from(row.get::<_, i64>(8)?).unwrap_or_default(),
        evidence: word(9)?,
        artifact,
    })
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

const JOURNAL: &str = "-journal";

/// The ends of the names of files that SQLite takes for parts of an index.
const SIDES: [&str; 3] = [JOURNAL, "-wal", "-shm"];

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Takes away what is no journal of ours. One that is a pipe would make us wait.
fn check_side_files(path: &Path) -> io::Result<()> {
    for end in SIDES {
        let side = beside(path, end);
        let is_file = fs::symlink_metadata(&side).map(|seen| seen.is_file());
        if is_file.is_ok_and(|is_file| !is_file || end != JOURNAL) {
            remove(&side)?;
        }
    }
    Ok(())
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

impl From<rusqlite::Error> for IndexError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            _ => Self::Damaged(error.to_string()),
        }
    }
}
