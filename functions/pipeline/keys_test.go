package pipeline_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

func TestSplitKey(t *testing.T) {
	for _, test := range []struct{ key, dir, name string }{
		{"delivery/72d3162e", "delivery", "72d3162e"},
		{"run/5/7/network@default", "run/5/7", "network@default"},
		{"state/5/%2E.@ä#", "state/5", "%2E.@ä#"},
	} {
		if dir, name := pipeline.SplitKey(test.key); dir != test.dir || name != test.name {
			t.Errorf("%q: %q, %q", test.key, dir, name)
		}
	}
	long := strings.Repeat("x", pipeline.MaxDir+1)
	for _, key := range []string{"", "run", "/run", "run/", "a//b", "a/../b", "a/.", "a/b c", "a/b\n", "a/\xff", long + "/b", "a/" + long} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("the key %.20q was taken", key)
				}
			}()
			pipeline.SplitKey(key)
		}()
	}
}

// TestRetention holds that records of a kind that the table does not have are not written: they
// would stay for ever.
func TestRetention(t *testing.T) {
	for key, want := range map[string]time.Duration{
		"delivery/body-1": 15 * 24 * time.Hour, "pace/5/7/alice": 24 * time.Hour, "run/5/7/a@b": 365 * 24 * time.Hour,
		"effect/run/5/7/a@b/1": 365 * 24 * time.Hour, "state/5/a@b": 0, "place/s3:%2F%2Fb%2Fk": 0,
	} {
		if got := pipeline.Retention(key); got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a record of an unknown kind has a retention")
		}
	}()
	pipeline.Retention("note/5")
}
