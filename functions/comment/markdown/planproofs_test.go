package markdown

import (
	"fmt"
	"maps"
	"strings"
	"testing"
)

// TestProofs writes the plans of projects into the text of a check run, and reads them. Whatever follows in the text, they stay
// the same. No other text than Lockstep's own is read.
func TestProofs(t *testing.T) {
	a, b, c := strings.Repeat("a", 64), strings.Repeat("b", 64), strings.Repeat("c", 64)
	long := strings.Repeat("x", 700) + "@default"
	all := Proofs{}
	all.Set("net@default", Proof{Plan: 1, Hash: a})
	all.Set("app%2Fweb@prod", Proof{Plan: 12, Try: 3, Hash: b, Again: c})
	all.Set("dns@default", Proof{Plan: 2})
	all.Set(long, Proof{Plan: 4, Hash: c})
	text := all.Markdown()
	forged := fmt.Sprintf("\n- `net@default` 9.9 `%s`\n%s- `net@default` 9.9 `%s`\n%s", b, proofsHead, b, proofsEnd)
	for _, rest := range []string{"", "\n#### `net`\n\n...", forged} {
		got := ProofsIn(text + rest)
		if !maps.Equal(got, all) || got.Of(long) != all.Of(long) || got.Of("net@default").Hash != a || got.Of("other@default") != (Proof{}) {
			t.Errorf("with %q: %v", rest, got)
		}
	}
	if got := ProofsIn(Proofs{}.Markdown()); got == nil || len(got) != 0 {
		t.Errorf("none: %v", got)
	}
	line := "- `net@default` 1.0 `" + a + "`\n"
	for name, text := range map[string]string{
		"nothing":           "",
		"before":            "x" + text,
		"no end":            proofsHead + line,
		"twice":             proofsHead + line + line + proofsEnd,
		"an empty line":     proofsHead + line + "\n" + line + proofsEnd,
		"more in a line":    proofsHead + strings.TrimSuffix(line, "\n") + " x\n" + proofsEnd,
		"short":             proofsHead + "- `net@default` 1.0 `abc`\n" + proofsEnd,
		"large":             proofsHead + strings.Replace(line, "1.0", "1234567890.0", 1) + proofsEnd,
		"capital":           proofsHead + strings.ToUpper(line) + proofsEnd,
		"other line breaks": strings.ReplaceAll(text, "\n", "\r\n"),
	} {
		if got := ProofsIn(text); got != nil {
			t.Errorf("%s: %v", name, got)
		}
	}
	many := Proofs{}
	for i := range 100 {
		many.Set(fmt.Sprintf("%03d%s", i, long), Proof{Plan: 999_999_999, Try: 999_999_999, Hash: a, Again: b})
	}
	if n := len(many.Markdown()); n > 32_000 {
		t.Errorf("100 projects with long names take %d bytes", n)
	}
}
