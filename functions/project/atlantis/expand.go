package atlantis

import (
	"os"
	"slices"
	"strings"
)

// expanded replaces environment variables in an argument. These are WORKSPACE and DIR, which Atlantis sets for
// its commands, and the variables of env steps. dir is the value of DIR: the project's directory on the server.
// It is "" if a path below that directory would have no meaning here. Any other variable is an error, because
// the argument may decide about values.
//
// Source: tfclient.prepCmd of Atlantis. PROJECT_NAME and others are there for run steps only.
func (v *values) expanded(name string, value Text, dir string) (string, bool) {
	var missing []string
	ours := map[string]string{"WORKSPACE": v.project.Workspace.Value}
	if ours["WORKSPACE"] == "" {
		ours["WORKSPACE"] = "default"
	}
	if dir != "" {
		ours["DIR"] = dir
	}
	out := os.Expand(value.Value, func(key string) string {
		if text, ok := v.environment[key]; ok {
			return text
		}
		text, ok := ours[key]
		if !ok || slices.Contains(v.unknown, key) {
			missing = append(missing, key)
		}
		return text
	})
	if len(missing) > 0 {
		v.errorf(value.At, "Value of Atlantis' server", "The argument %s contains $%s, and only Atlantis' server knows its value. Write the value itself, or describe the project in lockstep.hcl.", name, visible(strings.Join(missing, " and $")))
		return "", false
	}
	return out, true
}
