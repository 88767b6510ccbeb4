package threats

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// A verdict is what a run of an attack's test came to.
type verdict string

const (
	passed   verdict = "passed"
	failed   verdict = "failed"
	timedOut verdict = "timed out"
	unbuilt  verdict = "does not compile"
	empty    verdict = "no test ran"
	// hindered says that the machine could not start a process or had no room, and that
	// nothing is known.
	hindered verdict = "hindered"
)

// died reports whether the mutant that a test ran with is dead. One that ends in no time
// is: the test would have said so, too.
func (v verdict) died() bool { return v == failed || v == timedOut }

// illness is how go and the system speak of a machine that is overburdened.
var illness = []string{"resource temporarily unavailable", "cannot allocate memory", "no space left on device", "failed to create new OS thread"}

// verdictOf judges what `go test -json` printed; ok is whether it ended with success.
// A test that is skipped did not run.
// Source: go doc test2json.
func verdictOf(output string, ok bool) verdict {
	ran, late, ill := 0, false, false
	for line := range strings.Lines(output) {
		var e struct{ Action, Test, Output string }
		if json.Unmarshal([]byte(line), &e) != nil {
			e.Output = line
		}
		// What a test prints is its own affair.
		ill = ill || e.Test == "" && slices.ContainsFunc(illness, func(words string) bool { return strings.Contains(e.Output, words) })
		switch {
		case e.Action == "build-fail" && !ill:
			return unbuilt
		case e.Action == "output" && strings.HasPrefix(e.Output, "panic: test timed out"):
			late = true
		case e.Action == "run" && e.Test != "":
			ran++
		case e.Action == "skip" && e.Test != "":
			ran--
		}
	}
	switch {
	case ill && !ok:
		return hindered
	case late:
		return timedOut
	case ran <= 0:
		return empty
	case ok:
		return passed
	default:
		return failed
	}
}

// printed returns what the tests themselves printed.
func printed(output string) string {
	var b strings.Builder
	for line := range strings.Lines(output) {
		var e struct{ Output string }
		if json.Unmarshal([]byte(line), &e) != nil {
			e.Output = line
		}
		b.WriteString(e.Output)
	}
	return b.String()
}

// TestVerdict is a table of what go test prints.
func TestVerdict(t *testing.T) {
	t.Parallel()
	const run = `{"Action":"run","Package":"p","Test":"TestX"}` + "\n"
	for _, test := range []struct {
		name, output string
		ok           bool
		want         verdict
	}{
		{"a pass", run + `{"Action":"pass","Test":"TestX"}`, true, passed},
		{"a failure", run + `{"Action":"fail","Test":"TestX"}`, false, failed},
		{"the process dies", run + `{"Action":"output","Output":"fatal error: stack overflow\n"}`, false, failed},
		{"it does not compile", `{"ImportPath":"p","Action":"build-fail"}` + "\n" + `{"Action":"fail"}`, false, unbuilt},
		{"it hangs", run + `{"Action":"output","Output":"panic: test timed out after 1s\n"}`, false, timedOut},
		{"nothing matches", `{"Action":"pass","Package":"p"}`, true, empty},
		{"all is skipped", run + `{"Action":"skip","Test":"TestX"}`, true, empty},
		{"no process can be started", run + `{"Action":"output","Output":"fork/exec x.test: resource temporarily unavailable\n"}`, false, hindered},
		{"the linker cannot", "go: fork/exec link: resource temporarily unavailable\n" + `{"Action":"build-fail"}`, false, hindered},
		{"a test that says so", run + `{"Action":"output","Test":"TestX","Output":"resource temporarily unavailable\n"}`, false, failed},
		{"the package cannot begin", `{"Action":"output","Output":"exit status 1"}`, false, empty},
	} {
		if got := verdictOf(test.output, test.ok); got != test.want {
			t.Errorf("%s: %s", test.name, got)
		}
	}
}
