package statefile

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/internal/jsonscan"
)

// Whatever bytes there are: no panic, and what could be read is written in a form
// that is read alike.
func FuzzRead(f *testing.F) {
	f.Add(stock(f)["deposed.tfstate"])
	f.Add(testFile(f, "testdata/pushed-in.json"))
	f.Add(resource(`{"index_key": "k", "provider": "provider[\"a/b\"].c[\"k\"]", "identity": [], "sensitive_attributes": [[{"type": "index", "value": {"value": 1, "type": "number"}}]], "dependencies": ["module.a[0].t.b"]}`))
	f.Add(file(`"check_results": [{"object_kind": "output", "objects": [{"failure_messages": ["x"]}]}], "more": 1`))
	f.Fuzz(func(t *testing.T, src []byte) {
		s, err := Read(src)
		if err != nil {
			return
		}
		first, err := Write(s)
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		if !json.Valid(first) {
			t.Fatalf("what was written is not JSON: %s", first)
		}
		again, err := Read(first)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, first)
		}
		if !s.SameContent(again) {
			t.Fatalf("what was written says something else:\n%s\n%s", src, first)
		}
		second, err := Write(again)
		if err != nil || !bytes.Equal(first, second) {
			t.Fatalf("written twice, it differs: %v\n%s\n%s", err, first, second)
		}
	})
}

// The scanner takes for JSON what encoding/json takes for JSON, and lays it out alike.
func FuzzScanner(f *testing.F) {
	for _, s := range []string{`{}`, `[]`, ` [1 , -0.5e+3,"a\u00e9\n<>&` + "\u2028\xff" + `", null,true,false,{"a<":{"b":[[]]}} ] `, `{"a":1,}`, `[01]`, `"\x"`, `nul`, `-`, `1.`, `"`, "\"\x1f\""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		s := jsonscan.New(src)
		_, err := s.Raw()
		if err == nil {
			err = s.End()
		}
		if valid := json.Valid(src); valid != (err == nil) {
			t.Fatalf("%q: valid is %v, but the scanner says %v", src, valid, err)
		}
		w := &writer{depth: 1}
		if werr := w.json(src); (werr == nil) != (err == nil) {
			t.Fatalf("%q: the scanner says %v, the writer %v", src, err, werr)
		}
		if err != nil {
			return
		}
		want, err := json.MarshalIndent(json.RawMessage(src), "  ", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(w.dst, want) {
			t.Fatalf("%q is laid out as\n%s\nand encoding/json makes it\n%s", src, w.dst, want)
		}
	})
}

func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "plain", `"\`, "<>&", "é\u2028", "\x00\x7f\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := appendString(nil, s); !bytes.Equal(got, want) {
			t.Fatalf("%q is written as %s, want %s", s, got, want)
		}
	})
}
