package project

import (
	"testing"

	"github.com/lockstep-iac/lockstep/functions/places"
)

// TestSuccessor is the table of projects that have the place of another one: by its state, whatever their directory is, else by its
// directory, if they were not there beside it.
func TestSuccessor(t *testing.T) {
	t.Parallel()
	at := func(name, dir, key string) Project {
		p := Project{Name: name, Dir: dir, Workspace: "default", Place: places.Place{Backend: "local"}}
		if key != "" {
			p.Place = places.Place{Backend: "s3", Bucket: "states", Key: key}
		}
		return p
	}
	eu := at("network", "net", "")
	eu.Workspace = "eu"
	for _, test := range []struct {
		what  string
		was   Former
		all   []Project
		taken string
		want  string
	}{
		{"the state in the directory", Former{Place: "s3://states/net"}, []Project{at("network", "net", "net")}, "", "network"},
		{"the state elsewhere", Former{Place: "s3://states/net"}, []Project{at("app", "net", "app"), at("network", "elsewhere", "net")}, "", "network"},
		{"the state of one that was there", Former{Place: "s3://states/net"}, []Project{at("network", "net", "net")}, "network", "network"},
		{"the directory", Former{Place: "s3://states/net"}, []Project{at("app", "app", "app"), at("network", "net", "other")}, "", "network"},
		{"the directory, of a state of its own", Former{Place: "local"}, []Project{at("network", "net", "")}, "", "network"},
		{"the directory, of no plan", Former{}, []Project{at("network", "net", "net")}, "", "network"},
		{"beside it before", Former{Place: "s3://states/net"}, []Project{at("network", "net", "other")}, "network", ""},
		{"beside it, and planned since", Former{Place: "s3://states/net", Now: "network"}, []Project{at("network", "net", "other")}, "network", "network"},
		{"two in the directory", Former{}, []Project{at("one", "net", "one"), at("two", "net", "two")}, "", ""},
		{"one of two in the directory", Former{}, []Project{at("one", "net", "one"), at("two", "net", "two")}, "one", "two"},
		{"another workspace", Former{}, []Project{eu}, "", ""},
		{"itself in another workspace", Former{Name: "network"}, []Project{eu}, "", "network"},
		{"itself in another workspace, beside it before", Former{Name: "network"}, []Project{eu}, "network", ""},
		{"nothing", Former{Place: "s3://states/net"}, []Project{at("app", "app", "app")}, "", ""},
	} {
		test.was.Dir, test.was.Workspace = "net", "default"
		p, ok := Successor(test.was, test.all, func(p Project) bool { return p.Name == test.taken })
		if p.Name != test.want || ok != (test.want != "") {
			t.Errorf("%s: %q, %v, want %q", test.what, p.Name, ok, test.want)
		}
	}
}
