package session

import (
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/marks"
)

// TestSameID compares the IDs of objects: only texts that are known, and not empty, count.
func TestSameID(t *testing.T) {
	object := func(id cty.Value) cty.Value { return cty.ObjectVal(map[string]cty.Value{"id": id}) }
	a := object(cty.StringVal("a"))
	for name, c := range map[string]struct {
		is, was cty.Value
		want    bool
	}{
		"equal":         {a, a, true},
		"others":        {a, object(cty.StringVal("b")), false},
		"sensitive":     {object(cty.StringVal("a").Mark(marks.Sensitive)), a, true},
		"sensitive all": {a, a.Mark(marks.Sensitive), true},
		"empty":         {object(cty.StringVal("")), object(cty.StringVal("")), false},
		"null":          {object(cty.NullVal(cty.String)), object(cty.NullVal(cty.String)), false},
		"unknown":       {object(cty.UnknownVal(cty.String)), object(cty.UnknownVal(cty.String)), false},
		"numbers":       {object(cty.NumberIntVal(1)), object(cty.NumberIntVal(1)), false},
		"no id":         {cty.EmptyObjectVal, cty.EmptyObjectVal, false},
		"no object":     {cty.NullVal(a.Type()), cty.NullVal(a.Type()), false},
	} {
		if got := SameID(c.is, c.was); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestSameObject compares objects: those of one ID are the same only if all their values are equal, sensitive or not.
func TestSameObject(t *testing.T) {
	object := func(id string, bucket cty.Value) cty.Value {
		return cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal(id), "bucket": bucket})
	}
	east, west := cty.StringVal("east"), cty.StringVal("west")
	for name, c := range map[string]struct {
		was, is cty.Value
		want    bool
	}{
		"same":          {object("a", east), object("a", east), true},
		"other bucket":  {object("a", east), object("a", west), false},
		"other ID":      {object("a", east), object("b", east), false},
		"no ID":         {object("", east), object("", east), false},
		"sensitive":     {object("a", east.Mark(marks.Sensitive)), object("a", east), true},
		"null":          {object("a", east), object("a", cty.NullVal(cty.String)), false},
		"both null":     {object("a", cty.NullVal(cty.String)), object("a", cty.NullVal(cty.String)), true},
		"without an ID": {cty.EmptyObjectVal, cty.EmptyObjectVal, false},
	} {
		if got := SameObject(c.was, c.is); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
