// Lockstep stands for the command line tool: it says what it was built of, and carries what the tool does.
package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"runtime/debug"

	"github.com/agext/levenshtein"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/deploying"
)

var version = "unknown"

func main() {
	info, _ := debug.ReadBuildInfo()
	settings, modules := map[string]string{}, map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	for _, d := range info.Deps {
		modules[d.Path+"@"+d.Version] = d.Sum
	}
	names, err := fs.Glob(deploying.Carried(), "*")
	if err != nil {
		panic(err)
	}
	json.NewEncoder(os.Stdout).Encode(map[string]any{
		"lockstep_version": version, "carried": names, "distance": levenshtein.Distance(version, "1.2.3", nil),
		"built_from": map[string]any{
			"go": info.GoVersion, "revision": settings["vcs.revision"], "time": settings["vcs.time"],
			"modified": settings["vcs.modified"] == "true", "modules": modules,
		},
	})
}
