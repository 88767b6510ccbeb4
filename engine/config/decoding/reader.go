package decoding

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/language"
)

// A reader reads the parts of a block and collects the diagnostics about them. Its methods do not return
// errors: they add a diagnostic and return a zero value or false, so that the caller continues with the next
// part.
type reader struct {
	diags hcl.Diagnostics
	// override is set while the blocks of an override file are read. No argument is required there, since the
	// original block has it.
	override bool
	registry string // see config.Content
	language language.Version
}

func (r *reader) add(ds hcl.Diagnostics) { r.diags = append(r.diags, ds...) }

// contentOf decodes a block's body. Arguments and blocks outside the schema are errors.
func (r *reader) contentOf(body hcl.Body, schema *hcl.BodySchema) *hcl.BodyContent {
	schema = schemaIn(r.language, schema)
	if r.override {
		schema = optionalSchema(schema)
	}
	content, ds := body.Content(schema)
	r.add(ds)
	return content
}

// partialContentOf decodes the part of a body that the schema describes. It returns this part, and a body with
// the rest. Unlike contentOf, it accepts a rest.
func (r *reader) partialContentOf(body hcl.Body, schema *hcl.BodySchema) (*hcl.BodyContent, hcl.Body) {
	schema = schemaIn(r.language, schema)
	if r.override {
		schema = optionalSchema(schema)
	}
	content, remain, ds := body.PartialContent(schema)
	r.add(ds)
	return content, remain
}

func (r *reader) errorf(at *hcl.Range, summary, detail string, args ...any) {
	r.diags = append(r.diags, diags.HCLError(at, summary, detail, args...))
}

// lateErrorf adds an error, as errorf does. It is for problems that Terraform does not find while it reads a
// configuration: see diags.MarkLate.
func (r *reader) lateErrorf(at *hcl.Range, summary, detail string, args ...any) {
	r.diags = append(r.diags, diags.MarkLate(diags.HCLError(at, summary, detail, args...)))
}

func (r *reader) warnf(at *hcl.Range, summary, detail string, args ...any) {
	r.diags = append(r.diags, diags.HCLWarning(at, summary, detail, args...))
}

// duplicate adds an error about a second declaration of object, such as module.a. old is the place of the first
// declaration.
func (r *reader) duplicate(place hcl.Range, summary, object string, old hcl.Range) {
	r.errorf(&place, summary, "%s is declared at %s already, and a module can declare it only once.", object, at(old))
}

// missingBase adds an error about a block in an override file that has no original block. object is the name of
// the missing original for the message, such as module.a.
func (r *reader) missingBase(place hcl.Range, summary, object string) {
	r.errorf(&place, summary, "An override file only changes what other files of the module declare, and none declares %s.", object)
}

// once reports whether b is the first block of its type. If not, it adds an error. seen keeps the first block
// between calls.
func (r *reader) once(seen **hcl.Block, b *hcl.Block, summary, detail string) bool {
	if *seen == nil {
		*seen = b
		return true
	}
	r.errorf(&b.DefRange, summary, detail+" The first one is at "+at((*seen).DefRange)+".")
	return false
}

// name returns the label of a block at the index label. It adds an error with this summary if the label is not
// a valid name.
func (r *reader) name(b *hcl.Block, label int, summary string) string {
	n := b.Labels[label]
	if !hclsyntax.ValidIdentifier(n) {
		r.errorf(&b.LabelRanges[label], summary, badIdentifier)
	}
	return n
}

const badIdentifier = "Names begin with a letter or an underscore; after that, digits and dashes are possible too."

// at returns the place of a declaration for sentences with "was declared at".
func at(r hcl.Range) string { return r.String() }
