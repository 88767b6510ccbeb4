//go:build linux

package lambdatest

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest/internal/metering"
	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest/templates"
	"github.com/lockstep-iac/lockstep/functions/pricing"
)

// count forwards a request, and adds the units of the request to the stack's meter.
func (g *gate) count(w http.ResponseWriter, r *http.Request, service string, calls []templates.Call, body []byte) {
	overheard := &metering.Answer{ResponseWriter: w, Keep: service == "dynamodb"}
	g.services[service].ServeHTTP(overheard, r)
	for _, c := range calls {
		refused := overheard.Status >= http.StatusBadRequest
		m := metering.Call{Service: service, Action: c.Action, Resource: c.Resource, Body: body, Answer: overheard.Body.Bytes(), Size: int64(len(body)), Refused: refused}
		if !refused {
			m.Keys = len(g.stack.follow(c, r.Header))
		}
		g.stack.meter.Count(m)
	}
}

// Usage returns what was used since the last call of Usage. No function may be running.
func (s *Stack) Usage() pricing.Usage {
	u := pricing.Usage{Functions: map[string]pricing.Time{}, Counts: s.meter.Take()}
	if s.billed == nil {
		s.billed = map[string]int{}
	}
	for name, f := range s.Functions {
		all := f.Invocations()
		p := s.properties(name)
		t := pricing.Time{Memory: s.number(p["MemorySize"], 128), Disk: s.number(p["EphemeralStorage"], pricing.FreeDisk)}
		for _, x := range all[s.billed[name]:] {
			t.Invocations++
			t.Milliseconds += (x.Init + x.Duration + time.Millisecond - 1).Milliseconds()
		}
		s.billed[name] = len(all)
		if t.Invocations > 0 {
			u.Functions[name] = t
		}
	}
	return u
}

// properties returns the properties of a function of the template, by its short name.
func (s *Stack) properties(short string) (found map[string]any) {
	s.each("AWS::Serverless::Function", func(name string, p map[string]any) {
		if strings.EqualFold(name, short+"Function") {
			found = p
		}
	})
	return found
}

// number returns the number in a property of the template. The number may be inside {Size: N}. If there is no
// number, it returns fallback.
func (s *Stack) number(property any, fallback int) int {
	if of, ok := property.(map[string]any); ok && of["Size"] != nil {
		property = of["Size"]
	}
	if property == nil {
		return fallback
	}
	n := fallback
	fmt.Sscan(fmt.Sprint(s.resolver.Resolve(property)), &n)
	return n
}
