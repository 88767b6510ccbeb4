package testruns

import (
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/internal/traversals"
)

// expectations are the entries of a run's expect_failures.
type expectations []*expectation

// An expectation is one entry of expect_failures: an object of the root module whose conditions must fail.
type expectation struct {
	address string // such as var.n, output.n, check.n, or the address of a resource or resource instance
	place   hcl.Range
	failed  bool
}

// expectations returns the entries of the run's expect_failures, with errors for invalid ones.
func (r *run) expectations() (out expectations, ds diags.Diagnostics) {
	for _, t := range r.ExpectFailures {
		x := &expectation{place: t.SourceRange()}
		switch word, name := traversals.RootName(t); word {
		case "var", "output", "check":
			x.address = word + "." + name
		default:
			target, hs := traversals.Target(t[:min(traversals.ObjectSteps(t), len(t))])
			if hs.HasErrors() {
				ds = append(ds, diags.FromHCL(hs)...)
				continue
			}
			x.address = target.String()
		}
		out = append(out, x)
	}
	return out, ds
}

// hits reports whether a failed object is the expected one or, for a resource, an instance of it. The
// parameter failed is the address of the failed object.
func (x *expectation) hits(failed string) bool {
	if failed == x.address {
		return true
	}
	rest, ok := strings.CutPrefix(failed, x.address)
	return ok && strings.HasPrefix(rest, "[")
}

// find returns the expectation that a diagnostic fulfils; nil if there is none.
func (list expectations) find(d diags.Diagnostic) *expectation {
	if d.Failed == "" || d.Severity != diags.Error && !d.Check {
		return nil
	}
	for _, x := range list {
		if x.hits(d.Failed) {
			return x
		}
	}
	return nil
}

// judge removes expected failures from the diagnostics, and adds an error for each expected failure that is
// missing. Outside of a test, a failed check block is only a warning; judge makes it an error.
func (list expectations) judge(found diags.Diagnostics) diags.Diagnostics {
	var ds diags.Diagnostics
	for _, d := range found {
		if x := list.find(d); x != nil {
			x.failed = true
			continue
		}
		if d.Check && d.Failed != "" {
			d.Severity = diags.Error
		}
		ds = append(ds, d)
	}
	for _, x := range list {
		if !x.failed {
			ds = append(ds, diags.Errorf(&x.place, "Missing expected failure", "The run expects that a condition of %s fails, and all of them hold. Remove it from expect_failures, or give the run values that break a condition.", x.address)...)
		}
	}
	return ds
}

// early returns warnings for a run that should have applied: one for each expected failure that the plan
// already had.
func (list expectations) early(found diags.Diagnostics) (ds diags.Diagnostics) {
	for _, d := range found {
		if x := list.find(d); x != nil && !x.failed {
			x.failed = true
			ds = append(ds, diags.Warningf(&x.place, "Expected failure while planning",
				"A condition of %s failed in the plan, as the run expects. But the run is to apply, and there is nothing to apply after a failed plan. Use command = plan.", x.address)...)
		}
	}
	return ds
}
