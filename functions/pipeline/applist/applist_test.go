package applist

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/github"
)

const two = "ghes 12 https://github.acme.example/api/v3/ acme,acme-labs/infra; emu 4711 https://api.github.com/ emu"

func TestParse(t *testing.T) {
	t.Parallel()
	want := List{
		{"ghes", 12, "https://github.acme.example/api/v3/", "acme,acme-labs/infra"},
		{"emu", 4711, "https://api.github.com/", "emu"},
	}
	for _, text := range []string{two, " " + strings.ReplaceAll(two, " ", "\t") + ";\n"} {
		got, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		if got.String() != two {
			t.Error(got)
		}
	}
	if got, err := Parse(" "); err != nil || got != nil || got.String() != "" {
		t.Error(got, err)
	}
	nobody, err := Parse("ghes 12 https://github.acme.example/api/v3/")
	if err != nil || !nobody[0].Owners().Empty() {
		t.Error(nobody, err)
	}
	r := github.Repo{ID: 5, Owner: "acme", Name: "infra"}
	if s := want[0].Owners().Decide(r, intake.Known{}); !s.Allowed() {
		t.Errorf("%+v", s)
	}
	if s := want[1].Owners().Decide(r, intake.Known{}); s.Allowed() {
		t.Error("an App serves the owner of another one")
	}
	changed := want.With(App{Name: "ghes", ID: 13, URL: "https://x.example/"}).With(App{Name: "more", ID: 1, URL: "https://y.example/", Serves: "y"})
	if got, want := changed.String(), "ghes 13 https://x.example/; emu 4711 https://api.github.com/ emu; more 1 https://y.example/ y"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if want[0].ID != 12 {
		t.Error("the list before has changed")
	}
}

func TestParseMistakes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"ghes":                                  "an App is NAME ID URL OWNERS",
		"ghes 12 https://a.example/ acme b":     "an App is NAME ID URL OWNERS",
		"GHES 12 https://a.example/":            `"GHES" is not the name of an App`,
		"a/b 12 https://a.example/":             `"a/b" is not the name of an App`,
		"ghes x https://a.example/":             `"x" is not the ID`,
		"ghes 0 https://a.example/":             `"0" is not the ID`,
		"ghes 12 a.example":                     "is a URL",
		"ghes 12 file:///etc/passwd":            "is a URL",
		"ghes 12 https://u:p@a.example/":        "is a URL",
		"ghes 12 https://a.example/ *":          "an owner has to be named in full",
		two + "; ghes 13 https://a.example/":    `another App has the name "ghes"`,
		two + "; x 4711 https://api.github.com": `it is the App "emu", too`,
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestHookOf holds that the path of a webhook says whose it is, and that an address has that path.
func TestHookOf(t *testing.T) {
	t.Parallel()
	r, err := Parse(two)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/": "first", "": "first", "/webhook": "first", "/other": "first",
		"/webhook/ghes": "ghes", "/webhook/emu": "emu",
		"/webhook/": "nobody", "/webhook/none": "nobody", "/webhook/ghes/": "nobody", "/webhook/GHES": "nobody", "/webhook/ghes/../emu": "nobody",
	} {
		got, ok := r.HookOf(path)
		switch {
		case !ok:
			got = "nobody"
		case got == "":
			got = "first"
		}
		if got != want {
			t.Errorf("%q is for %s, want %s", path, got, want)
		}
	}
	for _, base := range []string{"https://a.example", "https://a.example/"} {
		if got := HookURL(base, "ghes"); got != "https://a.example/webhook/ghes" {
			t.Error(got)
		}
	}
}
