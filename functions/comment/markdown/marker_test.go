package markdown

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// pieces are what texts are made of that come close to a marker.
var pieces = []string{
	"<!--", "<!-", "<!", "<?", "<", "--", "-", "!", " ", "\n", "\t", "\u00a0", "\u200b", "\x00", "\r", "lockstep", "Lockstep", "LOCKSTEP", "lock", "step",
	":status", ":answer", " 33", "-->", ">", "`", "```\n", "<!-- lockstep:status -->", "<!-- lockstep:answer 33 -->", "x", "\xff", "é", "|", "#", "> ",
}

// TestNoMarkerInText holds, of random texts, that whatever is made of one for people has
// no marker of ours in it, nor anything that GitHub would hide and that has our name; and
// that a text which has none is left as it is.
func TestNoMarkerInText(t *testing.T) {
	// Said in other words than the defence: a hidden text begins with "<!" or "<?", and has
	// our name before any other word.
	hidden := func(s string) bool {
		for i := range s {
			rest, ok := strings.CutPrefix(s[i:], "<!")
			if !ok {
				rest, ok = strings.CutPrefix(s[i:], "<?")
			}
			word := strings.IndexFunc(rest, func(r rune) bool {
				return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
			})
			if ok && word >= 0 && strings.HasPrefix(strings.ToLower(rest[word:]), "lockstep") {
				return true
			}
		}
		return false
	}
	rng := rand.New(rand.NewPCG(12, 7))
	found := 0
	for range 100_000 {
		var b strings.Builder
		for range 1 + rng.IntN(8) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		text := b.String()
		if hidden(text) {
			found++
		} else if got := Unmarked(text); got != text {
			t.Fatalf("%q became %q", text, got)
		}
		for name, got := range map[string]string{"code": Code(text), "a block": Fence("", text), "text": Unmarked(text), "text twice": Unmarked(Unmarked(text))} {
			if hidden(got) {
				t.Fatalf("%q as %s: %q", text, name, got)
			}
		}
	}
	if found < 1000 {
		t.Errorf("only %d of the texts had something to hide", found)
	}
}
