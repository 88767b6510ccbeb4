package installing

import (
	"context"
	"os"
	"path/filepath"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// Copy copies the module at the address a to the directory dir, which must not exist. It takes a registry
// module in its newest version. It leaves out hidden files of the module, as Terraform and OpenTofu do when
// they copy a module. a must not be a local path. After an error, dir does not exist.
func (in *Installer) Copy(ctx context.Context, a source.Address, dir string) (ds diags.Diagnostics) {
	const summary = "Module cannot be copied"
	tmp, err := os.MkdirTemp(filepath.Dir(dir), ".new-")
	if err != nil {
		return diags.FromError(summary, err)
	}
	defer os.RemoveAll(tmp)
	one := *in
	one.Root, one.DataDir, one.Known, one.Events = tmp, "data", nil, nil
	run := one.begin(ctx)
	got, ds := run.install(loading.Wanted{Key: "root", Address: a, Call: &config.Call{Name: "root", Source: a.Text}})
	if ds.HasErrors() {
		for i := range ds {
			ds[i].Subject = nil // the diagnostics are about the module call above, which is in no file
		}
		return ds
	}
	// The module may be a link to a directory of this machine.
	from, err := filepath.EvalSymlinks(run.path(got.Dir))
	if err == nil {
		fresh := filepath.Join(tmp, "copy")
		if err = copyPackage(from, fresh); err == nil {
			err = os.Rename(fresh, dir)
		}
	}
	return append(ds, diags.FromError(summary, err)...)
}
