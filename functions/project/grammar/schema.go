package grammar

import "encoding/json"

// Schema returns the JSON Schema of lockstep.hcl in HCL's JSON syntax. Editors and linters see native files in
// this form, too. In this form, a block with a label is an object whose keys are the labels. Source:
// https://json-schema.org/draft/2020-12, https://github.com/hashicorp/hcl/blob/main/json/spec.md
func Schema() []byte {
	properties := of(file).Properties
	for _, b := range blocks {
		body := of(b)
		if b.Label == "" {
			properties[b.Type] = body
			continue
		}
		properties[b.Type] = node{Type: "object", Description: b.Doc, AdditionalProperties: &body}
	}
	data, err := json.MarshalIndent(document{
		Schema: "https://json-schema.org/draft/2020-12/schema", Title: "lockstep.hcl",
		node: node{Type: "object", Properties: properties, AdditionalProperties: false},
	}, "", "  ")
	if err != nil {
		panic(err) // it has texts and maps only
	}
	return data
}

type document struct {
	Schema string `json:"$schema"`
	Title  string `json:"title"`
	node
}

// A node is a part of a JSON Schema.
type node struct {
	Type        string          `json:"type,omitempty"`
	Description string          `json:"description,omitempty"`
	Enum        []string        `json:"enum,omitempty"`
	Items       *node           `json:"items,omitempty"`
	AnyOf       []node          `json:"anyOf,omitempty"`
	Properties  map[string]node `json:"properties,omitempty"`
	Required    []string        `json:"required,omitempty"`
	// AdditionalProperties is false if no other properties are allowed. Otherwise it is the node that describes
	// all other properties. nil allows any property.
	AdditionalProperties any `json:"additionalProperties,omitempty"`
}

func of(b Block) node {
	n := node{Type: "object", Description: b.Doc, Properties: map[string]node{}, AdditionalProperties: false}
	for _, a := range b.Args {
		n.Properties[a.Name] = a.node()
		if a.Required {
			n.Required = append(n.Required, a.Name)
		}
	}
	for _, b := range b.Inner {
		body := of(b)
		n.Properties[b.Type] = node{Type: "object", Description: b.Doc, AdditionalProperties: &body}
	}
	return n
}

func (a Argument) node() node {
	text := node{Type: "string"}
	n := node{Description: a.description()}
	switch a.Kind {
	case boolean:
		n.Type = "boolean"
	case texts:
		text.Enum = a.OneOf
		n.Type, n.Items = "array", &text
	case dict:
		n.Type, n.AdditionalProperties = "object", &text
	case values:
		n.Type = "object"
	case number:
		n.Type = "integer"
	case numbers:
		n.Type, n.AdditionalProperties = "object", &node{Type: "integer"}
	case files:
		n.AnyOf = []node{{Type: "array", Items: &text}, {Type: "object"}}
	default:
		n.Type, n.Enum = "string", a.OneOf
	}
	return n
}

// description returns the sentence about an argument, with its default.
func (a Argument) description() string {
	if a.Default == "" {
		return a.Doc
	}
	return a.Doc + " Default: " + a.Default + "."
}
