package jobs

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/provider/install/lockfile"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// harmless are the parts of a job that give nobody any rights. Whoever adds one to Bare has to say here why it is none.
var harmless = []string{
	"Checkout", "Dir", "Project", "Workspace", // the fork's own files
	"App", "Repo", "Number", "Head", "Owner", "Actor", // names, without the installation that has the repository
	"Language", "VarFiles", "Variables", "Inputs", // in the fork's files: nothing is read for inputs, whose states are in Linked
	"Options.Targets", "Options.Excludes", "Options.Replaces", "Options.Variables", "Options.Destroy", "Options.NoRefresh", "Options.Invoke",
	"Stateful", // the base branch's patterns of types
	"Grants",   // TestBareGrants
	"Snapshot",
}

// TestBare fills a job with everything that it can have, and holds that a fork's has the harmless parts, and no others: a
// new part of Job, which may carry rights, is none of them.
func TestBare(t *testing.T) {
	t.Parallel()
	var whole Job
	fill(t, reflect.ValueOf(&whole).Elem(), "Job")
	whole.Progress = func(comment.Ongoing) {}
	whole.Ended = func(Outcome) error { return nil }
	s, _ := project.Parse(project.FileName, []byte("environment \"prod\" {\n  env = { KEY = \"secret\" }\n}\n"))
	var err error
	if whole.Environment, err = s.Grant(project.Project{Environment: "prod"}, project.Grantee{}); err != nil {
		t.Fatal(err)
	}
	got := reflect.ValueOf(Unprivileged(whole, Snapshot{State: []byte("{}")}))
	var has []string
	for _, f := range reflect.VisibleFields(got.Type()) {
		if f.Anonymous {
			continue // its fields are here, too
		}
		name, v := f.Name, got.FieldByIndex(f.Index)
		if reflect.ValueOf(whole).FieldByIndex(f.Index).IsZero() {
			t.Errorf("%s was not filled", name)
		}
		if name != "Options" {
			if !v.IsZero() {
				has = append(has, name)
			}
			continue
		}
		for k := range v.NumField() {
			if !v.Field(k).IsZero() {
				has = append(has, name+"."+v.Type().Field(k).Name)
			}
		}
	}
	want := slices.Clone(harmless)
	slices.Sort(want)
	slices.Sort(has)
	if !slices.Equal(has, want) {
		t.Errorf("a fork's job has %q, and may have %q", has, want)
	}
	// Nothing that was granted is anywhere in it, in any form that another process reads.
	data, err := json.Marshal(Unprivileged(whole, Snapshot{}))
	if err != nil || strings.Contains(string(data), "secret") {
		t.Errorf("%s, %v", data, err)
	}
}

// fill gives each exported part of a value one that is not zero. Texts of rights are "secret".
func fill(t *testing.T, v reflect.Value, name string) {
	t.Helper()
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
		if !slices.Contains(harmless, strings.Split(strings.TrimPrefix(name, "Job."), ".")[0]) && !strings.HasPrefix(name, "Job.Options") {
			v.SetString("secret")
		}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(7)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		if v.Type().Elem().Kind() == reflect.Struct {
			return // one without parts is there
		}
		fill(t, v.Index(0), name)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		x := reflect.New(v.Type().Elem()).Elem()
		v.SetMapIndex(reflect.ValueOf("x").Convert(v.Type().Key()), x)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Struct:
		if n, ok := v.Addr().Interface().(interface{ UnmarshalJSON([]byte) error }); ok && v.NumField() > 0 {
			for _, text := range []string{`{"Provisioners":true,"External":true}`, `"2026-03-02T12:00:00Z"`, `"s3://b/k"`} {
				if n.UnmarshalJSON([]byte(text)) == nil && !v.IsZero() {
					return
				}
			}
		}
		for i := range v.NumField() {
			switch f := v.Type().Field(i); {
			case f.Anonymous && name == "Job":
				fill(t, v.Field(i), name) // its fields are those of the job
			case f.IsExported():
				fill(t, v.Field(i), name+"."+f.Name)
			}
		}
	case reflect.Func, reflect.Interface:
	default:
		t.Fatal(fmt.Sprint(name, " is a ", v.Kind()))
	}
}

// TestBareGrants holds that a fork has the providers of the base branch's lock file, and nothing that the allow block gives
// others, in another process, too.
func TestBareGrants(t *testing.T) {
	t.Parallel()
	const hash = "h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
	s, ds := project.Parse(project.FileName, []byte("allow {\n  providers    = [\"hashicorp/*\"]\n  provisioners = true\n  external     = true\n  modules      = [\"github.com/acme/*\", \"modules.example.com\"]\n}\n"))
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	grants, err := project.GrantsOf(s, []byte("provider \"registry.terraform.io/lockstep/lab\" {\n  version = \"1.0.0\"\n  hashes  = [\""+hash+"\"]\n}\n"))
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(Unprivileged(Job{Grants: grants}, Snapshot{}))
	var j Job
	if err == nil {
		err = json.Unmarshal(data, &j)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range []project.Grants{Unprivileged(Job{Grants: grants}, Snapshot{}).Grants, j.Grants} {
		if g.Programs() || g.Provisioners || g.External || g.Repository("acme", "net") || g.ModuleHost("modules.example.com") == nil {
			t.Errorf("it may more: %+v", g)
		}
		lab := addrs.Provider{Host: "registry.terraform.io", Namespace: "lockstep", Type: "lab"}
		if _, err := g.Provider(lab, lockfile.Lock{}); err != nil {
			t.Error(err)
		}
		for _, p := range []addrs.Provider{{Host: lab.Host, Namespace: "hashicorp", Type: "aws"}, {Host: lab.Host, Namespace: "hashicorp", Type: "external"}} {
			if _, err := g.Provider(p, lockfile.Lock{Hashes: []string{hash}}); err == nil {
				t.Errorf("it may run %s", p)
			}
		}
	}
}
