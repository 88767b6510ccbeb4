package githubtest

import "testing"

func TestFormer(t *testing.T) {
	f := formerNames{}
	f.Left("Acme/Infra", 7)
	for name, want := range map[string]int64{"acme/infra": 7, "ACME/infra": 7, "acme/other": 0, "": 0} {
		if got := f.Of(name); got != want {
			t.Errorf("%q was that of %d, want %d", name, got, want)
		}
	}
}
