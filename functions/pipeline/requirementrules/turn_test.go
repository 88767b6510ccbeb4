package requirementrules

import (
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// TestTurn holds that the next time is found at which the clock alone changes a condition.
func TestTurn(t *testing.T) {
	now := time.Date(2026, 11, 27, 8, 58, 30, 0, time.UTC) // a Friday
	window := func(text string) requirements.Rules {
		return requirements.Rules{Windows: []requirements.Window{{Text: text}}}
	}
	frozen := func(text string) requirements.Rules {
		return requirements.Rules{Freezes: []requirements.Freeze{{Text: text}}}
	}
	at := func(h, m int) time.Time { return time.Date(2026, 11, 27, h, m, 0, 0, time.UTC) }
	for name, test := range map[string]struct {
		rules requirements.Rules
		want  time.Time
	}{
		"no clock":            {requirements.Rules{Approvals: 1}, time.Time{}},
		"a window opens":      {window("Fri 09:00-10:00"), at(9, 0)},
		"a window closes":     {window("Fri 08:00-10:02"), at(10, 5)},
		"another day":         {window("Sun 09:00-10:00"), time.Time{}},
		"a freeze ends":       {frozen("2026-11-01/2026-11-27T09:10: x"), at(9, 10)},
		"a freeze begins":     {frozen("2026-11-27T21:00/2026-12-27: x"), at(21, 0)},
		"a freeze stays":      {frozen("2026-11-01/2026-12-27: x"), time.Time{}},
		"an environment":      {requirements.Rules{Environment: "prod"}, at(9, 30)},
		"another environment": {requirements.Rules{Environment: "dev"}, time.Time{}},
	} {
		q := Question{Facts: Facts{Now: now, Shown: at(8, 27), Environments: map[string]Fact[Environment]{"prod": Known(Environment{Wait: time.Hour}), "dev": Known(Environment{})}}}
		for _, r := range []requirements.Requirement{{Rules: test.rules}, {Alternatives: []requirements.Alternative{{Rules: test.rules}}}} {
			q.Requirements = []requirements.Requirement{{Rules: requirements.Rules{Ready: true}}, r}
			if got := NextChange(q, 5*time.Minute, 24*time.Hour); !got.Equal(test.want) {
				t.Errorf("%s: %v, want %v", name, got, test.want)
			}
		}
	}
	q := Question{Facts: Facts{Now: now, Environments: map[string]Fact[Environment]{"prod": Known(Environment{Wait: time.Hour})}}}
	q.Requirements = []requirements.Requirement{{Rules: requirements.Rules{Environment: "prod"}}}
	if got := NextChange(q, 5*time.Minute, 24*time.Hour); !got.Equal(at(10, 0)) {
		t.Errorf("a plan that is about to be shown: %v", got)
	}
}
