package template

import (
	"os"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest/templates"
)

// deployed returns the world of a template, and what there is to ask for in it.
func deployed(t *testing.T, x templates.Template) (*World, Catalogue) {
	t.Helper()
	text, err := os.ReadFile("testdata/matrix.txt")
	if err != nil {
		t.Fatal(err)
	}
	m, err := ReadMatrix(string(text))
	if err != nil {
		t.Fatal(err)
	}
	w := Deploy(x, m)
	arns := map[string]string{}
	for name, r := range w.Resources {
		arns[name] = r.ARN
	}
	var c Catalogue
	templates.Ask(t, map[string]any{"list": map[string]any{"services": w.Services(), "resources": arns}}, &c)
	return w, c
}

// A trial is a policy in another's place, and what is asked then.
type trial struct {
	Of       string           `json:"of"`
	Kind     string           `json:"kind"` // of what Of is
	Policies []map[string]any `json:"policies"`
	Asks     []Ask            `json:"asks"`
}

// decide returns for each trial the first ask that is not answered as the matrix wants.
func decide(t *testing.T, w *World, trials []trial) []*Ask {
	t.Helper()
	var wrong []int
	templates.Ask(t, map[string]any{"decide": map[string]any{
		"principals": w.Principals, "resources": w.Resources, "contexts": w.Contexts(), "cases": trials,
	}}, &wrong)
	out := make([]*Ask, len(trials))
	for i, n := range wrong {
		if n >= 0 {
			out[i] = &trials[i].Asks[n]
		}
	}
	return out
}

// TestRights holds that everybody may what the matrix says, and nobody anything else.
func TestRights(t *testing.T) {
	t.Parallel()
	w, c := deployed(t, templates.ReadTemplate(t, file))
	for _, idle := range w.Idle(c) {
		t.Error(idle)
	}
	asks := w.Asks(c)
	var trials []trial
	allowed := 0
	for _, a := range asks {
		trials = append(trials, trial{Asks: []Ask{a}})
		if a.Want {
			allowed++
		}
	}
	for _, a := range decide(t, w, trials) {
		if a != nil {
			t.Errorf("%s: the matrix says %v, the template %v", a, a.Want, !a.Want)
		}
	}
	t.Logf("%d requests were made, of which %d are allowed", len(asks), allowed)
}

// TestLoosenings holds that there is no way to loosen a policy of the template that the
// matrix does not notice.
func TestLoosenings(t *testing.T) {
	t.Parallel()
	w, c := deployed(t, templates.ReadTemplate(t, file))
	loosenings := w.Loosenings(c)
	var trials []trial
	for _, l := range loosenings {
		trials = append(trials, trialOf(w, c, l))
	}
	caught := 0
	for i, a := range decide(t, w, trials) {
		if a == nil {
			t.Errorf("%s: nobody notices", loosenings[i].What)
			continue
		}
		caught++
	}
	t.Logf("%d of %d loosenings are noticed", caught, len(loosenings))
	if len(loosenings) < 1000 {
		t.Errorf("only %d loosenings were tried", len(loosenings))
	}
}

// trialOf puts a loosened policy among the others of its party.
func trialOf(w *World, c Catalogue, l Loosening) trial {
	out := trial{Of: l.Policy.On[0], Kind: "resource", Asks: l.Asks(w, c)}
	if l.Policy.Kind == templates.RolePolicies {
		out.Kind = "principal"
	}
	for _, d := range w.Policies {
		if d.Kind != l.Policy.Kind || d.On[0] != out.Of {
			continue
		}
		if d.Name == l.Policy.Name {
			d.Resolved = l.Changed
		}
		out.Policies = append(out.Policies, d.Resolved)
	}
	return out
}

// TestPolicyLint holds that policies name actions, resources and condition keys that there
// are, and that belong together.
func TestPolicyLint(t *testing.T) {
	t.Parallel()
	if said := lint(t, templates.ReadTemplate(t, file)); said != "" {
		t.Error(said)
	}
}

func lint(t *testing.T, x templates.Template) string {
	t.Helper()
	text, err := os.ReadFile("testdata/matrix.txt")
	if err != nil {
		t.Fatal(err)
	}
	m, err := ReadMatrix(string(text))
	if err != nil {
		t.Fatal(err)
	}
	type statement struct {
		At        string         `json:"at"`
		Statement map[string]any `json:"statement"`
		Resource  string         `json:"resource,omitempty"`
	}
	var in []statement
	w := Deploy(x, m)
	for _, d := range w.Policies {
		for _, s := range d.Resolved["Statement"].([]any) {
			x := statement{At: d.Name, Statement: s.(map[string]any)}
			if d.Kind != templates.RolePolicies && (x.Statement["Resource"] == nil || x.Statement["Resource"] == "*") {
				x.Resource = w.Resources[d.On[0]].ARN
			}
			in = append(in, x)
		}
	}
	var out []string
	templates.Ask(t, map[string]any{"lint": in}, &out)
	return strings.Join(out, "\n")
}

func TestPolicyLintFinds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ old, new, want string }{
		"an action":           {"Action: sts:AssumeRole\n", "Action: sts:AssumeRoles\n", "there is no action sts:AssumeRoles"},
		"a service":           {"Action: secretsmanager:GetSecretValue", "Action: secretmanager:GetSecretValue", "there is no service secretmanager"},
		"another's resource":  {"Action: sqs:SendMessage\n                Resource: [!GetAtt Events.Arn]", "Action: sqs:SendMessage\n                Resource: [!GetAtt Records.Arn]", "sqs:SendMessage is for none of"},
		"a bucket's object":   {"Action: s3:ListBucket\n            Resource: !GetAtt Artifacts.Arn", "Action: s3:ListBucket\n            Resource: !Sub \"${Artifacts.Arn}/*\"", "s3:ListBucket is for none of"},
		"a resource too much": {"Resource: [!GetAtt Applies.Arn]", "Resource: [!GetAtt Applies.Arn, !GetAtt Records.Arn]", "none of its actions is for"},
		"a condition key":     {"dynamodb:LeadingKeys: [delivery]", "dynamodb:LeadingKey: [delivery]", "knows no condition key dynamodb:LeadingKey"},
		"another's key":       {"{ s3:x-amz-server-side-encryption: aws:kms }", "{ kms:ViaService: aws:kms }", "knows no condition key kms:ViaService"},
		"a global key":        {"aws:SourceAccount:", "aws:SourceAccounts:", "knows no condition key aws:SourceAccounts"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if said := lint(t, changed(t, test.old, test.new)); !strings.Contains(said, test.want) {
				t.Errorf("it says %q, want %q", said, test.want)
			}
		})
	}
}
