package lazyregexp_test

import (
	"testing"

	"github.com/lockstep-iac/lockstep/functions/internal/lazyregexp"
)

// TestInvalid makes an expression that is none: the tests of a package find its mistakes.
func TestInvalid(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("an invalid expression was accepted")
		}
	}()
	lazyregexp.New(`[`)
}

func TestMethods(t *testing.T) {
	t.Parallel()
	r := lazyregexp.New(`a(b*)`)
	if !r.MatchString("xab") || r.FindString("xabb") != "abb" || r.FindStringSubmatch("abb")[1] != "bb" ||
		len(r.FindAllString("a ab", -1)) != 2 || r.FindAllStringIndex("a ab", -1)[1][0] != 2 || r.FindAllStringSubmatch("a ab", -1)[1][1] != "b" ||
		r.ReplaceAllString("xab", "y$1") != "xyb" || r.ReplaceAllStringFunc("xab", func(s string) string { return s + s }) != "xabab" {
		t.Error("a method does not do what package regexp does")
	}
}
