// Package lazyregexp has regular expressions that are compiled when they are first used. Most commands and
// functions of Lockstep use few of its expressions, and to compile all of them took a third of the start of a
// process. Go's own tools have a package like this one: internal/lazyregexp. Start at [New].
package lazyregexp

import (
	"os"
	"regexp"
	"strings"
	"sync"
)

// A Regexp is a regular expression that is compiled at the first call of a method. Its methods are those of
// [regexp.Regexp]. It is safe for concurrent use.
type Regexp struct{ compiled func() *regexp.Regexp }

// New returns the expression of a text, for a variable of a package. An invalid text panics at the first call of
// a method; in a test it panics at once.
func New(text string) *Regexp {
	r := &Regexp{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
	if inTest {
		r.compiled()
	}
	return r
}

// inTest is true in the programs that go test makes. Package testing itself would be linked into each command.
var inTest = len(os.Args) > 0 && strings.HasSuffix(strings.TrimSuffix(os.Args[0], ".exe"), ".test")

func (r *Regexp) MatchString(s string) bool { return r.compiled().MatchString(s) }

func (r *Regexp) FindString(s string) string { return r.compiled().FindString(s) }

func (r *Regexp) FindStringSubmatch(s string) []string { return r.compiled().FindStringSubmatch(s) }

func (r *Regexp) FindAllString(s string, n int) []string { return r.compiled().FindAllString(s, n) }

func (r *Regexp) FindAllStringIndex(s string, n int) [][]int {
	return r.compiled().FindAllStringIndex(s, n)
}

func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.compiled().FindAllStringSubmatch(s, n)
}

func (r *Regexp) ReplaceAllString(s, with string) string {
	return r.compiled().ReplaceAllString(s, with)
}

func (r *Regexp) ReplaceAllStringFunc(s string, with func(string) string) string {
	return r.compiled().ReplaceAllStringFunc(s, with)
}
