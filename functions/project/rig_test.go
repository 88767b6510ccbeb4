package project

import (
	"fmt"
	"io/fs"
	"reflect"
	"strings"
	"testing/fstest"

	"github.com/lockstep-iac/lockstep/engine/diags"
)

const backend = "terraform {\n  backend \"s3\" {\n  }\n}\n"

func calls(sources ...string) string {
	s := ""
	for i, x := range sources {
		s += fmt.Sprintf("module %q {\n  source = %q\n}\n", fmt.Sprint("m", i), x)
	}
	return s
}

func tree(files map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, content := range files {
		out[name] = &fstest.MapFile{Data: []byte(content), Mode: 0o644}
	}
	return out
}

// describe writes projects as "name (backend): modules".
func describe(list []Project) []string {
	out := []string{}
	for _, p := range list {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s (%s): %s", p.Name, p.Backend, strings.Join(p.Modules, " "))))
	}
	return out
}

// said writes diagnostics one a line.
func said(ds diags.Diagnostics) string {
	var lines []string
	for _, d := range ds {
		lines = append(lines, d.Severity.String()+": "+d.String())
	}
	return strings.Join(lines, "\n")
}

// discovered returns the projects that Discover finds. Find has to find the first of them, and the same.
func discovered(files fs.FS) ([]Project, diags.Diagnostics) {
	r, ds := Discover(files)
	for _, p := range r.Projects[:min(len(r.Projects), 3)] {
		if got, ok := Find(files, p.Name, p.Workspace); !ok || !reflect.DeepEqual(got, p) {
			ds = append(ds, diags.Errorf(nil, "Found otherwise", "%+v, %v\n%+v", got, ok, p)...)
		}
		if _, ok := Find(files, p.Name, p.Workspace+"x"); ok {
			ds = append(ds, diags.Errorf(nil, "Found otherwise", "%s in another workspace", p.Name)...)
		}
	}
	return r.Projects, ds
}
