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
	for _, key := range []string{"run/5/2/b", "run/5/1/a", "run/5/x", "run/50/1/a", "run/4/1", "run/5x/1", "state/5/run"} {
		if _, err := d.Records.Put(t.Context(), key, []byte(key), ""); err != nil {
			t.Fatal(err)
		}
	}
	all, err := d.Records.ListAll(t.Context(), "run/5")
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
	if d := cmp.Diff([]string{"run/5/1/a", "run/5/2/b", "run/5/x"}, got); d != "" {
		t.Error(d)
	}
}
