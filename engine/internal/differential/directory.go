package differential

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

const (
	stateName   = "terraform.tfstate"
	keptName    = "before.tfstate"
	labDir      = "lab" // directory with the objects of the lab provider
	keptLabDir  = "lab-before"
	backendFile = "backend.tf"
	plannedPath = "planned.tfstate" // state path of the backend while planning, in rounds that change the path
	otherPath   = "other.tfstate"
)

// keep saves the state from which the first tool starts a round, and the objects of the lab provider.
func keep(dir string) error {
	if err := copyDir(filepath.Join(dir, labDir), filepath.Join(dir, keptLabDir)); err != nil {
		return err
	}
	return copyFile(filepath.Join(dir, stateName), filepath.Join(dir, keptName))
}

// carry copies the saved state and lab objects to the directory of the second tool, so that both tools start
// from the same ones.
func carry(from, to string) error {
	if err := copyDir(filepath.Join(from, keptLabDir), filepath.Join(to, labDir)); err != nil {
		return err
	}
	return copyFile(filepath.Join(from, keptName), filepath.Join(to, stateName))
}

// copyFile copies a file, if there is one.
func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}

// copyDir replaces directory to by a copy of directory from, which need not exist.
func copyDir(from, to string) error {
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	if _, err := os.Stat(from); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return os.CopyFS(to, os.DirFS(from))
}

// initialize creates dir, and initializes it with the lab provider from a filesystem mirror, for
// [Tool.Providers].
func (t Tool) initialize(ctx context.Context, dir, mirror string) error {
	err := write(filepath.Join(dir, "main.tf"), fmt.Appendf(nil, "terraform {\n  required_providers {\n    lab = {\n      source = %q\n    }\n  }\n}\n", labProvider))
	if err != nil {
		return err
	}
	_, err = t.output(ctx, dir, "init", "-input=false", "-plugin-dir="+mirror)
	return err
}

// provide copies the lab provider to a directory.
func (t Tool) provide(dir string) error {
	if err := copyFile(filepath.Join(t.Providers, ".terraform.lock.hcl"), filepath.Join(dir, ".terraform.lock.hcl")); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, ".terraform"), 0o755); err != nil {
		return err
	}
	return os.Symlink(filepath.Join(t.Providers, ".terraform", "providers"), filepath.Join(dir, ".terraform", "providers"))
}

// moveTo makes the configuration in dir keep its state at another path. The first call moves the state there
// itself, without the tool.
func (t Tool) moveTo(ctx context.Context, dir, path string) error {
	if path == plannedPath {
		if err := copyFile(filepath.Join(dir, stateName), filepath.Join(dir, path)); err != nil {
			return err
		}
	}
	if err := write(filepath.Join(dir, backendFile), fmt.Appendf(nil, "terraform {\n  backend \"local\" {\n    path = %q\n  }\n}\n", path)); err != nil {
		return err
	}
	_, err := t.output(ctx, dir, "init", "-input=false", "-reconfigure")
	return err
}

// comeBack restores the backend's path at the end of a round in which it was changed after the plan. The tool
// must not have written a state to the changed path: if it has, comeBack adds that to the tool's errors.
func comeBack(dir string, r *Result) error {
	if _, err := os.Stat(filepath.Join(dir, otherPath)); err == nil {
		r.Errors = append(r.Errors, "the state was written to the other backend")
	}
	if err := copyFile(filepath.Join(dir, plannedPath), filepath.Join(dir, stateName)); err != nil {
		return err
	}
	for _, name := range []string{backendFile, plannedPath, otherPath, filepath.Join(".terraform", stateName)} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}
