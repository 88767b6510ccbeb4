package endpoints

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/functions/project/internal/blocks"
)

// Arguments are those of an endpoint in its block.
var Arguments = []string{"function", "url", "secret", "timeout"}

// Program is the further argument of blocks that can name a program.
const Program = "program"

// Read reads the arguments of an endpoint.
func Read(r *blocks.Reader, b *hcl.Block) Endpoint {
	e := Endpoint{Timeout: DefaultTimeout}
	e.Function, e.URL, e.Secret = r.Checked("function", parseFunction), r.Checked("url", parseURL), r.Checked("secret", parseSecret)
	if r.Has("timeout") {
		d, err := parseTimeout(r.Text("timeout"))
		if err != nil {
			r.Errorf(r.At("timeout"), "Invalid value", "%s.", blocks.Capital(err.Error()))
		}
		e.Timeout = d
	}
	e.Program = r.Checked(Program, ParseProgram)
	given := 0
	for _, name := range []string{"function", "url", Program} {
		if r.Has(name) {
			given++
		}
	}
	switch {
	case given != 1:
		r.Errorf(b.DefRange, "One function or one webhook", "A %s block has either function, the ARN of a Lambda function, or url, that of a webhook.", b.Type)
	case r.Has("url") && !r.Has("secret"):
		r.Errorf(r.At("url"), "No secret", "Requests to a webhook are signed: set secret to the ARN of the secret in Secrets Manager with the key.")
	case !r.Has("url") && r.Has("secret"):
		r.Errorf(r.At("secret"), "Secret without a webhook", "Only requests to webhooks are signed: remove the argument.")
	}
	return e
}
