package lockfile

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/constraint"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/parsing"
)

// Read reads a lock file. A missing file counts as empty. The result is never nil: with errors it has the
// valid entries.
func Read(path string) (*File, diags.Diagnostics) {
	src, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &File{}, nil
	}
	if err != nil {
		return &File{}, diags.Errorf(nil, "Cannot read the dependency lock file", "%v.", err)
	}
	return Parse(src, path)
}

// Parse reads the text of a lock file; name is its name in diagnostics. Like Terraform, it accepts only the
// normal form of addresses, versions and constraints, so that there is one way to write each.
func Parse(src []byte, name string) (*File, diags.Diagnostics) {
	f := &File{}
	parsed, hds := parsing.Config(src, name)
	if hds.HasErrors() {
		return f, diags.FromHCL(hds)
	}
	content, hds := parsed.Body.Content(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
		{Type: "provider", LabelNames: []string{"source_addr"}},
		// Such blocks are reserved by Terraform, which skips them.
		{Type: "module", LabelNames: []string{"path"}},
	}})
	ds := diags.FromHCL(hds)
	places := map[addrs.Provider]hcl.Range{}
	for _, block := range content.Blocks.OfType("provider") {
		p, pds := providerAddress(block)
		ds = append(ds, pds...)
		if pds.HasErrors() {
			continue
		}
		if earlier, ok := places[p]; ok {
			ds = append(ds, diags.Errorf(&block.DefRange, "Duplicate provider lock",
				"The provider %s is locked at %s already.", p, earlier)...)
			continue
		}
		places[p] = block.DefRange
		lock, lds := decodeLock(p, block)
		ds = append(ds, lds...)
		if !lds.HasErrors() {
			f.Set(p, lock)
		}
	}
	return f, ds
}

func providerAddress(block *hcl.Block) (addrs.Provider, diags.Diagnostics) {
	place := &block.LabelRanges[0]
	p, err := addrs.ParseProvider(block.Labels[0])
	switch {
	case err != nil:
		return p, diags.Errorf(place, "Invalid provider source address", "%v.", err)
	case p.IsBuiltin():
		return p, diags.Errorf(place, "Invalid provider source address",
			"The provider %s is built in, so there are no versions to select from.", p)
	case p.Namespace == addrs.LegacyNamespace:
		return p, diags.Errorf(place, "Invalid provider source address",
			"The provider %s is a stand-in for others and cannot be locked.", p)
	case p.String() != block.Labels[0]:
		return p, diags.Errorf(place, "Non-normalized provider source address",
			"The lock file must name this provider in full: %q.", p)
	}
	return p, nil
}

func decodeLock(p addrs.Provider, block *hcl.Block) (Lock, diags.Diagnostics) {
	var lock Lock
	content, hds := block.Body.Content(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{
		{Name: "version", Required: true}, {Name: "constraints"}, {Name: "hashes"},
	}})
	ds := diags.FromHCL(hds)
	if attr, ok := content.Attributes["version"]; ok {
		ds = append(ds, decodeVersion(p, attr, &lock)...)
	}
	if attr, ok := content.Attributes["constraints"]; ok {
		ds = append(ds, decodeConstraints(p, attr, &lock)...)
	}
	if attr, ok := content.Attributes["hashes"]; ok {
		ds = append(ds, decodeHashes(attr, &lock)...)
	}
	return lock, ds
}

func decodeVersion(p addrs.Provider, attr *hcl.Attribute, lock *Lock) diags.Diagnostics {
	text, ds := decodeString(attr.Expr)
	if ds.HasErrors() {
		return ds
	}
	place := attr.Expr.Range().Ptr()
	v, err := constraint.ParseVersion(text)
	switch {
	case err != nil:
		return diags.Errorf(place, "Invalid provider version number",
			"The version that is selected for provider %s is not usable: %v.", p, err)
	case v.String() != text:
		return diags.Errorf(place, "Invalid provider version number",
			"The version that is selected for provider %s must be in its normal form: %q.", p, v)
	}
	lock.Version = v
	return nil
}

func decodeConstraints(p addrs.Provider, attr *hcl.Attribute, lock *Lock) diags.Diagnostics {
	text, ds := decodeString(attr.Expr)
	if ds.HasErrors() {
		return ds
	}
	place := attr.Expr.Range().Ptr()
	set, err := constraint.Parse(text)
	switch {
	case err != nil:
		return diags.Errorf(place, "Invalid provider version constraints",
			"The version constraints that are recorded for provider %s are not usable: %v.", p, err)
	case set.String() != text:
		return diags.Errorf(place, "Invalid provider version constraints",
			"The version constraints that are recorded for provider %s must be in their normal form: %q.", p, set)
	}
	lock.Constraints = set
	return nil
}

func decodeHashes(attr *hcl.Attribute, lock *Lock) diags.Diagnostics {
	list, hds := hcl.ExprList(attr.Expr)
	if hds.HasErrors() {
		return diags.FromHCL(hds)
	}
	if len(list) == 0 {
		return diags.Errorf(attr.Expr.Range().Ptr(), "Invalid provider hash set",
			"The argument \"hashes\" must have at least one element, or be left out.")
	}
	var ds diags.Diagnostics
	for _, expr := range list {
		hash, hds := decodeString(expr)
		ds = append(ds, hds...)
		if hds.HasErrors() {
			continue
		}
		if strings.IndexByte(hash, ':') <= 0 {
			ds = append(ds, diags.Errorf(expr.Range().Ptr(), "Invalid provider hash string",
				"%q is not a checksum of a provider: it must start with a scheme and a colon, like \"h1:\".", hash)...)
			continue
		}
		lock.Hashes = append(lock.Hashes, hash)
	}
	return ds
}

func decodeString(expr hcl.Expression) (string, diags.Diagnostics) {
	var s *string
	if hds := gohcl.DecodeExpression(expr, nil, &s); hds.HasErrors() {
		return "", diags.FromHCL(hds)
	}
	if s == nil {
		return "", diags.Errorf(expr.Range().Ptr(), "Unsuitable value type", "A string is required here, not null.")
	}
	return *s, nil
}
