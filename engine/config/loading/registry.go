package loading

import (
	"bytes"
	"path"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/parsing"
	"github.com/lockstep-iac/lockstep/engine/provider/install/lockfile"
)

// Registry returns the host of provider and module addresses without a host: registry.opentofu.org if the root
// module uses OpenTofu, otherwise registry.terraform.io. Terraform and OpenTofu write the full addresses into
// lock files and states, so Lockstep has to complete an address as the tool of the root module does.
//
// If the dependency lock file names providers of only one of the two registries, that registry counts: the
// tool that wrote the file has used it. Otherwise the root module uses OpenTofu if it has a .tofu file, or a
// language block that names OpenTofu. Registry reports no errors: the files are read again for their contents.
func Registry(in Input) string {
	if in.Registry != "" {
		return in.Registry
	}
	locked := lockedRegistries(in)
	switch tofu := locked[addrs.OpenTofuRegistryHost]; {
	case tofu != locked[addrs.DefaultRegistryHost]:
		if tofu {
			return addrs.OpenTofuRegistryHost
		}
		return addrs.DefaultRegistryHost
	case hasTofu(in):
		return addrs.OpenTofuRegistryHost
	}
	return addrs.DefaultRegistryHost
}

// lockedRegistries returns the hosts of the providers in the lock file.
func lockedRegistries(in Input) map[string]bool {
	hosts := map[string]bool{}
	body := peek(in, lockfile.Name)
	if body == nil {
		return hosts
	}
	content, _, _ := body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "provider", LabelNames: []string{"source_addr"}}}})
	for _, b := range content.Blocks {
		if p, err := addrs.ParseProvider(b.Labels[0]); err == nil {
			hosts[p.Host] = true
		}
	}
	return hosts
}

// hasTofu reports whether the root module has a .tofu file, or a language block that names OpenTofu.
func hasTofu(in Input) bool {
	dir := path.Clean(in.Root)
	names, err := in.Tree.ReadDir(dir)
	if err != nil {
		return false
	}
	primary, override := moduleFiles(names)
	for _, name := range append(primary, override...) {
		if _, ext := splitName(name); strings.HasPrefix(ext, ".tofu") || namesOpenTofu(in, path.Join(dir, name)) {
			return true
		}
	}
	return false
}

// namesOpenTofu reports whether a file has a language block that names OpenTofu.
func namesOpenTofu(in Input, name string) bool {
	body := peek(in, name, "language", "compatible_with", "opentofu")
	if body == nil {
		return false
	}
	for _, level := range []string{"language", "compatible_with"} {
		content, _, _ := body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: level}}})
		if len(content.Blocks) == 0 {
			return false
		}
		body = content.Blocks[0].Body
	}
	content, _, _ := body.PartialContent(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "opentofu"}}})
	return content.Attributes["opentofu"] != nil
}

// peek parses one file, in addition to the load that counts for the budget. The result is nil if the file cannot
// be read, has no content, exceeds the limits, or lacks one of the words.
func peek(in Input, name string, words ...string) hcl.Body {
	src, err := in.Tree.ReadFile(name)
	if err != nil || parsing.Fits(src, in.Budget.Limits()) != nil {
		return nil
	}
	for _, w := range words {
		if !bytes.Contains(src, []byte(w)) {
			return nil
		}
	}
	parse := parsing.Config
	if strings.HasSuffix(name, ".json") {
		parse = parsing.JSON
	}
	if f, _ := parse(src, name); f != nil && f.Body != nil {
		return f.Body
	}
	return nil
}
