package rest

import (
	"encoding/json"
	"testing"
)

// TestEncode holds that bodies are JSON as encoding/json makes it, and how addresses get into it.
func TestEncode(t *testing.T) {
	type known struct {
		A int `json:"a,omitempty"`
		B any `json:"b"`
	}
	for _, body := range []any{
		nil, true, false, 0, -7, int64(1) << 60, 1.5, "", "plain", "a \"quote\" \\ <b> & c", "ä\u2028\n\x00\x7f\xff", []any{}, []any(nil), []any{1, "a", nil},
		[]string{"a", "b"}, map[string]string{"b": "1", "a": "2"}, json.RawMessage(`{"a" : 1}`), known{B: 1}, &known{A: 2},
	} {
		want, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(Encode(body)); got != string(want) {
			t.Errorf("%#v: %s, want %s", body, got, want)
		}
		nested := map[string]any{"x": body, "a": map[string]any{"z": body}}
		want, _ = json.Marshal(nested)
		if got := string(Encode(Object{"x": body, "a": Object{"z": body}})); got != string(want) {
			t.Errorf("%#v: %s, want %s", nested, got, want)
		}
	}
	o := Object{"id": 1, "html_url": "h", "diff_url": "d", "_links": Object{}, "in": []any{Object{"id": 2}}, "all": []Object{nil, {"id": 3}}}
	o.URLs("http://a", "keys", "hooks")
	o["in"].([]any)[0].(Object).URLs("http://b", "keys")
	full := `{"_links":{},"all":[null,{"id":3}],"diff_url":"d","hooks_url":"http://a/hooks","html_url":"h","id":1,"in":[{"id":2,"keys_url":"http://b/keys"}],"keys_url":"http://a/keys"}`
	short := `{"all":[null,{"id":3}],"html_url":"h","id":1,"in":[{"id":2}]}`
	for range 2 {
		if got := string(Encode(Lean(false, o))); got != full {
			t.Errorf("%s, want %s", got, full)
		}
		if got := string(Encode(Lean(true, o))); got != short {
			t.Errorf("%s, want %s", got, short)
		}
	}
	if data, err := json.Marshal(map[string]any{"o": o}); err != nil || string(data) != `{"o":`+full+`}` {
		t.Errorf("%s, %v", data, err)
	}
	if Lean(true, nil) != nil || Lean(true, Redirect("x")) != Redirect("x") || Lean(true, Page{Next: "n"}).(Page).Next != "n" {
		t.Error("other bodies")
	}
}
