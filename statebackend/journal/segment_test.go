package journal

import (
	"encoding/json"
	"testing"
)

// TestHeader: a header is written by hand as encoding/json writes it.
func TestHeader(t *testing.T) {
	for _, h := range []header{
		{},
		{Format: 1, Number: 7, Run: "run-1", Fence: 3, Prev: sum([]byte("x"))},
		{Format: 1, Number: 1 << 60, Run: "a \"run\" <of>\n somebody", Fence: 1 << 61, Reset: true},
	} {
		want, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		if got := h.append(nil); string(got) != string(want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
