package policychecks

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// hidden is written in place of a sensitive value, as in plans for people.
const hidden = "(sensitive value)"

// Public returns the JSON of a plan without sensitive values. It replaces the values that the plan marks as
// sensitive. It also replaces strings and numbers that hide changes, wherever they are. The result has the same
// structure, but each marked value is a string. Source:
// https://developer.hashicorp.com/terraform/internals/json-format#plan-representation
func Public(plan []byte, hide func(string) string) ([]byte, error) {
	var doc map[string]any
	dec := json.NewDecoder(bytes.NewReader(plan))
	dec.UseNumber()
	if err := dec.Decode(&doc); err != nil {
		return nil, fmt.Errorf("read the plan: %w", err)
	}
	variables := object(doc["variables"])
	for name, v := range object(object(object(doc["configuration"])["root_module"])["variables"]) {
		if x := object(v); x["sensitive"] == true || x["ephemeral"] == true {
			if given := object(variables[name]); given["value"] != nil {
				given["value"] = hidden
			}
		}
	}
	out, err := json.Marshal(shown(doc, hide))
	if err != nil {
		return nil, fmt.Errorf("write the plan: %w", err)
	}
	return out, nil
}

func object(v any) map[string]any {
	o, _ := v.(map[string]any)
	return o
}

// marks are keys in the JSON. It says which values the marks below a key are about. An identity has no marks of
// its own: it repeats attributes of its object under the same names, so it uses the marks of the object.
var marks = map[string][]string{
	"before_sensitive": {"before", "before_identity"},
	"after_sensitive":  {"after", "after_identity"},
	"sensitive_values": {"values", "identity"},
	"sensitive":        {"value", "default"},
}

// shown returns decoded JSON without its sensitive parts: values that are marked, and strings and numbers that
// hide changes.
func shown(v any, hide func(string) string) any {
	switch x := v.(type) {
	case string:
		return hide(x)
	case json.Number:
		if hide(x.String()) != x.String() {
			return hidden
		}
	case []any:
		for i := range x {
			x[i] = shown(x[i], hide)
		}
	case map[string]any:
		for by, of := range marks {
			for _, key := range of {
				if value, ok := x[key]; ok {
					x[key] = masked(value, x[by])
				}
			}
		}
		if importing := object(x["importing"]); importing["identity"] != nil {
			importing["identity"] = masked(masked(importing["identity"], x["before_sensitive"]), x["after_sensitive"])
		}
		for key, value := range x {
			if name := hide(key); name != key {
				delete(x, key)
				key = name
			}
			x[key] = shown(value, hide)
		}
	}
	return v
}

// masked replaces those parts of a value that are marked as sensitive. mark is true for the whole value, or an
// object or array with the marks of its parts.
func masked(v, mark any) any {
	switch m := mark.(type) {
	case bool:
		if m && v != nil {
			return hidden
		}
	case []any:
		list, _ := v.([]any)
		for i := range min(len(list), len(m)) {
			list[i] = masked(list[i], m[i])
		}
	case map[string]any:
		o := object(v)
		for key, of := range m {
			if value, ok := o[key]; ok {
				o[key] = masked(value, of)
			}
		}
	}
	return v
}
