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

// JournalPrefix is what the keys of all journals begin with. It lies beside the states, and not
// below the prefix of workspaces, where a listing of workspaces would find it.
const JournalPrefix = ".lockstep/journal/"

// longKey is the longest escaped key that stands in full in the keys of its journal.
const longKey = 80

// JournalOf is what the keys of a state's journal begin with. The state's key is one segment of it,
// escaped, so that none is the beginning of another: rights on one journal are none on any other. A
// long one is cut, and has its SHA-256 behind an exclamation mark, which no escaped key has.
func JournalOf(key string) string {
	name := url.PathEscape(key)
	if len(name) > longKey {
		name = fmt.Sprintf("%s!%.16x", name[:longKey/2], sha256.Sum256([]byte(key)))
	}
	return JournalPrefix + name + "/"
}

// keptFor is how long dropped segments stay. A process that was suspended for so long does not
// wake up any more; until then its number must be taken.
const keptFor = 72 * time.Hour

// journalObjects is the log of a state in objects beside it:
//
//	.lockstep/journal/<escaped key of the state>/00000000000000000012   segment 12
//
// A segment is one PutObject with If-None-Match: S3 refuses a second one with the number. It
// implements statebackend.Log.
type journalObjects struct {
	objects *objects
	prefix  string
	now     func() time.Time
	memory  *journalMemory
}

// journalMemory is what the values of one workspace know of the journal's objects. Nothing of it is believed: a
// segment is removed for its age.
type journalMemory struct {
	mu     sync.Mutex
	read   bool // listed was read
	listed []listedSegment
}

// Journal returns the log that belongs to the state's object.
func (w *workspace) Journal() statebackend.Log {
	return &journalObjects{objects: w.objects, prefix: JournalOf(w.key), now: time.Now, memory: &w.memory}
}

func (j *journalObjects) Place() string { return "s3://" + j.objects.bucket + "/" + j.prefix }

// Exclusive: a lock in S3 or DynamoDB can be released while its holder sleeps.
func (j *journalObjects) Exclusive() bool { return false }

func (j *journalObjects) Close() error { return nil }

func (j *journalObjects) key(number uint64) string { return fmt.Sprintf("%s%020d", j.prefix, number) }

// Append creates the object. A crash before the answer leaves it, or not; the same call settles it.
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

// Segments lists the objects, and reads them from the last one back: for n segments 1 + n requests, and one
// more for each thousand objects.
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

// remember keeps what was read.
func (m *journalMemory) remember(listed []listedSegment) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.listed, m.read = listed, true
}

// listedSegment is a segment's object as it is listed.
type listedSegment struct {
	number uint64
	stored time.Time
}

// list returns the segments in the order of their numbers, which is that of their keys. A name that is
// not the journal's may be a segment's that the server lists in another form: it is a
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

// otherNames are the names of a journal's objects that are no segments. The empty one is the folder that some
// tools and servers make.
var otherNames = []string{"", conditionsName}

// Drop removes what is old enough of the segments. The others are not read any more, since a later one is the
// first that counts: see [statebackend.Log]. What Segments has listed before is not listed again.
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
