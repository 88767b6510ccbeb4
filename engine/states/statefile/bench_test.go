package statefile

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// flat returns a state of n instances with about 1 KiB of attributes each.
func flat(n int) *states.State {
	e := states.Empty().Edit()
	for i := range n {
		a, _ := addrs.ParseAbsResourceInstance(fmt.Sprintf("module.net[%d].lab_thing.r%d", i%50, i/50))
		attrs := fmt.Sprintf(`{"id":"%d","name":"thing","tags":{"a":"b","c":"d"},"items":["x","y","z"],"note":%q,"size":12.5,"parent":null}`, i, strings.Repeat("lorem ipsum <dolor> ", 40))
		e.SetObject(addrs.ResourceInstanceObject{Instance: a}, addrs.AbsProviderConfig{Provider: addrs.DefaultProvider("lab")}, &states.Object{
			Status: states.Ready, AttrsJSON: json.RawMessage(attrs), Private: []byte("private data"), Sensitive: []cty.Path{cty.GetAttrPath("note")},
		})
	}
	return e.State()
}

// chain returns a state of n resources each of which depends on the one before.
func chain(n int) *states.State {
	e := states.Empty().Edit()
	var deps *states.Dependencies
	for i := range n {
		a, _ := addrs.ParseAbsResourceInstance(fmt.Sprintf("lab_thing.link_%d", i))
		e.SetObject(addrs.ResourceInstanceObject{Instance: a}, addrs.AbsProviderConfig{Provider: addrs.DefaultProvider("lab")}, &states.Object{
			Status: states.Ready, AttrsJSON: json.RawMessage(`{"id":"x"}`), Dependencies: deps,
		})
		deps = states.DirectDependencies([]states.Dependency{{Resource: a.Config(), Further: deps}})
	}
	return e.State()
}

func benchmark(b *testing.B, s *states.State) {
	src := write(b, s)
	fromFile := read(b, src)
	again := read(b, src)
	b.Run("read", func(b *testing.B) {
		b.SetBytes(int64(len(src)))
		b.ReportAllocs()
		for b.Loop() {
			read(b, src)
		}
	})
	b.Run("write-made", func(b *testing.B) {
		b.SetBytes(int64(len(src)))
		b.ReportAllocs()
		for b.Loop() {
			write(b, s)
		}
	})
	b.Run("write-read", func(b *testing.B) {
		b.SetBytes(int64(len(src)))
		b.ReportAllocs()
		for b.Loop() {
			write(b, fromFile)
		}
	})
	b.Run("compare", func(b *testing.B) {
		for b.Loop() {
			if !again.SameContent(fromFile) {
				b.Fatal("not the same")
			}
		}
	})
	b.Run("compare-made", func(b *testing.B) {
		for b.Loop() {
			if !s.SameContent(fromFile) {
				b.Fatal("not the same")
			}
		}
	})
	b.Run("valid", func(b *testing.B) { // what encoding/json needs for looking at it once
		b.SetBytes(int64(len(src)))
		for b.Loop() {
			json.Valid(src)
		}
	})
}

func BenchmarkFlat10000(b *testing.B) { benchmark(b, flat(10000)) }
func BenchmarkChain1000(b *testing.B) { benchmark(b, chain(1000)) }
