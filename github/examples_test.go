package github

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/cmd/architecture/golden"
)

// TestRealWebhooks reads what GitHub has sent to others, of the events that we read, and
// holds what comes out against testdata/webhooks.txt. Many were sent to the hook of a
// repository, not to that of an App: they name no installation.
//
// The payloads are a part of @octokit/webhooks-examples 7.6.1 (MIT, see
// githubtest/contract/LICENSE); githubtest/contract/testdata/cutwebhooks.go says how to
// get them.
func TestRealWebhooks(t *testing.T) {
	f, err := os.Open("testdata/webhooks.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string][]json.RawMessage
	if err := json.NewDecoder(unpacked).Decode(&all); err != nil {
		t.Fatal(err)
	}
	secret := NewSecret("hush")
	var got strings.Builder
	for _, event := range slices.Sorted(maps.Keys(all)) {
		for _, body := range all[event] {
			d, err := ReadDelivery(signed(event, string(body), secret), body, secret)
			if err != nil {
				fmt.Fprintf(&got, "error: %v\n", err)
				continue
			}
			fmt.Fprintf(&got, "%T %+v\n", d.Event, d.Event)
		}
	}
	golden.File(t, "testdata/webhooks.txt", got.String())
}
