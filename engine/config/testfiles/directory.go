package testfiles

import (
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// readFiles reads the test files in the root module's directory and in the test directory.
func (s *Suite) readFiles(in loading.Input, dir string) hcl.Diagnostics {
	var ds hcl.Diagnostics
	root := path.Clean(in.Root)
	for i, d := range []string{".", path.Clean(dir)} {
		if i > 0 && d == "." {
			continue
		}
		names, err := in.Tree.ReadDir(path.Join(root, d))
		if err != nil {
			// If the root module's directory cannot be read, loading its own files reports that.
			if i > 0 && d != DefaultDirectory {
				ds = append(ds, diags.HCLWarning(nil, "Test directory does not exist", "There is no directory %s with test files, which -test-directory names. It is relative to the root module's directory.", d))
			}
			continue
		}
		for _, name := range testFiles(names) {
			name = path.Join(d, name)
			body, more := s.parse(in, path.Join(root, name))
			ds = append(ds, more...)
			if body == nil {
				continue
			}
			f, more := decodeFile(name, body, in.Registry)
			ds, s.Files = append(ds, more...), append(s.Files, f)
		}
	}
	return ds
}

// parse reads one file. The result is nil if it has no content.
func (s *Suite) parse(in loading.Input, name string) (hcl.Body, hcl.Diagnostics) {
	f, ds := loading.Parse(in, name)
	if f == nil || f.Body == nil {
		return nil, ds
	}
	s.Sources[name] = f
	return f.Body, ds
}

// testFiles returns the test files among the files of a directory: those of Terraform, NAME.tftest.hcl and
// NAME.tftest.json, and those of OpenTofu, NAME.tofutest.hcl and NAME.tofutest.json. A file of OpenTofu replaces
// the file of Terraform with the same NAME and the same syntax.
func testFiles(names []string) []string {
	tofu := filesWith(names, ".tofutest")
	out := slices.DeleteFunc(filesWith(names, ".tftest"), func(n string) bool {
		ext := path.Ext(n)
		return slices.Contains(tofu, strings.TrimSuffix(n, ".tftest"+ext)+".tofutest"+ext)
	})
	return append(out, tofu...)
}

// filesWith returns the files of one kind, such as ".tftest": NAME.tftest.hcl and NAME.tftest.json.
func filesWith(names []string, kind string) []string {
	var out []string
	for _, n := range names {
		if !loading.Ignored(n) && (strings.HasSuffix(n, kind+".hcl") || strings.HasSuffix(n, kind+".json")) {
			out = append(out, n)
		}
	}
	return out
}

// readMocks reads the mock files that the test files name, and merges them into the test files' mocks.
func (s *Suite) readMocks(in loading.Input) hcl.Diagnostics {
	var ds hcl.Diagnostics
	for _, f := range s.Files {
		for _, p := range f.providers {
			if p.Mock == nil || p.Mock.Source == "" {
				continue
			}
			dir := path.Join(path.Clean(in.Root), p.Mock.Source)
			names, err := in.Tree.ReadDir(dir)
			if err != nil {
				ds = append(ds, diags.HCLError(&p.Range, "Failed to read mock data directory", "The directory %s with mocks of %s does not exist, or cannot be read.", p.Mock.Source, p.Addr))
				continue
			}
			all := newMock()
			for _, name := range filesWith(names, ".tfmock") {
				body, more := s.parse(in, path.Join(dir, name))
				if ds = append(ds, more...); body == nil {
					continue
				}
				x, more := decodeMockFile(body)
				ds = append(append(ds, more...), all.merge(x)...)
			}
			p.Mock.addShared(all)
		}
	}
	return ds
}
