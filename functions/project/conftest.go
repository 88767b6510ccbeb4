package project

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"sync"
)

// A Conftest is a file with conftest settings beside the policies of a policy block. Lockstep does not use the
// settings in that file. Keys are those settings in the file that are about policies, and that the block does
// not set itself.
type Conftest struct {
	File, Policy string
	Keys         []string
}

// conftestFile is the file from which conftest reads its options. It is in the directory where conftest runs.
// Source: https://www.conftest.dev/options/
const conftestFile = "conftest.toml"

var conftestKey = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^[ \t]*"?(data|namespace|all-namespaces)"?[ \t]*=`)
})

// Conftests returns the conftest settings beside the policies of a checkout. People who move from conftest
// expect that these settings count.
func Conftests(files fs.FS) (out []Conftest) {
	_, s, _, _ := settingsIn(files)
	if s == nil {
		return nil
	}
	for _, r := range s.Require {
		if r.Policy == nil || r.Policy.Repository != "" {
			continue
		}
		for _, dir := range slices.Compact([]string{path.Dir(r.Policy.Dir), "."}) {
			name := path.Join(dir, conftestFile)
			src, err := fs.ReadFile(files, name)
			if err != nil {
				continue
			}
			var keys []string
			for _, found := range conftestKey().FindAllSubmatch(src, -1) {
				key := string(found[1])
				said := key == "data" && r.Policy.Data != nil || key != "data" && r.Policy.Namespaces != nil
				if !said && !slices.Contains(keys, key) {
					keys = append(keys, key)
				}
			}
			if keys != nil {
				out = append(out, Conftest{File: name, Policy: r.Policy.Name, Keys: keys})
			}
		}
	}
	return out
}
