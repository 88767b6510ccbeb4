package executor

import (
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
)

// FuzzBlocksOf holds that whatever stands in a comment, the file of a command has its blocks and no others, and no
// expression but addresses and literal texts: nothing of a comment is evaluated.
func FuzzBlocksOf(f *testing.F) {
	for _, body := range []string{
		"lockstep import a.b x", "lockstep import a.b ${file(\"/etc/passwd\")}", "lockstep import a.b %{if true}x%{endif}", "lockstep import a.b 'x\"\nmoved {}'",
		"lockstep import a.b $${x}", `lockstep import a.b \"`, `lockstep import a.b["k"] "a b"`, "lockstep state mv a.b c.d", "lockstep state mv module.a module.b[\"x y\"]",
		"lockstep plan -move \"a{} c.d\"", "lockstep plan -import \"a.b[ x\"", "lockstep state rm a.b", "lockstep state rm a.b[0]", "lockstep plan -import=\"a.b 1\" -import=\"a.c 2\" -move=\"a.d a.e\" -forget=a.f", "lockstep import a.b é\u2028x",
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		for _, l := range grammar.Parse(body) {
			o := l.Command.AsPlan().Options
			if !l.Problem.IsZero() || !o.Changes() {
				continue
			}
			src := blocksOf(o)
			file, ds := hclsyntax.ParseConfig(src, commandFile, hcl.InitialPos)
			if ds.HasErrors() {
				t.Fatalf("%q: %s: %v", body, src, ds)
			}
			blocks := file.Body.(*hclsyntax.Body).Blocks
			if len(blocks) != len(o.Imports)+len(o.Moves)+len(o.Forgets) || len(file.Body.(*hclsyntax.Body).Attributes) > 0 {
				t.Fatalf("%q: %s", body, src)
			}
			for i, b := range blocks {
				for name, a := range b.Body.Attributes {
					if name == "id" {
						v, ds := a.Expr.Value(nil)
						if _, want, _ := grammar.Pair(o.Imports[i]); ds.HasErrors() || v.AsString() != want {
							t.Errorf("%q: %s: %v", body, src, ds)
						}
						continue
					}
					if _, ds := hcl.AbsTraversalForExpr(a.Expr); ds.HasErrors() {
						t.Errorf("%q: %s: %v", body, src, ds)
					}
				}
			}
		}
	})
}

// TestTypedImport holds that the import of a comment may name an identity, and that the blocks of a pull request mean what they say.
func TestTypedImport(t *testing.T) {
	t.Parallel()
	tree := source.Files(map[string][]byte{"main.tf": []byte("resource \"lab_thing\" \"a\" {}\nresource \"lab_thing\" \"b\" {}\nimport {\n  to = lab_thing.b\n  id = \"name=b\"\n}\n")})
	cfg, ds := loading.Load(loading.Input{Tree: commanded(tree, grammar.Options{Imports: []string{"lab_thing.a name=a"}})})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	markTyped(cfg)
	for _, im := range cfg.Root.Imports {
		if name := im.Resource.Resource.Name; im.Typed != (name == "a") {
			t.Errorf("the import of %s: %v", name, im.Typed)
		}
	}
	if len(cfg.Root.Imports) != 2 {
		t.Error(cfg.Root.Imports)
	}
}

// TestCommanded holds that a configuration without a command is left as it is, and that a file in the place of ours is
// refused in the root module only.
func TestCommanded(t *testing.T) {
	t.Parallel()
	tree := source.Files(map[string][]byte{"main.tf": nil, "net/lockstep_command.tf": []byte("# net")})
	with := commanded(tree, grammar.Options{Forgets: []string{"a.b"}})
	for dir, want := range map[string]int{".": 2, "net": 1} {
		if names, err := with.ReadDir(dir); err != nil || len(names) != want {
			t.Errorf("%s: %v, %v", dir, names, err)
		}
	}
	if src, err := with.ReadFile("net/lockstep_command.tf"); err != nil || string(src) != "# net" {
		t.Errorf("%s, %v", src, err)
	}
	if names, err := commanded(tree, grammar.Options{Targets: []string{"a.b"}}).ReadDir("."); err != nil || len(names) != 1 {
		t.Error(names, err)
	}
	if _, err := commanded(source.Files(map[string][]byte{"lockstep_command.tf": nil}), grammar.Options{Forgets: []string{"a.b"}}).ReadDir("."); err == nil {
		t.Error("the file of a pull request is not refused")
	}
}
