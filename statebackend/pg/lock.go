package pg

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lib/pq/pqerror"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// These are expressions over a row l of the view pg_locks: the key of an advisory lock with one key, and the
// condition that a session of this database has it.
const (
	lockKey  = `(l.classid::bigint << 32 | l.objid::bigint)`
	advisory = `l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`
)

const (
	pause    = 20 * time.Millisecond // between two looks at the locks
	patience = 3 * time.Second       // with things that take a server milliseconds
)

// session is a session of the database with an advisory lock.
type session struct {
	b    *Backend
	conn *sql.Conn
	info statebackend.LockInfo
	pid  int
	key  int64
	stub string // the placeholder that this session has stored in the row; "" if it has not
}

// noteMark begins the comment with a lock's information.
const noteMark = "/* lockstep "

// longestNote is the length of a comment in bytes of which the server shows the whole: track_activity_query_size is
// 1024 by default.
const longestNote = 1000

// note returns the lock's information as a comment of SQL. base64 has no character that ends the comment.
func note(info statebackend.LockInfo) string {
	text := noteMark + base64.StdEncoding.EncodeToString(info.Marshal()) + " */ "
	if len(text) > longestNote && info.Info != "" {
		info.Info = ""
		return note(info)
	}
	return text
}

// noted reads the comment.
func noted(statement string) (statebackend.LockInfo, bool) {
	text, ok := strings.CutPrefix(statement, noteMark)
	text, _, ended := strings.Cut(text, " ")
	data, err := base64.StdEncoding.DecodeString(text)
	if !ok || !ended || err != nil {
		return statebackend.LockInfo{}, false
	}
	info, err := statebackend.ParseLockInfo(data)
	return info, err == nil && info.ID != ""
}

// exec carries out a statement in the session. The statement is not cancelled: the driver would end the session, and
// with it the lock.
func (s *session) exec(ctx context.Context, statement string, arguments ...any) (sql.Result, error) {
	result, err := s.conn.ExecContext(context.WithoutCancel(ctx), note(s.info)+statement, arguments...)
	return result, s.b.explain(err)
}

// row reads one row in the session, as exec does.
func (s *session) row(ctx context.Context, statement string, arguments []any, into ...any) error {
	return s.b.explain(s.conn.QueryRowContext(context.WithoutCancel(ctx), note(s.info)+statement, arguments...).Scan(into...))
}

// start opens a session. Its settings let it live while it is idle, and let the server notice within about a minute
// that the machine of this process is dead.
func (b *Backend) start(ctx context.Context, info statebackend.LockInfo) (*session, error) {
	conn, err := b.db.Conn(ctx)
	if err != nil {
		return nil, b.explain(err)
	}
	s := &session{b: b, conn: conn, info: info}
	var settings int
	err = s.row(ctx, `SELECT pg_backend_pid(), count(set_config(name, value, false)) FROM (VALUES
		('idle_session_timeout', '0'), ('tcp_keepalives_idle', '30'), ('tcp_keepalives_interval', '10'), ('tcp_keepalives_count', '3')
		) AS wanted (name, value) WHERE current_setting(name, true) IS NOT NULL`, nil, &s.pid, &settings)
	if err != nil {
		s.end()
		return nil, err
	}
	return s, nil
}

// end ends the session, and waits until the server has released its lock.
func (s *session) end() {
	s.conn.Raw(func(any) error { return driver.ErrBadConn })
	s.conn.Close()
	if s.key != 0 {
		s.b.waitFor(func(h holder) bool { return h.pid != s.pid }, s.key)
	}
}

// lives reports whether the session still has its lock.
func (s *session) lives(ctx context.Context) bool {
	var held bool
	err := s.row(ctx, fmt.Sprintf(`SELECT EXISTS (SELECT FROM pg_locks l WHERE l.pid = pg_backend_pid() AND %s = %d AND %s)`, lockKey, s.key, advisory), nil, &held)
	return err == nil && held
}

// Lock implements statebackend.Locker.
func (w *workspace) Lock(ctx context.Context, info statebackend.LockInfo) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if info.ID == "" {
		info.ID = statebackend.NewLockID()
	}
	info.Path = w.Place()
	if w.held != nil {
		if w.held.lives(ctx) {
			return "", &statebackend.LockedError{HeldLock: statebackend.HeldLock{Kind: statebackend.SessionLock, Info: w.held.info}}
		}
		w.held.end()
		w.held = nil
	}
	s, err := w.b.start(ctx, info)
	if err != nil {
		return "", err
	}
	if err := s.take(ctx, w.name); err != nil {
		s.end()
		return "", err
	}
	w.held = s
	return info.ID, nil
}

// take takes the lock of a workspace. It adds the row if there is none.
func (s *session) take(ctx context.Context, name string) error {
	for deadline := time.Now().Add(patience); ; {
		var mine, got bool // mine: this session of the database had the lock already
		err := s.row(ctx, `SELECT id, mine, CASE WHEN NOT mine THEN pg_try_advisory_lock(id) ELSE false END FROM (
			SELECT id, EXISTS (SELECT FROM pg_locks l WHERE l.pid = pg_backend_pid() AND `+lockKey+` = id AND `+advisory+`) AS mine
			FROM `+s.b.target()+` WHERE name = $1 OFFSET 0) AS row`, []any{name}, &s.key, &mine, &got)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			s.stub = newPlaceholder()
			if _, err := s.exec(ctx, `INSERT INTO `+s.b.target()+` (name, data) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`, name, s.stub); err != nil {
				return err
			}
		case err != nil:
			return err
		case mine: // a lock that a session takes twice excludes nobody
			s.key = 0
			return s.b.pooled("Another client uses the same session of the database, and has the lock in it.")
		case !got:
			held, err := s.b.holders(ctx, s.key)
			if err != nil {
				return err
			}
			// Our own earlier attempt, whose answer was lost, is ended rather than reported.
			if i := slices.IndexFunc(held, func(h holder) bool { return h.lock.Info.ID == s.info.ID }); i >= 0 {
				if err := s.b.terminate(ctx, held[i], s.key); err != nil {
					return err
				}
			} else if len(held) > 0 {
				return &statebackend.LockedError{HeldLock: held[0].lock}
			}
		default:
			done, err := s.confirm(ctx, name)
			if done || err != nil {
				return err
			}
		}
		if time.Now().After(deadline) {
			return &statebackend.LockedError{HeldLock: statebackend.HeldLock{Kind: statebackend.SessionLock}, Err: fmt.Errorf("the lock of %s changes hands all the time: try again", s.info.Path)}
		}
		time.Sleep(pause)
	}
}

// confirm checks a lock that was taken: the row is still there, and no stock tool adds a workspace. done is false if
// the row is another one, so that take has to try again; the lock is then released.
func (s *session) confirm(ctx context.Context, name string) (done bool, err error) {
	if !s.lives(ctx) {
		return false, s.b.pooled("The next statement after the one that took the lock is in another session.")
	}
	var same bool
	if err := s.row(ctx, `SELECT EXISTS (SELECT FROM `+s.b.target()+` WHERE name = $1 AND id = $2)`, []any{name, s.key}, &same); err != nil {
		return false, err
	}
	if !same {
		_, err := s.exec(ctx, `SELECT pg_advisory_unlock($1)`, s.key)
		return false, err
	}
	keys := s.b.creationKeys()
	creating, err := s.b.waitFor(func(holder) bool { return false }, keys[:]...)
	if err == nil && len(creating) > 0 {
		err = &statebackend.LockedError{HeldLock: creating[0].lock, Err: errors.New("it adds a workspace, which locks all workspaces of the database")}
	}
	return true, err
}

// pooled returns the error about a pooler that gives each transaction another session. found is a sentence that says
// how the pooler was noticed.
func (b *Backend) pooled(found string) error {
	return &statebackend.UnfitError{Place: b.place(), Fault: "does not keep advisory locks",
		Reason: found + " So a pooler between Lockstep and the database gives each transaction another session, and two runs could hold the lock at once.",
		Remedy: "Connect to the database itself, or to a pool whose mode is \"session\"."}
}

// holder is a session that has an advisory lock.
type holder struct {
	pid   int
	since time.Time // when the session began, which identifies it together with pid; the epoch if this role may not see it
	lock  statebackend.HeldLock
}

// holders lists the sessions that have advisory locks with these keys.
func (b *Backend) holders(ctx context.Context, keys ...int64) (all []holder, err error) {
	for _, key := range keys {
		rows, err := b.db.QueryContext(ctx, `SELECT l.pid, coalesce(a.backend_start, 'epoch'), coalesce(a.usename, ''), coalesce(host(a.client_addr), ''), coalesce(a.application_name, ''), coalesce(a.query, '')
			FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid WHERE `+lockKey+` = $1 AND `+advisory, key)
		if err != nil {
			return nil, b.explain(err)
		}
		defer rows.Close()
		for rows.Next() {
			h := holder{lock: statebackend.HeldLock{Kind: statebackend.SessionLock}}
			var user, host, program, statement string
			if err := rows.Scan(&h.pid, &h.since, &user, &host, &program, &statement); err != nil {
				return nil, b.explain(err)
			}
			info, ok := noted(statement)
			if !ok { // another tool, or another role, whose statements we may not see
				info = statebackend.LockInfo{
					ID: fmt.Sprintf("session-%d-%d", h.pid, h.since.UnixMicro()), Operation: "an operation of another tool or role",
					Who: user + "@" + host, Info: program, Path: b.place(),
				}
				if h.since.Unix() != 0 {
					info.Created = h.since.UTC()
				}
			}
			h.lock.Info = info
			all = append(all, h)
		}
		if err := rows.Err(); err != nil {
			return nil, b.explain(err)
		}
	}
	return all, nil
}

// waitFor waits until done returns true for all holders of the locks, but no longer than the time patience.
// It returns the holders.
func (b *Backend) waitFor(done func(holder) bool, keys ...int64) ([]holder, error) {
	ctx := context.Background()
	for deadline := time.Now().Add(patience); ; time.Sleep(pause) {
		held, err := b.holders(ctx, keys...)
		if err != nil || !slices.ContainsFunc(held, func(h holder) bool { return !done(h) }) || time.Now().After(deadline) {
			return held, err
		}
	}
}

// terminate ends the session of a holder, and waits until its lock is released.
func (b *Backend) terminate(ctx context.Context, h holder, key int64) error {
	_, err := b.db.ExecContext(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND coalesce(backend_start, 'epoch') = $2`, h.pid, h.since)
	if is(err, pqerror.InsufficientPrivilege) {
		return fmt.Errorf("%s: %w: this role may not end the session of %s. As that role or as a superuser, run SELECT pg_terminate_backend(%d)", b.place(), statebackend.ErrDenied, h.lock.Info.Who, h.pid)
	}
	if err != nil {
		return b.explain(err)
	}
	held, err := b.waitFor(func(x holder) bool { return x.pid != h.pid }, key)
	if err == nil && slices.ContainsFunc(held, func(x holder) bool { return x.pid == h.pid }) {
		err = fmt.Errorf("%s: the session %d does not end: ask the administrator of the database", b.place(), h.pid)
	}
	return err
}

// Unlock implements statebackend.Locker. It ends the session of a lock that another value has taken.
func (w *workspace) Unlock(ctx context.Context, id string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s := w.held; s != nil && s.info.ID == id {
		return w.release(ctx, s)
	}
	key, held, err := w.locks(ctx)
	if err != nil {
		return err
	}
	mismatch := &statebackend.LockMismatchError{ID: id}
	for _, h := range held {
		if h.lock.Info.ID == id {
			return w.b.terminate(ctx, h, key)
		}
		mismatch.Held = append(mismatch.Held, h.lock)
	}
	if len(held) > 0 {
		return mismatch
	}
	return statebackend.ErrNotLocked
}

// release releases the lock that this value took.
func (w *workspace) release(ctx context.Context, s *session) error {
	if s.stub != "" {
		if _, err := s.exec(ctx, `DELETE FROM `+w.b.target()+` WHERE name = $1 AND id = $2 AND data = $3`, w.name, s.key, s.stub); err != nil && s.lives(ctx) {
			return err
		}
	}
	var released bool
	err := s.row(ctx, `SELECT pg_advisory_unlock($1)`, []any{s.key}, &released)
	if err != nil && s.lives(ctx) {
		return err
	}
	w.held = nil
	if err != nil || !released {
		s.end()
		return statebackend.ErrNotLocked
	}
	return s.conn.Close()
}

// locks returns the key of the row, and the sessions that have its lock.
func (w *workspace) locks(ctx context.Context) (key int64, held []holder, err error) {
	err = w.b.db.QueryRowContext(ctx, `SELECT id FROM `+w.b.target()+` WHERE name = $1`, w.name).Scan(&key)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil, nil
	}
	if err != nil {
		return 0, nil, w.b.explain(err)
	}
	held, err = w.b.holders(ctx, key)
	return key, held, err
}

// Locks implements statebackend.Locker.
func (w *workspace) Locks(ctx context.Context) ([]statebackend.HeldLock, error) {
	_, held, err := w.locks(ctx)
	var out []statebackend.HeldLock
	for _, h := range held {
		out = append(out, h.lock)
	}
	return out, err
}
