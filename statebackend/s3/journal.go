package s3

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/lockfile"
)

// JournalPrefix is the prefix of the keys of all journals. It is outside the prefix of workspaces, where a
// listing of workspaces would find the journals.
const JournalPrefix = ".lockstep/journal/"

// longKey is the largest length of an escaped key that JournalOf uses uncut.
const longKey = 80

// JournalOf returns the prefix of the keys of a state's journal. The state's escaped key is one path segment of
// it. So no journal's prefix is the beginning of another journal's prefix, and a permission for one journal
// gives no access to another.
//
// If the escaped key is longer than longKey, the segment has three parts: the beginning of the escaped key, an
// exclamation mark, and a part of the SHA-256 of the key. No escaped key has an exclamation mark.
func JournalOf(key string) string {
	name := url.PathEscape(key)
	if len(name) > longKey {
		name = fmt.Sprintf("%s!%.16x", name[:longKey/2], sha256.Sum256([]byte(key)))
	}
	return JournalPrefix + name + "/"
}

// keptFor is how long dropped segments stay. Until then a segment's number stays taken, against a process
// that was suspended. A process that was suspended for longer is not expected to wake up.
const keptFor = 72 * time.Hour

// journalObjects is the journal log of a state, in objects beside it:
//
//	.lockstep/journal/<escaped key of the state>/00000000000000000012   segment 12
//
// A segment is one PutObject with If-None-Match: S3 refuses a second object with the same number. It
// implements statebackend.Log.
type journalObjects struct {
	objects *objects
	prefix  string
	now     func() time.Time
	memory  *journalMemory
}

// journalMemory is the last listing of the journal, shared by all values of one workspace. It is used only to
// remove old segments.
type journalMemory struct {
	mu     sync.Mutex
	read   bool // listed is set
	listed []listedSegment
}

// Journal returns the journal log of this state.
func (w *workspace) Journal() statebackend.Log {
	return &journalObjects{objects: w.objects, prefix: JournalOf(w.key), now: time.Now, memory: &w.memory}
}

func (j *journalObjects) Place() string { return "s3://" + j.objects.bucket + "/" + j.prefix }

// Exclusive returns false: a lock in S3 or DynamoDB can be released while its holder sleeps.
func (j *journalObjects) Exclusive() bool { return false }

func (j *journalObjects) Close() error { return nil }

func (j *journalObjects) key(number uint64) string { return fmt.Sprintf("%s%020d", j.prefix, number) }

// Append creates the object. After a crash before the answer, the object exists or not; the same call again
// settles it.
func (j *journalObjects) Append(ctx context.Context, number uint64, data []byte, _ bool) error {
	_, err := j.objects.Put(ctx, j.key(number), data, "")
	if !errors.Is(err, lockfile.ErrPrecondition) {
		return err
	}
	stored, tag, err := j.objects.Get(ctx, j.key(number))
	if err != nil {
		return err
	}
	if tag == "" {
		return fmt.Errorf("create s3://%s/%s: the server refuses it as if it existed, and does not have it", j.objects.bucket, j.key(number))
	}
	if bytes.Equal(stored, data) {
		return nil
	}
	return &statebackend.TakenError{Place: j.Place(), Number: number}
}

// Segments lists the objects, and reads them from the last one backwards. For n segments it makes 1 + n
// requests, and one more for each thousand objects.
func (j *journalObjects) Segments(ctx context.Context, first func(statebackend.Segment) bool) ([]statebackend.Segment, error) {
	listed, err := j.list(ctx)
	if err != nil {
		return nil, err
	}
	j.memory.remember(listed)
	var segments []statebackend.Segment
	for _, o := range slices.Backward(listed) {
		data, tag, err := j.objects.Get(ctx, j.key(o.number))
		if err != nil {
			return nil, err
		}
		if tag == "" || len(data) == 0 {
			return nil, &statebackend.DamagedError{Place: j.Place(), Number: o.number, Reason: "it was removed while it was read"}
		}
		segments = append(segments, statebackend.Segment{Number: o.number, Data: data})
		if first != nil && first(segments[len(segments)-1]) {
			break
		}
	}
	slices.Reverse(segments)
	return segments, nil
}

// remember stores the listing for later calls.
func (m *journalMemory) remember(listed []listedSegment) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.listed, m.read = listed, true
}

// listedSegment is the object of a segment, as the server lists it.
type listedSegment struct {
	number uint64
	stored time.Time
}

// list returns the segments in the order of their numbers, which is the order of their keys. An unexpected
// name may be a segment that the server lists in another form, so the error is then a
// *statebackend.UnfitError.
func (j *journalObjects) list(ctx context.Context) ([]listedSegment, error) {
	objects, err := j.objects.list(ctx, j.prefix)
	if err != nil {
		return nil, err
	}
	var all []listedSegment
	for _, o := range objects {
		name := strings.TrimPrefix(o.key, j.prefix)
		if number, err := strconv.ParseUint(name, 10, 64); err == nil && o.key == j.key(number) {
			all = append(all, listedSegment{number, o.stored})
		} else if !slices.Contains(otherNames, name) {
			return nil, j.objects.unfitList("lists a name that is none of a journal", fmt.Sprintf("It lists %q in the journal %s.", o.key, j.Place()))
		}
	}
	return all, nil
}

// otherNames are the names of objects in a journal that are not segments. The empty name is the folder object
// that some tools and servers create.
var otherNames = []string{"", conditionsName, sidecarName}

// Drop removes those segments below the given number that are older than keptFor. Younger segments stay, but
// nobody reads them any more: readers stop at a later segment, see [statebackend.Log]. Drop uses the listing of
// an earlier Segments call if there is one.
func (j *journalObjects) Drop(ctx context.Context, below uint64) error {
	m := j.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.read {
		listed, err := j.list(ctx)
		if err != nil {
			return err
		}
		m.listed, m.read = listed, true
	}
	kept := m.listed[:0:0]
	for _, o := range m.listed {
		if o.number >= below || j.now().Sub(o.stored) <= keptFor {
			kept = append(kept, o)
		} else if err := j.objects.delete(ctx, j.key(o.number), ""); err != nil {
			return err
		}
	}
	m.listed = kept
	return nil
}
