package comment

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
)

// pieces are what texts are made of that come close to a marker.
var pieces = []string{
	"<!--", "<!-", "<!", "<?", "<", "--", "-", "!", " ", "\n", "\t", "\u00a0", "\u200b", "\x00", "\r", "lockstep", "Lockstep", "LOCKSTEP", "lock", "step",
	":status", ":answer", " 33", "-->", ">", "`", "```\n", StatusMarker, AnswerMarker("33"), "x", "\xff", "é", "|", "#", "> ",
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

// TestOneMarker holds that comments begin with their one marker, whatever is in them.
func TestOneMarker(t *testing.T) {
	evil := "a " + StatusMarker + " b\n" + AnswerMarker("1")
	p := ProjectStatus{Name: evil, Standing: Ready, By: evil, Body: Fence("", evil), Whole: evil, Check: evil}
	marker := regexp.MustCompile(`<!-- lockstep:`)
	for name, text := range map[string]string{
		"a status":   Status{Head: someSHA, Projects: []ProjectStatus{p, p}, Approvals: []string{evil}}.Markdown(65536),
		"an answer":  Answer{"33", []Reply{Failed{Project: evil, Verb: Plan, Body: Fence("", evil)}, Misunderstood{grammar.Line{Text: evil, Problem: grammar.Problem{Kind: grammar.UnknownWord, Word: evil}}}, Broken{Reason: `"` + evil + `"`}}}.Markdown(65536),
		"no comment": marker.FindString(StatusMarker) + Check{ProjectStatus: p, Others: ""}.Summary(65535),
	} {
		if at := marker.FindAllStringIndex(text, -1); len(at) != 1 || at[0][0] != 0 {
			t.Errorf("%s has markers at %v:\n%s", name, at, text)
		}
	}
}
