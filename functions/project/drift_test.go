package project

import (
	"strings"
	"testing"
	"time"
)

// TestDrift is a table of drift blocks.
func TestDrift(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for text, want := range map[string]struct {
		net, db time.Duration
		problem string
	}{
		"":           {},
		"drift {\n}": {day, day, ""},
		"drift {\n  schedule = \"rate(12 hours)\"\n  projects = [\"n*\"]\n}":  {12 * time.Hour, 0, ""},
		"drift {\n  schedule = \"rate(7 days)\"\n}":                           {7 * day, 7 * day, ""},
		"drift {\n  schedule = \"rate(1 minute)\"\n}":                         {0, 0, "is not a time between 1 hour and 31 days"},
		"drift {\n  schedule = \"rate(32 days)\"\n}":                          {0, 0, "is not a time between 1 hour and 31 days"},
		"drift {\n  schedule = \"rate(0 days)\"\n}":                           {0, 0, "is not a time between 1 hour and 31 days"},
		"drift {\n  schedule = \"daily\"\n}":                                  {0, 0, "Write it like"},
		"drift {\n  schedule = null\n}":                                       {0, 0, "not null"},
		"drift {\n  run_triggers = \"often\"\n}":                              {0, 0, "must be true or false"},
		"drift {\n  ignore = [\"a.b.c\", \"*.*.tags\"]\n}":                    {day, day, ""},
		"drift {\n  ignore = [\"a.b[0]\"]\n}":                                 {0, 0, "without instance keys"},
		"drift {\n  ignore = \"a.b\"\n}":                                      {0, 0, "list"},
		"drift {\n  ignore = [" + strings.Repeat("\"a.b.c\", ", 201) + "]\n}": {0, 0, "more than 200 rules"},
		"drift {\n}\ndrift {\n}":                                              {day, day, "Second drift block"},
		"drift {\n  every = \"1h\"\n}":                                        {0, 0, "every"},
	} {
		s, ds := Parse(FileName, []byte(text))
		if got := ds.Error(); want.problem == "" && ds.HasErrors() || !strings.Contains(got, want.problem) {
			t.Errorf("%q: %s; want %q", text, got, want.problem)
		}
		base := []Project{{Name: "net", Dir: "net", Workspace: "default"}, {Name: "db", Dir: "db", Workspace: "default"}}
		if net, db := s.LooksForDrift(base[0], base), s.LooksForDrift(base[1], base); net != want.net || db != want.db {
			t.Errorf("%q: %s and %s; want %s and %s", text, net, db, want.net, want.db)
		}
	}
	if d := (*Settings)(nil).LooksForDrift(Project{}, nil); d != 0 {
		t.Errorf("without settings: %s", d)
	}
}
