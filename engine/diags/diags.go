// Package diags has the engine's messages to the author of a configuration: errors and warnings as values. A
// message has a source range and, if known, an address and an attribute.
//
// The package does not know how a diagnostic is shown: package render turns diagnostics into text and JSON.
// Lockstep's own bugs are not diagnostics (they panic). Failures of the environment are ordinary errors,
// unless they belong to a part of the configuration.
package diags

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// Severity distinguishes an error, which stops everything that depends on it, from a warning.
type Severity byte

const (
	Error   Severity = 'E'
	Warning Severity = 'W'
)

// String returns "error" or "warning".
func (s Severity) String() string {
	if s == Warning {
		return "warning"
	}
	return "error"
}

// A Diagnostic is one error or warning. Only Severity and Summary are always set.
type Diagnostic struct {
	Severity Severity
	Summary  string // a headline without a full stop
	Detail   string // sentences: the problem, and its remedy
	// Address is the address of the resource instance or other object that was being processed.
	Address string
	// Subject is the source range of the problem; Context is a larger range to show.
	Subject, Context *hcl.Range
	// Attribute is the path of the attribute in question, within the body at Subject.
	Attribute cty.Path
	// Expression and EvalContext show the values that an expression had when it failed.
	Expression  hcl.Expression
	EvalContext *hcl.EvalContext
	// Check marks a diagnostic about a check block. Both plan and apply evaluate check blocks. The diagnostics
	// of the apply replace those of the plan.
	Check bool
	// Failed is the address of the object whose condition is not met, such as var.n, output.n, check.n or
	// module.m.lab_thing.a[0]; "" for diagnostics that are not about a condition.
	Failed string
	// Late marks an error that Terraform finds only when it validates the configuration. Commands that only
	// read the configuration continue.
	Late bool
	// Extra is a [Cause], or a value from HCL (for instance for a failing function call).
	Extra any
}

// A Cause in [Diagnostic.Extra] says more about the cause of a diagnostic.
//
//   - Unknown or Sensitive: the expression was refused because a value in it is unknown or sensitive.
//   - Unmatched: the warning is about an option whose address matches nothing. Code that runs where
//     nobody reads warnings in time turns such a warning into an error.
//   - Advice: the warning is Lockstep's own advice, and Terraform has no such warning.
//   - Deprecated: the warning is about a variable or an output that a module's author has deprecated. Remote: the
//     module is not in a directory beside its caller.
type Cause struct{ Unknown, Sensitive, Unmatched, Advice, Deprecated, Remote bool }

// Diagnostics is a list of diagnostics, in the order they were found.
type Diagnostics []Diagnostic

// HasErrors reports whether any of ds is an error.
func (ds Diagnostics) HasErrors() bool {
	for _, d := range ds {
		if d.Severity == Error {
			return true
		}
	}
	return false
}

// late is the Extra of an HCL diagnostic that becomes a diagnostic with Late set.
type late struct{}

// MarkLate returns h with a mark, so that [FromHCL] sets [Diagnostic.Late].
func MarkLate(h *hcl.Diagnostic) *hcl.Diagnostic {
	h.Extra = late{}
	return h
}

// WithoutLate returns ds without the diagnostics that have Late set. These are errors that Terraform finds
// only when it validates the configuration, not when it reads the configuration.
func (ds Diagnostics) WithoutLate() Diagnostics {
	return slices.DeleteFunc(slices.Clone(ds), func(d Diagnostic) bool { return d.Late })
}

// Err returns ds as an error if it has errors, otherwise nil.
func (ds Diagnostics) Err() error {
	if !ds.HasErrors() {
		return nil
	}
	return ds
}

// Error returns the summaries and details of all errors, one error on each line.
func (ds Diagnostics) Error() string {
	var lines []string
	for _, d := range ds {
		if d.Severity == Error {
			lines = append(lines, d.String())
		}
	}
	return strings.Join(lines, "\n")
}

// String returns `file:line: summary: detail`, for logs and tests.
func (d Diagnostic) String() string {
	s := d.Summary
	if d.Detail != "" {
		s += ": " + d.Detail
	}
	if d.Subject != nil {
		s = fmt.Sprintf("%s:%d: %s", d.Subject.Filename, d.Subject.Start.Line, s)
	}
	return s
}

// At returns ds with Address set to address in the diagnostics that have none.
func (ds Diagnostics) At(address string) Diagnostics {
	for i := range ds {
		if ds[i].Address == "" {
			ds[i].Address = address
		}
	}
	return ds
}

// Errorf returns one error. subject is its source range, or nil.
func Errorf(subject *hcl.Range, summary, detail string, args ...any) Diagnostics {
	if len(args) > 0 {
		detail = fmt.Sprintf(detail, args...)
	}
	return Diagnostics{{Severity: Error, Summary: summary, Detail: detail, Subject: subject}}
}

// Warningf returns one warning. subject is its source range, or nil.
func Warningf(subject *hcl.Range, summary, detail string, args ...any) Diagnostics {
	ds := Errorf(subject, summary, detail, args...)
	ds[0].Severity = Warning
	return ds
}

// FromHCL converts HCL's diagnostics.
func FromHCL(hs hcl.Diagnostics) Diagnostics {
	if len(hs) == 0 {
		return nil
	}
	out := make(Diagnostics, len(hs))
	for i, h := range hs {
		out[i] = Diagnostic{
			Severity: Error, Summary: h.Summary, Detail: h.Detail,
			Subject: h.Subject, Context: h.Context,
			Expression: h.Expression, EvalContext: h.EvalContext, Extra: h.Extra,
		}
		if h.Extra == (late{}) {
			out[i].Late, out[i].Extra = true, nil
		}
		if h.Severity == hcl.DiagWarning {
			out[i].Severity = Warning
		}
		out[i].Detail = WithoutType(h.Detail)
		if x, ok := h.Extra.(hclsyntax.FunctionCallUnknownDiagExtra); ok && x.CalledFunctionNamespace() != "" {
			out[i].Summary = "Unknown provider function"
			out[i].Detail = unknownFunction(x.CalledFunctionNamespace(), x.CalledFunctionName())
		}
	}
	return out
}

// unknownFunction returns the detail for a call of a function in a namespace that does not exist, such as
// "provider::x::".
func unknownFunction(namespace, name string) string {
	if strings.HasPrefix(namespace, "provider::") {
		return fmt.Sprintf("There is no function %s%s: either the module does not require a provider by that name, or the provider has no such function.", namespace, name)
	}
	namespace, _, _ = strings.Cut(namespace, "::")
	return fmt.Sprintf("The function namespace %q is not valid. Provider function calls must use the \"provider::\" namespace prefix.", namespace)
}

// needless matches the end of a cty error about a value of the wrong type.
var needless = regexp.MustCompile(`( required), but have [a-z ]+\.$`)

// WithoutType removes from a detail the type of a wrong value: the values of the expression are shown beside
// the detail. Source: Terraform 1.11, which is built with an older cty.
func WithoutType(detail string) string {
	if !strings.HasSuffix(detail, ".") || !strings.Contains(detail, ", but have ") {
		return detail
	}
	return needless.ReplaceAllString(detail, "$1.")
}

// FromError returns err as diagnostics. If err is of the type [Diagnostics], the result is err itself.
// Otherwise it is one error with this summary and without a range.
func FromError(summary string, err error) Diagnostics {
	if err == nil {
		return nil
	}
	if ds, ok := err.(Diagnostics); ok {
		return ds
	}
	return Errorf(nil, summary, "%s", sentence(err.Error()))
}

// sentence turns an error's lower-case text into a sentence. A first word that is a name, such as an address
// or a file, stays as it is.
func sentence(s string) string {
	if s == "" {
		return s
	}
	first, _, _ := strings.Cut(s, " ")
	if !strings.ContainsFunc(strings.TrimRight(first, ":,;."), func(r rune) bool { return !unicode.IsLetter(r) && r != '-' && r != '\'' }) {
		s = strings.ToUpper(s[:1]) + s[1:]
	}
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}

// reported is the Extra of the diagnostic that [Reported] returns.
type reported struct{}

// Reported returns an error for a dependent of an object that failed. The dependent has nothing more to report:
// the errors of the object are reported already.
func Reported() Diagnostics {
	return Diagnostics{{Severity: Error, Summary: "a prerequisite failed", Extra: reported{}}}
}

// Unreported returns ds without the diagnostics of [Reported].
func (ds Diagnostics) Unreported() Diagnostics {
	out := ds[:0:0]
	for _, d := range ds {
		if _, ok := d.Extra.(reported); !ok {
			out = append(out, d)
		}
	}
	return out
}

// WithoutChecks returns ds without the diagnostics about check blocks.
func (ds Diagnostics) WithoutChecks() Diagnostics {
	out := ds[:0:0]
	for _, d := range ds {
		if !d.Check {
			out = append(out, d)
		}
	}
	return out
}

// Outside returns ds without the diagnostics whose range overlaps the range of a diagnostic in others.
func (ds Diagnostics) Outside(others Diagnostics) Diagnostics {
	type line struct {
		file   string
		number int
	}
	on := map[line][]hcl.Range{}
	for _, o := range others {
		if o.Subject != nil {
			for n := o.Subject.Start.Line; n <= o.Subject.End.Line; n++ {
				at := line{o.Subject.Filename, n}
				on[at] = append(on[at], *o.Subject)
			}
		}
	}
	overlaps := func(r *hcl.Range) bool {
		for n := r.Start.Line; n <= r.End.Line; n++ {
			if slices.ContainsFunc(on[line{r.Filename, n}], r.Overlaps) {
				return true
			}
		}
		return false
	}
	out := ds[:0:0]
	for _, d := range ds {
		if d.Subject == nil || !overlaps(d.Subject) {
			out = append(out, d)
		}
	}
	return out
}

// Distinct returns ds without the diagnostics that repeat an earlier one at the same range.
func (ds Diagnostics) Distinct() Diagnostics {
	type key struct{ summary, detail, address, place string }
	seen := map[key]bool{}
	out := ds[:0:0]
	for _, d := range ds {
		k := key{d.Summary, d.Detail, d.Address, ""}
		if d.Subject != nil {
			k.place = d.Subject.String()
		}
		if !seen[k] {
			seen[k] = true
			out = append(out, d)
		}
	}
	return out
}
