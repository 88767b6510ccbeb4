package pipeline

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrNoLink reports that a chain has no record with a number.
var ErrNoLink = errors.New("the chain has no such record")

// ErrRefused reports that a store refuses a write, and will refuse it until an operator changes something: for
// example, the right to write is missing.
var ErrRefused = errors.New("the write is refused")

// Chains stores chains of records that are never changed. The records of a chain have the numbers 1, 2, 3 and so on.
// A chain's name is a path of segments, as in the keys of [Records].
type Chains interface {
	// Add writes record n of a chain. If the chain has a record n, the error wraps ErrConflict. If no attempt can
	// succeed, it wraps ErrRefused.
	Add(ctx context.Context, chain string, n int, data []byte) error
	// Link returns record n of a chain. The error wraps ErrNoLink if there is none.
	Link(ctx context.Context, chain string, n int) ([]byte, error)
	// Last returns the number of a chain's last record. from is a number that is not larger than that; 0 if none is
	// known. Last returns from if the chain has no later record.
	Last(ctx context.Context, chain string, from int) (int, error)
}

// LinkSuffix is the end of the name of a record's file.
const LinkSuffix = ".json"

// LinkKey returns the name of the file of record n of a chain: its last segment has ten digits, so names sort as
// numbers do. It panics if chain is not a clean path, because only Lockstep's own code makes names of chains.
func LinkKey(chain string, n int) string {
	CheckDir(chain)
	return fmt.Sprintf("%s/%010d%s", chain, n, LinkSuffix)
}

// LinkOf is the reverse of LinkKey. ok is false if key is not the name of a record's file.
func LinkOf(key string) (chain string, n int, ok bool) {
	i := strings.LastIndexByte(key, '/')
	if i <= 0 {
		return "", 0, false
	}
	n, err := strconv.Atoi(strings.TrimSuffix(key[i+1:], LinkSuffix))
	return key[:i], n, err == nil && n > 0 && key == LinkKey(key[:i], n)
}
