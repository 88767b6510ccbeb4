// Package decoding turns the blocks of a module's files into the module's content. It checks the shape of
// each block, names and duplicates, and applies override files.
//
// It does not know directories, other modules and the values of expressions. Start at [Decoder], whose table
// of block types leads to the file of each.
package decoding

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/language"
)

// A Decoder adds the blocks of one file after another to a module's content.
//
// It continues after errors, so that one run shows all errors of a module. A block with errors is added with
// its valid parts, so that references to the block are not further errors.
type Decoder struct {
	reader
	content *config.Content
	options Options

	requirements *hcl.Block           // required_providers; nil before it is found
	cloud        *hcl.Block           // nil if a backend takes its place
	variables    map[string]*variable // in raw form, for override files
	imported     map[addrs.Target]hcl.Range
}

// Options select variants of the rules for the blocks of a module.
type Options struct {
	// Called is set for a called module: its backend and cloud blocks have no effect.
	Called bool
	// Computed allows expressions as sources and versions of module calls, as OpenTofu does. The decoder does not
	// evaluate them: config.Call has them.
	Computed bool
	// Registry is the host of addresses without a host; see config.Content.
	Registry string
	// Language is the version of the language that the files are written in.
	Language language.Version
}

// New returns a decoder for the files of the directory dir.
func New(dir string, o Options) *Decoder {
	d := &Decoder{reader: reader{registry: o.Registry, language: o.Language}, content: config.NewContent(dir), options: o, variables: map[string]*variable{}}
	d.content.Registry = o.Registry
	return d
}

// A blockType is a type of block at the top of a file. The table has all of them: to add a block type, add a
// row and a file with its decode function.
type blockType struct {
	name   string
	labels []string
	decode func(*Decoder, *hcl.Block)
	// fixed is the error for a block of this type in an override file. The zero value means that override files
	// may have such blocks.
	fixed refusal
}

type refusal struct{ summary, detail string }

var blockTypes = []blockType{
	{"terraform", nil, (*Decoder).terraform, refusal{}},
	{"language", nil, (*Decoder).languageBlock, refusal{}},
	{"required_providers", nil, (*Decoder).misplacedRequirements, refusal{}},
	{"provider", []string{"name"}, (*Decoder).provider, refusal{}},
	{"variable", []string{"name"}, (*Decoder).variable, refusal{}},
	{"locals", nil, (*Decoder).locals, refusal{}},
	{"output", []string{"name"}, (*Decoder).output, refusal{}},
	{"module", []string{"name"}, (*Decoder).call, refusal{}},
	{"resource", []string{"type", "name"}, (*Decoder).managed, refusal{}},
	{"data", []string{"type", "name"}, (*Decoder).data, refusal{}},
	{"ephemeral", []string{"type", "name"}, (*Decoder).ephemeral, refusal{}},
	{"action", []string{"type", "name"}, (*Decoder).action, refusal{}},
	{"moved", nil, (*Decoder).moved, refusal{
		"Cannot override 'moved' blocks", "Records of moved objects can stand in normal files only, not in override files."}},
	{"removed", nil, (*Decoder).removed, refusal{
		"Cannot override 'removed' blocks", "Records of removed objects can stand in normal files only, not in override files."}},
	{"import", nil, (*Decoder).imports, refusal{
		"Cannot override 'import' blocks", "Import blocks can stand in normal files only, not in override files."}},
	{"check", []string{"name"}, (*Decoder).check, refusal{
		"Can't override check blocks", "Check blocks can stand in normal files only, not in override files."}},
}

// fileSchema and decoders are made from the table of block types: fileSchema for HCL, decoders for
// [Decoder.File].
var fileSchema, decoders = func() (*hcl.BodySchema, map[string]blockType) {
	s, byName := &hcl.BodySchema{}, map[string]blockType{}
	for _, t := range blockTypes {
		s.Blocks = append(s.Blocks, hcl.BlockHeaderSchema{Type: t.name, LabelNames: t.labels})
		byName[t.name] = t
	}
	return s, byName
}()

// Report adds diagnostics about the file that is decoded next. They come before the diagnostics of
// [Decoder.File].
func (d *Decoder) Report(ds hcl.Diagnostics) { d.add(ds) }

// File decodes one file. The blocks of an override file change declarations in other files, so override files
// must come last.
func (d *Decoder) File(body hcl.Body, override bool) {
	d.override = override
	schema, _ := d.schemas()
	content, ds := body.Content(schema)
	d.add(ds)
	for _, b := range content.Blocks {
		t := decoders[b.Type]
		if override && t.fixed != (refusal{}) {
			d.errorf(&b.DefRange, t.fixed.summary, "%s", t.fixed.detail)
			continue
		}
		t.decode(d, b)
	}
}

// Finish returns the content of all files and the diagnostics about them, after the checks
// that need the whole module.
func (d *Decoder) Finish() (*config.Content, hcl.Diagnostics) {
	d.refuseCloud()
	d.refuseSecretConst()
	d.implied()
	d.content.IndexProviders()
	return d.content, d.diags
}
