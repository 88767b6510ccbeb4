package redacting

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"strings"
)

// Limits of the search in base64:
//   - A run of base64 shorter than shortestRun cannot contain a secret that is encoded twice.
//   - mostLayers is how often base64 is decoded. No reader of a plan would do that more often by hand.
//   - mostUnpacked is the maximum number of bytes of compressed data that are searched.
const (
	shortestRun  = 12
	mostLayers   = 3
	mostUnpacked = 4 << 20
)

// inside returns the runs of base64 in a text that contain a secret: as UTF-16 (PowerShell's encoding),
// compressed (base64gzip), or in base64 once more. The whole run is then hidden. layers is as in
// [Secrets.holds].
func (s *Secrets) inside(text string, layers int) (out []span) {
	for from := 0; from < len(text); from++ {
		to := from
		for to < len(text) && isBase64(text[to]) {
			to++
		}
		if to-from >= shortestRun && s.holds(unpacked(text[from:to]), layers) {
			out = append(out, span{from, to})
		}
		from = to
	}
	return out
}

// holds reports whether data, which was decoded from base64, contains a secret. The data may be UTF-16, in
// which every second byte is zero. The search skips zero bytes, because they are invisible. layers is the
// number of layers that are decoded already.
func (s *Secrets) holds(data string, layers int) bool {
	for _, view := range decoded(newStream(data, 0)) {
		if len(s.index.find(view)) > 0 {
			return true
		}
	}
	return layers > 1 && len(s.inside(data, layers-1)) > 0
}

// unpacked decodes a run of base64, and uncompresses the result if it is compressed. It returns "" if run is
// not base64.
func unpacked(run string) string {
	run = strings.NewReplacer("-", "+", "_", "/").Replace(run)
	data, err := base64.RawStdEncoding.DecodeString(run[:len(run)-len(run)%4])
	if rest := run[len(run)-len(run)%4:]; err == nil && len(rest) > 1 {
		last, _ := base64.RawStdEncoding.DecodeString(rest)
		data = append(data, last...)
	}
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return string(data)
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return string(data)
	}
	data, _ = io.ReadAll(io.LimitReader(r, mostUnpacked)) // as far as it goes
	return string(data)
}

func isBase64(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '-' || c == '_'
}
