package project

import (
	"errors"
	"path"
	"regexp"
	"slices"
	"strings"
)

// maxIgnored is the maximum number of rules in the argument ignore of the drift block.
const maxIgnored = 200

// An IgnoredDrift is a rule of the argument ignore in the drift block: the resources and attributes whose drift does not
// count. For example, "module.web.aws_autoscaling_group.*.desired_capacity". It matches all instances of modules and
// resources. A "*" matches a part of one name.
type IgnoredDrift struct {
	// Module, Type and Name are the resource. Module has the names of the module calls, outermost first.
	Module     []string `json:",omitempty"`
	Type, Name string
	// Attribute is the path of an attribute, with everything below it. It is empty for the whole resource, and then an object
	// that was deleted is ignored, too.
	Attribute []string `json:",omitempty"`
}

// A DriftedObject is an object that is not as the state says.
type DriftedObject struct {
	Module     []string // names of the module calls, outermost first
	Type, Name string
	// Changed are the paths of the changed attributes. They are empty for an object that was deleted.
	Changed [][]string
}

var ignoredPart = regexp.MustCompile(`^[A-Za-z0-9_*-]+$`)

// parseIgnoredDrift parses a rule.
func parseIgnoredDrift(text string) (x IgnoredDrift, err error) {
	parts := strings.Split(text, ".")
	if slices.ContainsFunc(parts, func(p string) bool { return !ignoredPart.MatchString(p) }) {
		return x, errors.New("a rule has the form TYPE.NAME or TYPE.NAME.ATTRIBUTE, without instance keys: \"aws_autoscaling_group.web.desired_capacity\"")
	}
	for len(parts) > 1 && parts[0] == "module" {
		x.Module, parts = append(x.Module, parts[1]), parts[2:]
	}
	switch {
	case len(parts) < 2:
		return x, errors.New("the rule names no resource: write TYPE.NAME, or TYPE.NAME.ATTRIBUTE")
	case parts[0] == "data":
		return x, errors.New("a data source has no drift: remove the rule")
	}
	x.Type, x.Name, x.Attribute = parts[0], parts[1], parts[2:]
	if x.Type == "*" && x.Name == "*" && len(x.Attribute) == 0 {
		return x, errors.New("the rule matches everything: leave the projects out of the drift block instead")
	}
	return x, nil
}

// IgnoresDrift reports whether rules leave out an object: each of its changes matches one of them.
func IgnoresDrift(rules []IgnoredDrift, o DriftedObject) bool {
	rules = slices.DeleteFunc(slices.Clone(rules), func(x IgnoredDrift) bool { return !x.selects(o) })
	if len(o.Changed) == 0 {
		return slices.ContainsFunc(rules, func(x IgnoredDrift) bool { return len(x.Attribute) == 0 })
	}
	return !slices.ContainsFunc(o.Changed, func(changed []string) bool {
		return !slices.ContainsFunc(rules, func(x IgnoredDrift) bool {
			return len(x.Attribute) <= len(changed) && slices.EqualFunc(x.Attribute, changed[:len(x.Attribute)], matchesPart)
		})
	})
}

func (x IgnoredDrift) selects(o DriftedObject) bool {
	return slices.EqualFunc(x.Module, o.Module, matchesPart) && matchesPart(x.Type, o.Type) && matchesPart(x.Name, o.Name)
}

func matchesPart(pattern, name string) bool {
	ok, err := path.Match(pattern, strings.ReplaceAll(name, "/", "_")) // keys of maps may have slashes, which no * matches
	return ok && err == nil
}
