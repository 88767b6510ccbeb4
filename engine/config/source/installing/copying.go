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

// Copy makes the directory dir, which does not exist before, a copy of the module that an
// address means, a registry's in its newest version. Hidden files of the module are left
// out, as where the stock tools copy one. A local path means nothing here. After an error
// there is no such directory.
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
			ds[i].Subject = nil // there is no such call
		}
		return ds
	}
	// A directory of this machine is there by a link.
	from, err := filepath.EvalSymlinks(run.path(got.Dir))
	if err == nil {
		fresh := filepath.Join(tmp, "copy")
		if err = copyPackage(from, fresh); err == nil {
			err = os.Rename(fresh, dir)
		}
	}
	return append(ds, diags.FromError(summary, err)...)
}
