package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// A reader adds one file's blocks after another's to a module's content.
type reader struct {
	c     *Content
	diags hcl.Diagnostics
	// override says that the file at hand changes declarations instead of making them.
	override bool
	// requirements is the module's required_providers block, nil before it is found.
	requirements *hcl.Block
	cloud        *hcl.Block // nil if a backend takes its place
	called       bool       // the module is not the root
	early        bool       // sources may be made of variables
	imported     map[addrs.Target]hcl.Range
}

var fileSchema = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
	{Type: "terraform"},
	{Type: "required_providers"}, // for the hint that it belongs into a terraform block
	{Type: "provider", LabelNames: []string{"name"}},
	{Type: "variable", LabelNames: []string{"name"}},
	{Type: "locals"},
	{Type: "output", LabelNames: []string{"name"}},
	{Type: "module", LabelNames: []string{"name"}},
	{Type: "resource", LabelNames: []string{"type", "name"}},
	{Type: "data", LabelNames: []string{"type", "name"}},
	{Type: "ephemeral", LabelNames: []string{"type", "name"}},
	{Type: "moved"},
	{Type: "removed"},
	{Type: "import"},
	{Type: "check", LabelNames: []string{"name"}},
}}

// file reads one file.
func (r *reader) file(body hcl.Body) {
	content, ds := body.Content(fileSchema)
	r.diags = append(r.diags, ds...)
	for _, b := range content.Blocks {
		r.block(b)
	}
}

func (r *reader) block(b *hcl.Block) {
	switch b.Type {
	case "terraform":
		r.terraform(b)
	case "required_providers":
		r.errorf(&b.TypeRange, "Invalid required_providers block", `A "required_providers" block must stand inside a "terraform" block.`)
	case "provider":
		r.provider(b)
	case "variable":
		r.variable(b)
	case "locals":
		r.locals(b)
	case "output":
		r.output(b)
	case "module":
		r.call(b)
	case "resource":
		r.resource(b, addrs.Managed)
	case "data":
		r.resource(b, addrs.Data)
	case "ephemeral":
		r.resource(b, addrs.Ephemeral)
	case "moved":
		r.moved(b)
	case "removed":
		r.removed(b)
	case "import":
		r.imports(b)
	case "check":
		r.check(b)
	}
}

func (r *reader) errorf(at *hcl.Range, summary, detail string, args ...any) {
	r.diags = append(r.diags, problem(at, summary, detail, args...))
}

// lateErrorf is errorf for what the stock tool does not look at while it reads a configuration.
func (r *reader) lateErrorf(at *hcl.Range, summary, detail string, args ...any) {
	r.diags = append(r.diags, diags.MarkLate(problem(at, summary, detail, args...)))
}

// duplicate reports a second declaration of something.
func (r *reader) duplicate(place hcl.Range, summary, what string, old hcl.Range) {
	r.errorf(&place, summary, "%s is declared at %s already, and a module can declare it only once.", what, at(old))
}

// missingBase reports a declaration in an override file that changes nothing.
func (r *reader) missingBase(place hcl.Range, summary, what string) {
	r.errorf(&place, summary, "An override file only changes what other files of the module declare, and none declares %s.", what)
}

func (r *reader) warnf(at *hcl.Range, summary, detail string, args ...any) {
	r.diags = append(r.diags, warning(at, summary, detail, args...))
}

// content decodes a block's body; what the schema does not know is an error.
func (r *reader) content(body hcl.Body, schema *hcl.BodySchema) *hcl.BodyContent {
	if r.override {
		schema = relaxed(schema)
	}
	content, ds := body.Content(schema)
	r.diags = append(r.diags, ds...)
	return content
}

// partial is content for bodies with more in them than the schema knows.
func (r *reader) partial(body hcl.Body, schema *hcl.BodySchema) (*hcl.BodyContent, hcl.Body) {
	if r.override {
		schema = relaxed(schema)
	}
	content, remain, ds := body.PartialContent(schema)
	r.diags = append(r.diags, ds...)
	return content, remain
}

// relaxed returns s with nothing required, for override files.
func relaxed(s *hcl.BodySchema) *hcl.BodySchema {
	out := &hcl.BodySchema{Blocks: s.Blocks, Attributes: make([]hcl.AttributeSchema, len(s.Attributes))}
	for i, a := range s.Attributes {
		out.Attributes[i] = hcl.AttributeSchema{Name: a.Name}
	}
	return out
}

const badIdentifier = "Names begin with a letter or an underscore; after that, digits and dashes are possible too."

// name checks a block's label.
func (r *reader) name(b *hcl.Block, label int, summary string) string {
	n := b.Labels[label]
	if !hclsyntax.ValidIdentifier(n) {
		r.errorf(&b.LabelRanges[label], summary, badIdentifier)
	}
	return n
}

// literal decodes an argument that may mention nothing into target, a *bool or
// *string. It reports whether the argument is there and valid.
func (r *reader) literal(a *hcl.Attribute, target any) bool {
	if a == nil {
		return false
	}
	ds := gohcl.DecodeExpression(a.Expr, nil, target)
	r.diags = append(r.diags, ds...)
	return !ds.HasErrors()
}

// expr returns an argument's expression, nil if it is absent.
func expr(a *hcl.Attribute) hcl.Expression {
	if a == nil {
		return nil
	}
	return a.Expr
}

// at returns the place of a declaration for "was declared at" sentences.
func at(r hcl.Range) string { return r.String() }

// givenArgs returns the names of the arguments present, which an override may change.
func (r *reader) givenArgs(c *hcl.BodyContent) map[string]bool {
	if !r.override {
		return nil
	}
	out := make(map[string]bool, len(c.Attributes))
	for n := range c.Attributes {
		out[n] = true
	}
	return out
}

// once returns the only block of a type, reporting the others.
func (r *reader) once(seen **hcl.Block, b *hcl.Block, summary, detail string) bool {
	if *seen == nil {
		*seen = b
		return true
	}
	r.errorf(&b.DefRange, summary, detail+" The first one is at "+at((*seen).DefRange)+".")
	return false
}

// finish checks what needs the whole module.
func (r *reader) finish() {
	r.refuseCloud()
	r.implied()
	r.c.indexProviders()
}
