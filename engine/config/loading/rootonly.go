package loading

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/language"
)

// checkImports adds an error for each import block with a provider argument that differs from the provider of
// the existing resource block. The resource block decides.
func (l *loader) checkImports(m *config.Module) {
	for _, i := range m.Imports {
		r := m.Resources[i.Resource.Resource]
		if i.Provider == nil || !i.Resource.Module.IsRoot() || r == nil || r.Provider == *i.Provider {
			continue
		}
		l.errorf(&i.ProviderRange, "Invalid import provider argument",
			"The import block asks for the provider configuration %s, but there is a block of %s already, and it does not. The provider argument is for import blocks whose resource is to be generated: set it in the resource's block instead.",
			i.Provider, i.Resource)
	}
}

// checkChild adds warnings about the backend and the encryption of a called module, which have no effect. It
// also checks the import blocks of the module.
func (l *loader) checkChild(m *config.Module) {
	l.checkImports(m)
	if l.in.Language == language.V1_11 {
		for _, i := range m.Imports { // allowed since Terraform 1.16
			l.errorf(&i.Range, "Invalid import configuration", "This import block is in the module %q. In the language %s, import blocks are only allowed in the root module.", m.Addr, l.in.Language)
		}
	}
	if b := m.Backend; b != nil {
		l.diags = append(l.diags, &hcl.Diagnostic{
			Severity: hcl.DiagWarning, Summary: "Backend configuration ignored", Subject: &b.Range,
			Detail: "The backend of the root module serves the whole configuration; one that another module declares has no effect. Leave it out if this module is never used as a root module.",
		})
	}
	for _, e := range m.Encryption {
		l.diags = append(l.diags, &hcl.Diagnostic{
			Severity: hcl.DiagWarning, Summary: "Encryption configuration ignored", Subject: &e.Range,
			Detail: "The encryption block of the root module serves the whole configuration; one that another module declares has no effect. Leave it out if this module is never used as a root module.",
		})
	}
}
