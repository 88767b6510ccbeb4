package jsonscan_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/internal/jsonscan"
)

// What encoding/json takes for JSON loses the same white space as there.
func FuzzAppendCompact(f *testing.F) {
	for _, s := range []string{
		" { \"a b\" : [ 1 , -0.5e+3 ] ,\r\n\t\"c\" : {} } ", `"\" \\"`, `["\\", " "]`, `[]`, ` null `, `"cut \`, `"cut`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		got := jsonscan.AppendCompact([]byte("before"), src)
		if !bytes.HasPrefix(got, []byte("before")) {
			t.Fatalf("%q: bytes before it are lost: %q", src, got)
		}
		var want bytes.Buffer
		if json.Compact(&want, src) == nil && want.String() != string(got[len("before"):]) {
			t.Fatalf("%q becomes %q, want %q", src, got[len("before"):], &want)
		}
	})
}
