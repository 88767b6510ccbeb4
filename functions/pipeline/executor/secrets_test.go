package executor

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/internal/redacting"
)

// TestSecretsByValue holds that what is secret by whatever source is in no output, also
// where nothing marks it: in a plan, an error, outputs and the whole text.
func TestSecretsByValue(t *testing.T) {
	t.Parallel()
	p := newPlugins(t, false)
	const (
		stored  = "Tr0ub4dor&\"3\\x"                 // in the state, sensitive by its schema alone
		token   = "eyJhbGciOi.eyJpc3MiOi.SflKxwRJSM" // ours
		lent    = "lent by somebody"                 // of plugins, see bench
		inState = "in the state only"
		gone    = "was in the state before it was gone" // deleted by the plan
	)
	secretThing := func(name, secret string) string {
		return fmt.Sprintf("\nresource \"lab_thing\" %q {\n  name   = %q\n  secret = %q\n}\n", name, name, secret)
	}
	b := p.bench(map[string]string{"net/main.tf": thing + secretThing("kept", stored) + secretThing("gone", gone) + secretThing("in", inState)})
	b.job.Grants = grants(t, allowLab, "")
	b.engine.Secrets = func() []string { return []string{token, ""} }
	if o := b.apply(b.plan().Plan, true); o.Failed {
		t.Fatal(o.Report)
	}
	leak := `
locals {
  all = [file("${path.module}/stored"), "` + token + `", "` + lent + `", "` + gone + `"]
}

output "all" {
  value = local.all
}

output "encoded" {
  value = [for s in local.all : base64encode(s)]
}
`
	b.write(map[string]string{"net/stored": stored, "net/main.tf": thing + secretThing("kept", stored) + secretThing("in", inState) + leak})
	planned := b.plan()
	applied := b.apply(planned.Plan, true)
	b.write(map[string]string{"net/bad.tf": "resource \"terraform_data\" \"bad\" {\n  count = local.all[*]\n  input = join(\", \", local.all) + 1\n}\n\noutput \"error\" {\n  value = tonumber(local.all[1])\n  precondition {\n    condition     = false\n    error_message = \"Not with ${join(\" \", local.all)}.\"\n  }\n}\n"})
	failed := b.plan()
	// Here there is no plan that would know, and the line is shown.
	b.write(map[string]string{"net/bad.tf": "output \"bad\" {\n  value = [nope.x, \"" + inState + "\", \"" + token + "\"]\n}\n"})
	early := b.plan()
	if planned.Plan == nil || applied.Failed || failed.Plan != nil || early.Plan != nil || !strings.Contains(early.Report, "nope.x") {
		t.Fatalf("%+v\n%+v\n%+v\n%+v", planned, applied, failed, early)
	}
	for what, text := range map[string]string{"the plan": planned.Report, "the apply": applied.Report, "the error": failed.Report, "the early error": early.Report} {
		for _, secret := range []string{stored, token, lent, gone, inState} {
			quoted := strings.Trim(fmt.Sprintf("%q", secret), `"`)
			for _, s := range []string{secret, quoted, base64.StdEncoding.EncodeToString([]byte(secret))} {
				if strings.Contains(text, s) {
					t.Errorf("%s shows %q:\n%s", what, s, text)
				}
			}
		}
	}
	if !strings.Contains(planned.Report, redacting.Hidden) || !strings.Contains(applied.Report, redacting.Hidden) {
		t.Errorf("nothing was taken out:\n%s\n%s", planned.Report, applied.Report)
	}
}

// TestBigPlan holds that a report fits, that all of the plan is in the whole text then,
// and that neither has a secret in it.
func TestBigPlan(t *testing.T) {
	t.Parallel()
	const secret = "hunter2hunter2"
	b := newBench(t, map[string]string{"net/main.tf": fmt.Sprintf(`resource "terraform_data" "many" {
  count = 3000
  input = "number ${count.index} of %s"
}
`, secret)})
	b.engine.Secrets = func() []string { return []string{secret} }
	p := b.plan()
	if len(p.Report) > reportLimit || len(p.Report) < reportLimit/2 || strings.Contains(p.Report+p.Full, secret) {
		t.Errorf("the report has %d bytes, the whole text %d", len(p.Report), len(p.Full))
	}
	for _, want := range []string{"terraform_data.many[0]", "terraform_data.many[2999]", "number 2999 of " + redacting.Hidden, "Plan: 3000 to add"} {
		if !strings.Contains(p.Full, want) {
			t.Errorf("the whole text lacks %q", want)
		}
	}
	if strings.Contains(p.Report, "terraform_data.many[2999]") {
		t.Error("all is in the report")
	}
	small := newBench(t, map[string]string{"net/main.tf": two})
	if p := small.plan(); p.Full != "" || p.Report == "" {
		t.Errorf("of a small plan there is a whole text: %q", p.Full)
	}
}

// TestManyProblems holds that a report of errors fits, that what is left out is said, and that the whole text has it.
func TestManyProblems(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"net/main.tf": strings.Repeat("variable \"x\" {\n  type = string\n}\n", 500)})
	p := b.plan()
	if len(p.Report) > reportLimit || p.Plan != nil || !strings.Contains(p.Report, "*Shortened to fit: ") {
		t.Errorf("a report of %d bytes: %s", len(p.Report), p.Report[max(0, len(p.Report)-300):])
	}
	if n := strings.Count(p.Full, "Error: "); n != 499 {
		t.Errorf("the whole text has %d errors", n)
	}
	many := newBench(t, map[string]string{"net/main.tf": strings.Repeat("variable \"x\" {\n  type = string\n}\n", 3000)})
	if p := many.plan(); len(p.Report) > reportLimit || !strings.Contains(p.Full, "There are 999 more problems") {
		t.Errorf("of more: %d bytes", len(p.Report))
	}
}

// TestSecretsMadeByTheApply holds that what only the apply makes is not shown, if the
// schema of where it goes says that it is secret.
func TestSecretsMadeByTheApply(t *testing.T) {
	t.Parallel()
	b := newPlugins(t, false).bench(map[string]string{"net/main.tf": thing + `
resource "terraform_data" "made" {
}

resource "lab_thing" "keeper" {
  name   = "keeper"
  secret = terraform_data.made.id
}

output "made" {
  value = "the id ${terraform_data.made.id}"
}
`})
	b.job.Grants = grants(t, allowLab, "")
	o := b.apply(b.plan().Plan, true)
	if o.Failed || !strings.Contains(o.Report, `made = "the id `+redacting.Hidden+`"`) {
		t.Errorf("%+v", o)
	}
}

// TestSecretsInEveryForm holds that numbers, keys of maps, and values with characters that
// nobody sees are not shown by a plan, outputs and an error that have them from
// elsewhere, in another form.
func TestSecretsInEveryForm(t *testing.T) {
	t.Parallel()
	const (
		pin    = "47110815"
		key    = "holder-of-the-key"
		hidden = "hun\u200bter2\u0007 and <more> \"of\" it"
		lines  = "first line of it\nsecond line of it"
	)
	b := newBench(t, map[string]string{
		"net/terraform.tfvars": "pin = " + pin + "\nholders = { \"" + key + "\" = 1234567 }\nhidden = " + `"hun\u200bter2\u0007 and <more> \"of\" it"` + "\nlines = \"first line of it\\nsecond line of it\"\non = true\n",
		"net/grouped":          "47,110,815",
		"net/hidden":           hidden,
		"net/lines":            lines,
		"net/main.tf": `
variable "pin" {
  type      = number
  sensitive = true
}

variable "holders" {
  type      = map(number)
  sensitive = true
}

variable "hidden" {
  sensitive = true
}

variable "lines" {
  sensitive = true
}

variable "on" {
  type      = bool
  sensitive = true
}

locals {
  leaks = {
    grouped = file("${path.module}/grouped")
    pin     = tonumber(replace(file("${path.module}/grouped"), ",", ""))
    power   = 4711.0815e4
    hidden  = file("${path.module}/hidden")
    json    = jsonencode({ deep = jsonencode([file("${path.module}/hidden")]) })
    url     = urlencode(file("${path.module}/hidden"))
    base64  = base64encode("user:${file("${path.module}/hidden")}")
    lines   = file("${path.module}/lines")
    keys    = { "` + key + `" = true, other = 1234567 }
    public  = true
  }
}

resource "terraform_data" "leak" {
  input = local.leaks
}

output "leaks" {
  value = local.leaks
}
`})
	planned := b.plan()
	applied := b.apply(planned.Plan, true)
	b.write(map[string]string{"net/bad.tf": "output \"bad\" {\n  value = nope.x + \"" + `hun\u200bter2\u0007 and <more> \"of\" it` + "\"\n  precondition {\n    condition     = local.leaks.pin < 0\n    error_message = \"Not ${local.leaks.pin} ${local.leaks.hidden}\"\n  }\n}\n"})
	failed := b.plan()
	if planned.Plan == nil || applied.Failed || failed.Plan != nil {
		t.Fatalf("%+v\n%+v\n%+v", planned, applied, failed)
	}
	for what, text := range map[string]string{"the plan": planned.Report, "the apply": applied.Report, "the error": failed.Report} {
		for _, secret := range []string{pin, "47,110,815", "4711.0815e4", key, "1234567", "hunter2", `hun\u200bter2`, "and <more>", `\u003cmore`, "u003cmore", "%3Cmore%3E", "line of it",
			base64.StdEncoding.EncodeToString([]byte("user:" + hidden))[8:40]} {
			if strings.Contains(text, secret) {
				t.Errorf("%s shows %q:\n%s", what, secret, text)
			}
		}
	}
	if !strings.Contains(planned.Report, "public") || !strings.Contains(planned.Report, "= true") || strings.Count(planned.Report, redacting.Hidden) < 9 {
		t.Errorf("too much or too little is taken out:\n%s", planned.Report)
	}
}
