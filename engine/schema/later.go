package schema

import (
	"iter"
	"maps"
	"sync"
)

// Later has the resource types of a provider. It decodes the schema of a type when the schema is first
// needed, because a configuration uses few types: perhaps ten of a thousand. It is safe for concurrent use.
type Later struct {
	decode func(mode, name string, raw []byte) (*Schema, error)
	raw    map[string]map[string][]byte // encoded schemas, by mode and name

	mu   sync.Mutex
	done map[typeKey]decoded
}

type typeKey struct{ mode, name string }

type decoded struct {
	schema *Schema
	err    error
}

// NewLater returns resource types whose schemas the function decode reads. decode is called once for each
// type, and never twice at the same time. raw has the declarations of the types, by mode ("managed", "data",
// "ephemeral", "list", "action") and name. The result keeps raw: the caller must not change it.
func NewLater(raw map[string]map[string][]byte, decode func(mode, name string, raw []byte) (*Schema, error)) *Later {
	return &Later{decode: decode, raw: raw, done: map[typeKey]decoded{}}
}

// get returns the schema of a type, nil if there is none. The error says why the schema cannot be decoded.
func (l *Later) get(mode, name string) (*Schema, error) {
	if l == nil {
		return nil, nil
	}
	raw, ok := l.raw[mode][name]
	if !ok {
		return nil, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	k := typeKey{mode, name}
	d, ok := l.done[k]
	if !ok {
		d.schema, d.err = l.decode(mode, name, raw)
		l.done[k] = d
	}
	return d.schema, d.err
}

// Resource returns the schema of a resource type. The result is nil if there is no such type, or if its
// declaration cannot be understood (see [Provider.Broken]). mode is one of "managed", "data", "ephemeral",
// "list" and "action".
func (p *Provider) Resource(mode, name string) *Schema {
	if s := p.known(mode)[name]; s != nil {
		return s
	}
	s, _ := p.Later.get(mode, name)
	return s
}

// Broken returns why the schema of a resource type cannot be decoded; nil if it can be, or if there is none.
func (p *Provider) Broken(mode, name string) error {
	_, err := p.Later.get(mode, name)
	return err
}

// Types returns all resource types of a mode. It decodes all of them, and returns an error if one cannot be
// decoded.
func (p *Provider) Types(mode string) (map[string]*Schema, error) {
	out := maps.Clone(p.known(mode))
	if p.Later == nil {
		return out, nil
	}
	if out == nil {
		out = make(map[string]*Schema, len(p.Later.raw[mode]))
	}
	for name := range p.Later.raw[mode] {
		s, err := p.Later.get(mode, name)
		if err != nil {
			return nil, err
		}
		out[name] = s
	}
	return out, nil
}

// Names returns the names of all resource types of a mode, in random order, without decoding their schemas.
func (p *Provider) Names(mode string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for name := range p.known(mode) {
			if !yield(name) {
				return
			}
		}
		if p.Later == nil {
			return
		}
		for name := range p.Later.raw[mode] {
			if !yield(name) {
				return
			}
		}
	}
}

func (p *Provider) known(mode string) map[string]*Schema {
	switch mode {
	case "managed":
		return p.Managed
	case "data":
		return p.Data
	case "ephemeral":
		return p.Ephemeral
	case "list":
		return p.List
	case "action":
		return p.Actions
	}
	return nil
}
