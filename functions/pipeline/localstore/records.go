package localstore

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// Records implements pipeline.Records. The condition of a write is part of the SQL statement that writes, and
// SQLite executes such statements one after the other.
type Records struct{ db *database }

// Get implements pipeline.Records.
func (r Records) Get(ctx context.Context, key string) (pipeline.Record, error) {
	dir, name := pipeline.SplitKey(key)
	rec := pipeline.Record{Key: key}
	db, err := r.db.get(ctx)
	if err == nil {
		err = db.QueryRowContext(ctx, "SELECT value, version FROM record WHERE dir = ? AND name = ?", dir, name).Scan(&rec.Value, &rec.Version)
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return pipeline.Record{Key: key}, fmt.Errorf("get record %s: %w", key, err)
	}
	return rec, nil
}

// Put implements pipeline.Records.
func (r Records) Put(ctx context.Context, key string, value []byte, prev pipeline.Version) (pipeline.Version, error) {
	dir, name := pipeline.SplitKey(key)
	if len(value) > pipeline.MaxRecord {
		return "", fmt.Errorf("put record %s: %d bytes are more than %d", key, len(value), pipeline.MaxRecord)
	}
	if value == nil {
		value = []byte{}
	}
	// A version never occurs twice, so a record that was deleted and created again has another version.
	version := rand.Text()
	var expires int64
	if d := pipeline.Retention(key); d > 0 {
		expires = time.Now().Add(d).Unix()
	}
	var n int64
	var err error
	if prev == "" {
		n, err = r.db.exec(ctx, "INSERT INTO record (dir, name, value, version, expires) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
			dir, name, value, version, expires)
	} else {
		n, err = r.db.exec(ctx, "UPDATE record SET value = ?, version = ?, expires = ? WHERE dir = ? AND name = ? AND version = ?",
			value, version, expires, dir, name, string(prev))
	}
	switch {
	case err != nil:
		return "", fmt.Errorf("put record %s: %w", key, err)
	case n == 0:
		return "", fmt.Errorf("put record %s: %w", key, pipeline.ErrConflict)
	}
	return pipeline.Version(version), nil
}

// Delete implements pipeline.Records.
func (r Records) Delete(ctx context.Context, key string, prev pipeline.Version) error {
	dir, name := pipeline.SplitKey(key)
	n, err := r.db.exec(ctx, "DELETE FROM record WHERE dir = ? AND name = ? AND version = ?", dir, name, string(prev))
	if err == nil && n == 0 {
		var rec pipeline.Record
		if rec, err = r.Get(ctx, key); err == nil && (prev != "" || rec.Version != "") {
			err = pipeline.ErrConflict
		}
	}
	if err != nil {
		return fmt.Errorf("delete record %s: %w", key, err)
	}
	return nil
}

// List implements pipeline.Records.
func (r Records) List(ctx context.Context, dir string) ([]pipeline.Record, error) {
	pipeline.CheckDir(dir)
	out, err := r.list(ctx, dir)
	if err != nil {
		return nil, fmt.Errorf("list records of %s: %w", dir, err)
	}
	return out, nil
}

func (r Records) list(ctx context.Context, dir string) ([]pipeline.Record, error) {
	db, err := r.db.get(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, "SELECT name, value, version FROM record WHERE dir = ? ORDER BY name", dir)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []pipeline.Record
	for rows.Next() {
		var rec pipeline.Record
		var name string
		if err := rows.Scan(&name, &rec.Value, &rec.Version); err != nil {
			return nil, err
		}
		rec.Key = dir + "/" + name
		out = append(out, rec)
	}
	return out, rows.Err()
}
