package gcs

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/lockfile"
)

// Backend is a prefix in a bucket. It implements statebackend.Backend.
type Backend struct {
	objects *objects
	prefix  string // "", or with a slash at the end
}

const stateSuffix = ".tfstate"

// Open creates a backend from the attributes of a backend block. It makes no request to the bucket.
func Open(ctx context.Context, config map[string]any) (*Backend, error) {
	var v values
	if err := statebackend.Decode(Attributes, config, &v); err != nil {
		return nil, err
	}
	o, err := settle(ctx, v)
	if err != nil {
		return nil, err
	}
	prefix := strings.Trim(v.Prefix, "/")
	if prefix != "" {
		prefix += "/"
	}
	return &Backend{o, prefix}, nil
}

// Workspaces implements statebackend.Backend.
func (b *Backend) Workspaces(ctx context.Context) ([]string, error) {
	objects, err := b.objects.list(ctx, b.prefix)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, object := range objects {
		name, ok := strings.CutSuffix(strings.TrimPrefix(object, b.prefix), stateSuffix)
		if ok && name != statebackend.DefaultWorkspace && statebackend.CheckWorkspaceName(name) == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return append([]string{statebackend.DefaultWorkspace}, names...), nil
}

// DeleteWorkspace implements statebackend.Backend.
func (b *Backend) DeleteWorkspace(ctx context.Context, name string, prev statebackend.Version) error {
	if name == statebackend.DefaultWorkspace {
		return errors.New("the workspace \"default\" cannot be deleted")
	}
	w, err := b.open(name)
	if err != nil {
		return err
	}
	err = w.objects.Delete(ctx, w.state, string(prev))
	if !errors.Is(err, lockfile.ErrPrecondition) {
		return err
	}
	now, err := w.Get(ctx)
	if err == nil && now.Version != "" {
		err = &statebackend.ConflictError{Path: w.Place(), Want: prev, Found: now.Version}
	}
	return err
}

// Open implements statebackend.Backend.
func (b *Backend) Open(name string) (statebackend.Workspace, error) { return b.open(name) }

func (b *Backend) open(name string) (*workspace, error) {
	if err := statebackend.CheckWorkspaceName(name); err != nil {
		return nil, err
	}
	w := &workspace{objects: b.objects, state: b.prefix + name + stateSuffix, holder: statebackend.NewLockID()}
	w.file = &lockfile.File{Objects: b.objects, Key: b.prefix + name + lockfile.Suffix, Path: w.Place(), Leases: true, Strict: b.objects.base == googleBase}
	return w, nil
}
