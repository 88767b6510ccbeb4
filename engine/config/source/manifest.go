package source

import (
	"encoding/json"
	"fmt"
)

// ManifestPath is the path of the manifest in the data directory (.terraform).
const ManifestPath = "modules/modules.json"

// A Manifest lists the modules that init has installed. The format is that of Terraform's
// modules.json: one line of JSON, entries sorted by key.
type Manifest struct {
	Modules []Installed
}

// Installed is one module call of the tree and the directory of its files.
type Installed struct {
	Key     string // names of the calls, joined by dots; "" for the root module
	Source  string // as written, normalised for local paths
	Version string `json:",omitempty"` // of a module from a registry
	Dir     string // relative to the root module's directory, "." for itself
}

// ParseManifest reads a manifest that [Manifest.Encode], Terraform or OpenTofu wrote.
func ParseManifest(data []byte) (Manifest, error) {
	var m Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return Manifest{}, fmt.Errorf("read the module manifest: %w", err)
	}
	return m, nil
}

// Encode returns the content of the manifest file.
func (m Manifest) Encode() ([]byte, error) {
	if m.Modules == nil {
		m.Modules = []Installed{}
	}
	return json.Marshal(m)
}

// Lookup returns the function for loading.Input.Installed, which finds entries by key.
func (m Manifest) Lookup() func(key string) (Installed, bool) {
	byKey := make(map[string]Installed, len(m.Modules))
	for _, x := range m.Modules {
		byKey[x.Key] = x
	}
	return func(key string) (Installed, bool) {
		x, ok := byKey[key]
		return x, ok
	}
}
