package subprocess

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Packages is a store of providers' packages. A package in the store is not trusted. A run installs only
// packages with a checksum that the base branch grants.
type Packages interface {
	// Address returns an address at which a package can be read in ranges for some minutes, whether or not the
	// package exists.
	Address(ctx context.Context, p PackageName) (url string, err error)
	// Keep puts a package into the store.
	Keep(ctx context.Context, p PackageName, f *os.File) error
}

// A PackageName names a package of a provider, as a child does: "registry.terraform.io/hashicorp/aws", "6.2.0",
// "linux_arm64".
type PackageName struct{ Provider, Version, Platform string }

// address returns the address of a package in the store.
func (c *call) address(ctx context.Context, p PackageName) (string, error) {
	switch {
	case !c.installs():
		return "", errShape
	case c.engine.Packages == nil:
		return "", &Absent{"there is no store of packages"}
	}
	return c.engine.Packages.Address(ctx, p)
}

// installs reports whether the child's work includes installing providers.
func (c *call) installs() bool {
	return slices.Contains([]action{plans, applies, checks, snapshots}, c.order.Action)
}

// maxPackage is the maximum size of a package in bytes. S3 accepts 5 GB in one request, and no provider is that
// large.
const maxPackage = 2 << 30

// keep puts a package into the store, unless programs of this child could have forged it.
func (c *call) keep(ctx context.Context, p PackageName, file string) error {
	if !c.installs() || filepath.Base(file) != file {
		return errShape
	}
	if c.engine.Packages == nil || c.programs {
		return nil
	}
	// os.Root ensures that no link leads out of the directory.
	root, err := os.OpenRoot(c.order.Fetched)
	if err != nil {
		return err
	}
	defer root.Close()
	if info, err := root.Lstat(file); err != nil || !info.Mode().IsRegular() || info.Size() > maxPackage {
		return fmt.Errorf("%s is no package", file)
	}
	f, err := root.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	return c.engine.Packages.Keep(ctx, p, f)
}

// Package requests the address of a package in the store from the parent.
func (c *Child) Package(_ context.Context, p PackageName) (url string, err error) {
	a, err := c.ask(question{Kind: isPackage, Package: p})
	return a.Text, err
}

// Keep makes the parent put a package into the store. The parent removes the file.
func (c *Child) Keep(_ context.Context, p PackageName, path string) error {
	c.keeps++
	name := fmt.Sprintf("kept-%d.zip", c.keeps)
	ours := filepath.Join(c.order.Fetched, name)
	if err := os.Rename(path, ours); err != nil {
		return err
	}
	defer os.Remove(ours)
	_, err := c.ask(question{Kind: isKeep, Package: p, File: name})
	return err
}
