package pricing_test

import (
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pricing"
)

// own is Lockstep's own recording and table.
func own(t *testing.T) (pricing.Recording, pricing.Prices) {
	t.Helper()
	r, err := pricing.Recorded()
	if err != nil {
		t.Fatal(err)
	}
	p, err := pricing.Own()
	if err != nil {
		t.Fatal(err)
	}
	return r, p
}

// TestDocumentation holds that the table in the documentation is the one that `lockstep cost` prints.
func TestDocumentation(t *testing.T) {
	r, p := own(t)
	o := pricing.Options{Plans: 1000, Applies: 1000, PlanWait: 30 * time.Second, ApplyWait: time.Minute}
	offers, err := pricing.Estimate(r, p, o)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../cmd/docs/operate/cost.md")
	if err != nil {
		t.Fatal(err)
	}
	if text := pricing.Text(offers, p, o); !strings.Contains(string(page), text+"```\n") {
		t.Errorf("cost.md lacks\n```\n%s```", text)
	}
}

// TestEstimate holds sums that are done by hand.
func TestEstimate(t *testing.T) {
	_, p := own(t)
	u := pricing.Usage{
		Functions: map[string]pricing.Time{"plan": {Invocations: 2, Milliseconds: 1000, Memory: 2048, Disk: 1536}},
		Counts:    map[pricing.Kind]float64{pricing.SQSRequest: 10, pricing.DynamoDBByteMonth: 1e6},
	}
	r := pricing.Recording{
		Deployment: pricing.Deployment{Alarms: 2, Keys: 1, Secrets: 2, Mappings: 1, Rounds: 1},
		Events:     map[string]pricing.Usage{pricing.Round: {}, pricing.Plan10: u, pricing.Plan100: u, pricing.Apply10: u, pricing.Apply100: u},
	}
	offers, err := pricing.Estimate(r, p, pricing.Options{Plans: 1000, Applies: 1, PlanWait: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{
		// the key, secrets, alarms; the polling of a queue; the schedule; the stored package
		1 + 0.80 + 0.20 + 5*180*730*0.5e-6 + 730*1e-6 + 0.15*0.023,
		// requests, two seconds of 2 GB with 1 GB of disk, log; messages; storage and its backups
		1000 * (2*0.2e-6 + 2*(2*0.0000133334+0.0000000309) + 2*pricing.LogBytes*0.53e-9 + 10*0.5e-6 + 1e6*0.45e-9),
	} {
		if math.Abs(offers[i].Total-want) > 1e-9 {
			t.Errorf("%s costs %v, and should %v", offers[i].Name, offers[i].Total, want)
		}
	}
	if u.Functions["plan"].Milliseconds != 1000 {
		t.Error("the recording was changed")
	}
	delete(r.Events, pricing.Apply10)
	if _, err := pricing.Estimate(r, p, pricing.Options{}); err == nil {
		t.Error("nothing was recorded of an apply, and has a price")
	}
}

// TestPrices holds the errors of a table.
func TestPrices(t *testing.T) {
	_, p := own(t)
	for k, x := range p.Of {
		if !strings.HasPrefix(x.Source, "https://aws.amazon.com/") {
			t.Errorf("%s is from %s", k, x.Source)
		}
	}
	for text, want := range map[string]string{
		"":                                      "no region",
		"region x\ndate y\n":                    "no price of",
		"sqs-request":                           "line 1 is not as",
		"a NaN per 1 x":                         "line 1: the price",
		"a -1 per 1 x":                          "line 1: the price",
		"a 1 per 0 x":                           "line 1: the price",
		"# one\na 1 per 1 x\na 1 per 1 x\n":     "line 3: a second price of a",
		"region x\ndate y\nserver 1 per 1 more": "no price of",
	} {
		if _, err := pricing.ParsePrices(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
