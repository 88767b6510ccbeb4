package policychecks

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
)

// TestManyMistakes holds that all mistakes of a policy are counted, those that are not named too.
func TestManyMistakes(t *testing.T) {
	t.Parallel()
	p := jobs.Policy{Files: map[string][]byte{}}
	for i := range 25 {
		p.Files[fmt.Sprintf("%02d.rego", i)] = []byte("package main\n\ndeny contains")
	}
	v, err := Judge{Hide: strings.ToUpper}.policy(t.Context(), p, []byte("{}"))
	if err != nil || len(v.Mistakes)+v.MoreDenied < 25 || v.MoreDenied == 0 {
		t.Errorf("%d mistakes and %d more: %v", len(v.Mistakes), v.MoreDenied, err)
	}
}
