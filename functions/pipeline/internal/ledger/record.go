package ledger

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// decode decodes the JSON value of a record; nil if there is no record.
func decode[T any](rec pipeline.Record) (*T, error) {
	if len(rec.Value) == 0 {
		return nil, nil
	}
	var v T
	if err := json.Unmarshal(rec.Value, &v); err != nil {
		return nil, fmt.Errorf("read %s: the record is damaged: %w", rec.Key, err)
	}
	return &v, nil
}

// get reads a record; nil if there is none.
func get[T any](ctx context.Context, ld Ledger, key string) (*T, error) {
	rec, err := ld.Records.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	return decode[T](rec)
}

// Get reads the JSON value of a record; the zero value if there is no record. A damaged record is an error.
func Get[T any](ctx context.Context, ld Ledger, key string) (v T, err error) {
	have, err := get[T](ctx, ld, key)
	if have != nil {
		v = *have
	}
	return v, err
}

// List reads the JSON values of all records of a directory.
func List[T any](ctx context.Context, ld Ledger, dir string) (all []T, err error) {
	list, err := ld.Records.List(ctx, dir)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", dir, err)
	}
	for _, rec := range list {
		v, err := decode[T](rec)
		if err != nil {
			return nil, err
		}
		if v != nil {
			all = append(all, *v)
		}
	}
	return all, nil
}

// Edit is like [Ledger.Change], for the decoded value of a record; nil if there is no record. If next returns
// nil, or an equal value, the record stays unchanged.
func Edit[T any](ctx context.Context, ld Ledger, key string, next func(have *T) *T) error {
	_, err := ld.Change(ctx, key, func(old []byte) ([]byte, error) {
		have, err := decode[T](pipeline.Record{Key: key, Value: old})
		if err != nil {
			return nil, err
		}
		now := next(have)
		if now == nil {
			return nil, ErrAsIs
		}
		value := pipeline.Encode(now)
		if string(value) == string(old) {
			return nil, ErrAsIs
		}
		return value, nil
	})
	return err
}
