package simulation

import (
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
)

// opting reports whether people give plans options, and change states by comments, as in two of eleven aimed histories.
func (s *simulation) opting() bool { return s.length.aimed && (s.seed%11 == 1 || s.seed%11 == 2) }

// options are said beside lines in such a history.
var options = []string{
	"lockstep plan -destroy -p p0", "lockstep plan -target=t.a", "lockstep plan -p p1 -target=t.b", "lockstep plan -exclude=t.a",
	"lockstep plan -replace=t.a", "lockstep plan -refresh=false", "lockstep plan -refresh-only", "lockstep state rm t.a -p p0", "lockstep state rm t.b -p p1",
	"lockstep taint t.a -p p0", "lockstep apply --failed", "lockstep plan --failed", "lockstep retry",
}

// opted is a plan of all changes from now to wanted, as its options leave it.
func opted(dir string, number int, wanted, now map[string]string, o grammar.Options) saved {
	p := planOf(dir, number, wanted, now)
	if o.Destroy {
		p.Changes = planOf(dir, number, nil, now).Changes
	}
	about := func(addresses []string, change string) bool {
		name, _, _ := strings.Cut(change[1:], "=")
		return slices.Contains(addresses, "t."+name)
	}
	if o.RefreshOnly {
		p.Changes = nil
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		change := "!" + name + "=" + wanted[name]
		switch {
		case about(o.Forgets, change):
			p.Changes = append(slices.DeleteFunc(p.Changes, func(c string) bool { return about(o.Forgets, c) && c[1:] == name }), "^"+name)
		case wanted[name] == now[name] && about(o.Replaces, change):
			p.Changes = append(p.Changes, change)
		}
	}
	p.Changes = slices.DeleteFunc(p.Changes, func(c string) bool {
		return about(o.Excludes, c) || len(o.Targets) > 0 && !about(o.Targets, c)
	})
	p.Options = o
	return p
}

// asOpted holds that an apply has the options of its plan.
func (s *simulation) asOpted(j jobs.Job, p saved) {
	if !slices.Equal(j.Options.Words(), p.Options.Words()) {
		s.bug("%s of #%d was planned with %q, and is applied with %q", j.Project, j.Number, p.Options.Words(), j.Options.Words())
	}
}

// entire reports whether options leave nothing out that a pull request changes.
func entire(o grammar.Options) bool {
	return !o.Destroy && !o.RefreshOnly && len(o.Targets)+len(o.Excludes) == 0
}
