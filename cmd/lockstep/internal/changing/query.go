package changing

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/opening"
	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/events"
)

// queryFlags are the options of query.
type queryFlags struct {
	vars     cli.VarFlags
	generate string
	json     bool
}

var Query = cli.Command{Name: "query", Synopsis: "Find existing objects by list blocks", Run: func(a *cli.App, args []string) int {
	var o queryFlags
	f := a.NewFlags("query", "query [OPTIONS]")
	f.Vars(&o.vars)
	f.StringVar(&o.generate, "generate-config-out", "", "write resource and import blocks for the objects to this new file")
	f.JsonStream(&o.json)
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if code, ok := f.NoArguments(); !ok {
		return code
	}
	v := a.View(o.json)
	defer v.Close()
	op := opening.New(a)
	defer op.Close()
	ds := openQuery(a, op, &o)
	var out *generatedFile
	if !ds.HasErrors() && o.generate != "" {
		out, ds = newGeneratedFile(a, o.generate, ds)
	}
	if ds.HasErrors() {
		v.Diagnostics(ds)
		return 1
	}
	defer out.discard()
	tell := func(e events.Query) bool {
		v.Query(e)
		return out.add(e)
	}
	ds = append(ds, engine.Query(a.Ctx, op.RunWith(0, v), engine.QueryOptions{Generate: out != nil, Tell: tell})...)
	if a.Ctx.Err() != nil && !ds.HasErrors() {
		ds = append(ds, diags.Errorf(nil, "Query was interrupted", "Not all objects were found. Run the query again.")...)
	}
	if !ds.HasErrors() {
		ds = append(ds, out.finish()...)
	}
	v.Diagnostics(ds)
	if ds.HasErrors() {
		return 1
	}
	return 0
}}

// openQuery reads the configuration with its query files, the variables and the providers. No state is opened.
func openQuery(a *cli.App, op *opening.Operation, o *queryFlags) (ds diags.Diagnostics) {
	var more diags.Diagnostics
	if op.Dir, ds = a.Dir(); ds.HasErrors() {
		return ds
	}
	op.Prestart()
	if op.Config, more = op.Dir.LoadQueries(); op.Config != nil {
		maps.Copy(a.Files, op.Config.Files)
	}
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	if len(op.Config.Root.Lists) == 0 {
		return append(ds, diags.Errorf(nil, "No list blocks", "The directory %s has no list blocks, which say what to find. Write one into a file whose name ends with .tfquery.hcl.", op.Dir.WorkingDir())...)
	}
	op.Workspace = op.Dir.Workspace()
	if ds = append(ds, op.Collect(o.vars)...); ds.HasErrors() {
		return ds
	}
	if ds = append(ds, op.InvalidVariables()...); ds.HasErrors() {
		return ds
	}
	return append(ds, op.RequireSchemas()...)
}

// A generatedFile writes the file of the option -generate-config-out. While objects are found, their blocks
// go to a temporary file in the same directory. At the end, the temporary file gets the final name. The
// methods do nothing if the generatedFile is nil.
type generatedFile struct {
	path  string // as the person named it
	file  *os.File
	w     *bufio.Writer
	err   error
	block string // address of the list block whose objects were written last
}

func newGeneratedFile(a *cli.App, path string, ds diags.Diagnostics) (*generatedFile, diags.Diagnostics) {
	if ds = append(ds, generateTo(a, path)...); ds.HasErrors() {
		return nil, ds
	}
	place := a.Path(path)
	file, err := os.CreateTemp(filepath.Dir(place), ".query-")
	if err != nil {
		return nil, append(ds, diags.FromError("Failed to write generated configuration", err)...)
	}
	return &generatedFile{path: place, file: file, w: bufio.NewWriter(file)}, ds
}

// add writes the blocks of an object. It returns false if it could not write them.
func (f *generatedFile) add(e events.Query) bool {
	if f != nil && e.Kind == events.QueryComplete && f.block == e.Address {
		fmt.Fprintln(f.w)
	}
	if f == nil || e.Kind != events.QueryFound {
		return true
	}
	if f.block == "" {
		// With these comment lines, programs recognize generated files.
		fmt.Fprint(f.w, "# __generated__ by Terraform\n# Please review these resources and move them into your main configuration files.\n")
	}
	if f.block != e.Address {
		fmt.Fprint(f.w, "\n# __generated__ by Terraform\n")
		f.block = e.Address
	}
	_, f.err = fmt.Fprintf(f.w, "%s\n\n%s\n\n", e.Found.Resource, e.Found.Import)
	return f.err == nil
}

// finish renames the temporary file to its final name. If the query found no object, finish leaves no file.
func (f *generatedFile) finish() diags.Diagnostics {
	if f == nil || f.block == "" {
		return nil
	}
	err := f.err
	for _, next := range []func() error{
		f.w.Flush, func() error { return f.file.Chmod(0o644) }, f.file.Close, func() error { return os.Rename(f.file.Name(), f.path) },
	} {
		if err == nil {
			err = next()
		}
	}
	return diags.FromError("Failed to write generated configuration", err)
}

// discard removes the temporary file, if it still exists.
func (f *generatedFile) discard() {
	if f != nil {
		f.file.Close()
		os.Remove(f.file.Name())
	}
}
