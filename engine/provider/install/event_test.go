package install_test

import (
	"testing"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/constraint"
	"github.com/lockstep-iac/lockstep/engine/provider/install"
)

// What Terraform 1.11.4 says in its stream of JSON messages.
func TestMessagesAsRecorded(t *testing.T) {
	t.Parallel()
	some, err := constraint.Parse(">= 0.9.0, < 2.0.0")
	if err != nil {
		t.Fatal(err)
	}
	version, err := constraint.ParseVersion("1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	lab, err := addrs.ParseProvider("lockstep/lab")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		event install.Event
		want  string
	}{
		{install.Event{Kind: install.Finding}, "lockstep/lab: Finding latest version..."},
		{install.Event{Kind: install.Finding, Constraints: some}, `Finding matching versions for provider: lockstep/lab, version_constraint: ">= 0.9.0, < 2.0.0"`},
		{install.Event{Kind: install.Reusing}, "lockstep/lab: Reusing previous version from the dependency lock file"},
		{install.Event{Kind: install.AlreadyInstalled, Version: version}, "lockstep/lab v1.0.0: Using previously-installed provider version"},
		{install.Event{Kind: install.FromCache, Version: version}, "lockstep/lab v1.0.0: Using from the shared cache directory"},
		{install.Event{Kind: install.Installing, Version: version}, "Installing provider version: lockstep/lab v1.0.0..."},
		{install.Event{Kind: install.Done, Version: version, Auth: install.Authentication{Kind: install.Unauthenticated}}, "Installed provider version: lockstep/lab v1.0.0 (unauthenticated)"},
		{install.Event{Kind: install.BuiltIn}, "lockstep/lab is built in to Lockstep"},
	} {
		x.event.Provider = lab
		if got := x.event.Message(); got != x.want {
			t.Errorf("got  %s\nwant %s", got, x.want)
		}
	}
}
