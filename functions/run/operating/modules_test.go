package operating

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/functions/run"
	"github.com/lockstep-iac/lockstep/functions/run/modules"
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
	b.engine.Modules = func(ctx context.Context, _ run.Job, dir string, tree source.Tree) (*config.Config, diags.Diagnostics) {
		return modules.Pipeline(dir, tree, modules.PipelineOptions{Repository: func(_ context.Context, owner, name, ref, to string) error {
			fetched++
			if owner+"/"+name+"@"+ref != "acme/private@v1" {
				t.Errorf("asked for %s/%s@%s", owner, name, ref)
			}
			if err := os.Mkdir(filepath.Join(to, "net"), 0o755); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(to, "net", "main.tf"), []byte("output \"o\" {\n  value = file(\"${path.module}/main.tf\") != \"\"\n}\n"), 0o644)
		}}).Install(ctx)
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
