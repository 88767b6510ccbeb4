package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// Attributes are the attributes of a `backend "local"` block.
var Attributes = []statebackend.Attribute{
	{Name: "path", Type: statebackend.String},
	{Name: "workspace_dir", Type: statebackend.String},
}

// These are the file and directory names of Terraform's local backend.
const (
	stateFile    = "terraform.tfstate"
	workspaceDir = "terraform.tfstate.d"
	backupSuffix = ".backup"
)

// Options are the settings of the command line besides the backend block.
type Options struct {
	// Dir is the directory that relative paths start from; "" means the working directory of the process.
	// Messages show paths as the user wrote them.
	Dir string

	// StatePath replaces the configured file for reading (-state). StateOutPath replaces the file that is
	// written and locked (-state-out; "": the file that is read). BackupPath is the file for the bytes that
	// the first write replaces (-backup; "": the written file's name and ".backup"; "-": no backup). The
	// three apply to every workspace, as Terraform's do.
	StatePath, StateOutPath, BackupPath string
}

// Backend keeps states in files. It implements statebackend.Backend.
type Backend struct {
	path         string // of the default workspace
	workspaceDir string
	options      Options
}

// Open creates a backend from the attributes of a backend block, which may be nil. It accesses no file. The
// error is a *statebackend.AttributeError.
func Open(config map[string]any, options Options) (*Backend, error) {
	var c struct {
		Path         *string `json:"path"`
		WorkspaceDir *string `json:"workspace_dir"`
	}
	if err := statebackend.Decode(Attributes, config, &c); err != nil {
		return nil, err
	}
	b := &Backend{path: stateFile, workspaceDir: workspaceDir, options: options}
	if c.Path != nil {
		if *c.Path == "" {
			return nil, &statebackend.AttributeError{Attribute: "path", Problem: "the path must not be empty"}
		}
		b.path = *c.Path
	}
	if c.WorkspaceDir != nil {
		if *c.WorkspaceDir == "" {
			return nil, &statebackend.AttributeError{Attribute: "workspace_dir", Problem: "the path must not be empty"}
		}
		b.workspaceDir = *c.WorkspaceDir
	}
	return b, nil
}

// Workspaces lists the directories in the workspace directory, even those without a state: a stock tool
// creates the directory before the first state.
func (b *Backend) Workspaces(ctx context.Context) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	names := []string{statebackend.DefaultWorkspace}
	entries, err := os.ReadDir(b.at(b.workspaceDir)) // sorted
	if errors.Is(err, fs.ErrNotExist) {
		return names, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list workspaces: %w", err)
	}
	for _, e := range entries {
		if e.IsDir() && e.Name() != statebackend.DefaultWorkspace {
			names = append(names, e.Name())
		}
	}
	return slices.Clip(names), nil
}

// DeleteWorkspace removes the workspace's directory and all its files.
func (b *Backend) DeleteWorkspace(ctx context.Context, name string, prev statebackend.Version) error {
	if name == statebackend.DefaultWorkspace {
		return errors.New("the default workspace cannot be deleted")
	}
	if err := statebackend.CheckWorkspaceName(name); err != nil {
		return err
	}
	w := &workspace{read: filepath.Join(b.workspaceDir, name, stateFile), dir: b.options.Dir}
	w.out = w.read
	snapshot, err := w.Get(ctx)
	if err != nil {
		return err
	}
	if snapshot.Version != prev && snapshot.Version != "" {
		return &statebackend.ConflictError{Path: w.out, Want: prev, Found: snapshot.Version}
	}
	// A crash in RemoveAll leaves a part of the directory: the workspace is still listed and can be deleted
	// again.
	if err := os.RemoveAll(b.at(filepath.Join(b.workspaceDir, name))); err != nil {
		return fmt.Errorf("delete workspace %s: %w", name, err)
	}
	return nil
}

// Open returns the state of a workspace. [Options] determine its path.
func (b *Backend) Open(name string) (statebackend.Workspace, error) {
	if err := statebackend.CheckWorkspaceName(name); err != nil {
		return nil, err
	}
	w := &workspace{read: b.options.StatePath, out: b.options.StateOutPath, backup: b.options.BackupPath, dir: b.options.Dir}
	if w.read == "" {
		w.read = b.path
		if name != statebackend.DefaultWorkspace {
			w.read = filepath.Join(b.workspaceDir, name, stateFile)
		}
	}
	if w.out == "" {
		w.out = w.read
	}
	switch w.backup {
	case "":
		w.backup = w.out + backupSuffix
	case "-":
		w.backup = ""
	}
	return w, nil
}

// at returns path in the form in which the process can open it: a relative path starts from Options.Dir.
func (b *Backend) at(path string) string { return at(b.options.Dir, path) }

func at(dir, path string) string {
	if dir == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
