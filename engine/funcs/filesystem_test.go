package funcs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/lockstep-iac/lockstep/engine/language"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/zclconf/go-cty/cty"
)

// checkout builds
//
//	outside/secret.txt
//	checkout/project/main.txt
//	checkout/project/in     -> ../shared
//	checkout/project/out    -> ../../outside
//	checkout/project/loop   -> .
//	checkout/project/gone   -> nowhere
//	checkout/project/[x]/odd.txt
//	checkout/shared/common.txt
//	checkout/shared/~odd
//
// and returns the functions of checkout/project, confined to checkout or not.
func checkout(t *testing.T, isConfined bool) (*hcl.EvalContext, string) {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(top, "checkout")
	project := filepath.Join(root, "project")
	for name, text := range map[string]string{
		"outside/secret.txt":           "secret",
		"checkout/project/main.txt":    "main ${name}",
		"checkout/project/[x]/odd.txt": "odd",
		"checkout/shared/common.txt":   "common",
		"checkout/shared/~odd":         "tilde",
	} {
		file := filepath.Join(top, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		"in": "../shared", "out": "../../outside", "loop": ".", "gone": "nowhere",
	} {
		if err := os.Symlink(target, filepath.Join(project, name)); err != nil {
			t.Fatal(err)
		}
	}
	s := Scope{BaseDir: project, Home: filepath.Join(top, "outside")}
	if isConfined {
		r, err := os.OpenRoot(root)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close() })
		s.Files = Confined(r)
	}
	return &hcl.EvalContext{Functions: Table(s), Variables: map[string]cty.Value{"top": cty.StringVal(top)}}, top
}

// result writes a value, or the message of an error, without the temporary path.
func result(expr string, ctx *hcl.EvalContext, top string) string {
	v, diags := evaluate(expr, language.Newest, ctx)
	if diags.HasErrors() {
		text := diags.Errs()[0].(*hcl.Diagnostic).Detail
		for _, cut := range []string{" failed: ", " parameter: "} {
			if _, after, ok := strings.Cut(text, cut); ok {
				text = after
			}
		}
		return "error: " + strings.ReplaceAll(text, top, "TOP")
	}
	prefix := ""
	if marks.Contains(v, marks.Sensitive) {
		v, _ = v.UnmarkDeep()
		prefix = "sensitive "
	}
	return strings.ReplaceAll(prefix+readable(v), top, "TOP")
}

func TestFilesInAndOutOfTheCheckout(t *testing.T) {
	t.Parallel()
	const outside = "error: open %s: the path leads outside of the directory tree that this configuration may read."
	tests := []struct{ expr, want, confined string }{
		{`file("main.txt")`, "main ${name}", ""},
		{`file("../shared/common.txt")`, "common", ""},
		{`file("in/common.txt")`, "common", ""},
		{`file("${top}/checkout/shared/common.txt")`, "common", ""},
		{`file(abspath("main.txt"))`, "main ${name}", ""},
		{`file("../../outside/secret.txt")`, "secret", strings.Replace(outside, "%s", "../../outside/secret.txt", 1)},
		{`file("in/../../../outside/secret.txt")`, "secret", strings.Replace(outside, "%s", "../../outside/secret.txt", 1)},
		{`file("~/secret.txt")`, "secret", strings.Replace(outside, "%s", "~/secret.txt", 1)},
		{`file("${top}/outside/secret.txt")`, "secret", strings.Replace(outside, "%s", "TOP/outside/secret.txt", 1)},
		{`file("out/secret.txt")`, "secret", strings.Replace(outside, "%s", "out/secret.txt", 1)},
		{`filebase64("out/secret.txt")`, "c2VjcmV0", strings.Replace(outside, "%s", "out/secret.txt", 1)},
		{`filemd5("out/secret.txt")`, "5ebe2294ecd0e0f08eab7690d2a6ee69", strings.Replace(outside, "%s", "out/secret.txt", 1)},
		{`fileexists("out/secret.txt")`, "true", "error: stat out/secret.txt: the path leads outside of the directory tree that this configuration may read."},
		{`fileexists("../../outside/secret.txt")`, "true", "error: stat ../../outside/secret.txt: the path leads outside of the directory tree that this configuration may read."},
		{`fileexists("gone")`, "false", ""},
		{`templatefile("out/secret.txt", {})`, "secret", strings.Replace(outside, "%s", "out/secret.txt", 1)},
		{`fileset("out", "*")`, "[secret.txt]", "[]"},
		{`fileset(".", "{in,out}/*.txt")`, "[in/common.txt out/secret.txt]", "[in/common.txt]"},
		{`fileset("../../outside", "**")`, "[secret.txt]", "[]"},
		{`fileset("..", "**/common.txt")`, "[project/in/common.txt shared/common.txt]", ""},
		{`fileset("../shared", "~*")`, "[~odd]", ""},
		{`file("./~odd")`, `error: no file exists at "./~odd"; this function works only with files that are distributed as part of the configuration source code, so if this file will be created by a resource in this configuration you must instead obtain this result from an attribute of that resource.`, ""},
		{`file("~odd")`, "error: failed to expand ~: cannot expand user-specific home dir.", ""},
		{`fileset(".", "**/main.txt")`, "[main.txt]", ""},
		{`fileset("${top}/checkout/*", "common.txt")`, "[../shared/common.txt]", ""},
		{`fileset("${top}/checkout", "*/common.txt")`, "[shared/common.txt]", ""},
		{`fileset(".", "\\[x]/*")`, "[[x]/odd.txt]", ""},
		{`fileset(".", "*")`, `error: failed to stat "gone": stat gone: no such file or directory.`, ""},
		{`fileset(".", "o*")`, "[]", `error: failed to stat "out": stat out: the path leads outside of the directory tree that this configuration may read.`},
		{`fileset(".", "[!x]*")`, "[]", ""},
	}
	for _, isConfined := range []bool{false, true} {
		ctx, top := checkout(t, isConfined)
		for _, test := range tests {
			want := test.want
			if isConfined && test.confined != "" {
				want = test.confined
			}
			if got := result(test.expr, ctx, top); got != want {
				t.Errorf("confined %v: %s\ngot  %s\nwant %s", isConfined, test.expr, got, want)
			}
		}
	}
}

func TestSensitiveNamesAreNotTold(t *testing.T) {
	t.Parallel()
	ctx, top := checkout(t, false)
	for _, mark := range []marks.Mark{marks.Sensitive, marks.Ephemeral} {
		ctx.Variables["name"] = cty.StringVal("hush").Mark(mark)
		checkNotTold(t, ctx, top)
	}
}

func checkNotTold(t *testing.T, ctx *hcl.EvalContext, top string) {
	t.Helper()
	for _, call := range []string{
		`file(name)`, `filebase64(name)`, `filemd5(name)`, `filesha256(name)`, `fileexists("${name}/\u0000")`,
		`fileset(".", "[${name}")`, `templatefile(name, {})`, `base64decode("${name}*")`,
		`rsadecrypt("${name}*", "x")`, `lookup({}, name)`, `lookup(tomap({}), name)`, `tonumber(name)`, `tobool(name)`,
	} {
		got := result(call, ctx, top)
		if !strings.HasPrefix(got, "error: ") || strings.Contains(got, "hush") {
			t.Errorf("%s: %s", call, got)
		}
	}
}

func TestTemplateFilesAreReadAnew(t *testing.T) {
	t.Parallel()
	ctx, top := checkout(t, false)
	call := `templatefile("main.txt", {name = "x"})`
	if diff := cmp.Diff("main x", result(call, ctx, top)); diff != "" {
		t.Error(diff)
	}
	if err := os.WriteFile(filepath.Join(top, "checkout/project/main.txt"), []byte("%{ if true }now ${name}%{ endif }"), 0o644); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("now x", result(call, ctx, top)); diff != "" {
		t.Error(diff)
	}
}

func TestOneTableServesManyCallers(t *testing.T) {
	t.Parallel()
	ctx, top := checkout(t, true)
	file := filepath.Join(top, "checkout/project/list.txt")
	if err := os.WriteFile(file, []byte("${join(\",\", things[*].name)}"), 0o644); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for i := range 16 {
		group.Go(func() {
			expr := fmt.Sprintf(`templatefile("list.txt", {things = [{name = "a"}, {name = "%d"}]})`, i)
			if got, want := result(expr, ctx, top), fmt.Sprintf("a,%d", i); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
	group.Wait()
}
