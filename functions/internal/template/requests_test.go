package template

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest/templates"
)

// requests reads all requests: those of the functions' tests, and those that no test makes.
func requests(t *testing.T) templates.Requests {
	t.Helper()
	text := ""
	for _, name := range []string{"requests.txt", "others.txt", "denied.txt"} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		text += string(data)
	}
	r, err := templates.ReadRequests(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// judge asks the simulator for all decisions.
func judge(t *testing.T, w *World, r templates.Requests) []Judged {
	t.Helper()
	var asks []Judging
	for _, d := range r.Asked {
		j, err := w.Judge(r, d)
		if err != nil {
			t.Fatalf("%s: %v", row(d), err)
		}
		asks = append(asks, j)
	}
	var out []Judged
	templates.Ask(t, map[string]any{"judge": map[string]any{"policies": w.Documents(), "requests": asks}}, &out)
	for i, j := range asks {
		out[i].Judging = j
	}
	return out
}

// expected are those that the simulator decides as is wanted; TestRequests is about the others.
func expected(r templates.Requests, all []Judged) []Judged {
	var out []Judged
	for i, j := range all {
		if j.Allowed == r.Asked[i].Allowed {
			out = append(out, j)
		}
	}
	return out
}

// world is that of a template, without asking what there is.
func world(t *testing.T, x templates.Template) *World {
	t.Helper()
	text, err := os.ReadFile("testdata/matrix.txt")
	if err != nil {
		t.Fatal(err)
	}
	m, err := ReadMatrix(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return Deploy(x, m)
}

// row is a decision as a line.
func row(d templates.Decision) string {
	return strings.TrimSpace(templates.Requests{Asked: []templates.Decision{d}}.String())
}

// TestRequests holds that a simulator that others keep decides each request of the functions' tests as the
// tests' own evaluation has done.
func TestRequests(t *testing.T) {
	t.Parallel()
	w, r := world(t, templates.ReadTemplate(t, file)), requests(t)
	counts := map[bool]int{}
	for i, v := range judge(t, w, r) {
		d := r.Asked[i]
		counts[d.Allowed]++
		if v.Allowed != d.Allowed {
			t.Errorf("%s\n\tthe simulator says %v, by %q", row(d), v.Allowed, v.By)
		}
	}
	t.Logf("%d requests are allowed, %d denied", counts[true], counts[false])
}

// TestUnused holds that no right is there for nothing: each statement, each action and each resource is needed
// by a request.
func TestUnused(t *testing.T) {
	t.Parallel()
	w, r := world(t, templates.ReadTemplate(t, file)), requests(t)
	for _, u := range w.Unused(expected(r, judge(t, w, r))) {
		t.Error(u)
	}
}

// TestUnusedFinds adds rights that nothing needs, all at once.
func TestUnusedFinds(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const before = "              - Sid: WebhookSecret\n"
	text, want := string(data), []string{}
	for _, test := range []struct{ old, new, want string }{
		{"Action: [dynamodb:GetItem, dynamodb:PutItem]", "Action: [dynamodb:GetItem, dynamodb:PutItem, dynamodb:Scan]", "WebhookRole.webhook, statement Deliveries: no request needs dynamodb:Scan"},
		{"Resource: [!GetAtt Applies.Arn]", "Resource: [!GetAtt Applies.Arn, !GetAtt PlansDead.Arn]", "ApplyRole.apply, statement Receive: no request needs arn:aws:sqs:us-east-1:111122223333:lockstep-plansdead"},
		{before, "              - { Sid: Once, Effect: Allow, Action: sqs:PurgeQueue, Resource: !GetAtt Events.Arn }\n" + before, "WebhookRole.webhook, statement Once: no request needs it"},
		{before, "              - { Sid: Again, Effect: Allow, Action: sqs:SendMessage, Resource: !GetAtt Events.Arn }\n" + before, "WebhookRole.webhook, statement Again: no request needs it"},
		{before, "              - { Sid: Never, Effect: Deny, Action: sqs:TagQueue, Resource: !GetAtt Events.Arn }\n" + before, "WebhookRole.webhook, statement Never: no request needs it"},
		{"Service: scheduler.amazonaws.com", "Service: events.amazonaws.com", "TimerRole.AssumeRolePolicyDocument, statement 1: no request needs it"},
	} {
		if !strings.Contains(text, test.old) {
			t.Fatalf("%q is not in the template", test.old)
		}
		text, want = strings.Replace(text, test.old, test.new, 1), append(want, test.want)
	}
	w, r := world(t, changed(t, string(data), text)), requests(t)
	got := w.Unused(expected(r, judge(t, w, r)))
	for _, x := range append(want, "WebhookRole.webhook, statement Send: no request needs it") { // as Again allows the same
		if !slices.Contains(got, x) {
			t.Errorf("%q is not said", x)
		}
	}
	if len(got) != len(want)+1 {
		t.Errorf("%q", got)
	}
}
