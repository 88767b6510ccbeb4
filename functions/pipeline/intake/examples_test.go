package intake

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
	"github.com/lockstep-iac/lockstep/github"
)

// TestRealWebhooks holds that each real payload of GitHub, of events that we read and others, has an answer: it is taken, or
// refused for a reason that its sender can read.
func TestRealWebhooks(t *testing.T) {
	secret := github.NewSecret("hush")
	serves, err := ParseServes("Codertocat, octo-org")
	if err != nil {
		t.Fatal(err)
	}
	store := new(memory.Store)
	w := Webhook{Intake: &Intake{Records: store, Queue: store, Serves: serves}, Secrets: []github.Secret{secret}, Log: func(err error) { t.Error(err) }}
	answers := map[string]int{}
	for _, name := range []string{"webhooks", "otherwebhooks"} {
		for event, all := range payloads(t, "../../../github/testdata/"+name+".json.gz") {
			for i, body := range all {
				h := http.Header{}
				h.Set(github.EventHeader, event)
				h.Set(github.DeliveryHeader, fmt.Sprintf("%08x-%04x-4000-8000-%012x", len(event), i, len(body)))
				h.Set(github.SignatureHeader, github.Sign(secret, body))
				status, text := w.Answer(t.Context(), h, body)
				if status == http.StatusBadRequest && strings.Contains(text, "it names no installation of the App") {
					text = "of a repository's hook"
				} else if status != http.StatusAccepted || text == "" {
					t.Errorf("%s %d: %d %s", event, i, status, text)
				}
				answers[text]++
			}
		}
	}
	total := 0
	for _, n := range answers {
		total += n
	}
	if total != 329 || answers["of a repository's hook"] != 18 || answers[Accepted] == 0 || answers["nothing to do"] == 0 {
		t.Errorf("%d answers: %v", total, answers)
	}
}

func payloads(t *testing.T, name string) (all map[string][]json.RawMessage) {
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
