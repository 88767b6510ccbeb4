package tenants

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/localstore"
	"github.com/lockstep-iac/lockstep/functions/places"
)

// TestSpaces holds that of two Apps and the first neither reads, changes or deletes what is another's, under the same
// names; and that a claim on a state is everybody's.
func TestSpaces(t *testing.T) {
	t.Parallel()
	data, err := localstore.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	type store struct {
		pipeline.Records
		pipeline.Artifacts
	}
	all := map[string]store{
		"first": {data.Records, data.Artifacts},
		"a":     {Space("a").Records(data.Records), Space("a").Artifacts(data.Artifacts)},
		"b":     {Space("b").Records(data.Records), Space("b").Artifacts(data.Artifacts)},
	}
	keys := []string{"run/5/1/net@default", "delivery/x", "lease/run/5/1/net@default", "served/acme", "head/5/abc", "state/5/net@default"}
	artifact := pipeline.Artifact{Key: "5/1/net@default/1/plan", Repo: "acme/infra", Number: 1, SHA: "abc"}
	for name, s := range all {
		for _, key := range keys {
			if _, err := s.Records.Put(t.Context(), key, []byte(name), ""); err != nil {
				t.Errorf("%s: %s: %v", name, key, err)
			}
		}
		if err := s.Artifacts.Put(t.Context(), artifact, []byte(name)); err != nil {
			t.Error(err)
		}
	}
	for name, s := range all {
		for _, key := range keys {
			rec, err := s.Records.Get(t.Context(), key)
			if err != nil || string(rec.Value) != name || rec.Key != key {
				t.Errorf("%s: %s: %q of %s, %v", name, key, rec.Value, rec.Key, err)
			}
		}
		list, err := s.Records.List(t.Context(), "run/5/1")
		if err != nil || len(list) != 1 || list[0].Key != keys[0] || string(list[0].Value) != name {
			t.Errorf("%s: %+v, %v", name, list, err)
		}
		if list, err = s.Records.List(t.Context(), "delivery"); err != nil || len(list) != 1 || list[0].Key != "delivery/x" {
			t.Errorf("%s: %+v, %v", name, list, err)
		}
		if got, err := s.Artifacts.Get(t.Context(), artifact); err != nil || string(got) != name {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	rec, _ := all["a"].Records.Get(t.Context(), keys[0])
	if err := errors.Join(all["a"].Records.Delete(t.Context(), keys[0], rec.Version), all["a"].Artifacts.Delete(t.Context(), artifact)); err != nil {
		t.Error(err)
	}
	if rec, err := data.Records.Get(t.Context(), keys[0]); err != nil || string(rec.Value) != "first" {
		t.Errorf("after another's is deleted: %q, %v", rec.Value, err)
	}
	if got, err := data.Artifacts.Get(t.Context(), artifact); err != nil || string(got) != "first" {
		t.Errorf("after another's is deleted: %q, %v", got, err)
	}
	claim := places.ClaimKey("s3://bbb/k")
	if _, err := all["a"].Records.Put(t.Context(), claim, []byte("{}"), ""); err != nil {
		t.Error(err)
	}
	for name, s := range all {
		if _, err := s.Records.Put(t.Context(), claim, []byte("{}"), ""); !errors.Is(err, pipeline.ErrConflict) {
			t.Errorf("%s: the claim of another App is not in the way: %v", name, err)
		}
	}
}

// TestQueue holds that messages carry their App, whoever they say to be of, and that their order is apart.
func TestQueue(t *testing.T) {
	t.Parallel()
	data, err := localstore.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	var got []string
	for _, q := range []pipeline.Queue{data.Queue, Space("a").Queue(data.Queue), Space("b").Queue(data.Queue)} {
		m := pipeline.Message{ID: "m", Kind: pipeline.Pushed}
		m.Pull.Repo.ID, m.Pull.Number = 5, 1
		if q != data.Queue {
			m.Pull.App = "c"
		}
		if err := q.Send(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	groups := map[string]bool{}
	_, err = data.Queue.Drain(t.Context(), localstore.Worker{Handle: collect(&got, groups)})
	if s := strings.Join(got, " "); err != nil || len(got) != 3 || len(groups) != 3 || !strings.Contains(s, "a") || !strings.Contains(s, "b") {
		t.Errorf("%q, %v, %v", got, groups, err)
	}
}

// TestCheck is a table of names.
func TestCheck(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"ghes": true, "a-1": true, "": false, "A": false, "-a": false, "a/b": false, "a~": false, "..": false, "a:b": false} {
		if err := Space(name).Check(); (err == nil) != want {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func collect(apps *[]string, groups map[string]bool) func(context.Context, pipeline.Message) error {
	return func(_ context.Context, m pipeline.Message) error {
		*apps = append(*apps, m.Pull.App)
		groups[m.Group()] = true
		return nil
	}
}
