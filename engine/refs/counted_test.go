package refs_test

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/refs"
)

// TestCounted says of each expression whether it needs only the number of the instances of a resource.
func TestCounted(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`length(t_x.a)`:                              "t_x.a",
		`length(t_x.a) > 0 ? length(t_x.b) : 0`:      "t_x.a t_x.b",
		`{ n = [max(length(t_x.a), 1)] }`:            "t_x.a",
		`length(t_x.a) + length(t_x.a[0])`:           "t_x.a",
		`length(data.t_x.a)`:                         "data.t_x.a",
		`length(t_x.a[*].id)`:                        "",
		`length(t_x.a...)`:                           "",
		`length([t_x.a])`:                            "",
		`keys(t_x.a)`:                                "",
		`[for i in range(length(t_x.a)) : t_x.b[i]]`: "t_x.a",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			cfg, ds := loading.Load(loading.Input{Tree: source.Files(map[string][]byte{"main.tf": []byte(`
resource "t_x" "a" { count = 2 }
resource "t_x" "b" { count = 2 }
data "t_x" "a" { count = 2 }
locals { x = ` + text + ` }
`)})})
			if ds.HasErrors() {
				t.Fatal(ds)
			}
			all, ds := refs.Analyze(cfg)
			if ds.HasErrors() {
				t.Fatal(ds)
			}
			var got []string
			for _, r := range all.OfExpr(cfg.Root.Content.Locals["x"].Expr) {
				if r.Object.Kind == addrs.KindResource && r.Counted {
					got = append(got, r.Object.Res.String())
				}
			}
			if strings.Join(got, " ") != want {
				t.Errorf("counted are %q, want %q", got, want)
			}
		})
	}
}
