package statebackend

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
)

// AttributeType is the type of an attribute of a backend block.
type AttributeType int

const (
	String    AttributeType = iota
	Bool                    // true or false
	Int                     // a whole number
	StringSet               // a set of strings
	StringMap               // strings by name
	Object                  // an object with attributes of its own
)

// Attribute describes one attribute of a backend block, for decoding the block,
// merging -backend-config into it and storing the result.
type Attribute struct {
	Name       string
	Type       AttributeType
	Required   bool
	Secret     bool        // never to be shown
	ReplacedBy string      // for a deprecated attribute: the name of the attribute to use instead
	Attributes []Attribute // of an Object
	// Foreign is set for an attribute that Terraform does not have. Such an attribute is written to files that
	// Terraform reads only if it has a value.
	Foreign bool
}

// AttributeError describes a wrong attribute of a backend block.
type AttributeError struct {
	Attribute string // a path: "assume_role.duration"; empty for the block as a whole
	Problem   string // a sentence without the attribute's value if that is secret
}

func (e *AttributeError) Error() string {
	if e.Attribute == "" {
		return e.Problem
	}
	return e.Attribute + ": " + e.Problem
}

// Decode stores the values of a backend block in the struct that config points to, by the names in its json
// tags. Values have the types of parsed JSON: strings, bools, numbers, slices and maps. A nil value means
// that the attribute is not set. Decode converts strings to numbers and bools, and these to strings, as
// Terraform does. The error is an *AttributeError for the first wrong attribute; unknown attributes are
// reported before all others.
func Decode(attributes []Attribute, values map[string]any, config any) error {
	object, err := convertObject(attributes, values, "")
	if err != nil {
		return err
	}
	b, err := json.Marshal(object)
	if err == nil {
		err = json.Unmarshal(b, config)
	}
	if err != nil {
		panic(fmt.Sprintf("statebackend: the table of attributes and %T differ: %v", config, err))
	}
	return nil
}

func convertObject(attributes []Attribute, values map[string]any, prefix string) (map[string]any, error) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !slices.ContainsFunc(attributes, func(a Attribute) bool { return a.Name == name }) {
			return nil, &AttributeError{prefix + name, "there is no such attribute"}
		}
	}
	object := make(map[string]any, len(values))
	for _, a := range attributes {
		value, path := values[a.Name], prefix+a.Name
		if value == nil {
			if a.Required {
				return nil, &AttributeError{path, "the attribute is required"}
			}
			continue
		}
		converted, err := convert(a, value, path)
		if err != nil {
			return nil, err
		}
		object[a.Name] = converted
	}
	return object, nil
}

func convert(a Attribute, value any, path string) (any, error) {
	var converted any
	ok := false
	switch a.Type {
	case String:
		converted, ok = toString(value)
	case Bool:
		converted, ok = toBool(value)
	case Int:
		converted, ok = toInt(value)
	case StringSet:
		converted, ok = toStrings(value)
	case StringMap:
		converted, ok = toStringMap(value)
	case Object:
		if m, isMap := value.(map[string]any); isMap {
			return convertObject(a.Attributes, m, path+".")
		}
	}
	if !ok {
		return nil, &AttributeError{path, a.Type.article() + " is required"}
	}
	return converted, nil
}

func (t AttributeType) article() string {
	return [...]string{"a string", "a bool", "a whole number", "a set of strings", "a map of strings", "an object"}[t]
}

func toString(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case json.Number:
		return v.String(), true
	case int:
		return strconv.Itoa(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	}
	return "", false
}

func toBool(v any) (bool, bool) {
	switch v := v.(type) {
	case bool:
		return v, true
	case string: // the texts that Terraform converts to a bool
		switch v {
		case "true", "1":
			return true, true
		case "false", "0":
			return false, true
		}
	}
	return false, false
}

func toInt(v any) (int64, bool) {
	switch v := v.(type) {
	case int:
		return int64(v), true
	case int64:
		return v, true
	case float64:
		return int64(v), v == math.Trunc(v) && math.Abs(v) < 1<<53
	case json.Number:
		return toInt(v.String())
	case string:
		n, err := strconv.ParseInt(v, 10, 64)
		return n, err == nil
	}
	return 0, false
}

func toStrings(v any) ([]string, bool) {
	switch v := v.(type) {
	case []string:
		return v, true
	case []any:
		list := make([]string, len(v))
		for i, e := range v {
			s, ok := toString(e)
			if !ok {
				return nil, false
			}
			list[i] = s
		}
		return list, true
	}
	return nil, false
}

func toStringMap(v any) (map[string]string, bool) {
	switch v := v.(type) {
	case map[string]string:
		return v, true
	case map[string]any:
		m := make(map[string]string, len(v))
		for k, e := range v {
			s, ok := toString(e)
			if !ok {
				return nil, false
			}
			m[k] = s
		}
		return m, true
	}
	return nil, false
}
