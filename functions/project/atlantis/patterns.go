package atlantis

import (
	"path"
	"slices"
	"strings"
)

// changed converts the patterns of when_modified for a project in the directory dir to patterns of
// when_changed.
//
// In Atlantis, a pattern is relative to the project's directory, and may leave it by "..". It also matches
// everything below a directory that it matches. In Lockstep, a pattern is relative to the repository, and
// matches files. outside are the patterns that leave the repository; they match nothing.
//
// Source: https://github.com/moby/patternmatcher, which Atlantis calls with the parents of each file.
func changed(dir string, patterns []Text) (out, outside []Text) {
	out = []Text{}
	for _, p := range patterns {
		text := strings.TrimSpace(p.Value)
		if text == "" {
			continue
		}
		text, taken := strings.CutPrefix(text, "!")
		text = path.Join(dir, text)
		if text == ".." || strings.HasPrefix(text, "../") {
			outside = append(outside, p)
			continue
		}
		for _, x := range starred(text) {
			if taken {
				x = "!" + x
			}
			out = append(out, Text{x, p.At})
		}
	}
	return out, outside
}

var plain = strings.NewReplacer("{", `\{`, "}", `\}`)

// starred converts one pattern to doublestar's notation. In Atlantis braces have no meaning, and ** inside a
// name also matches directories.
func starred(text string) []string {
	elements := starredElements(text)
	whole := strings.Join(elements, "/")
	last := elements[len(elements)-1]
	switch {
	case whole == ".":
		return nil // no file has the name
	case last == "**" && len(elements) > 1 && strings.HasSuffix(elements[len(elements)-2], "*") && strings.Contains(text, elements[len(elements)-2]+"*"):
		// "net**" matches net.tf as well as network/main.tf
		return []string{strings.Join(elements[:len(elements)-1], "/"), whole}
	case last == "**" || last == "*" && len(elements) > 1 && elements[len(elements)-2] == "**" || names(last):
		return []string{whole}
	}
	return []string{whole, whole + "/**"}
}

// starredElements returns the elements of a pattern's path. An element with ** inside becomes several elements:
// a**b becomes a*, ** and *b.
func starredElements(text string) []string {
	var elements []string
	for e := range strings.SplitSeq(plain.Replace(text), "/") {
		i := strings.Index(e, "**")
		if i < 0 || e == "**" {
			elements = append(elements, e)
			continue
		}
		before, after := e[:i], strings.TrimLeft(e[i:], "*")
		if before != "" {
			elements = append(elements, before+"*")
		}
		elements = append(elements, "**")
		if after != "" {
			elements = append(elements, "*"+strings.ReplaceAll(after, "**", "*"))
		}
	}
	return elements
}

// names reports whether an element of a pattern matches only files. That is so if the element has a file
// extension, because directories do not have one.
func names(element string) bool {
	extension := strings.TrimRight(path.Ext(element), "*")
	return slices.Contains([]string{".tf", ".tofu", ".tfvars", ".hcl", ".json", ".yaml", ".yml", ".tpl", ".tmpl", ".tftpl", ".sh", ".py", ".txt", ".md"}, extension)
}
