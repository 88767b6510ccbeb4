package pg

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"sync"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// workspace is one row.
type workspace struct {
	b    *Backend
	name string

	mu   sync.Mutex
	held *session // the lock that this value took
}

// Place implements statebackend.Workspace. It returns an address without user and password.
func (w *workspace) Place() string { return w.b.place() + "/" + w.name }

// hash is the version of a row's state, as SQL. (PostgreSQL has sha256 since version 11.)
const hash = `encode(sha256(convert_to(coalesce(data, ''), 'UTF8')), 'hex')`

// versionOf returns the same hash of data; "" for no data.
func versionOf(data string) statebackend.Version {
	if data == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(data))
	return statebackend.Version(hex.EncodeToString(sum[:]))
}

// placeholder matches the empty state of a row that exists only to be locked. The stock tools accept it as a state.
// Its lineage differs in each row, since a stock tool may go on with it.
var placeholder = regexp.MustCompile(`^\{"version":4,"terraform_version":"1\.0\.0","serial":0,"lineage":"[0-9a-f-]{36}","outputs":\{\},"resources":\[\]\}$`)

func newPlaceholder() string {
	return fmt.Sprintf(`{"version":4,"terraform_version":"1.0.0","serial":0,"lineage":"%s","outputs":{},"resources":[]}`, statebackend.NewLockID())
}

// read returns the text in the row. exists is false if there is no row.
func (w *workspace) read(ctx context.Context) (data string, exists bool, err error) {
	if err := ctx.Err(); err != nil {
		return "", false, err
	}
	err = w.b.db.QueryRowContext(ctx, `SELECT coalesce(data, '') FROM `+w.b.target()+` WHERE name = $1`, w.name).Scan(&data)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	return data, err == nil, w.b.explain(err)
}

// Get implements statebackend.Store: it reads the state.
func (w *workspace) Get(ctx context.Context) (statebackend.Snapshot, error) {
	data, _, err := w.read(ctx)
	if err != nil || data == "" || placeholder.MatchString(data) {
		return statebackend.Snapshot{}, err
	}
	return statebackend.Snapshot{Bytes: []byte(data), Version: versionOf(data)}, nil
}

// Put implements statebackend.Store.
func (w *workspace) Put(ctx context.Context, data []byte, prev statebackend.Version) (statebackend.Version, error) {
	if len(data) == 0 {
		panic("pg: Put of an empty state")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return "", err
	}
	next := string(data)
	stored, err := w.write(ctx, next, prev)
	if stored {
		return versionOf(next), nil
	}
	// The write was refused, or its answer was lost.
	now, failed := w.Get(context.WithoutCancel(ctx))
	switch {
	case failed != nil:
		return "", errors.Join(err, failed)
	case string(now.Bytes) == next:
		return now.Version, nil
	case w.held != nil && (!w.held.lives(ctx) || err == nil && now.Version == prev): // or the row was replaced
		return "", &statebackend.LockLostError{Path: w.Place(), ID: w.held.info.ID}
	case err != nil:
		return "", err
	}
	return "", &statebackend.ConflictError{Path: w.Place(), Want: prev, Found: now.Version}
}

// write stores the text if the version in the row is prev, and reports whether it did.
func (w *workspace) write(ctx context.Context, next string, prev statebackend.Version) (stored bool, err error) {
	if prev == "" {
		data, exists, err := w.read(ctx)
		if err != nil {
			return false, err
		}
		if !exists && w.held == nil {
			return affected(w.exec(ctx, `INSERT INTO `+w.b.target()+` (name, data) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`, w.name, next))
		}
		if data != "" && !placeholder.MatchString(data) {
			return false, nil
		}
		prev = statebackend.Version(hex.EncodeToString(sum(data)))
	}
	return affected(w.exec(ctx, `UPDATE `+w.b.target()+` SET data = $2 WHERE name = $1 AND `+hash+` = $3`, w.name, next, string(prev)))
}

func sum(data string) []byte {
	s := sha256.Sum256([]byte(data))
	return s[:]
}

// exec carries out a statement: in the session of the lock and on condition of the lock, if this value has one. The
// statement ends with its WHERE clause.
func (w *workspace) exec(ctx context.Context, statement string, arguments ...any) (sql.Result, error) {
	if w.held == nil {
		result, err := w.b.db.ExecContext(ctx, statement, arguments...)
		return result, w.b.explain(err)
	}
	condition := fmt.Sprintf(` AND id = %d AND EXISTS (SELECT FROM pg_locks l WHERE l.pid = pg_backend_pid() AND %s = %d AND %s)`, w.held.key, lockKey, w.held.key, advisory)
	return w.held.exec(ctx, statement+condition, arguments...)
}

// affected reports whether a statement has changed a row.
func affected(result sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}
