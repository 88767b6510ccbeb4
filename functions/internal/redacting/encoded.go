package redacting

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"strings"
)

// The limits of looking into base64: shorter runs hold no secret in two layers, and no reader of a plan undoes more layers. Of what is compressed
// only so many bytes are searched.
const (
	shortestRun  = 12
	mostLayers   = 3
	mostUnpacked = 4 << 20
)

// inside returns the runs of base64 in a text that hold a secret: in UTF-16, as PowerShell encodes it, compressed, as base64gzip does, or in
// base64 once more. A run is hidden as a whole.
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

// holds reports whether there is a secret in decoded bytes. The bytes of UTF-16 that are zero are not visible, and so are passed over.
func (s *Secrets) holds(data string, layers int) bool {
	for _, view := range decoded(newStream(data, 0)) {
		if len(s.index.find(view)) > 0 {
			return true
		}
	}
	return layers > 1 && len(s.inside(data, layers-1)) > 0
}

// unpacked returns the bytes that are in base64, and of those the ones that are compressed; "" if it is none.
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
