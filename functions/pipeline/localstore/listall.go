package localstore

import (
	"context"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// ListAll returns the records of a collection, sorted by key. A collection is the first segment of the records'
// keys. ListAll is for people who want to read the data; a pipeline does not need it.
func (r Records) ListAll(ctx context.Context, collection string) ([]pipeline.Record, error) {
	pipeline.CheckDir(collection)
	db, err := r.db.get(ctx)
	if err != nil {
		return nil, fmt.Errorf("list all records of %s: %w", collection, err)
	}
	// All keys that begin with "run/" are between it and "run0", because "0" follows "/".
	rows, err := db.QueryContext(ctx, "SELECT dir || '/' || name, value, version FROM record WHERE dir = ?1 OR dir > ?1 || '/' AND dir < ?1 || '0' ORDER BY 1", collection)
	if err != nil {
		return nil, fmt.Errorf("list all records of %s: %w", collection, err)
	}
	defer rows.Close()
	var out []pipeline.Record
	for rows.Next() {
		var rec pipeline.Record
		if err := rows.Scan(&rec.Key, &rec.Value, &rec.Version); err != nil {
			return nil, fmt.Errorf("list all records of %s: %w", collection, err)
		}
		out = append(out, rec)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("list all records of %s: %w", collection, err)
	}
	return out, nil
}
