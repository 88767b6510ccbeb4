package project

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/places"
)

// TestDependents is a table of projects and those that depend on them.
func TestDependents(t *testing.T) {
	t.Parallel()
	at, err := places.Of("s3", map[string]any{"bucket": "states", "key": "net"}, DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	all := []Project{
		{Name: "net", Place: at},
		{Name: "app", DependsOn: []string{"net"}},
		{Name: "svc-a", DependsOn: []string{"n*"}},
		{Name: "reader", States: []string{at.String()}},
		{Name: "linked", DependsOn: []string{"app"}},
		{Name: "later", Group: 3},
	}
	for name, want := range map[string]string{"net": "app svc-a reader", "app": "linked", "linked": "", "gone": ""} {
		var got []string
		for _, p := range Dependents(all, name) {
			got = append(got, p.Name)
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s: %q, want %q", name, text, want)
		}
	}
}
