package policies

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/util"
)

// Limits of a policy directory: the number of files, the size of one file, and the size of all files.
const (
	maxFiles = 1000
	maxFile  = 1 << 20 // bytes
	maxAll   = 5 << 20 // bytes
)

// A directory has the parsed files of a policy directory.
type directory struct {
	modules map[string]*ast.Module // by file
	data    map[string]any         // as encoding/json has it, with json.Number
}

// load parses the files, in the order of their names. It records mistakes in ps.
func load(files map[string][]byte, v ast.RegoVersion, ps *problems) directory {
	d := directory{map[string]*ast.Module{}, map[string]any{}}
	if len(files) > maxFiles {
		ps.add("", 0, "there are %d files of policies and data, and at most %d are allowed", len(files), maxFiles)
		return d
	}
	all := 0
	for _, name := range slices.Sorted(maps.Keys(files)) {
		src := files[name]
		isData := slices.Contains([]string{".json", ".yaml", ".yml"}, path.Ext(name))
		if path.Ext(name) != ".rego" && !isData || strings.HasSuffix(name, "_test.rego") {
			continue
		}
		if all += len(src); all > maxAll {
			ps.add("", 0, "the policies and their data have more than %d bytes", maxAll)
			return d
		}
		switch {
		case !fs.ValidPath(name):
			ps.add(name, 0, "this is not a slash-separated path below the policy directory")
		case len(src) > maxFile:
			ps.add(name, 0, "the file has %d bytes, and at most %d are allowed", len(src), maxFile)
		case isData:
			d.addData(name, src, ps)
		default:
			d.addModule(name, src, v, ps)
		}
	}
	return d
}

// addModule parses a Rego file, including annotations, in the same way as conftest.
func (d directory) addModule(name string, src []byte, v ast.RegoVersion, ps *problems) {
	if line := bracketed(src); line > 0 {
		ps.add(name, line, "there are more than %d brackets one in another: give parts names", maxBrackets)
		return
	}
	m, err := ast.ParseModuleWithOpts(name, string(src), ast.ParserOptions{RegoVersion: v, ProcessAnnotation: true})
	if err != nil {
		ps.addError("", name, err)
		if v != ast.RegoV0 {
			if m, err := ast.ParseModuleWithOpts(name, string(src), ast.ParserOptions{RegoVersion: ast.RegoV0}); err == nil && m != nil {
				ps.add(name, 0, "this is version 0 of Rego: choose it as the version, or convert the file by \"opa fmt --write --v0-v1\"")
			}
		}
		return
	}
	if m == nil {
		return // no more than comments
	}
	if at := deepest(m); at != nil {
		ps.addAt(at, "this is nested too deeply: at most %d comprehensions one in another are allowed, and %d operators or branches: give parts names", maxClosures, maxNodes/2)
		return
	}
	d.modules[name] = m
}

// addData merges a document into the data, at the path of the document's folder. The name of its file does not
// matter, as with conftest's --data. If two documents have the same key, both values must be objects. See
// https://github.com/open-policy-agent/opa/blob/main/v1/loader/loader.go.
func (d directory) addData(name string, src []byte, ps *problems) {
	var doc any
	var err error
	if path.Ext(name) == ".json" {
		err = util.UnmarshalJSON(src, &doc)
	} else {
		err = util.Unmarshal(src, &doc) // as YAML 1.2
	}
	if err == nil {
		_, err = ast.InterfaceToValue(doc) // InterfaceToValue refuses numbers that are too large for computations.
	}
	if err != nil {
		ps.add(name, lineOf(src, err), "the data can not be read: %v", err)
		return
	}
	if folder := path.Dir(name); folder != "." {
		parts := strings.Split(folder, "/")
		for _, part := range slices.Backward(parts) {
			doc = map[string]any{part: doc}
		}
	}
	object, ok := doc.(map[string]any)
	if !ok {
		ps.add(name, 0, "the data must be an object, whose keys become those of \"data\"")
		return
	}
	if at := merge(d.data, object, nil); at != nil {
		ps.add(name, 0, "data.%s is in another file, too: only objects are merged", strings.Join(at, "."))
	}
}

// merge copies the entries of from into to, recursively. conflict is the path of the first key that both maps
// have; nil if there is none. A key whose values are objects in both maps is no conflict. All other keys are
// always merged.
func merge(to, from map[string]any, at []string) (conflict []string) {
	for _, key := range slices.Sorted(maps.Keys(from)) {
		here := append(slices.Clone(at), key)
		old, is := to[key]
		a, isObject := old.(map[string]any)
		b, areObjects := from[key].(map[string]any)
		switch {
		case !is:
			to[key] = from[key]
		case !isObject || !areObjects:
			return here
		default:
			if c := merge(a, b, here); c != nil {
				return c
			}
		}
	}
	return nil
}

// has reports whether the data contains a value at the path at.
func (d directory) has(at []string) bool {
	var v any = d.data
	for _, key := range at {
		object, ok := v.(map[string]any)
		if !ok {
			return false
		}
		if v, ok = object[key]; !ok {
			return false
		}
	}
	return true
}

// lineOf returns the line of a syntax error in JSON. It returns 0 for YAML, because error messages about YAML
// contain the line.
func lineOf(src []byte, err error) int {
	e, ok := errors.AsType[*json.SyntaxError](err)
	if !ok || e.Offset > int64(len(src)) {
		return 0
	}
	return 1 + bytes.Count(src[:e.Offset], []byte("\n"))
}
