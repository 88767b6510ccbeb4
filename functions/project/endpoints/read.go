package endpoints

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/functions/project/internal/blocks"
)

// These arguments name an endpoint. A block has one of them, and each type of block accepts only some.
const (
	Function = "function"
	URL      = "url"
	Program  = "program"
	Slack    = "slack"
	Topic    = "topic"
)

// Arguments returns the arguments of an endpoint in its block. kinds are the kinds that the block accepts.
func Arguments(kinds ...string) []string {
	return append(slices.Clone(kinds), "secret", "timeout")
}

// Read parses the arguments of an endpoint of one of the kinds.
func Read(r *blocks.Reader, b *hcl.Block, kinds ...string) Endpoint {
	e := Endpoint{Timeout: DefaultTimeout}
	e.Function, e.URL, e.Secret = r.Checked(Function, parseFunction), r.Checked(URL, parseURL), r.Checked("secret", parseSecret)
	e.Program, e.Slack, e.Topic = r.Checked(Program, parseProgram), r.Checked(Slack, parseSecret), r.Checked(Topic, parseTopic)
	if r.Has("timeout") {
		d, err := parseTimeout(r.Text("timeout"))
		if err != nil {
			r.Errorf(r.At("timeout"), "Invalid value", "%s.", blocks.Capital(err.Error()))
		}
		e.Timeout = d
	}
	given := slices.DeleteFunc(slices.Clone(kinds), func(name string) bool { return !r.Has(name) })
	switch {
	case len(given) != 1:
		r.Errorf(b.DefRange, "Whom to call", "A %s block has one of the arguments %s.", b.Type, strings.Join(kinds, ", "))
	case r.Has(URL) && !r.Has("secret"):
		r.Errorf(r.At(URL), "No secret", "Requests to a webhook are signed: set secret to the ARN of the secret in Secrets Manager with the key.")
	case !r.Has(URL) && r.Has("secret"):
		r.Errorf(r.At("secret"), "Secret without a webhook", "Only requests to webhooks are signed: remove the argument.")
	}
	return e
}
