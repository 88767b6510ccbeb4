package template

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest/templates"
)

// An Ask is a request.
type Ask struct {
	Who    string `json:"who"`
	Action string `json:"action"`
	On     string `json:"on"`
	In     string `json:"in"`
	Want   bool   `json:"want"` // the matrix allows it
}

// String returns the request as a row of the matrix.
func (a Ask) String() string {
	return fmt.Sprintf("%s may %s on %s in %s", a.Who, a.Action, a.On, a.In)
}

// A Catalogue is AWS' list of actions, each with the resources of a world that it applies to; "*"
// stands for none in particular.
type Catalogue map[string][]string

// Asks returns every request that a policy in the world might allow, a principal's or a resource's,
// and every request of a row, with the matrix' decision. A request that no statement names is
// allowed to nobody, and is left out.
func (w *World) Asks(c Catalogue) []Ask {
	var out []Ask
	for _, d := range w.Policies {
		out = append(out, w.asksOf(d.Policy, actions(d.Resolved), c)...)
	}
	for _, r := range w.Matrix.Rows {
		out = append(out, w.asksIn(r, c)...)
	}
	return w.wanted(out)
}

// asksOf returns the requests that a policy might allow if it had these actions.
func (w *World) asksOf(p templates.Policy, patterns []string, c Catalogue) []Ask {
	var out []Ask
	for action, resources := range c {
		if !matchesAny(patterns, action) {
			continue
		}
		for _, on := range resources {
			if p.Kind == templates.RolePolicies {
				out = append(out, w.inAll(p.On[0], action, on)...)
				continue
			}
			if !slices.Contains(p.On, on) && !slices.Contains(p.On, w.Resources[on].Of) {
				continue
			}
			for who := range w.Principals {
				out = append(out, w.inAll(who, action, on)...)
			}
		}
	}
	return out
}

// asksIn returns the requests that a row allows.
func (w *World) asksIn(r Row, c Catalogue) []Ask {
	var out []Ask
	for action, resources := range c {
		for _, on := range resources {
			for _, who := range r.Who {
				for _, a := range w.inAll(who, action, on) {
					if w.Matrix.covers(r, a) {
						out = append(out, a)
					}
				}
			}
		}
	}
	return out
}

func (w *World) inAll(who, action, on string) []Ask {
	var out []Ask
	for _, in := range w.Matrix.contextsOf(action) {
		out = append(out, Ask{Who: who, Action: action, On: on, In: in.Name})
	}
	return out
}

// wanted sorts requests, removes duplicates, and adds the matrix' decision.
func (w *World) wanted(asks []Ask) []Ask {
	slices.SortFunc(asks, func(a, b Ask) int { return strings.Compare(a.String(), b.String()) })
	asks = slices.Compact(asks)
	for i := range asks {
		asks[i].Want = w.Matrix.want(asks[i])
	}
	return asks
}

// Idle returns rows of the matrix, or parts of them, that match no request, since they name objects
// that do not exist.
func (w *World) Idle(c Catalogue) []string {
	var out []string
	for _, r := range w.Matrix.Rows {
		for _, who := range r.Who {
			if w.Principals[who] == nil {
				out = append(out, "there is no principal "+who)
			}
		}
		for _, on := range r.On {
			if w.Resources[on] == nil {
				out = append(out, "there is no resource "+on)
			}
		}
		for _, action := range r.Actions {
			of := func(a Ask) bool { return matches(action, a.Action) }
			if !slices.ContainsFunc(w.asksIn(r, c), of) {
				out = append(out, fmt.Sprintf("%s may %s on none of %s", strings.Join(r.Who, " "), action, strings.Join(r.On, " ")))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
