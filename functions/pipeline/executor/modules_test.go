package executor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/hosts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/modules"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// Modules of other repositories are installed for plan and apply, whatever the
// checkout has in their place; unlocking needs none.
func TestModulesFromElsewhere(t *testing.T) {
	b := newBench(t, map[string]string{
		"net/main.tf":    "module \"m\" {\n  source = \"github.com/acme/private//net?ref=v1\"\n}\noutput \"o\" {\n  value = module.m.o\n}\n",
		"other/x.tf":     "",
		"net/.terraform": "-> ../other",
	})
	if p := b.plan(); p.Plan != nil || !strings.Contains(p.Report, "Module not installed") {
		t.Errorf("without a way to get modules: %+v", p)
	}
	fetched := 0
	b.engine.Modules = func(ctx context.Context, _ jobs.Job, dir string, tree source.Tree, _ loading.Early, _ hosts.Tokens, _ func(context.Context) ([]string, error)) (*config.Config, diags.Diagnostics, error) {
		cfg, ds := modules.Pipeline(dir, tree, modules.PipelineOptions{Repository: func(_ context.Context, owner, name, ref, to string) error {
			fetched++
			if owner+"/"+name+"@"+ref != "acme/private@v1" {
				t.Errorf("asked for %s/%s@%s", owner, name, ref)
			}
			if err := os.Mkdir(filepath.Join(to, "net"), 0o755); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(to, "net", "main.tf"), []byte("output \"o\" {\n  value = file(\"${path.module}/main.tf\") != \"\"\n}\n"), 0o644)
		}}).Install(ctx)
		return cfg, ds, nil
	}
	p := b.plan()
	if p.Plan == nil || !p.Applyable {
		t.Fatalf("%+v", p)
	}
	if o := b.apply(p.Plan, true); o.Failed || !strings.Contains(o.Report, "o = true") {
		t.Errorf("%+v", o)
	}
	if fetched != 2 {
		t.Errorf("fetched %d times, want once for each of plan and apply", fetched)
	}
	if list, err := os.ReadDir(filepath.Join(b.job.Checkout, "other")); err != nil || len(list) != 1 {
		t.Errorf("modules went through the repository's link: %v, %v", list, err)
	}
	if _, err := b.engine.Unlock(t.Context(), b.job); err != nil || fetched != 2 {
		t.Errorf("unlock: %v, fetched %d times", err, fetched)
	}
}

// What may pass is no plan that failed, and no apply that did.
func TestModulesUnknown(t *testing.T) {
	b := newBench(t, map[string]string{"net/main.tf": two})
	saved := b.plan().Plan
	outage := errors.New("an outage")
	b.engine.Modules = func(_ context.Context, _ jobs.Job, _ string, tree source.Tree, early loading.Early, _ hosts.Tokens, _ func(context.Context) ([]string, error)) (*config.Config, diags.Diagnostics, error) {
		cfg, ds := loading.Load(loading.Input{Tree: tree, Early: early})
		return cfg, append(ds, diags.FromError("Failed to download module", outage)...), outage
	}
	if p, err := b.engine.Plan(t.Context(), b.job); !errors.Is(err, outage) || p.Report != "" {
		t.Errorf("a plan: %+v, %v", p, err)
	}
	if o, err := b.engine.Apply(t.Context(), b.job, saved, whether(func(runs.StateID) bool { return true })); !errors.Is(err, outage) || o.Failed {
		t.Errorf("an apply: %+v, %v", o, err)
	}
}

// TestModulesMove holds that a plan is applied with the very modules that it was made
// with, their files that are no configuration included, whatever a branch is by then.
func TestModulesMove(t *testing.T) {
	const caller = "module \"m\" {\n  source = \"github.com/acme/private//net?ref=main\"\n}\noutput \"o\" {\n  value = \"${module.m.o} ${length(fileset(path.root, \"*.tf\"))}\"\n}\n"
	files := map[string]string{
		"net/main.tf":   "output \"o\" {\n  value = \"${file(\"${path.module}/words.txt\")} ${file(\"${path.module}/../more.txt\")}\"\n}\n",
		"net/words.txt": "first",
		"more.txt":      "more",
		"link":          "-> more.txt",
	}
	b := newBench(t, map[string]string{"net/main.tf": caller})
	b.engine.Modules = func(ctx context.Context, _ jobs.Job, dir string, tree source.Tree, _ loading.Early, _ hosts.Tokens, _ func(context.Context) ([]string, error)) (*config.Config, diags.Diagnostics, error) {
		cfg, ds := modules.Pipeline(dir, tree, modules.PipelineOptions{Repository: func(_ context.Context, _, _, _, to string) error {
			for name, content := range files {
				path := filepath.Join(to, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					return err
				}
				if target, ok := strings.CutPrefix(content, "-> "); ok {
					if err := os.Symlink(target, path); err != nil {
						return err
					}
				} else if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
					return err
				}
			}
			return nil
		}}).Install(ctx)
		return cfg, ds, nil
	}
	p := b.plan()
	if p.Plan == nil || !strings.Contains(p.Report, "first more 1") {
		t.Fatalf("%+v", p)
	}
	for _, name := range p.Read {
		if strings.Contains(name, ".terraform") {
			t.Errorf("the plan depends on %s, which is in no checkout", name)
		}
	}
	for name, content := range map[string]string{
		"net/main.tf":   "output \"o\" {\n  value = \"other\"\n}\n",
		"net/words.txt": "second", // what no configuration is
		"more.txt":      "",       // of the package, beside the module
		"new.txt":       "",
		"link":          "-> net/words.txt",
	} {
		was, known := files[name]
		files[name] = content
		o := b.apply(p.Plan, true)
		if want := []string{"m from git::https://github.com/acme/private.git//net?ref=main"}; !slices.Equal(o.Moved, want) || o.State != (runs.StateID{}) {
			t.Errorf("%s moved: %+v, want %q", name, o, want)
		}
		if files[name] = was; !known {
			delete(files, name)
		}
	}
	if o := b.apply(p.Plan, true); o.Failed || !strings.Contains(o.Report, "first more 1") {
		t.Errorf("%+v", o)
	}
	if again := b.plan(); again.Applyable {
		t.Errorf("a plan after the apply: %+v", again)
	}
}
