package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// A Version identifies the value that a record had when it was read. "" means that the record does not exist.
type Version string

// ErrConflict reports that a conditional write failed: the record has changed since it was read.
var ErrConflict = errors.New("the record was changed by somebody else")

// A Record is a small value under a key.
type Record struct {
	Key     string
	Value   []byte
	Version Version
}

// Records is a table of small values with conditional writes. It is linearizable: a Get or List that begins
// after a Put has ended sees the value of that Put, in any process. A key is a path of two or more segments,
// joined by "/". Segments consist of printable characters without spaces.
type Records interface {
	// Get returns the record of a key. Value and version are empty if there is no record.
	Get(ctx context.Context, key string) (Record, error)
	// Put stores a value if the record's version is still prev, and returns the new version. Otherwise the
	// error wraps ErrConflict.
	Put(ctx context.Context, key string, value []byte, prev Version) (Version, error)
	// Delete removes a record if its version is still prev. Otherwise the error wraps ErrConflict. Deleting an
	// absent record with the version "" succeeds.
	Delete(ctx context.Context, key string, prev Version) error
	// List returns the records whose keys are dir, "/" and one more segment, sorted by key.
	List(ctx context.Context, dir string) ([]Record, error)
}

// Encode returns v as JSON. It panics on an error, because the values of Lockstep's records can always be
// encoded.
func Encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("pipeline: encode %T: %v", v, err))
	}
	return data
}
