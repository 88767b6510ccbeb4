package statefile

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// A state file is several times as large as all that is of interest in it: nothing of it stays.
func TestNothingOfTheFileIsKept(t *testing.T) {
	files := stock(t)
	for name, instances := range map[string]string{
		"large attributes":   `{"attributes": {"note": "` + strings.Repeat("lorem ipsum", 2000) + `"}}`,
		"a stray dependency": `{"attributes": {}, "dependencies": ["module.a[0].t.b"]}`,
		"an unknown member":  `{"attributes": {}, "identity": [ 1, " " ]}`,
		"flat attributes":    `{"attributes_flat": {"id": "x", "tags.#": "0"}}`,
	} {
		files[name] = write(t, read(t, resource(instances)))
	}
	for name, src := range files {
		s := read(t, src)
		want := write(t, s)
		for i := range src {
			src[i] = 'x'
		}
		if !bytes.Equal(write(t, s), want) {
			t.Errorf("%s: the state changes with the bytes that it was read from", name)
		}
	}
}

// Texts that share an allocation do not reach into each other, and have no layout.
func TestTexts(t *testing.T) {
	var kept texts
	var all [][]byte
	var want []string
	for i := range 3000 {
		text := fmt.Sprintf("{\"a b\":%d,\"c\":[\"\\\" \"]}", i)
		if i%500 == 0 {
			text = fmt.Sprintf("[%q]", strings.Repeat("large ", shared/6))
		}
		all = append(all, kept.keep([]byte(strings.ReplaceAll(text, ",", " ,\n\t"))))
		want = append(want, text)
	}
	for i, text := range all {
		_ = append(text, "more"...)
		if string(text) != want[i] {
			t.Fatalf("text %d is %.60s, want %.60s", i, text, want[i])
		}
	}
}
