package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// Format is the version of the segment format that this package writes. It is also the newest version that it
// reads.
const Format = 1

// header is the first line of a segment.
type header struct {
	Format int    `json:"format"`
	Number uint64 `json:"number"`
	Run    string `json:"run"`             // the run that wrote the segment
	Fence  uint64 `json:"fence"`           // the fence of the writer; a takeover has a higher one than all segments before
	Reset  bool   `json:"reset,omitempty"` // the segments before this one are no longer needed
	Prev   string `json:"prev"`            // SHA-256 of the segment before, hexadecimal; "" for none
}

// FormatError reports a journal that a newer version of Lockstep wrote.
type FormatError struct {
	Place  string
	Format int
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("the journal %s has format %d, and this version of Lockstep reads formats up to %d: use the version that wrote it, or a newer one", e.Place, e.Format, Format)
}

// A Record is one line of a journal, with the run that wrote it.
type Record struct {
	Run  string
	Line []byte // JSON, without the line feed
}

// encode appends a segment to dst: its header, and each record on a line.
func encode(dst []byte, h header, records [][]byte) []byte {
	dst = append(h.append(dst), '\n')
	for _, r := range records {
		dst = append(append(dst, r...), '\n')
	}
	return dst
}

// append appends the header to b, with the bytes that encoding/json would write. It avoids encoding/json for
// speed: an apply of many small objects writes a segment for every few objects.
func (h header) append(b []byte) []byte {
	run, err := json.Marshal(h.Run)
	if err != nil {
		panic(fmt.Sprintf("journal: header: %v", err))
	}
	b = strconv.AppendInt(append(b, `{"format":`...), int64(h.Format), 10)
	b = strconv.AppendUint(append(b, `,"number":`...), h.Number, 10)
	b = append(append(b, `,"run":`...), run...)
	b = strconv.AppendUint(append(b, `,"fence":`...), h.Fence, 10)
	if h.Reset {
		b = append(b, `,"reset":true`...)
	}
	return append(append(append(b, `,"prev":"`...), h.Prev...), `"}`...)
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// decode reads one segment. It does not check that the segment follows the one before: the caller does.
func decode(place string, s statebackend.Segment) (header, [][]byte, error) {
	damaged := func(reason string, args ...any) error {
		return &statebackend.DamagedError{Place: place, Number: s.Number, Reason: fmt.Sprintf(reason, args...)}
	}
	first, rest, whole := bytes.Cut(s.Data, []byte("\n"))
	var h header
	if err := json.Unmarshal(first, &h); err != nil || !whole {
		return h, nil, damaged("its first line is not a header")
	}
	switch {
	case h.Format > Format:
		return h, nil, &FormatError{Place: place, Format: h.Format}
	case h.Format < 1:
		return h, nil, damaged("its header has no format")
	case h.Number != s.Number:
		return h, nil, damaged("its header has the number %d", h.Number)
	}
	var records [][]byte
	for len(rest) > 0 {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		if !whole || !json.Valid(line) {
			return h, nil, damaged("record %d is not a line of JSON", len(records)+1)
		}
		records = append(records, line)
		rest = after
	}
	return h, records, nil
}
