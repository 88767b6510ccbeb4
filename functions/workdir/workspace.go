package workdir

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// Workspace returns the name of the selected workspace. It is the value of TF_WORKSPACE, otherwise the recorded
// selection, otherwise "default".
func (d *Dir) Workspace() string {
	if w := d.Getenv("TF_WORKSPACE"); w != "" {
		return w
	}
	data, err := os.ReadFile(filepath.Join(string(d.DataDir), "environment"))
	if w := strings.TrimSpace(string(data)); err == nil && w != "" {
		return w
	}
	return statebackend.DefaultWorkspace
}

// SelectWorkspace records which workspace is selected, as Terraform does.
func (d *Dir) SelectWorkspace(name string) error {
	return WriteFile(filepath.Join(string(d.DataDir), "environment"), []byte(name), 0o644)
}
