package planfile

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/msgpack"
)

// sampler has a field of each kind that a coder knows.
type sampler struct {
	Uint  uint64
	Index uint32
	Int   int
	Bool  bool
	Octet byte
	Text  string
	Bytes []byte
	List  []string
	Ptr   *wireImporting
}

func (s *sampler) code(c *coder) {
	c.uint(&s.Uint)
	c.index(&s.Index)
	c.int(&s.Int)
	c.bool(&s.Bool)
	octet(c, &s.Octet)
	text(c, &s.Text)
	c.bytes(&s.Bytes)
	list(c, &s.List, textElement)
	optional(c, &s.Ptr, (*wireImporting).code)
}

func TestCoderReadsWhatItWrote(t *testing.T) {
	for _, want := range []sampler{
		{},
		{math.MaxUint64, math.MaxUint32, math.MaxInt, true, 255, "é\x00", []byte{0}, []string{"", "x"}, &wireImporting{"id", wireValue{Where: valueHere, Type: 7, Data: []byte{1}}, true}},
		{Int: math.MinInt, Bytes: []byte{}, List: []string{}},
		{Int: -1},
	} {
		w := &coder{}
		want.code(w)
		src := w.buf
		r := &coder{buf: src, reading: true}
		got := sampler{Text: "old", Bytes: []byte("old"), List: []string{"old"}, Ptr: &wireImporting{}}
		if got.code(r); r.err != nil || len(r.buf) != 0 {
			t.Errorf("%+v: %v, %d bytes left", want, r.err, len(r.buf))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-written +read:\n%s", diff)
		}
		for n := range src {
			r := &coder{buf: src[:n], reading: true}
			if got.code(r); r.err == nil {
				t.Errorf("%+v: cut off after %d of %d bytes, it is still read", want, n, len(src))
			}
		}
	}
}

func TestCoderBelievesNoLength(t *testing.T) {
	huge := (&coder{})
	n := uint64(1 << 60)
	huge.uint(&n)
	for name, read := range map[string]func(*coder){
		"text":  func(c *coder) { var s string; text(c, &s) },
		"list":  func(c *coder) { var l []string; list(c, &l, textElement) },
		"index": func(c *coder) { var i uint32; c.index(&i) },
		"octet": func(c *coder) { var b byte; octet(c, &b) },
		"bool":  func(c *coder) { var b bool; c.bool(&b) },
	} {
		c := &coder{buf: append([]byte{}, huge.buf...), reading: true}
		if read(c); c.err == nil {
			t.Errorf("%s: %d is believed", name, n)
		}
	}
}

func TestFits(t *testing.T) {
	m := newMaker(1)
	for range 2000 {
		src, err := msgpack.Marshal(m.value(m.typ(2), true), cty.DynamicPseudoType)
		if err != nil {
			t.Fatal(err)
		}
		if !fits(src) {
			t.Fatalf("% x does not fit", src)
		}
		if fits(src[:len(src)-1]) || fits(append(src, 0xC0)) {
			t.Fatalf("% x fits if shorter or longer, too", src)
		}
	}
	for _, src := range []string{"\xdd\xff\xff\xff\xff", "\xdf\x00\x00\x00\x01\xc0", "\xc6\x00", "\xc1", "\xda\x00\x01", "\x92\xc0"} {
		if fits([]byte(src)) {
			t.Errorf("% x fits", src)
		}
	}
}
