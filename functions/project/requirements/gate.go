package requirements

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/functions/project/endpoints"
)

// A Gate is a gate block of lockstep.hcl: a function or a webhook that must allow a plan. It is a requirement for
// applies, as a policy block is.
type Gate struct {
	Name string
	endpoints.Endpoint
}

// ID distinguishes gates by all that decides: a verdict with another one is another gate's.
func (g Gate) ID() string {
	data, err := json.Marshal(g)
	if err != nil {
		panic(err) // texts and numbers can always be encoded
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

// maxGates is the limit of gate blocks in a file: each is asked after each plan, and before each apply.
const maxGates = 10

// ParseGates reads gate blocks as requirements. If there are errors, the result lacks blocks, and must not be used to
// allow anything.
func ParseGates(blocks hcl.Blocks) (out []Requirement, all hcl.Diagnostics) {
	names := map[string]bool{}
	for i, b := range blocks {
		r := &reader{}
		x := r.gate(b)
		switch name := x.Gate.Name; {
		case i >= maxGates:
			r.errorf(b.DefRange, "Too many gate blocks", "There are %d, and at most %d are allowed: a function can call others.", len(blocks), maxGates)
		case names[name]:
			r.errorf(b.DefRange, "Two gates with one name", "There is another gate block %q: give one of them another name.", name)
		default:
			names[name] = true
		}
		if all = append(all, r.diags...); !r.diags.HasErrors() {
			out = append(out, x)
		}
	}
	return out, all
}

// gate reads one block.
func (r *reader) gate(b *hcl.Block) Requirement {
	g := &Gate{Name: b.Labels[0]}
	x := Requirement{Command: "apply", At: fmt.Sprintf("%s:%d", path.Base(b.DefRange.Filename), b.DefRange.Start.Line), Rules: Rules{Gate: g}}
	if !slugPattern.MatchString(fold(g.Name)) {
		r.errorf(b.LabelRanges[0], "Invalid name of a gate", "The name consists of letters, digits and the characters _ . - and has at most 100.")
	}
	r.content(b.Body, schema([]string{"function", "url", "secret", "timeout", "projects", "override"}))
	g.Endpoint = r.endpoint(b)
	x.Projects, x.Override = r.patterns("projects"), r.parties("override")
	r.notEmpty(map[string]bool{"projects": x.Projects == nil, "override": x.Override == nil})
	return x
}

// endpoint reads the arguments of an endpoint.
func (r *reader) endpoint(b *hcl.Block) endpoints.Endpoint {
	e := endpoints.Endpoint{Timeout: endpoints.DefaultTimeout}
	e.Function, e.URL, e.Secret = r.checked("function", endpoints.ParseFunction), r.checked("url", endpoints.ParseURL), r.checked("secret", endpoints.ParseSecret)
	if r.has("timeout") {
		d, err := endpoints.ParseTimeout(r.text("timeout"))
		if err != nil {
			r.errorf(r.at("timeout"), "Invalid value", "%s.", capital(err.Error()))
		}
		e.Timeout = d
	}
	switch {
	case r.has("function") == r.has("url"):
		r.errorf(b.DefRange, "One function or one webhook", "A %s block has either function, the ARN of a Lambda function, or url, that of a webhook.", b.Type)
	case r.has("url") && !r.has("secret"):
		r.errorf(r.at("url"), "No secret", "Requests to a webhook are signed: set secret to the ARN of the secret in Secrets Manager with the key.")
	case r.has("function") && r.has("secret"):
		r.errorf(r.at("secret"), "Secret of a function", "A function is invoked with a role of Lockstep, and needs no secret: remove the argument.")
	}
	return e
}

// checked reads an optional text that has to be well-formed.
func (r *reader) checked(name string, check func(string) error) string {
	if !r.has(name) {
		return ""
	}
	text, before := r.text(name), len(r.diags)
	if err := check(text); err != nil && len(r.diags) == before && !r.diags.HasErrors() {
		r.errorf(r.at(name), "Invalid value", "%s.", capital(err.Error()))
	}
	return text
}
