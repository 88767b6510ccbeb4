package project

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/places"
)

// TestRemoved is a table of the projects of a base branch and of a head: NAME@WORKSPACE=KEY, without a key where the
// state has no address.
func TestRemoved(t *testing.T) {
	t.Parallel()
	read := func(text string) (all []Project) {
		for _, word := range strings.Fields(text) {
			id, key, has := strings.Cut(word, "=")
			name, workspace, _ := strings.Cut(id, "@")
			p := Project{Name: name, Workspace: workspace, Nowhere: "it has no backend block"}
			if has {
				p.Nowhere, p.Place = "", places.Place{Backend: "s3", Bucket: "states", Key: key}
			}
			if key == "local" {
				p.Place = places.Local
			}
			all = append(all, p)
		}
		return all
	}
	for _, test := range []struct{ name, base, head, want string }{
		{"nothing", "net@default=net app@default=app", "net@default=net app@default=app", ""},
		{"a project", "net@default=net app@default=app", "app@default=app", "net@default"},
		{"a workspace", "net@live=a net@test=b", "net@live=a", "net@test"},
		{"all", "net@default=net app@default=app", "", "net@default app@default"},
		{"another name for the state", "net@default=net", "network@default=net", ""},
		{"another state under the name", "net@default=net", "net@default=else", ""},
		{"two projects in the place of one", "net@default=net", "a@default=a b@default=net", ""},
		{"a new one", "", "net@default=net", ""},
		{"no address", "net@default app@default", "app@default", "net@default"},
		{"the place of local states", "net@default=local", "app@default=local", "net@default"},
		{"another state in a workspace", "net@live=net", "net@live=else", ""},
		{"others without an address", "net@default", "app@default", "net@default"},
	} {
		var got []string
		for _, p := range Removed(read(test.base), read(test.head)) {
			got = append(got, p.Name+"@"+p.Workspace)
		}
		if want := strings.Fields(test.want); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", test.name, got, want)
		}
	}
}
