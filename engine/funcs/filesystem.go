package funcs

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/lockstep-iac/lockstep/engine/budget"
	"github.com/lockstep-iac/lockstep/engine/parsing"
)

// fileFunctions returns the functions that read files, or that deal with their paths.
func fileFunctions(s Scope) map[string]function.Function {
	t := s.tree()
	out := map[string]function.Function{
		"abspath":    t.absPathFunc(),
		"pathexpand": t.pathExpandFunc(),
	}
	for name, f := range t.readingFunctions() {
		out[name] = f
	}
	return out
}

// readingFunctions returns the functions that read files. Templates from outside of the configuration may not
// call them.
func (t tree) readingFunctions() map[string]function.Function {
	out := map[string]function.Function{
		"file":             t.contentsFunc(utf8Contents),
		"filebase64":       t.contentsFunc(base64Contents),
		"fileexists":       t.fileExistsFunc(),
		"fileset":          t.fileSetFunc(),
		"filebase64sha256": digests["sha256"].fileFunc(t, base64.StdEncoding.EncodeToString),
		"filebase64sha512": digests["sha512"].fileFunc(t, base64.StdEncoding.EncodeToString),
	}
	for name, d := range digests {
		out["file"+name] = d.fileFunc(t, hex.EncodeToString)
	}
	return out
}

// A tree is the file system with the names that a configuration uses: relative to a base directory, and with
// `~`.
type tree struct {
	base, home string
	files      Files
	budget     *budget.Budget
}

// tree returns the files that functions can access.
func (s Scope) tree() tree {
	return tree{base: s.BaseDir, home: s.Home, files: s.Files, budget: s.Budget}
}

// A fileName is a file's name as the configuration gives it, with the marks that decide whether messages may
// show it.
type fileName struct {
	name  string
	marks cty.ValueMarks
}

// String returns the name for messages, quoted.
func (n fileName) String() string { return shown(n.name, n.marks) }

// hide replaces the file's path in err with the name in the configuration, or with a
// placeholder if the name is secret.
func (n fileName) hide(err error) error {
	var pe *fs.PathError
	if !errors.As(err, &pe) {
		return err
	}
	name := filepath.Clean(n.name)
	if secret(n.marks) != "" {
		name = n.String()
	}
	return &fs.PathError{Op: pe.Op, Path: name, Err: pe.Err}
}

// expand replaces a leading `~`, or `~/`, with the home directory.
func (t tree) expand(name string) (string, error) {
	if name == "" || name[0] != '~' {
		return name, nil
	}
	if len(name) > 1 && name[1] != '/' && name[1] != filepath.Separator {
		return "", errors.New("cannot expand user-specific home dir")
	}
	if t.home == "" {
		return "", errors.New("the home directory is not known")
	}
	return filepath.Join(t.home, name[1:]), nil
}

// locate returns the absolute path of a file.
func (t tree) locate(n fileName) (string, error) {
	name, err := t.expand(n.name)
	if err != nil {
		return "", fmt.Errorf("failed to expand ~: %w", err)
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(t.base, name)
	}
	return filepath.Clean(name), nil
}

func (t tree) open(n fileName) (fs.File, error) {
	name, err := t.locate(n)
	if err != nil {
		return nil, err
	}
	f, err := t.files.Open(name)
	if err != nil {
		return nil, n.hide(err)
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() >= parsing.PointerSize {
		return f, nil
	}
	begins, err := io.ReadAll(io.LimitReader(f, parsing.PointerSize))
	f.Close()
	if err == nil && parsing.IsPointer(begins) {
		return nil, fmt.Errorf("the file %s is a pointer of Git LFS, and not the file itself. %s", n, parsing.PointerAdvice)
	}
	f, err = t.files.Open(name)
	return f, n.hide(err)
}

// read returns a file's contents. Its errors are about the argument with the file's name.
func (t tree) read(n fileName) ([]byte, error) {
	f, err := t.open(n)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no file exists at %s; this function works only with files that are distributed as part of the configuration source code, so if this file will be created by a resource in this configuration you must instead obtain this result from an attribute of that resource", n)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(interruptible{f, t.budget}, t.budget.Limits().Text+1))
	if err != nil {
		return nil, fmt.Errorf("failed to read file: %w", n.hide(err))
	}
	if x := t.budget.CheckText(int64(len(raw))); x != nil {
		return nil, fmt.Errorf("the file %s is too large: a text may have at most %s here", n, budget.Bytes(x.Allowed))
	}
	return raw, nil
}

// readText returns a file's contents, as [tree.read] does. If the file is not UTF-8 text, it returns an error.
func (t tree) readText(n fileName) (string, error) {
	raw, err := t.read(n)
	if err != nil {
		return "", function.NewArgError(0, err)
	}
	return utf8Contents(n, raw)
}

// fileFunc returns a function whose argument is one file name. f computes its result, which has the type ty and
// gets the marks of the file name.
func (t tree) fileFunc(ty cty.Type, f func(fileName) (cty.Value, error)) function.Function {
	return function.New(&function.Spec{
		Params:       []function.Parameter{maybe(marked(text("path")))},
		Type:         function.StaticReturnType(ty),
		RefineResult: notNull,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			name, ms := args[0].Unmark()
			if !name.IsKnown() {
				return cty.UnknownVal(ty).WithMarks(ms), nil
			}
			v, err := f(fileName{name.AsString(), ms})
			if err != nil {
				return cty.NilVal, err
			}
			return v.WithMarks(ms), nil
		},
	})
}

func (t tree) contentsFunc(encode func(fileName, []byte) (string, error)) function.Function {
	return t.fileFunc(cty.String, func(n fileName) (cty.Value, error) {
		raw, err := t.read(n)
		if err != nil {
			return cty.NilVal, function.NewArgError(0, err)
		}
		s, err := encode(n, raw)
		return cty.StringVal(s), err
	})
}

func base64Contents(_ fileName, raw []byte) (string, error) {
	return base64.StdEncoding.EncodeToString(raw), nil
}

func utf8Contents(n fileName, raw []byte) (string, error) {
	if !utf8.Valid(raw) {
		return "", fmt.Errorf("contents of %s are not valid UTF-8; use the filebase64 function to obtain the Base64 encoded contents or the other file functions (e.g. filemd5, filesha256) to obtain file hashing results instead", n)
	}
	return string(raw), nil
}

func (t tree) fileExistsFunc() function.Function {
	return t.fileFunc(cty.Bool, func(n fileName) (cty.Value, error) {
		name, err := t.locate(n)
		if err != nil {
			return cty.NilVal, err
		}
		info, err := t.files.Stat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return cty.False, nil
		case errors.Is(err, errOutside):
			return cty.NilVal, n.hide(err)
		case err != nil:
			return cty.NilVal, fmt.Errorf("failed to stat %s", n)
		case info.Mode().IsRegular():
			return cty.True, nil
		}
		// Messages show the name in its clean form, so "" is shown as ".".
		n.name = filepath.Clean(n.name)
		if info.IsDir() {
			return cty.NilVal, fmt.Errorf("%s is a directory, not a file", n)
		}
		return cty.NilVal, fmt.Errorf("%s is not a regular file, but %q", n, info.Mode().Type().String())
	})
}

func (t tree) absPathFunc() function.Function {
	return stringFunc(func(args []string) (string, error) {
		if filepath.IsAbs(args[0]) {
			return filepath.ToSlash(filepath.Clean(args[0])), nil
		}
		return filepath.ToSlash(filepath.Join(t.base, args[0])), nil
	}, text("path"))
}

func (t tree) pathExpandFunc() function.Function {
	return stringFunc(func(args []string) (string, error) {
		return t.expand(args[0])
	}, text("path"))
}

var (
	basenameFunc = stringFunc(func(args []string) (string, error) {
		return filepath.Base(args[0]), nil
	}, text("path"))
	dirnameFunc = stringFunc(func(args []string) (string, error) {
		return filepath.Dir(args[0]), nil
	}, text("path"))
)
