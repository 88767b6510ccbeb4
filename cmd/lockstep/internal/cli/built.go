package cli

import (
	"runtime/debug"
	"strings"
)

// built describes how this program was built, so that the build can be repeated and compared.
type built struct {
	Go       string            `json:"go"`
	Revision string            `json:"revision,omitempty"` // the commit, if it was built from one
	Time     string            `json:"time,omitempty"`     // when that was made
	Modified bool              `json:"modified"`           // files were changed since
	Settings map[string]string `json:"settings"`           // of the build, such as -tags and GOARCH
	Modules  map[string]string `json:"modules"`            // "path@version": the checksum in go.sum
}

// builtFrom reads the build information that the linker has embedded. Source:
// https://pkg.go.dev/runtime/debug#BuildSetting
func builtFrom(info *debug.BuildInfo, ok bool) built {
	out := built{Settings: map[string]string{}, Modules: map[string]string{}}
	if !ok {
		return out
	}
	out.Go = info.GoVersion
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			out.Revision = s.Value
		case s.Key == "vcs.time":
			out.Time = s.Value
		case s.Key == "vcs.modified":
			out.Modified = s.Value == "true"
		case !strings.HasPrefix(s.Key, "vcs"):
			out.Settings[s.Key] = s.Value
		}
	}
	for _, d := range info.Deps {
		if d.Replace != nil {
			d = d.Replace
		}
		out.Modules[d.Path+"@"+d.Version] = d.Sum
	}
	return out
}
