package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/budget"
	"github.com/lockstep-iac/lockstep/engine/parsing"
)

// moduleFiles picks a module's files out of a directory's: .tf and .tf.json, and
// .tofu and .tofu.json, which hide a .tf or .tf.json file of the same stem. Override
// files are applied after all others, in the order of their names.
func moduleFiles(names []string) (primary, override []string) {
	all := map[string]bool{}
	for _, n := range names {
		all[n] = true
	}
	for _, n := range names {
		stem, ext := splitName(n)
		if ext == "" || ignored(n) {
			continue
		}
		if strings.HasPrefix(ext, ".tf") && all[stem+strings.Replace(ext, ".tf", ".tofu", 1)] {
			continue
		}
		if stem == "override" || strings.HasSuffix(stem, "_override") {
			override = append(override, n)
		} else {
			primary = append(primary, n)
		}
	}
	return primary, override
}

// IsFile reports whether a file of this name, which may be a path, is part of a
// configuration, unless another one hides it.
func IsFile(name string) bool {
	name = path.Base(name)
	_, ext := splitName(name)
	return ext != "" && !ignored(name)
}

// splitName cuts a configuration file's extension off; it is "" for other files.
func splitName(name string) (stem, ext string) {
	for _, e := range []string{".tf", ".tf.json", ".tofu", ".tofu.json"} {
		if s, ok := strings.CutSuffix(name, e); ok {
			return s, e
		}
	}
	return name, ""
}

// ignored reports whether a file is hidden, or an editor's backup or lock.
func ignored(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") ||
		strings.HasPrefix(name, "#") && strings.HasSuffix(name, "#")
}

// readDirectory reads and parses one module's directory. call is the call that
// asked for it, nil for the root module.
func (l *loader) readDirectory(dir string, call *Call) (*Content, hcl.Diagnostics) {
	tree := l.in.Tree
	r := &reader{c: newContent(dir), called: call != nil, early: l.in.Early != nil}
	names, err := tree.ReadDir(dir)
	if err != nil {
		r.diags = append(r.diags, unreadable(err, dir, call))
		return r.c, r.diags
	}
	primary, override := moduleFiles(names)
	for i, name := range append(primary, override...) {
		name = path.Join(dir, name)
		f := r.parse(l.in, name)
		if f == nil || f.Body == nil {
			continue
		}
		l.cfg.Files[name] = f
		r.override = i >= len(primary)
		r.file(f.Body)
	}
	r.finish()
	return r.c, r.diags
}

func (r *reader) parse(in Input, name string) *hcl.File {
	src, err := in.Tree.ReadFile(name)
	if err != nil {
		r.errorf(nil, "Failed to read file", "The file %q could not be read: %s.", name, err)
		return nil
	}
	if x := fits(in.Budget, src); x != nil {
		in.Budget.Passed(x)
		r.diags = append(r.diags, x.Of("The file "+name).Diagnostic(hcl.Range{Filename: name, Start: hcl.InitialPos, End: hcl.InitialPos}))
		return nil
	}
	var f *hcl.File
	var ds hcl.Diagnostics
	if strings.HasSuffix(name, ".json") {
		f, ds = parsing.JSON(src, name)
	} else {
		f, ds = parsing.Config(src, name)
	}
	r.diags = append(r.diags, ds...)
	return f
}

// fits returns an error if a file is too much for the budget.
func fits(b *budget.Budget, src []byte) *budget.Excess {
	if x := b.Step(1); x != nil {
		return x
	}
	if x := b.Read(int64(len(src))); x != nil {
		return x
	}
	return parsing.Fits(src, b.Limits())
}

func unreadable(err error, dir string, call *Call) *hcl.Diagnostic {
	if call == nil {
		return problem(nil, "Failed to read module directory", "The root module's directory could not be read: %s.", err)
	}
	detail := fmt.Sprintf("The directory %s could not be read for module %q: %s.", dir, call.Name, err)
	if errors.Is(err, fs.ErrNotExist) {
		detail = fmt.Sprintf("The directory %s, which module %q is called from, does not exist.", dir, call.Name)
	}
	return problem(&call.Range, "Unreadable module directory", detail)
}

func newContent(dir string) *Content {
	return &Content{
		Dir:               dir,
		RequiredProviders: map[string]*RequiredProvider{},
		Providers:         map[addrs.LocalProviderConfig]*Provider{},
		Variables:         map[string]*Variable{},
		Locals:            map[string]*Local{},
		Outputs:           map[string]*Output{},
		Resources:         map[addrs.Resource]*Resource{},
		Calls:             map[string]*Call{},
		Checks:            map[string]*Check{},
	}
}
