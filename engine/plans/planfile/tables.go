package planfile

import (
	"encoding/binary"
	"fmt"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"github.com/zclconf/go-cty/cty/msgpack"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// tables number the values that many changes share, so that the file contains each value once. Numbers count
// from 1.
type tables struct {
	out *wirePlan

	types     map[string]uint32
	bySchema  map[*schema.Schema]typeEntry
	recent    map[uint32]*recentType
	configs   map[addrs.AbsProviderConfig]uint32
	modules   map[addrs.ModuleInstance]uint32
	resources map[addrs.AbsResource]uint32
	blocks    map[addrs.ConfigResource]uint32
	lists     map[string]uint32
	paths     map[string]uint32
}

type typeEntry struct {
	index uint32
	ty    cty.Type
}

// A recentType is the type of the last value of a schema. Once a second value has the same type, the type
// becomes an entry of the table, and entry is set.
type recentType struct {
	ty    cty.Type
	entry typeEntry
}

func newTables(out *wirePlan) *tables {
	return &tables{
		out:       out,
		types:     map[string]uint32{},
		bySchema:  map[*schema.Schema]typeEntry{},
		recent:    map[uint32]*recentType{},
		configs:   map[addrs.AbsProviderConfig]uint32{},
		modules:   map[addrs.ModuleInstance]uint32{},
		resources: map[addrs.AbsResource]uint32{},
		blocks:    map[addrs.ConfigResource]uint32{},
		lists:     map[string]uint32{},
		paths:     map[string]uint32{},
	}
}

// intern returns the number of key in a table. If key is new, it adds the result of make.
func intern[K comparable, V any](numbers map[K]uint32, table *[]V, key K, make func() V) uint32 {
	n := numbers[key]
	if n == 0 {
		*table = append(*table, make())
		n = uint32(len(*table))
		numbers[key] = n
	}
	return n
}

func (t *tables) typ(ty cty.Type) (uint32, error) {
	src, err := ctyjson.MarshalType(ty)
	if err != nil {
		return 0, err
	}
	return intern(t.types, &t.out.Types, string(src), func() string { return string(src) }), nil
}

// schema returns the table entry for the type of the values that s describes. If s is nil, it returns the entry for
// values whose type is not declared.
func (t *tables) schema(s *schema.Schema) (typeEntry, error) {
	if e, ok := t.bySchema[s]; ok {
		return e, nil
	}
	e := typeEntry{ty: cty.DynamicPseudoType}
	if s != nil {
		e.ty = s.Block.ImpliedType()
	}
	var err error
	if e.index, err = t.typ(e.ty); err != nil {
		return e, err
	}
	t.bySchema[s] = e
	return e, nil
}

// holding returns the table entry to write a value of type ty with. Usually that is s, the entry for the type
// of its schema. If the schema leaves the type open, the type is written beside the value, which costs more
// than the value itself. So if two values in a row have the same type, their type becomes an entry.
func (t *tables) holding(s typeEntry, ty cty.Type) (typeEntry, error) {
	r := t.recent[s.index]
	switch {
	case r == nil:
		t.recent[s.index] = &recentType{ty: ty}
	case !ty.Equals(r.ty):
		*r = recentType{ty: ty}
	case r.entry.index != 0:
		return r.entry, nil
	default:
		index, err := t.typ(ty)
		r.entry = typeEntry{index, ty}
		return r.entry, err
	}
	if len(ty.TestConformance(s.ty)) > 0 {
		// The value does not conform to the schema (or not yet). Write it like a value without a schema.
		return t.schema(nil)
	}
	return s, nil
}

func (t *tables) config(c addrs.AbsProviderConfig) uint32 {
	if c == (addrs.AbsProviderConfig{}) {
		return 0
	}
	return intern(t.configs, &t.out.Configs, c, c.String)
}

func (t *tables) module(m addrs.ModuleInstance) uint32 {
	return intern(t.modules, &t.out.Modules, m, m.String)
}

func (t *tables) resource(a addrs.AbsResource) uint32 {
	return intern(t.resources, &t.out.Resources, a, func() wireResource {
		return wireResource{Module: t.module(a.Module), Mode: byte(a.Resource.Mode), Type: a.Resource.Type, Name: a.Resource.Name}
	})
}

func (t *tables) instance(a addrs.AbsResourceInstance) wireInstance {
	return wireInstance{Resource: t.resource(a.AbsResource()), Key: key(a.Resource.Key)}
}

func key(k addrs.InstanceKey) wireKey {
	if n, ok := k.Int(); ok {
		return wireKey{Kind: 1, Num: n}
	}
	if s, ok := k.Str(); ok {
		return wireKey{Kind: 2, Str: s}
	}
	return wireKey{}
}

func keys(list []addrs.InstanceKey) []wireKey {
	out := make([]wireKey, len(list))
	for i, k := range list {
		out[i] = key(k)
	}
	return out
}

func (t *tables) target(x addrs.Target) wireTarget {
	return wireTarget{Module: t.module(x.Module), Mode: byte(x.Resource.Mode), Type: x.Resource.Type, Name: x.Resource.Name, Key: key(x.Key)}
}

func (t *tables) targets(list []addrs.Target) []wireTarget {
	var out []wireTarget
	for _, x := range list {
		out = append(out, t.target(x))
	}
	return out
}

// blockList returns the number of a list of resources; 0 for nil.
func (t *tables) blockList(list []addrs.ConfigResource) uint32 {
	if list == nil {
		return 0
	}
	numbers := make([]uint32, len(list))
	text := make([]byte, 0, 4*len(list))
	for i, r := range list {
		numbers[i] = intern(t.blocks, &t.out.Blocks, r, r.String)
		text = binary.LittleEndian.AppendUint32(text, numbers[i])
	}
	return intern(t.lists, &t.out.BlockLists, string(text), func() []uint32 { return numbers })
}

// pathList returns the index of a list of paths in the tables, and adds the list if needed. The empty list has the
// index 0.
func (t *tables) pathList(list []cty.Path) (uint32, error) {
	if len(list) == 0 {
		return 0, nil
	}
	var text []byte
	for _, p := range list {
		k := states.PathKey(p)
		text = binary.AppendUvarint(text, uint64(len(k)))
		text = append(text, k...)
	}
	if n := t.paths[string(text)]; n != 0 {
		return n, nil
	}
	paths := make([]wirePath, len(list))
	for i, p := range list {
		var err error
		if paths[i], err = path(p); err != nil {
			return 0, err
		}
	}
	return intern(t.paths, &t.out.PathLists, string(text), func() []wirePath { return paths }), nil
}

func path(p cty.Path) (wirePath, error) {
	out := make(wirePath, len(p))
	for i, step := range p {
		switch step := step.(type) {
		case cty.GetAttrStep:
			out[i].Name = step.Name
		case cty.IndexStep:
			// The key of a step into a set is the whole element, which may have marks. The plain value is
			// enough to find the element.
			k := marks.Plain(step.Key)
			b, err := msgpack.Marshal(k, cty.DynamicPseudoType)
			if err != nil {
				return nil, err
			}
			out[i].Key = b
		default:
			return nil, fmt.Errorf("a path has a step of type %T", step)
		}
	}
	return out, nil
}
