package loading

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/budget"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/decoding"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/language"
	"github.com/lockstep-iac/lockstep/engine/parsing"
)

// readDirectory reads and parses the directory of one module. call is the call of the module, nil for the
// root module.
func (l *loader) readDirectory(dir string, call *config.Call) (*config.Content, hcl.Diagnostics) {
	d := decoding.New(dir, decoding.Options{Called: call != nil, Computed: l.in.Early != nil, Registry: l.in.Registry, Language: l.in.Language})
	names, err := l.in.Tree.ReadDir(dir)
	if err != nil {
		return config.NewContent(dir), hcl.Diagnostics{l.unreadable(err, dir, call)}
	}
	primary, override := moduleFiles(names)
	for i, name := range append(primary, override...) {
		name = path.Join(dir, name)
		f, ds := Parse(l.in, name)
		d.Report(ds)
		if f == nil || f.Body == nil {
			continue
		}
		l.cfg.Files[name] = f
		d.File(f.Body, i >= len(primary))
	}
	if call == nil && l.in.Queries {
		for _, name := range queryFiles(names) {
			name = path.Join(dir, name)
			f, ds := Parse(l.in, name)
			d.Report(ds)
			if f != nil && f.Body != nil {
				l.cfg.Files[name] = f
				d.QueryFile(f.Body)
			}
		}
	}
	return d.Finish()
}

// Parse reads one file of in.Tree. The result is nil if the file cannot be read, or exceeds the budget.
func Parse(in Input, name string) (*hcl.File, hcl.Diagnostics) {
	src, err := in.Tree.ReadFile(name)
	if err != nil {
		return nil, hcl.Diagnostics{diags.HCLError(nil, "Failed to read file", "The file %q could not be read: %s.", name, err)}
	}
	if x := fits(in.Budget, src); x != nil {
		in.Budget.Passed(x)
		start := hcl.Range{Filename: name, Start: hcl.InitialPos, End: hcl.InitialPos}
		return nil, hcl.Diagnostics{x.Of("The file " + name).Diagnostic(start)}
	}
	parse := parsing.Config
	if strings.HasSuffix(name, ".json") {
		parse = parsing.JSON
	}
	f, ds := parse(src, name)
	if in.Language == language.V1_11 {
		parsing.UseBothOperands(f)
	}
	return f, ds
}

// fits returns an error if a file exceeds the budget.
func fits(b *budget.Budget, src []byte) *budget.Excess {
	if x := b.Step(1); x != nil {
		return x
	}
	if x := b.Read(int64(len(src))); x != nil {
		return x
	}
	return parsing.Fits(src, b.Limits())
}

func (l *loader) unreadable(err error, dir string, call *config.Call) *hcl.Diagnostic {
	if call == nil {
		return diags.HCLError(nil, "Failed to read module directory", "The root module's directory could not be read: %s.", err)
	}
	detail := fmt.Sprintf("The directory %s could not be read for module %q: %s.", dir, call.Name, err)
	if errors.Is(err, fs.ErrNotExist) {
		detail = fmt.Sprintf("The source of module %q is the directory %q, which does not exist. Correct the source, or create the directory. Then run \"lockstep init\".", call.Name, dir)
	}
	summary := "Module not installed" // programs that get this error run init, which reports more
	if l.in.Install != nil {
		summary = "Unreadable module directory"
	}
	return diags.HCLError(&call.Range, summary, detail)
}
