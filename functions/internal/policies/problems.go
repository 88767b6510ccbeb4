package policies

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// Limits of an [Error]: the number of problems, and the length of a message in bytes.
const (
	maxProblems = 20
	maxMessage  = 400
)

// An Error has the mistakes in policies. Such policies can judge no plan until somebody corrects them.
// Compiling or judging once more gives the same error, unless the error is about the time limit.
type Error struct {
	// Problems are sorted by file and line: at least one, at most 20.
	Problems []Problem
	// More is the number of problems that Problems leaves out.
	More int
}

// A Problem is one mistake in a policy, with its place.
type Problem struct {
	File    string // name of the file as it was given to [Compile]; "" if the mistake is in no single file
	Line    int    // number of the line, from 1; 0 if the mistake is in no single line
	Message string // of at most about 400 bytes of valid UTF-8, possibly with line breaks and values of the plan
}

func (p Problem) String() string {
	switch {
	case p.File == "":
		return p.Message
	case p.Line == 0:
		return p.File + ": " + p.Message
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message)
}

// Error returns at least one line for each problem.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("the policies have mistakes:")
	for _, p := range e.Problems {
		b.WriteString("\n" + p.String())
	}
	if e.More > 0 {
		fmt.Fprintf(&b, "\nand %d more", e.More)
	}
	return b.String()
}

// problems collects mistakes.
type problems []Problem

func (ps *problems) add(file string, line int, format string, args ...any) {
	*ps = append(*ps, Problem{file, line, shorten(fmt.Sprintf(format, args...))})
}

func (ps *problems) addAt(at *ast.Location, format string, args ...any) {
	if at == nil {
		at = &ast.Location{}
	}
	ps.add(at.File, at.Row, format, args...)
}

// addError adds an error of OPA, which may have its own place in the file. context is the beginning of the
// message.
func (ps *problems) addError(context, file string, err error) {
	many, _ := errors.AsType[ast.Errors](err)
	if one, ok := errors.AsType[*ast.Error](err); ok {
		many = ast.Errors{one}
	}
	if len(many) > 0 {
		for _, e := range many {
			at := e.Location
			if at == nil || at.File == "" {
				at = &ast.Location{File: file}
			}
			ps.addAt(at, "%s%s%s", context, e.Message, remedy(e.Message))
		}
		return
	}
	if e, ok := errors.AsType[*topdown.Error](err); ok {
		ps.addAt(e.Location, "%s%s", context, e.Message)
		return
	}
	ps.add(file, 0, "%s%v", context, err)
}

// err returns an *Error with the problems; nil if there are none.
func (ps problems) err() error {
	if len(ps) == 0 {
		return nil
	}
	slices.SortFunc(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Message, b.Message))
	})
	all := slices.Compact(ps)
	kept := all[:min(len(all), maxProblems)]
	return &Error{Problems: slices.Clone(kept), More: len(all) - len(kept)}
}

// guard calls f. It records a panic of f as a problem, because a policy can cause a panic in OPA. during says
// in the message what was being done.
func (ps *problems) guard(during string, f func()) {
	defer func() {
		if r := recover(); r != nil {
			ps.add("", 0, "%s, OPA broke down, by a mistake of its own that the policies bring to light: %v", during, r)
		}
	}()
	f()
}

// shorten returns s as valid UTF-8 of limited length.
func shorten(s string) string {
	if len(s) > maxMessage {
		n := maxMessage
		for n > maxMessage-utf8.UTFMax && !utf8.RuneStart(s[n]) {
			n--
		}
		s = s[:n] + "…"
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
