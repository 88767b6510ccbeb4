package notes

import "testing"

// TestForeseen holds the note on a plan that was made with planned outputs, or with stored ones since a plan failed.
func TestForeseen(t *testing.T) {
	t.Parallel()
	var all []string
	for _, f := range []Foreseen{{}, {Plans: []string{"net"}}, {Plans: []string{"net", "dns`x"}}, {Failed: []string{"net"}}, {Plans: []string{"net"}, Failed: []string{"dns", "vpn"}}} {
		all = append(all, f.Above("The plan.\n"))
	}
	compareTexts(t, "foreseen", all...)
}

// TestRechecked is a table of the notes on plans that were checked with other outputs than they were made with.
func TestRechecked(t *testing.T) {
	t.Parallel()
	one, two := []string{"net"}, []string{"dns", "net"}
	above := func(plans ...string) string { return "before\n\n" + Foreseen{Plans: plans}.Above("the plan\n") }
	for name, test := range map[string]struct {
		text      string
		made, now []string
		want      string
	}{
		"with none":          {above("net"), one, nil, above()},
		"with one of two":    {above("dns", "net"), two, one, above("net")},
		"with the same":      {above("net"), one, one, above("net")},
		"made without":       {above(), nil, nil, above()},
		"of others":          {above("db"), one, nil, above("db")},
		"beside a failure":   {Foreseen{Plans: one, Failed: []string{"db"}}.Above("x"), one, nil, Foreseen{Failed: []string{"db"}}.Above("x")},
		"in a configuration": {"*Planned with the outputs that the plan of `net` will have. - deleted. another word.*\n\n", one, nil, "*Planned with the outputs that the plan of `net` will have. - deleted. another word.*\n\n"},
		"twice":              {above("net") + above("net"), one, nil, above() + above("net")},
	} {
		if got := Rechecked(test.text, test.made, test.now); got != test.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
