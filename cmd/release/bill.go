package main

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
)

// A bill is a bill of materials in CycloneDX format.
// Source: https://cyclonedx.org/docs/1.6/json/
type bill struct {
	Schema     string      `json:"$schema"`
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   about       `json:"metadata"`
	Components []component `json:"components"`
	Depends    []depends   `json:"dependencies"`
}

type about struct {
	Component component `json:"component"`
}

type component struct {
	Ref     string `json:"bom-ref"`
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl"`
	Hashes  []hash `json:"hashes,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type depends struct {
	Ref string   `json:"ref"`
	On  []string `json:"dependsOn"`
}

const module = "github.com/lockstep-iac/lockstep"

// billOf returns the bill of materials of all programs. It lists the modules that the linker has recorded in
// the programs. Those in go.mod would be too many: go.mod also lists modules for tests and tools.
func billOf(version string, made []program) bill {
	self := component{Type: "application", Name: module, Version: "v" + version, PURL: purl(module, "v"+version)}
	self.Ref = self.PURL
	seen := map[string]component{}
	for _, p := range made {
		std := strings.TrimPrefix(p.info.GoVersion, "go")
		c := component{Type: "library", Name: "std", Version: std, PURL: purl("std", std)}
		c.Ref = c.PURL
		seen[c.Ref] = c
		for _, d := range p.info.Deps {
			if d.Replace != nil {
				d = d.Replace
			}
			c := component{Type: "library", Name: d.Path, Version: d.Version, PURL: purl(d.Path, d.Version), Hashes: hashes(d.Sum)}
			c.Ref = c.PURL
			seen[c.Ref] = c
		}
	}
	b := bill{
		Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json", Format: "CycloneDX", Spec: "1.6", Version: 1,
		Metadata: about{self}, Depends: []depends{{Ref: self.Ref}},
	}
	for _, c := range seen {
		b.Components = append(b.Components, c)
	}
	slices.SortFunc(b.Components, func(a, b component) int { return cmp.Compare(a.Ref, b.Ref) })
	for _, c := range b.Components {
		b.Depends[0].On = append(b.Depends[0].On, c.Ref)
	}
	return b
}

// purl returns the package URL of a Go module.
// Source: https://github.com/package-url/purl-spec/blob/main/types-doc/golang-definition.md
func purl(path, version string) string {
	return "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
}

// hashes converts a checksum of go.sum, which is a SHA-256 over a list of files, to the format of a bill.
// Source: https://go.dev/ref/mod#go-sum-files
func hashes(sum string) []hash {
	text, ok := strings.CutPrefix(sum, "h1:")
	data, err := base64.StdEncoding.DecodeString(text)
	if !ok || err != nil {
		return nil // a module that a local directory replaces has no checksum
	}
	return []hash{{"SHA-256", hex.EncodeToString(data)}}
}
