package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// A Version identifies the value of a record as it was read; "" is the absence of a record.
type Version string

// ErrConflict is the failure of a conditional write: the record has changed since it was read.
var ErrConflict = errors.New("the record was changed by somebody else")

// A Record is a small value under a key.
type Record struct {
	Key     string
	Value   []byte
	Version Version
}

// Records is a table of small values moved by conditional writes. It is
// linearizable: a Get or List that begins after a Put has ended sees it, from any
// process. Keys are paths of two or more segments of printable characters without
// spaces, joined by "/".
type Records interface {
	// Get returns the record of a key; without value and version if there is none.
	Get(ctx context.Context, key string) (Record, error)
	// Put stores a value if the record's version is still prev, and returns the new
	// version; otherwise the error wraps ErrConflict.
	Put(ctx context.Context, key string, value []byte, prev Version) (Version, error)
	// Delete removes a record if its version is still prev; otherwise the error wraps
	// ErrConflict. A record that is not there can be deleted with the version "".
	Delete(ctx context.Context, key string, prev Version) error
	// List returns the records whose keys are dir, "/" and one more segment, sorted by
	// key.
	List(ctx context.Context, dir string) ([]Record, error)
}

// Encode is for records: values of ours, which always can be.
func Encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("pipeline: encode %T: %v", v, err))
	}
	return data
}
