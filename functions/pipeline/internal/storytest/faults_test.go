package storytest

import (
	"fmt"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/planrun"
	"github.com/lockstep-iac/lockstep/infra/golden"
)

// TestFaults plays the stories of some files again and again, each time with a fault of one call that one
// package of the pipeline makes, by each of its ways to that call: a read fails, a write happens and is reported as
// failed. Somebody has to notice, and the repetition has to come to the same end as without the fault: the same records,
// artifacts, comments and check runs. What is otherwise stands in testdata/faults; the option -update writes it.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		pkg   string
		names []string
	}{
		{"applyrun", []string{"applies", "commands", "waves"}},
		{"gatefacts", []string{"commands", "plans", "waves"}},
		{"plannedoutputs", []string{"outputs"}},
		{"intake", []string{"webhooks"}},
		{"planrun", []string{"plans", "commands", "tests", "queries"}},
		{"replanning", []string{"outputs"}},
		{"reconcile", []string{"rounds"}},
		{"report", []string{"plans", "commands"}},
		{"locking", []string{"commands"}},
		{"drift", []string{"drift"}},
	} {
		t.Run(x.pkg, func(t *testing.T) {
			t.Parallel()
			faults(t, x.pkg, x.names...)
		})
	}
}

// faults is the test of a package, with the stories of some files.
func faults(t *testing.T, pkg string, names ...string) {
	var out strings.Builder
	known := map[string]bool{}
	for _, name := range names {
		text, err := told.ReadFile("testdata/" + name + ".stories")
		if err != nil {
			t.Fatal(err)
		}
		for paragraph := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
			title, steps, _ := read(paragraph)
			if title == "" || strings.Contains(paragraph, " meanwhile ") {
				continue // such a step comes at no certain call
			}
			if odd := oddities(t, steps, pkg, known); len(odd) > 0 {
				fmt.Fprintf(&out, "%s\n  %s\n\n", title, strings.Join(odd, "\n  "))
			}
		}
	}
	if len(known) == 0 {
		t.Errorf("no story has a call of package %s", pkg)
	}
	golden.File(t, "testdata/faults/"+pkg+".txt", out.String())
}

// oddities plays a story with each fault that no story has had yet, and describes those that nobody notices or
// that lead to another end.
func oddities(t *testing.T, steps []string, pkg string, known map[string]bool) (out []string) {
	p := &probe{pkg: pkg}
	end, usual := p.play(t, steps)
	for _, f := range p.found {
		if !f.isNew(known) {
			continue
		}
		p := &probe{pkg: pkg, fault: f}
		other, noticed := p.play(t, steps)
		odd := fmt.Sprintf("%s %s: %s", f.kind, f.place, p.call)
		gone, come := differences(end, other)
		switch {
		case p.call == "":
			t.Errorf("%s %s: the call does not come again", f.kind, f.path)
		case noticed <= usual:
			out = append(out, odd+": nobody notices")
		case len(gone)+len(come) > 0:
			out = append(out, odd+": another end")
		}
		out = append(out, brief(gone, come)...)
	}
	return out
}

// brief shows the differences that people read, and names the others.
func brief(gone, come []string) (out []string) {
	var names []string
	for _, line := range slices.Concat(gone, come) {
		kind, rest, _ := strings.Cut(line, " ")
		if name, _, _ := strings.Cut(rest, " "); kind != "comment" && !slices.Contains(names, kind+" "+name) {
			names = append(names, kind+" "+name)
		}
	}
	if len(names) > 0 {
		out = append(out, "  "+strings.Join(names, ", "))
	}
	for _, line := range come {
		if rest, ok := strings.CutPrefix(line, "comment "); ok {
			out = append(out, fmt.Sprintf("  %.160s", rest))
		}
	}
	return out
}

// differences returns the lines of each list that the other has not.
func differences(a, b []string) (gone, come []string) {
	without := func(list, of []string) []string {
		list = slices.Clone(list)
		for _, line := range of {
			if i := slices.Index(list, line); i >= 0 {
				list = slices.Delete(list, i, i+1)
			}
		}
		return list
	}
	return without(a, b), without(b, a)
}

// A callFault is the fault of the first call that a package makes by a path: "fail" or "lose". The path has the lines
// of its functions, the innermost first, which place names.
type callFault struct{ kind, path, place string }

// isNew reports whether the path has a line that was not known, and adds its lines: what a line makes of an
// error is the same for all calls below it.
func (f callFault) isNew(known map[string]bool) bool {
	is := false
	for line := range strings.FieldsSeq(f.path) {
		is = is || !known[line]
		known[line] = true
	}
	return is
}

// A probe plays a story, and finds the calls of one package, or has one of them fail.
type probe struct {
	pkg   string
	found []callFault // in the order of the calls
	fault callFault   // to happen; the zero value is none
	call  string      // that it happened to
}

// play returns the end of the story, and how often faults were noticed: by the queue, by GitHub or in the log.
func (p *probe) play(t *testing.T, steps []string) (end []string, noticed int) {
	t.Run("", func(t *testing.T) {
		s := newStage(t)
		s.w.probe = p.decide
		for _, line := range steps {
			verb, rest, _ := strings.Cut(strings.TrimPrefix(line, "~"), " ")
			s.step(verb, strings.TrimSpace(rest))
		}
		s.tidy()
		end = s.end()
		for _, line := range s.w.lines {
			word, rest, _ := strings.Cut(line, ":")
			switch {
			case strings.Contains(rest, errAsked.Error()):
				noticed += len(s.w.lines) // it is certain
			case slices.Contains([]string{"again", "webhook", "log", "the round"}, word):
				noticed++
			}
		}
	})
	return end, noticed
}

// decide looks at a call, and returns its fault.
func (p *probe) decide(x memory.Effect) (v memory.Verdict) {
	path, place := p.path()
	if place == "" || polls(place) {
		return v
	}
	f := callFault{"lose", path, place}
	if x.Reads {
		f.kind = "fail"
	}
	if !slices.Contains(p.found, f) {
		p.found = append(p.found, f)
	}
	if f != p.fault || p.call != "" {
		return v
	}
	p.call = volatile.ReplaceAllString(x.Call, "*")
	if f.kind == "lose" {
		return memory.Verdict{Done: errAsked}
	}
	return memory.Verdict{Undone: errAsked}
}

// polls reports whether a place looks while others work: how often is not certain.
func polls(place string) bool {
	name := runtime.FuncForPC(reflect.ValueOf(planrun.UntilChanged).Pointer()).Name()
	return strings.HasPrefix(place, name[strings.LastIndexByte(name, '.')+1:])
}

// path is the way by which the package makes the present call, and place the innermost function of it.
func (p *probe) path() (path, place string) {
	var counters [64]uintptr
	frames := runtime.CallersFrames(counters[:runtime.Callers(2, counters[:])])
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		_, name, ok := strings.Cut(f.Function, "/functions/pipeline/")
		name, ours := strings.CutPrefix(strings.TrimPrefix(name, "internal/"), p.pkg+".")
		if !ok || !ours {
			continue
		}
		if place == "" {
			place = name
		}
		path += fmt.Sprintf("%s:%d ", name, f.Line)
	}
	return path, place
}

// counted are the numbers of plans that were begun, of which a repetition makes more.
var counted = regexp.MustCompile(`"(Begun|Swept|Fence|Idle)":\d+|(@[^/ ]+)/\d+/|\d{4}-\d\d-\d\d \d\d:\d\d UTC|(record shown/[^ ]+)\.\d+ `)

// end describes all that a story leaves, without the texts that are different each time.
func (s *stage) end() []string {
	out := slices.DeleteFunc(s.memory.Lines(), func(line string) bool { return strings.HasPrefix(line, "record message/") })
	for _, p := range s.repo.Pulls() {
		for _, c := range s.repo.Comments(p.Number) {
			out = append(out, fmt.Sprintf("comment by %s on #%d: %s %s", c.Author, p.Number, c.Body, c.Reactions))
		}
		for _, c := range s.repo.Checks(p.Head) {
			out = append(out, fmt.Sprintf("check %s of #%d: %s %s %s %s %s", c.Name, p.Number, c.Status, c.Conclusion, c.Title, c.Summary, c.Text))
		}
	}
	for i, line := range out {
		line = volatile.ReplaceAllString(strings.ReplaceAll(line, "\n", "; "), "*")
		out[i] = counted.ReplaceAllString(line, "$1$2$3 *")
	}
	return out
}
