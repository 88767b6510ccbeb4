package pg

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// Backend is a table of states. It implements statebackend.Backend.
type Backend struct {
	settings
	db *sql.DB
}

// Open connects to the database of a backend block. It creates the schema and the table if they are missing.
func Open(ctx context.Context, config map[string]any) (*Backend, error) {
	var v values
	if err := statebackend.Decode(Attributes, config, &v); err != nil {
		return nil, err
	}
	s, err := settle(v)
	if err != nil {
		return nil, err
	}
	connector, err := pq.NewConnectorConfig(s.connection)
	if err != nil {
		return nil, &statebackend.AttributeError{Attribute: "conn_str", Problem: "its settings contradict each other, or name a file that cannot be read"}
	}
	return open(ctx, s, connector)
}

func open(ctx context.Context, s settings, connector driver.Connector) (*Backend, error) {
	b := &Backend{s, sql.OpenDB(connector)}
	if err := b.create(ctx); err != nil {
		b.db.Close()
		return nil, b.explain(err)
	}
	return b, nil
}

// target returns the quoted name of the table, for statements.
func (s settings) target() string {
	return pq.QuoteIdentifier(s.schema) + "." + pq.QuoteIdentifier(s.table)
}

// create creates what the table of states needs, if the table is missing. If it exists, the role needs no right to
// create anything. The statements are the stock tools' in effect.
func (b *Backend) create(ctx context.Context) error {
	var found bool
	if err := b.db.QueryRowContext(ctx, `SELECT to_regclass($1) IS NOT NULL`, b.target()).Scan(&found); err != nil || found {
		return err
	}
	if !b.skipSchema {
		if err := b.db.QueryRowContext(ctx, `SELECT EXISTS (SELECT FROM information_schema.schemata WHERE schema_name = $1)`, b.schema).Scan(&found); err != nil {
			return err
		}
		if !found {
			if err := b.createOne(ctx, `CREATE SCHEMA IF NOT EXISTS `+pq.QuoteIdentifier(b.schema)); err != nil {
				return err
			}
		}
	}
	if !b.skipTable {
		if err := b.createOne(ctx, `CREATE SEQUENCE IF NOT EXISTS public.global_states_id_seq AS bigint`); err != nil {
			return err
		}
		if err := b.createOne(ctx, `CREATE TABLE IF NOT EXISTS `+b.target()+` (id bigint NOT NULL DEFAULT nextval('public.global_states_id_seq') PRIMARY KEY, name text UNIQUE, data text)`); err != nil {
			return err
		}
	}
	if b.skipIndex {
		return nil
	}
	return b.createOne(ctx, `CREATE UNIQUE INDEX IF NOT EXISTS `+pq.QuoteIdentifier(b.index)+` ON `+b.target()+` (name)`)
}

// createOne carries out one CREATE. If two sessions create the same thing, one of them may get an error in spite of
// IF NOT EXISTS: then the thing exists.
func (b *Backend) createOne(ctx context.Context, statement string) error {
	_, err := b.db.ExecContext(ctx, statement)
	if is(err, pqerror.UniqueViolation, pqerror.DuplicateSchema, pqerror.DuplicateTable, pqerror.DuplicateObject) {
		return nil
	}
	return err
}

// is reports whether err is an answer of the server with one of these codes.
func is(err error, codes ...pqerror.Code) bool {
	var e *pq.Error
	return errors.As(err, &e) && slices.Contains(codes, e.Code)
}

// explain adds to an error what to do about it. The errors of the driver contain no password.
func (b *Backend) explain(err error) error {
	at := b.place()
	switch {
	case err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return err
	case is(err, pqerror.InvalidPassword, pqerror.InvalidAuthorizationSpecification):
		return fmt.Errorf("%s: %w. The server refuses the user or the password (%w). Check the user in conn_str and the password in PGPASSWORD", at, statebackend.ErrDenied, err)
	case is(err, pqerror.InsufficientPrivilege):
		return fmt.Errorf("%s: %w (%w). Give the role the rights to use the schema and to read and write the table. If it may not create them, have somebody else create them once", at, statebackend.ErrDenied, err)
	case is(err, pqerror.UndefinedTable, pqerror.InvalidSchemaName):
		return fmt.Errorf("%s: the table does not exist (%w). Remove skip_schema_creation and skip_table_creation from the backend block, or create the table", at, err)
	case errors.Is(err, pq.ErrSSLNotSupported):
		return fmt.Errorf("%s: %w. If the network to the server is safe without TLS, add sslmode=disable to conn_str", at, err)
	}
	return fmt.Errorf("%s: %w", at, err)
}

// Workspaces implements statebackend.Backend.
func (b *Backend) Workspaces(ctx context.Context) ([]string, error) {
	rows, err := b.db.QueryContext(ctx, `SELECT name FROM `+b.target()+` WHERE name <> $1 AND data <> '' AND (length(data) > $2 OR data !~ $3) ORDER BY name COLLATE "C"`,
		statebackend.DefaultWorkspace, len(newPlaceholder()), placeholder.String())
	if err != nil {
		return nil, b.explain(err)
	}
	defer rows.Close()
	names := []string{statebackend.DefaultWorkspace}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, b.explain(err)
		}
		names = append(names, name)
	}
	return names, b.explain(rows.Err())
}

// DeleteWorkspace implements statebackend.Backend.
func (b *Backend) DeleteWorkspace(ctx context.Context, name string, prev statebackend.Version) error {
	if name == statebackend.DefaultWorkspace {
		return errors.New("the workspace \"default\" cannot be deleted")
	}
	w, err := b.open(name)
	if err != nil {
		return err
	}
	result, err := b.db.ExecContext(ctx, `DELETE FROM `+b.target()+` WHERE name = $1 AND `+hash+` = $2`, name, string(prev))
	if err != nil {
		return b.explain(err)
	}
	if n, _ := result.RowsAffected(); n > 0 {
		return nil
	}
	now, err := w.Get(ctx)
	if err == nil && now.Version != "" {
		err = &statebackend.ConflictError{Path: w.Place(), Want: prev, Found: now.Version}
	}
	return err
}

// Open implements statebackend.Backend.
func (b *Backend) Open(name string) (statebackend.Workspace, error) { return b.open(name) }

func (b *Backend) open(name string) (*workspace, error) {
	if err := statebackend.CheckWorkspaceName(name); err != nil {
		return nil, err
	}
	return &workspace{b: b, name: name}, nil
}
