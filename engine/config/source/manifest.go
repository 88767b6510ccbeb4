package source

import (
	"encoding/json"
	"fmt"
)

// ManifestPath is the manifest's place below the data directory (.terraform).
const ManifestPath = "modules/modules.json"

// A Manifest lists the modules that init has installed. The format is that of Terraform's
// modules.json: one line of JSON, entries sorted by key.
type Manifest struct {
	Modules []Installed
}

// Installed is one module call of the tree and where its files are.
type Installed struct {
	Key     string // names of the calls, joined by dots; "" for the root module
	Source  string // as written, normalised for local paths
	Version string `json:",omitempty"` // of a module from a registry
	Dir     string // relative to the root module's directory, "." for itself
}

// ParseManifest reads a manifest of [Manifest.Encode] or of the stock tools.
func ParseManifest(data []byte) (Manifest, error) {
	var m Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return Manifest{}, fmt.Errorf("read the module manifest: %w", err)
	}
	return m, nil
}

// Encode returns the manifest as a file.
func (m Manifest) Encode() ([]byte, error) {
	if m.Modules == nil {
		m.Modules = []Installed{}
	}
	return json.Marshal(m)
}

// Lookup returns a function that finds entries by key, the one that loading.Input
// takes.
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
