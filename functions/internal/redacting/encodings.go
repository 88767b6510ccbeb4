package redacting

import (
	"encoding/base64"
	"encoding/hex"
	"regexp"
	"strings"
	"sync"
)

var hexPair = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("..") })

// encodings returns a text in base64 and in hexadecimal, and also in hexadecimal with colons, as in
// fingerprints. The base64 of a text depends on the number of bytes before the text. So there are three forms
// in base64, each without the characters that share bits with the surrounding text.
// Source: https://www.rfc-editor.org/rfc/rfc4648
func encodings(text string) []string {
	h := hex.EncodeToString([]byte(text))
	pairs := strings.TrimSuffix(hexPair().ReplaceAllString(h, "$0:"), ":")
	out := []string{h, strings.ToUpper(h), pairs, strings.ToUpper(pairs)}
	for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		whole := e.EncodeToString([]byte(text))
		out = append(out, whole, strings.TrimRight(whole, "="))
		for before := range 3 {
			padded := e.EncodeToString(append(make([]byte, before), text...))
			from, to := (before*8+5)/6, (before+len(text))*8/6
			if core := padded[from:to]; len(core) >= shortestText {
				out = append(out, core)
			}
		}
	}
	return out
}
