package s3

import (
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// each changes every key of a list.
func each(change func(string) string) func([]string) []string {
	return func(keys []string) []string {
		out := make([]string, len(keys))
		for i, key := range keys {
			out[i] = change(key)
		}
		return out
	}
}

// escaped is the form in which some servers list keys without being asked.
func escaped(key string) string { return strings.ReplaceAll(url.QueryEscape(key), "%2F", "/") }

// TestUnfitLists holds that no list is believed that answers other keys than were asked for: a journal that is
// not found counts as empty, and what it has made is made again.
func TestUnfitLists(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		key    string // of the state
		prefix string // of workspaces
		server *statebackendtest.S3
		// the words for a journal of two segments, and for two workspaces; "": the list is right
		journal, workspaces string
	}{
		{"as it is", "crash/a", "env:", &statebackendtest.S3{}, "", ""},
		{"in pages", "crash/a", "env:", &statebackendtest.S3{PageSize: 1}, "", ""},
		{"escaped", "crash/a", "env:", &statebackendtest.S3{ListKeys: each(escaped)}, "lists keys that were not asked for", "lists keys that were not asked for"},
		{"escaped, below no prefix", "my app/a", "", &statebackendtest.S3{ListKeys: each(escaped)}, "lists keys that were not asked for", "lists keys in another form"},
		{"escaped, slashes too", "a", "envs", &statebackendtest.S3{ListKeys: each(url.QueryEscape)}, "lists keys that were not asked for", "lists keys that were not asked for"},
		{"escaped with %20", "my app/a", "envs", &statebackendtest.S3{ListKeys: each(func(k string) string { return strings.ReplaceAll(k, " ", "%20") })}, "", "lists keys in another form"},
		{"without the prefix", "crash/a", "envs", &statebackendtest.S3{ListKeys: each(func(k string) string { return k[strings.LastIndex(k, "/")+1:] })}, "not asked for", "not asked for"},
		{"of the whole bucket", "crash/a", "envs", &statebackendtest.S3{ListKeys: func(k []string) []string { return append(k, "zoo") }}, "not asked for", "not asked for"},
		{"twice", "crash/a", "envs", &statebackendtest.S3{ListKeys: func(k []string) []string { return append(k, k...) }}, "lists keys twice", "lists keys twice"},
		{"in capitals", "crash/a", "envs", &statebackendtest.S3{ListKeys: each(strings.ToUpper)}, "not asked for", "not asked for"},
		{"numbers in another form", "crash/a", "envs", &statebackendtest.S3{ListKeys: each(func(k string) string { return strings.Replace(k, "0000000000000000000", "", 1) })}, "none of a journal", ""},
		{"with names of its own", "crash/a", "envs", &statebackendtest.S3{ListKeys: each(func(k string) string { return k + ".v1" })}, "none of a journal", ""},
		{"out of order", "crash/a", "envs", &statebackendtest.S3{ListKeys: func(k []string) []string { k = slices.Clone(k); slices.Reverse(k); return k }}, "", ""},
		{"cut off", "crash/a", "envs", &statebackendtest.S3{PageSize: 1, NoTokens: true}, "cuts lists off", "cuts lists off"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, test.server, new(statebackendtest.DynamoDB), map[string]any{"dynamodb_table": nil, "key": test.key, "workspace_key_prefix": test.prefix})
			log := p.open(t).Journal()
			for n := uint64(1); n <= 2; n++ {
				if err := log.Append(t.Context(), n, []byte("records"), true); err != nil {
					t.Fatal(err)
				}
			}
			segments, err := log.Segments(t.Context(), nil)
			wantUnfit(t, "Segments", err, test.journal)
			if err == nil && (len(segments) != 2 || segments[0].Number != 1) {
				t.Errorf("segments %v", segments)
			}
			for _, name := range []string{"blue", "green"} {
				w, err := p.backend.Open(name)
				if err != nil {
					t.Fatal(err)
				}
				put(t, w, state1, "")
			}
			names, err := p.backend.Workspaces(t.Context())
			wantUnfit(t, "Workspaces", err, test.workspaces)
			if err == nil && test.name != "with names of its own" && !slices.Equal(names, []string{"default", "blue", "green"}) {
				t.Errorf("workspaces %q", names)
			}
			if test.journal != "" {
				wantUnfit(t, "Drop", log.Drop(t.Context(), 2), test.journal)
			}
		})
	}
}

// wantUnfit checks that an error is a *statebackend.UnfitError with these words, or nil for none.
func wantUnfit(t *testing.T, what string, err error, words string) {
	t.Helper()
	if words == "" {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
		return
	}
	var unfit *statebackend.UnfitError
	if !errors.As(err, &unfit) || !strings.Contains(err.Error(), words) || !strings.Contains(err.Error(), "http://127.0.0.1:") {
		t.Errorf("%s: %v; want an unfit server that %q, by its address", what, err, words)
	}
}
