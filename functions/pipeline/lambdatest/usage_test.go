//go:build linux

package lambdatest_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pricing"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// updateUsage writes the recording that `lockstep cost` prices.
var updateUsage = flag.Bool("usage", false, "write "+usageFile+" anew, with -package=600 on a machine without other work: read the difference")

const usageFile = "../../pricing/recording.json"

// TestUsage records the consumption of plans and applies, and compares its counts with the recording that `lockstep
// cost` prices. Durations are of the machine, and are not compared.
func TestUsage(t *testing.T) {
	got := pricing.Recording{Events: map[string]pricing.Usage{}}
	for _, x := range []struct {
		objects     int
		plan, apply string
	}{{10, pricing.Plan10, pricing.Apply10}, {100, pricing.Plan100, pricing.Apply100}} {
		g := register(t, padding(*megabytes))
		r := newRoad(t, g.files, g.deployed)
		r.pull("first", g.thing("first")) // has the package stored
		r.usage()
		var n int
		got.Events[x.plan] = r.event(func() { n = r.pull("change", g.things(x.objects)) })
		r.expect("the plan", r.status(n), fmt.Sprintf("%d to add", x.objects))
		var answer string
		got.Events[x.apply] = r.event(func() { answer = r.say("alice", n, "lockstep apply") })
		r.expect("the answer", answer, fmt.Sprintf("%d added", x.objects))
		if x.objects == 10 {
			r.round() // four times a day, a round also looks whether drift is to be looked for
			r.usage()
			got.Events[pricing.Round] = r.event(r.round)
		}
		got.Deployment = r.parts()
	}
	if *updateUsage {
		data, err := json.MarshalIndent(got, "", "  ")
		if err == nil {
			err = os.WriteFile(usageFile, append(data, '\n'), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	want, err := pricing.Recorded()
	if err != nil {
		t.Fatal(err)
	}
	if want.Deployment != got.Deployment && !*updateUsage {
		t.Errorf("the deployment has %+v, the recording %+v", got.Deployment, want.Deployment)
	}
	for event, u := range got.Events {
		for _, x := range differences(want.Events[event], u) {
			if !*updateUsage {
				t.Errorf("%s: %s; -usage records anew", event, x)
			}
		}
	}
}

// event returns the consumption of what is done, by functions whose environments are all new.
func (r *road) event(do func()) pricing.Usage {
	for _, f := range r.stack.Functions {
		f.Kill()
	}
	do()
	return r.usage()
}

// usage returns the consumption since it was called the last time.
func (r *road) usage() pricing.Usage {
	before := r.read
	r.read = r.ranges("plan") + r.ranges("apply")
	u := r.stack.Usage()
	u.Parts = r.read - before
	return u
}

// parts are those of the deployment that cost something while nothing happens.
func (r *road) parts() pricing.Deployment {
	d := pricing.Deployment{Mappings: len(r.stack.Mappings), Rounds: 6}
	for _, x := range r.stack.Template.Resources {
		switch {
		case x.Condition == "HasPage": // the page is optional
		case x.Type == "AWS::CloudWatch::Alarm":
			d.Alarms++
		case x.Type == "AWS::KMS::Key":
			d.Keys++
		}
	}
	for name, p := range r.stack.Template.Parameters {
		if strings.HasSuffix(name, "SecretArn") && p.Default == nil { // the page is optional, too
			d.Secrets++
		}
	}
	if got := r.stack.Ref("JanitorSchedule"); got != "rate(10 minutes)" {
		r.t.Errorf("the janitor comes at a %s, and not 6 times an hour", got)
	}
	return d
}

// differences compares counts, with tolerance: what the parts of a package cost differs with its size.
func differences(want, got pricing.Usage) (out []string) {
	for k := range merged(want.Counts, got.Counts) {
		w, g := want.Counts[k], got.Counts[k]
		if k == pricing.S3Get || k == pricing.KMSRequest {
			w, g = w-float64(want.Parts), g-float64(got.Parts)
		}
		near := math.Max(10, 0.3*w)
		if k == pricing.S3Put || k == pricing.KMSRequest {
			// How many records a journal puts into one object depends on the time: on a slow machine, many.
			if near = math.Max(10, 0.6*w); g < w {
				near = 0.9 * w
			}
		}
		if strings.Contains(string(k), "byte") {
			near = math.Max(2000, 0.3*w)
		}
		if math.Abs(w-g) > near {
			out = append(out, fmt.Sprintf("%.1f of %s, recorded were %.1f", g, k, w))
		}
	}
	for name := range merged(want.Functions, got.Functions) {
		w, g := want.Functions[name], got.Functions[name]
		if d := w.Invocations - g.Invocations; d < -2 || d > 2 || w.Memory != g.Memory || w.Disk != g.Disk {
			out = append(out, fmt.Sprintf("the function %s has %+v, recorded was %+v", name, g, w))
		}
	}
	return out
}

func merged[K comparable, V any](a, b map[K]V) map[K]bool {
	out := map[K]bool{}
	for k := range a {
		out[k] = true
	}
	for k := range b {
		out[k] = true
	}
	return out
}

// things is a file with objects.
func (g registered) things(n int) githubtest.Files {
	var out strings.Builder
	for i := range n {
		text := g.thing(fmt.Sprintf("t%d", i))[fmt.Sprintf("net/t%d.tf", i)]
		if _, resource, found := strings.Cut(text, "resource "); i > 0 && found {
			text = "resource " + resource
		}
		out.WriteString(text)
	}
	return githubtest.Files{"net/things.tf": out.String()}
}
