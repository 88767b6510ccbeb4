// Package digests has the digests of resource instances as they were last applied, so that a plan with
// -refresh=affected finds the instances whose configuration has changed. An apply writes a [Record] beside the
// state. The state file itself stays as every other tool expects it.
//
// A digest is the SHA-256 of the evaluated configuration of one instance, of the configuration of its provider,
// and of the versions of both schemas. A secret of few bits could be guessed from its digest. So keep a record
// exactly as the state is kept, which has the secret itself: with the same access rights, and encrypted if the
// state is.
//
// The package does not know how a digest is computed, nor where a record is stored. Start at [Record].
package digests

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Format is the version of the record's format, and of what goes into a digest. Increase it when either
// changes, and when a new engine may plan other actions from the same input. Records of another format are not
// used.
const Format = 2

// A Sum is the digest of one resource instance.
type Sum [sha256.Size]byte

// An Entry is what is known about one resource instance.
type Entry struct {
	Sum Sum
	// Settled is set if the provider has planned no change, without a warning, for the object in the state
	// and the configuration of this digest. The provider need not be asked again.
	Settled bool
}

// An Origin is what a record was made for. A record is used only where all of it is the same.
type Origin struct {
	Lineage string `json:"lineage"`
	Serial  uint64 `json:"serial"`
	// State is the SHA-256 of the state's bytes before encryption, in hexadecimal. So no tool can have written
	// the state in between.
	State     string `json:"state"`
	Workspace string `json:"workspace"`
	// Providers are the versions of the providers with the checksums of their packages, by source address.
	Providers map[string]string `json:"providers"`
}

// A Record has the digests of the instances in one state. Treat it as immutable.
type Record struct {
	Origin
	// FullRead is the time of the last plan that read all objects. Nothing is decided by it, with one
	// exception: a record from the future is not used.
	FullRead time.Time
	// Entries are the digests by the address of the instance. Entries for validated blocks and for conditions have
	// names that no address has.
	Entries map[string]Entry
}

// Entry returns what is known about an instance. The record may be nil.
func (r *Record) Entry(instance string) (Entry, bool) {
	if r == nil {
		return Entry{}, false
	}
	e, ok := r.Entries[instance]
	return e, ok
}

// Unfit returns the reason why the record cannot be used for a state, as a sentence without a full stop. It
// returns "" if the record can be used. now is the present time.
func (r *Record) Unfit(o Origin, now time.Time) string {
	switch {
	case r.Lineage != o.Lineage:
		return "the digests beside the state are those of another state, with the lineage " + quoted(r.Lineage)
	case r.Serial != o.Serial || r.State != o.State:
		return "the state was last written without -refresh=affected, or by another tool"
	case r.Workspace != o.Workspace:
		return "the digests beside the state are those of the workspace " + quoted(r.Workspace)
	case r.FullRead.After(now):
		return "the digests beside the state have a time in the future, " + r.FullRead.UTC().Format(time.RFC3339) + ", so a clock is wrong"
	}
	for _, p := range slices.Sorted(maps.Keys(r.Providers)) {
		if is, ok := o.Providers[p]; ok && is != r.Providers[p] {
			return "the provider " + p + " was updated since the last apply, or the apply ran on another platform"
		}
	}
	return ""
}

// quoted returns a text from a file for a message: in quotation marks, without control characters, and short.
func quoted(s string) string {
	const most = 64
	if len(s) > most {
		s = s[:most] + "..."
	}
	return fmt.Sprintf("%q", s)
}

// The encoded form is text: one line of JSON, then one line for each instance, then the SHA-256 of all lines
// before. The line of an instance has the digest in Base64, a mark, a space and the address. The mark is "="
// for a settled instance, and "-" for others.

type head struct {
	Format int `json:"format"`
	Origin
	FullRead  time.Time `json:"full_read"`
	Instances int       `json:"instances"`
}

const (
	sumLength = 43 // of a digest in Base64
	settled   = '='
	unsettled = '-'
	lastLine  = "sha256 "
)

// Encode returns the record as bytes. Equal records give equal bytes.
func (r *Record) Encode() []byte {
	first, err := json.Marshal(head{Format: Format, Origin: r.Origin, FullRead: r.FullRead.UTC(), Instances: len(r.Entries)})
	if err != nil {
		panic("digests: " + err.Error())
	}
	b := make([]byte, 0, len(first)+len(r.Entries)*(sumLength+48)+len(lastLine)+2*sha256.Size)
	b = append(append(b, first...), '\n')
	for _, name := range slices.Sorted(maps.Keys(r.Entries)) {
		e := r.Entries[name]
		b = base64.RawStdEncoding.AppendEncode(b, e.Sum[:])
		mark := byte(unsettled)
		if e.Settled {
			mark = settled
		}
		b = append(append(append(b, mark, ' '), name...), '\n')
	}
	return sealed(b)
}

// sealed returns the text with its last line.
func sealed(text []byte) []byte { return fmt.Appendf(text, "%s%x\n", lastLine, sha256.Sum256(text)) }

var errDamaged = errors.New("the digests beside the state are damaged")

// Decode reads the bytes that [Record.Encode] writes. The error says why the record cannot be used, as a
// sentence without a full stop.
func Decode(data []byte) (*Record, error) {
	last := bytes.LastIndex(data, []byte("\n"+lastLine))
	if last < 0 {
		return nil, errDamaged
	}
	text, sum := data[:last+1], bytes.TrimSuffix(data[last+1+len(lastLine):], []byte("\n"))
	if is := sha256.Sum256(text); hex.EncodeToString(is[:]) != string(sum) {
		return nil, errDamaged
	}
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	var h head
	if err := json.Unmarshal(first, &h); err != nil {
		return nil, errDamaged
	}
	if h.Format != Format {
		return nil, fmt.Errorf("another version of Lockstep has written the digests beside the state (format %d instead of %d)", h.Format, Format)
	}
	if year := h.FullRead.UTC().Year(); year < 1 || year > 9999 { // which JSON could not hold
		return nil, errDamaged
	}
	r := &Record{Origin: h.Origin, FullRead: h.FullRead, Entries: make(map[string]Entry, min(h.Instances, len(rest)/(sumLength+3))+1)}
	for lines := string(rest); lines != ""; {
		var line string
		line, lines, _ = strings.Cut(lines, "\n")
		var e Entry
		if len(line) < sumLength+3 || line[sumLength+1] != ' ' || line[sumLength] != settled && line[sumLength] != unsettled {
			return nil, errDamaged
		}
		if n, err := base64.RawStdEncoding.Strict().Decode(e.Sum[:], []byte(line[:sumLength])); err != nil || n != len(e.Sum) {
			return nil, errDamaged
		}
		e.Settled = line[sumLength] == settled
		r.Entries[line[sumLength+2:]] = e
	}
	if len(r.Entries) != h.Instances {
		return nil, errDamaged
	}
	return r, nil
}
