package funcs

import "testing"

// Every function that can be called has a signature, and so a description.
func TestSignaturesOfAll(t *testing.T) {
	got := Signatures()
	for name := range Table(Scope{}) {
		if _, ok := got[name]; !ok && name != "list" && name != "map" && name != namespace+"list" && name != namespace+"map" {
			t.Errorf("%s has no description", name)
		}
	}
}
