package loading

import (
	"path"
	"strings"
)

// moduleFiles returns a module's files among the files of a directory: .tf and .tf.json, .tofu and
// .tofu.json. A .tofu or .tofu.json file replaces a .tf or .tf.json file with the same stem. Override files
// are applied after all others, sorted by name.
func moduleFiles(names []string) (primary, override []string) {
	all := map[string]bool{}
	for _, n := range names {
		all[n] = true
	}
	for _, n := range names {
		stem, ext := splitName(n)
		if ext == "" || Ignored(n) {
			continue
		}
		if strings.HasPrefix(ext, ".tf") && all[stem+strings.Replace(ext, ".tf", ".tofu", 1)] {
			continue
		}
		if stem == "override" || strings.HasSuffix(stem, "_override") {
			override = append(override, n)
		} else {
			primary = append(primary, n)
		}
	}
	return primary, override
}

// queryFiles returns the query files among the files of a directory: *.tfquery.hcl and *.tfquery.json.
func queryFiles(names []string) []string {
	var out []string
	for _, n := range names {
		if !Ignored(n) && (strings.HasSuffix(n, ".tfquery.hcl") || strings.HasSuffix(n, ".tfquery.json")) {
			out = append(out, n)
		}
	}
	return out
}

// IsFile reports whether a file of this name, which may be a path, belongs to a configuration. It does not
// consider that a .tofu file may replace a .tf file with the same stem.
func IsFile(name string) bool {
	name = path.Base(name)
	_, ext := splitName(name)
	return ext != "" && !Ignored(name)
}

// splitName cuts off the extension of a configuration file. ext is "" for other files.
func splitName(name string) (stem, ext string) {
	for _, e := range []string{".tf", ".tf.json", ".tofu", ".tofu.json"} {
		if s, ok := strings.CutSuffix(name, e); ok {
			return s, e
		}
	}
	return name, ""
}

// Ignored reports whether a file is hidden, or is the backup or lock of an editor.
func Ignored(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") ||
		strings.HasPrefix(name, "#") && strings.HasSuffix(name, "#")
}
