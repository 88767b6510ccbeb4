package authoring

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/rogpeppe/go-internal/diff"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/parsing"
)

// Exit codes of fmt, the same as Terraform's.
const (
	fmtFailed      = 2 // something could not be read, parsed or written
	fmtUnformatted = 3 // -check found something to do
)

// fmtExtensions are the endings of the file names that fmt formats when it is given a directory.
var fmtExtensions = []string{".tf", ".tofu", ".tfvars", ".tftest.hcl", ".tfmock.hcl", ".tofutest.hcl", ".tofumock.hcl", ".tfquery.hcl"}

var Fmt = cli.Command{Name: "fmt", Synopsis: "Rewrite configuration files in the canonical format", Run: func(a *cli.App, args []string) int {
	var found bytes.Buffer
	c := formatter{a: a, out: a.Out}
	f := a.NewFlags("fmt", "fmt [OPTIONS] [DIRECTORY|FILE|-...]")
	f.BoolVar(&c.check, "check", false, "write nothing; exit with 3 if any file is not formatted")
	f.BoolVar(&c.diff, "diff", false, "show the changes")
	f.BoolVar(&c.list, "list", true, "list the files whose format changes")
	f.BoolVar(&c.write, "write", true, "write the files whose format changes")
	f.BoolVar(&c.recursive, "recursive", false, "format subdirectories, too")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	c.write = c.write && !c.check
	if c.check {
		c.out = &found // shown only if everything could be checked
	}
	paths := f.Args()
	if len(paths) == 0 {
		paths = []string{"."}
	}
	var ds diags.Diagnostics
	if paths[0] == "-" { // further arguments are ignored
		ds = c.standardInput()
	} else {
		for _, p := range paths {
			ds = append(ds, c.path(p)...)
		}
	}
	switch {
	case a.Show(ds) != 0:
		return fmtFailed
	case c.check && c.changed:
		a.Out.Write(found.Bytes())
		return fmtUnformatted
	}
	return 0
}}

// A formatter is one invocation of fmt.
type formatter struct {
	a                                   *cli.App
	out                                 io.Writer
	check, diff, list, write, recursive bool
	changed                             bool
}

// standardInput formats the text on standard input. It writes the formatted text to standard output. With
// -diff, it writes the differences instead.
func (c *formatter) standardInput() diags.Diagnostics {
	src, err := io.ReadAll(c.a.In)
	if err != nil {
		return diags.FromError("Error reading standard input", err)
	}
	c.list, c.write = false, false
	out, ds := c.source("<stdin>", src)
	if !ds.HasErrors() && !c.check && !c.diff {
		if !bytes.HasSuffix(out, []byte("\n")) {
			out = append(out, '\n') // as editors expect of a filter
		}
		c.out.Write(out)
	}
	return ds
}

// path formats what the user has named on the command line: a file or a directory.
func (c *formatter) path(p string) diags.Diagnostics {
	info, err := os.Stat(c.a.Path(p))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return diags.Errorf(nil, "No file or directory at "+p, "Check the name. Give fmt a file (*.tf, *.tfvars) or a directory.")
	case err != nil:
		return diags.Errorf(nil, "Cannot look at "+p, "%s.", cli.Reason(err))
	case info.IsDir():
		return c.directory(p)
	case !formatted(p):
		return diags.Errorf(nil, "Not a file to format", "%s is not a file that this command formats: %s.", p, strings.Join(fmtExtensions, ", "))
	}
	return c.file(p)
}

// formatted reports whether fmt, when it is given a directory, formats the file with this name.
func formatted(name string) bool {
	for _, ext := range fmtExtensions {
		if strings.HasSuffix(name, ext) {
			return true
		}
	}
	return false
}

// directory formats the files of a directory, except hidden files and temporary files of editors.
func (c *formatter) directory(dir string) diags.Diagnostics {
	entries, err := os.ReadDir(c.a.Path(dir))
	if err != nil {
		return diags.Errorf(nil, "Cannot read the directory "+dir, "%s.", cli.Reason(err))
	}
	var ds diags.Diagnostics
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") || strings.HasPrefix(name, "#") && strings.HasSuffix(name, "#") {
			continue
		}
		p := filepath.Join(dir, name)
		switch {
		case e.IsDir() && c.recursive:
			ds = append(ds, c.directory(p)...)
		case !e.IsDir() && formatted(name):
			ds = append(ds, c.file(p)...)
		}
	}
	return ds
}

// file formats the file p and, with -write, overwrites it.
func (c *formatter) file(p string) diags.Diagnostics {
	src, err := os.ReadFile(c.a.Path(p))
	if err != nil {
		return diags.Errorf(nil, "Cannot read "+p, "%s.", cli.Reason(err))
	}
	out, ds := c.source(filepath.ToSlash(p), src)
	if ds.HasErrors() || !c.write || bytes.Equal(src, out) {
		return ds
	}
	if err := overwrite(c.a.Path(p), out); err != nil {
		ds = append(ds, diags.Errorf(nil, "Cannot write "+p, "%s; the file is as it was.", cli.Reason(err))...)
	}
	return ds
}

// overwrite replaces a file atomically, and keeps the file's permissions.
func overwrite(path string, data []byte) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	t, err := os.CreateTemp(filepath.Dir(path), ".fmt-*")
	if err != nil {
		return err
	}
	defer os.Remove(t.Name())
	if _, err = t.Write(data); err == nil {
		err = t.Chmod(info.Mode().Perm())
	}
	if e := t.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(t.Name(), path)
}

// hunk matches the first line of a hunk in a diff.
var hunk = regexp.MustCompile(`(?m)^@@ -\d+,\d+ \+\d+,\d+ @@$`)

// headline shortens the headers of the hunks in a diff. Like the program diff, it writes "-3" instead of "-3,1"
// for a length of one line.
func headline(full []byte) []byte { return bytes.ReplaceAll(full, []byte(",1 "), []byte(" ")) }

// source returns the formatted text of one file. If the text changes, source reports that to the user, in the
// form that the options ask for.
func (c *formatter) source(name string, src []byte) ([]byte, diags.Diagnostics) {
	file, hs := parsing.Config(src, name)
	c.a.Files[name] = &hcl.File{Bytes: src}
	if hs.HasErrors() || file == nil {
		return nil, diags.FromHCL(hs)
	}
	out := normalize(src, name)
	if bytes.Equal(src, out) {
		return out, nil
	}
	c.changed = true
	if c.list {
		fmt.Fprintln(c.out, name)
	}
	if c.diff {
		text := diff.Diff("old/"+name, src, "new/"+name, out)
		_, text, _ = bytes.Cut(text, []byte("\n")) // a headline of the library's own
		c.out.Write(hunk.ReplaceAllFunc(text, headline))
	}
	return out, nil
}

// normalize returns src in the canonical format. src must have no syntax errors.
func normalize(src []byte, name string) []byte {
	f, hs := hclwrite.ParseConfig(src, name, hcl.InitialPos)
	if hs.HasErrors() {
		return hclwrite.Format(src)
	}
	normalizeBody(f.Body(), nil)
	return hclwrite.Format(f.Bytes())
}
