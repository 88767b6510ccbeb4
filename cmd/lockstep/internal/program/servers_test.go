package program

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// on has a lab keep its state on a server of our own.
func (d *labDir) on(s *statebackendtest.S3, key, more string) {
	d.Write("backend.tf", "terraform {\n  backend \"s3\" {\n    bucket = \"states\"\n    key = \""+key+"\"\n"+more+"\n"+fakeSettings(s)+"  }\n}\n")
	d.want(0, "init -input=false")
}

// fakeSettings are a backend's settings for a server of our own.
func fakeSettings(s *statebackendtest.S3) string {
	return `
    region                      = "us-east-1"
    access_key                  = "` + statebackendtest.AccessKey + `"
    secret_key                  = "` + statebackendtest.SecretKey + `"
    endpoints                   = { s3 = "` + s.URL + `" }
    use_path_style              = true
    skip_credentials_validation = true
    skip_requesting_account_id  = true
    skip_metadata_api_check     = true
    max_retries                 = 0
`
}

// TestJournalThatIsNotListed kills an apply on a server that lists keys in another form than it was asked for.
// Without its journal the state is wrong: no command goes on with it, and nothing is made twice.
func TestJournalThatIsNotListed(t *testing.T) {
	t.Parallel()
	var escapes atomic.Bool
	s := (&statebackendtest.S3{ListKeys: func(keys []string) []string {
		out := slices.Clone(keys)
		for i, key := range keys {
			if escapes.Load() {
				out[i] = strings.ReplaceAll(url.QueryEscape(key), "%2F", "/")
			}
		}
		return out
	}}).Start(t)
	d := newLab(t, "main.tf", queue)
	d.on(s, "crash/a", "")
	d.kill(t, 3)
	made := d.made()
	escapes.Store(true)
	for _, line := range []string{"state list", "show", "output", "plan -lock=false", "apply -auto-approve -lock=false"} {
		if r := d.want(1, line, "lists keys that were not asked for", s.URL); strings.Contains(r.Out, "to add") {
			t.Errorf("%s: %s", line, r.Out)
		}
	}
	s.SetObject("states/crash/a.tflock", nil)
	for _, line := range []string{"plan", "apply -auto-approve", "recover", "destroy -auto-approve"} {
		d.want(1, line, "lists keys that were not asked for", s.URL)
	}
	if n := d.made(); n != made {
		t.Errorf("%d objects, and %d were made before", n, made)
	}
	escapes.Store(false)
	if n := strings.Count(d.want(0, "state list").Out, "lab_thing.a["); n < made-1 {
		t.Errorf("%d objects are in the state, and %d exist", n, made)
	}
}

// made counts the lab's objects.
func (d *labDir) made() int {
	names, _ := filepath.Glob(d.file("lab/lab_thing/*.json"))
	return len(names)
}

// TestServersWithoutConditions holds that a server that ignores or refuses the conditions of writes is named
// before anything is done, and that a person who takes no lock is warned.
func TestServersWithoutConditions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]statebackendtest.Conditions{
		"ignores": {IgnoreNone: true, IgnoreMatch: true},
		"refuses": {Refuse: 501},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := (&statebackendtest.S3{Conditions: c}).Start(t)
			d := newLab(t, "main.tf", labHead+"resource \"lab_thing\" \"a\" {\n  name = \"a\"\n}\n")
			d.on(s, "app/terraform.tfstate", "")
			for _, line := range []string{"plan", "apply -auto-approve", "state rm lab_thing.a", "workspace new blue"} {
				d.want(1, line, "Error acquiring the state lock", s.URL+" "+name+" If-None-Match", "dynamodb_table", "-lock=false")
			}
			if keys := s.Keys(); len(keys) != 0 || d.made() != 0 {
				t.Errorf("there are %q, and %d objects", keys, d.made())
			}
			d.want(0, "plan -lock=false", "Warning: The server ignores conditional writes", name+" If-None-Match")
			d.want(0, "apply -auto-approve -lock=false", "Warning: The server ignores conditional writes", "1 added")
			d.want(0, "state list", "lab_thing.a")
			d.want(0, "destroy -auto-approve -lock=false", "1 destroyed")
		})
	}
}
