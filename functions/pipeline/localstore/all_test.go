package localstore

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAll(t *testing.T) {
	t.Parallel()
	d, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	for _, key := range []string{"run/2/1/b", "run/1/7/a", "run/x", "runs/1/1/a", "ru/1", "run0/1", "state/1/run"} {
		if _, err := d.Records.Put(t.Context(), key, []byte(key), ""); err != nil {
			t.Fatal(err)
		}
	}
	all, err := d.Records.All(t.Context(), "run")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, rec := range all {
		if string(rec.Value) != rec.Key || rec.Version == "" {
			t.Errorf("%+v", rec)
		}
		got = append(got, rec.Key)
	}
	if d := cmp.Diff([]string{"run/1/7/a", "run/2/1/b", "run/x"}, got); d != "" {
		t.Error(d)
	}
}
