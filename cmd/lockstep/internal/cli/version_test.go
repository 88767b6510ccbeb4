package cli

import (
	"bytes"
	"encoding/json"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBuiltFrom(t *testing.T) {
	got := builtFrom(&debug.BuildInfo{
		GoVersion: "go1.26.8",
		Settings: []debug.BuildSetting{
			{Key: "-trimpath", Value: "true"}, {Key: "GOARCH", Value: "arm64"}, {Key: "vcs", Value: "git"},
			{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.time", Value: "2026-01-02T03:04:05Z"}, {Key: "vcs.modified", Value: "true"},
		},
		Deps: []*debug.Module{
			{Path: "example.com/a", Version: "v1.0.0", Sum: "h1:a"},
			{Path: "example.com/b", Version: "v1.0.0", Replace: &debug.Module{Path: "example.com/c", Version: "v2.0.0", Sum: "h1:c"}},
		},
	}, true)
	want := built{
		Go: "go1.26.8", Revision: "abc", Time: "2026-01-02T03:04:05Z", Modified: true,
		Settings: map[string]string{"-trimpath": "true", "GOARCH": "arm64"},
		Modules:  map[string]string{"example.com/a@v1.0.0": "h1:a", "example.com/c@v2.0.0": "h1:c"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if got := builtFrom(nil, false); got.Revision != "" || got.Modules == nil {
		t.Errorf("without information: %+v", got)
	}
}

// TestVersionJSON holds that programs that drive terraform find what they look for, and
// what this is built from beside it.
func TestVersionJSON(t *testing.T) {
	var out bytes.Buffer
	a := &App{Streams: Streams{Out: &out, Err: &out}, Version: "1"}
	if code := Version.Run(a, []string{"-json"}); code != 0 {
		t.Fatalf("%d: %s", code, out.String())
	}
	var got map[string]json.RawMessage
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	for _, member := range []string{"terraform_version", "platform", "provider_selections", "terraform_outdated", "lockstep_version", "built_from"} {
		if len(got[member]) == 0 {
			t.Errorf("there is no %s", member)
		}
	}
	if !strings.Contains(string(got["built_from"]), `"go"`) {
		t.Errorf("built_from is %s", got["built_from"])
	}
	out.Reset()
	a.Environ = []string{"TF_IN_AUTOMATION=1"}
	if code := Version.Run(a, []string{"-json"}); code != 0 || strings.Contains(out.String(), "lockstep") || strings.Contains(out.String(), "built_from") {
		t.Errorf("in automation: %d: %s", code, out.String())
	}
}
