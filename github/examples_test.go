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

	"github.com/lockstep-iac/lockstep/infra/golden"
)

// TestRealWebhooks reads what GitHub has sent to others, of the events that we read, and
// holds what comes out against testdata/webhooks.txt. Many were sent to the hook of a
// repository, not to that of an App: they name no installation. Of other events it holds that they are read as such.
//
// The payloads are those of @octokit/webhooks-examples 7.6.1 (MIT, see
// githubtest/contract/LICENSE); githubtest/contract/testdata/cutwebhooks.go says how to
// get them.
func TestRealWebhooks(t *testing.T) {
	secret := NewSecret("hush")
	var got strings.Builder
	all := examples(t, "testdata/webhooks.json.gz")
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
	n := 0
	for event, list := range examples(t, "testdata/otherwebhooks.json.gz") {
		for _, body := range list {
			n++
			d, err := ReadDelivery(signed(event, string(body), secret), body, secret)
			if other, is := d.Event.(OtherEvent); err != nil || !is || other.Name != event {
				t.Errorf("a webhook of %s is read as %T %+v, %v", event, d.Event, d.Event, err)
			}
		}
	}
	if n != 245 {
		t.Errorf("%d payloads of other events", n)
	}
}

// examples are the payloads of a file, by event.
func examples(t *testing.T, name string) (all map[string][]json.RawMessage) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	if err == nil {
		err = json.NewDecoder(unpacked).Decode(&all)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}
