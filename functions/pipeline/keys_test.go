package pipeline_test

import (
	"strings"
	"testing"

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
