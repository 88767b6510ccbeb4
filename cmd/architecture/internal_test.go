package architecture

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"strings"
	"testing"
)

// TestInternal holds that a package which nobody outside of its folder imports lies under internal
// there, where nobody else can begin to import it. What is left is what other folders may build on.
// Commands are exempt: their names are their paths.
func TestInternal(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Name,Imports,TestImports,XTestImports", module+"...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	importers := map[string][]string{}
	var dirs []string
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath, Name                   string
			Imports, TestImports, XTestImports []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		dir := strings.TrimPrefix(p.ImportPath, module)
		if p.Name != "main" && !strings.HasPrefix(dir, "cmd/") {
			dirs = append(dirs, dir)
		}
		for _, imports := range [][]string{p.Imports, p.TestImports, p.XTestImports} {
			for _, imp := range imports {
				if ours, ok := strings.CutPrefix(imp, module); ok && ours != dir {
					importers[ours] = append(importers[ours], dir)
				}
			}
		}
	}
	if len(dirs) < 20 {
		t.Fatalf("only %d packages were looked at", len(dirs))
	}
	for _, dir := range dirs {
		parent := path.Dir(dir)
		if parent == "." || strings.Contains("/"+dir+"/", "/internal/") {
			continue
		}
		if !importedOutside(importers[dir], parent) {
			t.Errorf("%s: nobody outside of %s imports it, so it belongs to %s/internal", dir, parent, parent)
		}
	}
}

// importedOutside reports whether an importer lies outside of a folder.
func importedOutside(importers []string, folder string) bool {
	for _, importer := range importers {
		if !strings.HasPrefix(importer+"/", folder+"/") {
			return true
		}
	}
	return false
}
