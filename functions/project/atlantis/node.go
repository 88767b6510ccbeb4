package atlantis

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"
)

// These are limits of a file. They are enough for two thousand projects, and they stop a YAML bomb.
const (
	maxSize  = 512 << 10 // bytes
	maxDepth = 20        // levels, where the deepest key has nine
	maxNodes = 100_000   // with every alias replaced by its anchor's node
	maxKeys  = 2000      // of a mapping
	maxDiags = 100       // after which errors are only counted
)

// A source is the text of a file that is being read, with the errors in it.
type source struct {
	name  string
	text  string
	lines []int // offsets of their first bytes
	diags hcl.Diagnostics
	count int // of errors
	nodes int
	// shape is set once a part that decides about requirements has an error in its form.
	shape bool
}

func newSource(name string, src []byte) *source {
	s := &source{name: name, text: string(src), lines: []int{0}}
	for i, c := range src {
		if c == '\n' {
			s.lines = append(s.lines, i+1)
		}
	}
	return s
}

// at returns the range from a node to the end of its line.
func (s *source) at(n *yaml.Node) hcl.Range { return s.place(n.Line, n.Column) }

func (s *source) place(line, column int) hcl.Range {
	line = min(max(line, 1), len(s.lines))
	start, end := s.lines[line-1], len(s.text)
	if line < len(s.lines) {
		end = s.lines[line] - 1
	}
	end = start + len(strings.TrimRight(s.text[start:end], " \r\t"))
	from := min(start+max(column-1, 0), end)
	return hcl.Range{Filename: s.name,
		Start: hcl.Pos{Line: line, Column: from - start + 1, Byte: from}, End: hcl.Pos{Line: line, Column: end - start + 1, Byte: end}}
}

func (s *source) errorf(at hcl.Range, summary, detail string, args ...any) {
	if s.count++; s.count > maxDiags {
		return
	}
	s.diags = append(s.diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(detail, args...), Subject: &at})
}

// formf adds an error that may hide a requirement.
func (s *source) formf(at hcl.Range, summary, detail string, args ...any) {
	s.shape = true
	s.errorf(at, summary, detail, args...)
}

// load returns the root node of the file; nil if the file is empty or has an error.
func (s *source) load() *yaml.Node {
	if len(s.text) > maxSize {
		s.formf(s.place(1, 1), "Too long", "The file %s has %d bytes; at most %d are read.", s.name, len(s.text), maxSize)
		return nil
	}
	var docs []yaml.Node
	err := yaml.Load([]byte(s.text), &docs, yaml.WithAllDocuments(), yaml.WithPlugin(loaderlimits.New(loaderlimits.DepthValue(maxDepth))))
	var at *yaml.LoadError
	switch {
	case errors.As(err, &at):
		s.formf(s.place(at.Mark.Line, at.Mark.Column), "Invalid YAML", "The file cannot be read after this line: %s.", visible(at.Message))
		return nil
	case err != nil:
		s.formf(s.place(1, 1), "Invalid YAML", "The file cannot be read: %s.", visible(err.Error()))
		return nil
	case len(docs) > 1:
		s.formf(s.at(&docs[1]), "Second document", "The file has several YAML documents, and Atlantis reads only the first. Remove the line --- and the other documents.")
		return nil
	case len(docs) == 0 || len(docs[0].Content) == 0:
		return nil
	}
	return docs[0].Content[0]
}

// follow returns the node that an alias refers to; any other node is returned unchanged. It returns nil if
// the file has too many nodes, or if aliases refer to each other too often.
func (s *source) follow(n *yaml.Node) *yaml.Node {
	for depth := 0; n != nil && n.Kind == yaml.AliasNode; depth++ {
		if depth > maxDepth {
			return nil
		}
		n = n.Alias
	}
	if s.nodes++; s.nodes > maxNodes {
		if s.nodes == maxNodes+1 {
			s.formf(s.place(1, 1), "Too much", "The file %s has more than %d values after its aliases are expanded. Lockstep reads no more.", s.name, maxNodes)
		}
		return nil
	}
	return n
}

// A field is a key of a mapping with its value.
type field struct {
	key   string
	at    *yaml.Node // of the key
	value *yaml.Node
}

// null reports whether a node has no value.
func null(n *yaml.Node) bool {
	return n == nil || n.Kind == yaml.ScalarNode && n.Tag == "!!null"
}

// fields returns the fields of a mapping, including those of mappings that are merged into it. what is the name
// of the mapping in errors. As in Atlantis, duplicate keys are errors.
func (s *source) fields(n *yaml.Node, what string) []field {
	return s.merged(n, what, 0)
}

func (s *source) merged(n *yaml.Node, what string, depth int) []field {
	n = s.follow(n)
	if null(n) {
		return nil
	}
	if n.Kind != yaml.MappingNode || depth > maxDepth {
		s.formf(s.at(n), "Invalid value", "Write a mapping of keys to values for %s.", what)
		return nil
	}
	if len(n.Content) > 2*maxKeys {
		s.formf(s.at(n), "Too many keys", "The mapping has more than %d keys. Lockstep reads no more.", maxKeys)
		return nil
	}
	var out []field
	var inherited []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := s.follow(n.Content[i]), n.Content[i+1]
		switch {
		case key == nil:
			return out
		case key.Kind != yaml.ScalarNode:
			s.formf(s.at(key), "Invalid key", "A key of %s must be a text.", what)
		case key.Tag == "!!merge":
			inherited = append(inherited, value)
		case slices.ContainsFunc(out, func(f field) bool { return f.key == key.Value }):
			s.formf(s.at(key), "Duplicate key", "The key %q of %s is set twice. Remove one of the two.", visible(key.Value), what)
		default:
			out = append(out, field{key.Value, key, value})
		}
	}
	for _, from := range inherited {
		for _, f := range s.bases(from, what, depth) {
			if !slices.ContainsFunc(out, func(own field) bool { return own.key == f.key }) {
				out = append(out, f)
			}
		}
	}
	return out
}

// bases returns the fields of a mapping, or of a list of mappings. In a list, the first mapping with a key
// wins.
func (s *source) bases(from *yaml.Node, what string, depth int) []field {
	n := s.follow(from)
	if n == nil || n.Kind != yaml.SequenceNode {
		return s.merged(n, what, depth+1)
	}
	var out []field
	for _, x := range n.Content {
		for _, f := range s.merged(x, what, depth+1) {
			if !slices.ContainsFunc(out, func(own field) bool { return own.key == f.key }) {
				out = append(out, f)
			}
		}
	}
	return out
}

// items returns the items of a list.
func (s *source) items(f field) []*yaml.Node {
	n := s.follow(f.value)
	if null(n) {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		s.formf(s.at(n), "Invalid value", "The key %q must be a list.", f.key)
		return nil
	}
	return n.Content
}

// texts returns a list of texts; nil if the key has no value.
func (s *source) texts(f field) []Text {
	var out []Text
	n := s.follow(f.value)
	if !null(n) && n.Kind == yaml.SequenceNode {
		out = []Text{}
	}
	for _, x := range s.items(f) {
		if t, ok := s.text1(x, f.key); ok {
			out = append(out, t)
		}
	}
	return out
}

// scalar returns the text of a field. The bool is false if the field has no text.
func (s *source) scalar(f field) (Text, bool) {
	if null(s.follow(f.value)) {
		return Text{At: s.at(f.at)}, false
	}
	return s.text1(f.value, f.key)
}

func (s *source) text1(x *yaml.Node, key string) (Text, bool) {
	n := s.follow(x)
	if n == nil || n.Kind != yaml.ScalarNode {
		s.formf(s.at(x), "Invalid value", "The key %q must be a text.", key)
		return Text{At: s.at(x)}, false
	}
	return Text{n.Value, s.at(x)}, true
}

// truth returns the truth value of a field. If the field has no value, it returns the parameter unset.
func (s *source) truth(f field, unset bool) bool {
	t, ok := s.scalar(f)
	switch strings.ToLower(t.Value) {
	case "true", "yes", "on", "y":
		return true
	case "false", "no", "off", "n":
		return false
	}
	if ok {
		s.formf(t.At, "Invalid value", "The key %q must be true or false.", f.key)
	}
	return unset
}
