package localstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"sync"
	"time"

	"modernc.org/sqlite"
	sqlitelib "modernc.org/sqlite/lib"
)

// schema is the first and only version of the tables.
//
// A message can be delivered from the time in the column ready on. The column claim names the process that
// handles the message. Only the first message of a group is delivered. Dead messages are in separate queues,
// named dead/QUEUE. The table sent has the IDs of sent messages, so that no message is sent twice.
const schema = `
CREATE TABLE record (
	dir TEXT NOT NULL, name TEXT NOT NULL, value BLOB NOT NULL, version TEXT NOT NULL,
	expires INTEGER NOT NULL, -- Unix seconds; 0: never
	PRIMARY KEY (dir, name)
);
CREATE INDEX record_expires ON record (expires) WHERE expires > 0;
CREATE TABLE message (
	seq INTEGER PRIMARY KEY AUTOINCREMENT, queue TEXT NOT NULL, grp TEXT NOT NULL, body BLOB NOT NULL,
	receives INTEGER NOT NULL DEFAULT 0, ready INTEGER NOT NULL DEFAULT 0, -- Unix milliseconds
	claim TEXT NOT NULL DEFAULT '', error TEXT NOT NULL DEFAULT ''
);
CREATE INDEX message_group ON message (queue, grp, seq);
CREATE TABLE sent (
	queue TEXT NOT NULL, id TEXT NOT NULL, at INTEGER NOT NULL, -- Unix milliseconds
	PRIMARY KEY (queue, id)
) WITHOUT ROWID;
CREATE INDEX sent_at ON sent (at);
-- The repositories in the order of their last messages that were handed over.
CREATE TABLE turn (nr INTEGER PRIMARY KEY AUTOINCREMENT, repo TEXT NOT NULL UNIQUE);
PRAGMA user_version = 1;
`

const schemaVersion = 1

// prune deletes the records that had expired at a time.
const prune = "DELETE FROM record WHERE expires > 0 AND expires < ?"

// busyTimeout is how long a write waits for the writes of other processes.
const busyTimeout = 20 * time.Second

// A database is the SQLite database. It is opened at its first use.
type database struct {
	path string
	mu   sync.Mutex
	db   *sql.DB
}

// get opens the database if it is not open.
func (d *database) get(ctx context.Context) (*sql.DB, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.db != nil {
		return d.db, nil
	}
	db, err := d.open(ctx)
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", d.path, err)
	}
	d.db = db
	return db, nil
}

func (d *database) open(ctx context.Context) (*sql.DB, error) {
	// The database file is created with this mode first: SQLite gives the files beside it the same mode.
	f, err := os.OpenFile(d.path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	name := url.URL{Scheme: "file", Path: d.path, RawQuery: url.Values{
		// SQLite writes a transaction to the disk before it reports the commit.
		"_pragma": {fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()), "synchronous(FULL)"},
		"_txlock": {"immediate"},
	}.Encode()}
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		return nil, err
	}
	if err := prepare(ctx, db); err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}

// prepare creates the tables if they do not exist. It also deletes expired rows.
func prepare(ctx context.Context, db *sql.DB) error {
	// If several processes open a new database at the same time, all except one get the error "busy" at once:
	// SQLite does not wait while another process sets the journal's mode.
	for deadline := time.Now().Add(busyTimeout); ; {
		_, err := db.ExecContext(ctx, "PRAGMA journal_mode = WAL")
		if err == nil {
			break
		}
		var e *sqlite.Error
		if !errors.As(err, &e) || e.Code()&0xff != sqlitelib.SQLITE_BUSY || time.Now().After(deadline) || !wait(ctx, 20*time.Millisecond) {
			return err
		}
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var version int
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	switch version {
	case 0:
		_, err = tx.ExecContext(ctx, schema)
	case schemaVersion:
		_, err = tx.ExecContext(ctx, prune, time.Now().Unix())
	default:
		return fmt.Errorf("it was made by another version of lockstep (its tables have version %d, ours %d): use that one, or another data directory", version, schemaVersion)
	}
	if err != nil {
		return err
	}
	return tx.Commit()
}

func (d *database) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.db == nil {
		return nil
	}
	err := d.db.Close()
	d.db = nil
	return err
}

// exec runs a statement, and returns how many rows it changed.
func (d *database) exec(ctx context.Context, statement string, args ...any) (int64, error) {
	db, err := d.get(ctx)
	if err != nil {
		return 0, err
	}
	result, err := db.ExecContext(ctx, statement, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// wait pauses for the duration d. It returns false if ctx ends before.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
