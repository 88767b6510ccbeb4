package surveying

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/functions/project/atlantis"
)

// ConfigImport writes lockstep.hcl from atlantis.yaml.
var ConfigImport = cli.Command{Name: "config import", Synopsis: "Write lockstep.hcl from an atlantis.yaml", Run: func(a *cli.App, args []string) int {
	var force bool
	f := a.NewFlags("config import", "config import [OPTIONS] [atlantis.yaml]")
	f.BoolVar(&force, "force", false, "overwrite an existing lockstep.hcl")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	name := atlantis.FileName
	switch f.NArg() {
	case 0:
	case 1:
		name = f.Arg(0)
	default:
		return a.Usage("the command config import reads one file, and not %d", f.NArg())
	}
	return imported(a, name, force)
}}

// imported reads the file, whose path is from the repository's directory, and writes lockstep.hcl there.
func imported(a *cli.App, name string, force bool) int {
	root, err := os.OpenRoot(a.Chdir)
	if err != nil {
		return a.Failed(err)
	}
	defer root.Close()
	if !filepath.IsAbs(name) {
		name = filepath.Join(a.Chdir, name)
	}
	src, err := os.ReadFile(name)
	if err != nil {
		return a.Failed(err)
	}
	text, notices, ds := project.Imported(root.FS(), src)
	a.Files[atlantis.FileName] = &hcl.File{Bytes: src}
	if ds.HasErrors() {
		return a.Tell(ds)
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if force {
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	if err := put(root, flags, text); errors.Is(err, fs.ErrExist) {
		return a.Show(diags.Errorf(nil, "There is a "+project.FileName+" already", "The command writes %s anew, and what stands in it would be lost. Move it away, or use -force.", project.FileName))
	} else if err != nil {
		return a.Failed(err)
	}
	fmt.Fprintf(a.Out, "%s is written. Where it stands, %s does not count any more.\n", project.FileName, atlantis.FileName)
	if len(notices) > 0 {
		fmt.Fprintf(a.Out, "The comments at its beginning name what has no meaning here (%d).\n", len(notices))
	}
	return 0
}

func put(root *os.Root, flags int, text []byte) error {
	f, err := root.OpenFile(project.FileName, flags, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
