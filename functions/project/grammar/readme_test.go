package grammar

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestREADME holds that README.md has each block of lockstep.hcl, and each argument of one: in an example, or by its name in the
// text.
func TestREADME(t *testing.T) {
	readme, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(readme)
	argument := func(name string) bool {
		return regexp.MustCompile("(?m)^    +" + name + " += |[{,] " + name + " += |`" + name + "[` ]").MatchString(text)
	}
	var look func(path string, b Block)
	look = func(path string, b Block) {
		if b.Type != "" {
			if path += " " + b.Type; !strings.Contains(text, "    "+b.Type+" ") {
				t.Errorf("README.md has no block%s", path)
			}
		}
		for _, a := range b.Args {
			if !argument(a.Name) {
				t.Errorf("README.md has no argument %s of%s", a.Name, path)
			}
		}
		for _, inner := range b.Inner {
			look(path, inner)
		}
	}
	for _, b := range append([]Block{file}, blocks...) {
		look("", b)
	}
}
