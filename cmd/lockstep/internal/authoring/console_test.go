package authoring

import (
	"testing"
)

// An expression goes on in the next line as long as something in it has no end.
func TestOpenExpressions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"":                  false,
		"1 + 1":             false,
		"1 +":               false, // an error, not a promise
		"{":                 true,
		"{ a = [1,":         true,
		"{ a = [1,\n] }":    false,
		"f(":                true,
		"\"a ${f(1\n)} b\"": false,
		"\"[\"":             false,
		"<<EOT\n":           true,
		"<<EOT\nx\nEOT\n":   false,
		"]":                 false,
	} {
		if got := open(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
