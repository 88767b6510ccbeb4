package workdir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// A DataDir is the path of the directory that init writes: installed providers and modules, and Terraform's own
// files, such as the record of the backend and the manifest of the modules.
type DataDir string

// Installed returns a function that finds a module that init installed; nil if init installed none.
func (d DataDir) Installed() (func(key string) (source.Installed, bool), error) {
	path := filepath.Join(string(d), "modules", "modules.json")
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil
	}
	manifest, err := source.ParseManifest(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; run `lockstep init` to write it anew", path, err)
	}
	return manifest.Lookup(), nil
}

// RecordPluginDirs records the option -plugin-dir in the file plugin_path, as Terraform does. A single empty
// directory deletes the record. Lockstep does not read the file.
func (d DataDir) RecordPluginDirs(dirs []string) error {
	path := filepath.Join(string(d), "plugin_path")
	switch {
	case len(dirs) == 0:
		return nil
	case len(dirs) == 1 && dirs[0] == "":
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	data, err := json.MarshalIndent(dirs, "", "  ")
	if err != nil {
		return err
	}
	return WriteFile(path, data, 0o644)
}

// WriteModules records the modules of a configuration, as Terraform does. It writes nothing if there is only
// the root module.
func (d DataDir) WriteModules(m source.Manifest) error {
	if len(m.Modules) < 2 {
		return nil
	}
	dir := filepath.Join(string(d), "modules")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("record modules: %w", err)
	}
	data, err := m.Encode()
	if err != nil {
		return fmt.Errorf("record modules: %w", err)
	}
	return WriteFile(filepath.Join(dir, "modules.json"), data, 0o644)
}

// record is the file in which init records the backend, in Terraform's format.
type record struct {
	Version          int            `json:"version"`
	TerraformVersion string         `json:"terraform_version"`
	Backend          *recordBackend `json:"backend,omitempty"`
}

type recordBackend struct {
	Type   string         `json:"type"`
	Config map[string]any `json:"config"`
	Hash   uint64         `json:"hash"` // see blockHash
}

func (d DataDir) recordPath() string { return filepath.Join(string(d), "terraform.tfstate") }

// Recorded returns the backend that init recorded; nil if there is no record.
func (d DataDir) Recorded() (*Settings, error) {
	data, err := os.ReadFile(d.recordPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the backend's record: %w", err)
	}
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("%s is damaged (%w): run `lockstep init -reconfigure`", d.recordPath(), err)
	}
	if r.Backend == nil || r.Backend.Type == "" {
		return nil, nil
	}
	return &Settings{r.Backend.Type, r.Backend.Config, r.Backend.Hash}, nil
}

// Remember records the backend. If s is nil, it deletes the record, so that the backend is the local default.
func (d DataDir) Remember(s *Settings) error {
	if s == nil {
		err := os.Remove(d.recordPath())
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	}
	all := map[string]any{}
	for _, a := range backendTypes[s.Type].Attributes {
		if !a.Foreign {
			all[a.Name] = nil
		}
	}
	maps.Copy(all, s.Attributes)
	data, err := json.MarshalIndent(record{3, states.LanguageVersion, &recordBackend{s.Type, all, s.Block}}, "", "  ")
	if err != nil {
		return err
	}
	// The record may contain credentials, so only the owner may read it.
	return WriteFile(d.recordPath(), append(data, '\n'), 0o600)
}
