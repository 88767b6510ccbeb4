package pg

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lib/pq"

	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

var schemas atomic.Int64

// empty opens a backend with a schema of its own in a database.
func empty(t *testing.T, connection string, more ...any) *Backend {
	t.Helper()
	config := map[string]any{"conn_str": connection, "schema_name": fmt.Sprintf("states %d", schemas.Add(1))}
	for i := 0; i < len(more); i += 2 {
		config[more[i].(string)] = more[i+1]
	}
	b, err := Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.db.Close() })
	return b
}

func TestConformance(t *testing.T) {
	t.Parallel()
	connection := statebackendtest.StartPostgres(t)
	statebackendtest.Run(t, statebackendtest.Suite{
		Open:  func(t *testing.T) statebackend.Backend { return empty(t, connection) },
		Kinds: []statebackend.LockKind{statebackend.SessionLock},
	})
}

func TestFaults(t *testing.T) {
	t.Parallel()
	connection := statebackendtest.StartPostgres(t)
	statebackendtest.RunFaults(t, func(t *testing.T, faults *statebackendtest.Faults) statebackend.Backend {
		s := empty(t, connection).settings
		connector, err := pq.NewConnectorConfig(s.connection)
		if err != nil {
			t.Fatal(err)
		}
		b, err := open(t.Context(), s, faulty{connector, faults})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.db.Close() })
		return b
	})
}

// faulty makes connections with injected faults.
type faulty struct {
	driver.Connector
	faults *statebackendtest.Faults
}

func (f faulty) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := f.Connector.Connect(ctx)
	return faultyConn{c, f.faults}, err
}

type faultyConn struct {
	driver.Conn
	faults *statebackendtest.Faults
}

// fault returns the fault of a statement. Statements that only read have none.
func (c faultyConn) fault(statement string) statebackendtest.Fault {
	_, plain, ok := strings.Cut(statement, " */ ")
	if !ok {
		plain = statement
	}
	for _, write := range []string{"INSERT", "UPDATE", "DELETE", "pg_try_advisory_lock", "pg_advisory_unlock", "pg_terminate_backend"} {
		if strings.Contains(plain, write) {
			return c.faults.Next(write)
		}
	}
	return statebackendtest.None
}

func (c faultyConn) ExecContext(ctx context.Context, statement string, arguments []driver.NamedValue) (driver.Result, error) {
	fault := c.fault(statement)
	if fault == statebackendtest.Failed || fault == statebackendtest.Conflict {
		return nil, statebackendtest.ErrFault
	}
	r, err := c.Conn.(driver.ExecerContext).ExecContext(ctx, statement, arguments)
	if err == nil && fault == statebackendtest.Persisted {
		return nil, statebackendtest.ErrFault
	}
	return r, err
}

func (c faultyConn) QueryContext(ctx context.Context, statement string, arguments []driver.NamedValue) (driver.Rows, error) {
	fault := c.fault(statement)
	if fault == statebackendtest.Failed || fault == statebackendtest.Conflict {
		return nil, statebackendtest.ErrFault
	}
	r, err := c.Conn.(driver.QueryerContext).QueryContext(ctx, statement, arguments)
	if err == nil && fault == statebackendtest.Persisted {
		r.Close()
		return nil, statebackendtest.ErrFault
	}
	return r, err
}

func opened(t *testing.T, b *Backend, name string) *workspace {
	t.Helper()
	w, err := b.open(name)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func lock(t *testing.T, w *workspace) string {
	t.Helper()
	id, err := w.Lock(t.Context(), statebackend.NewLockInfo("OperationTypeApply", "1.2.3"))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// The server ends the session of a lock: the process or its machine is dead, or an administrator did it. Nobody
// needs to release the lock, and the old holder cannot write any more.
func TestSessionEnds(t *testing.T) {
	t.Parallel()
	b := empty(t, statebackendtest.StartPostgres(t))
	dead := opened(t, b, "default")
	lock(t, dead)
	v, err := dead.Put(t.Context(), []byte(`{"serial":1}`), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.db.Exec(`SELECT pg_terminate_backend($1)`, dead.held.pid); err != nil {
		t.Fatal(err)
	}
	next := opened(t, b, "default")
	id, err := statebackend.LockWithRetry(t.Context(), next, statebackend.NewLockInfo("OperationTypeApply", "1.2.3"), 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	var lost *statebackend.LockLostError
	if _, err := dead.Put(t.Context(), []byte(`{"serial":2}`), v); !errors.As(err, &lost) {
		t.Errorf("Put of the dead: %v; want a lost lock", err)
	}
	if err := dead.Unlock(t.Context(), dead.held.info.ID); !errors.Is(err, statebackend.ErrNotLocked) {
		t.Errorf("Unlock of the dead: %v", err)
	}
	if err := next.Unlock(t.Context(), id); err != nil {
		t.Error(err)
	}
}

// A pooler gives the holder's statement another session: the write is refused although the version is right.
func TestWritesInTheSessionOfTheLock(t *testing.T) {
	t.Parallel()
	b := empty(t, statebackendtest.StartPostgres(t))
	w := opened(t, b, "default")
	lock(t, w)
	other, err := b.start(t.Context(), w.held.info)
	if err != nil {
		t.Fatal(err)
	}
	defer other.end()
	mine := w.held.conn
	w.held.conn = other.conn
	var lost *statebackend.LockLostError
	if _, err := w.Put(t.Context(), []byte(`{"serial":1}`), ""); !errors.As(err, &lost) {
		t.Errorf("Put in another session: %v; want a lost lock", err)
	}
	if now, err := w.Get(t.Context()); err != nil || now.Bytes != nil {
		t.Errorf("stored: %s, %v", now.Bytes, err)
	}
	// Such a pooler is noticed when the lock is taken.
	w.held.key = 12345
	var unfit *statebackend.UnfitError
	if _, err := w.held.confirm(t.Context(), "default"); !errors.As(err, &unfit) {
		t.Errorf("confirm in another session: %v; want an unfit server", err)
	}
	w.held.conn = mine
	// Two clients have one session: the second does not get the lock that the session has.
	second := &session{b: b, conn: mine, info: statebackend.NewLockInfo("x", "1")}
	if err := second.take(t.Context(), "default"); !errors.As(err, &unfit) {
		t.Errorf("take in the same session: %v; want an unfit server", err)
	}
}

// A lock alone leaves no row, and the empty state of a process that died counts as none.
func TestPlaceholder(t *testing.T) {
	t.Parallel()
	b := empty(t, statebackendtest.StartPostgres(t))
	rows := func() (n int) {
		t.Helper()
		if err := b.db.QueryRow(`SELECT count(*) FROM ` + b.target()).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	w := opened(t, b, "staging")
	id := lock(t, w)
	if n := rows(); n != 1 {
		t.Errorf("%d rows under the lock", n)
	}
	if err := w.Unlock(t.Context(), id); err != nil || rows() != 0 {
		t.Errorf("%d rows after the lock, %v", rows(), err)
	}
	lock(t, w)
	if _, err := b.db.Exec(`SELECT pg_terminate_backend($1)`, w.held.pid); err != nil {
		t.Fatal(err)
	}
	if names, err := b.Workspaces(t.Context()); err != nil || fmt.Sprint(names) != "[default]" {
		t.Errorf("Workspaces = %q, %v", names, err)
	}
	next := opened(t, b, "staging")
	v, err := next.Put(t.Context(), []byte(`{"serial":1}`), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := next.Put(t.Context(), []byte(`{"serial":9}`), ""); err == nil {
		t.Error("a state is taken for a placeholder")
	}
	if err := b.DeleteWorkspace(t.Context(), "staging", v); err != nil || rows() != 0 {
		t.Errorf("%d rows after DeleteWorkspace, %v", rows(), err)
	}
}

// While a stock tool adds a workspace, no lock is taken. The tool is named as far as the database knows it, and can
// be ended by the ID in the message.
func TestOtherToolsLocks(t *testing.T) {
	t.Parallel()
	connection := statebackendtest.StartPostgres(t)
	b := empty(t, connection)
	for _, key := range b.creationKeys() {
		tool, err := sql.Open("postgres", connection+"&application_name=tool")
		if err != nil {
			t.Fatal(err)
		}
		defer tool.Close()
		if _, err := tool.Exec(`SELECT pg_advisory_lock($1)`, key); err != nil {
			t.Fatal(err)
		}
		w := opened(t, b, "default")
		_, err = w.Lock(t.Context(), statebackend.NewLockInfo("OperationTypeApply", "1.2.3"))
		var locked *statebackend.LockedError
		if !errors.As(err, &locked) || locked.Info.Who != "test@127.0.0.1" || locked.Info.Info != "tool" || !strings.Contains(err.Error(), "adds a workspace") {
			t.Fatalf("Lock: %v", err)
		}
		tool.Close()
	}
	w := opened(t, b, "default")
	if _, err := w.Put(t.Context(), []byte(`{"serial":1}`), ""); err != nil {
		t.Fatal(err)
	}
	tool, err := sql.Open("postgres", connection)
	if err != nil {
		t.Fatal(err)
	}
	defer tool.Close()
	if _, err := tool.Exec(`SELECT pg_advisory_lock(id) FROM ` + b.target()); err != nil {
		t.Fatal(err)
	}
	_, err = w.Lock(t.Context(), statebackend.NewLockInfo("OperationTypeApply", "1.2.3"))
	var locked *statebackend.LockedError
	if !errors.As(err, &locked) || !strings.HasPrefix(locked.Info.ID, "session-") {
		t.Fatalf("Lock: %v", err)
	}
	if err := w.Unlock(t.Context(), locked.Info.ID); err != nil {
		t.Fatal(err)
	}
	if err := w.Unlock(t.Context(), lock(t, w)); err != nil {
		t.Error(err)
	}
}

// A role that may only use the table needs no right to create it, and cannot end the sessions of others.
func TestFewRights(t *testing.T) {
	t.Parallel()
	connection := statebackendtest.StartPostgres(t)
	b := empty(t, connection)
	if _, err := b.db.Exec(`CREATE ROLE few LOGIN PASSWORD 'few'; GRANT USAGE ON SCHEMA ` + pq.QuoteIdentifier(b.schema) + ` TO few; GRANT USAGE ON SEQUENCE public.global_states_id_seq TO few;
		GRANT SELECT, INSERT, UPDATE, DELETE ON ` + b.target() + ` TO few`); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(connection)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword("few", "few")
	few, err := Open(t.Context(), map[string]any{"conn_str": u.String(), "schema_name": b.schema})
	if err != nil {
		t.Fatal(err)
	}
	defer few.db.Close()
	w := opened(t, few, "default")
	id := lock(t, w)
	if _, err := w.Put(t.Context(), []byte(`{"serial":1}`), ""); err != nil {
		t.Error(err)
	}
	if err := w.Unlock(t.Context(), id); err != nil {
		t.Error(err)
	}

	lock(t, opened(t, b, "default"))
	held, err := w.Locks(t.Context())
	if err != nil || len(held) != 1 || held[0].Info.Who != "test@" || strings.Contains(held[0].String(), "since") {
		t.Fatalf("Locks = %v, %v", held, err)
	}
	if err := w.Unlock(t.Context(), held[0].Info.ID); !errors.Is(err, statebackend.ErrDenied) || !strings.Contains(err.Error(), "SELECT pg_terminate_backend(") {
		t.Errorf("Unlock: %v", err)
	}
	if _, err := Open(t.Context(), map[string]any{"conn_str": u.String(), "schema_name": "more"}); !errors.Is(err, statebackend.ErrDenied) {
		t.Errorf("Open without the right to create: %v", err)
	}
}

// No error shows the connection string or the password.
func TestSecretsInErrors(t *testing.T) {
	t.Parallel()
	connection := statebackendtest.StartPostgres(t)
	const secret = "s3cr%zzt"
	for _, bad := range []string{
		"postgres://user:" + secret + "@127.0.0.1/db",
		"host=127.0.0.1 password=" + secret + " and more",
		"password='" + secret,
		"mysql://user:" + secret + "@127.0.0.1/db",
		"host=127.0.0.1 password=" + secret + " sslmode=perhaps",
		strings.Replace(connection, statebackendtest.SecretKey, url.QueryEscape(secret), 1),
		"host=127.0.0.1 port=1 password=" + secret,
	} {
		_, err := Open(t.Context(), map[string]any{"conn_str": bad})
		if err == nil || strings.Contains(err.Error(), "s3cr") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	_, err := Open(t.Context(), map[string]any{"conn_str": strings.Replace(connection, statebackendtest.SecretKey, "wrong", 1)})
	if !errors.Is(err, statebackend.ErrDenied) || !strings.Contains(err.Error(), "PGPASSWORD") {
		t.Errorf("wrong password: %v", err)
	}
	_, err = Open(t.Context(), map[string]any{"conn_str": strings.Replace(connection, "?sslmode=disable", "", 1)})
	if err == nil || !strings.Contains(err.Error(), "add sslmode=disable to conn_str") {
		t.Errorf("without TLS: %v", err)
	}
	if _, err := Open(t.Context(), map[string]any{"conn_str": connection, "schema_name": "none", "skip_schema_creation": true, "skip_table_creation": true, "skip_index_creation": true}); err != nil {
		t.Errorf("nothing to create: %v", err)
	}
	b, err := Open(t.Context(), map[string]any{"conn_str": connection})
	if err != nil {
		t.Fatal(err)
	}
	defer b.db.Close()
	if p := opened(t, b, "default").Place(); strings.Contains(p, statebackendtest.SecretKey) || !strings.HasSuffix(p, "/postgres/terraform_remote_state.states/default") {
		t.Errorf("place %s", p)
	}
}

func TestEnvironment(t *testing.T) {
	connection := statebackendtest.StartPostgres(t)
	u, err := url.Parse(connection)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PGHOST", u.Hostname())
	t.Setenv("PGPORT", u.Port())
	t.Setenv("PGUSER", statebackendtest.AccessKey)
	t.Setenv("PGPASSWORD", statebackendtest.SecretKey)
	t.Setenv("PGDATABASE", "postgres")
	t.Setenv("PGSSLMODE", "disable")
	t.Setenv("PG_SCHEMA_NAME", "from environment")
	b, err := Open(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	b.db.Close()
	if b.schema != "from environment" {
		t.Errorf("schema %q", b.schema)
	}
	t.Setenv("PG_SKIP_TABLE_CREATION", "perhaps")
	var wrong *statebackend.AttributeError
	if _, err := Open(t.Context(), nil); !errors.As(err, &wrong) || wrong.Attribute != "skip_table_creation" {
		t.Errorf("a wrong variable: %v", err)
	}
}
