package executor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// TestContinues holds that an apply is gone on with where it was, under its own lock, which nobody
// else gets meanwhile; and that it is not where somebody else has recovered the state.
func TestContinues(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", statebackendtest.AccessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", statebackendtest.SecretKey)
	t.Setenv("AWS_ENDPOINT_URL_S3", statebackendtest.StartVersitygw(t))
	t.Setenv("AWS_ENDPOINT_URL_DYNAMODB", statebackendtest.StartDynoxide(t))
	const chain = "resource \"terraform_data\" \"a\" {\n  input = \"1\"\n}\nresource \"terraform_data\" \"b\" {\n  input = terraform_data.a.id\n  provisioner \"local-exec\" {\n    command = \"until [ -e '%s' ]; do /bin/sleep 0.02; done\"\n  }\n}\nresource \"terraform_data\" \"c\" {\n  input = terraform_data.b.id\n}\n"
	for name, recovered := range map[string]bool{"goes-on": false, "recovered": true} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "go")
			b := newBench(t, map[string]string{"net/main.tf": strings.Replace(inS3, "net/", name+"/", 1) + fmt.Sprintf(chain, file)})
			b.job.Grants = grants(t, "allow {\n  provisioners = true\n}\n", "")
			b.engine.PluginEnv = func(context.Context, jobs.Job) ([]string, error) { return []string{"PATH=/bin:/usr/bin"}, nil }
			b.engine.DataDir = t.TempDir()
			b.engine.Backend = States(b.parent)
			b.granted("default")
			p := b.plan()
			b.job.Run, b.job.Planned = "run/1/7/net/1", p.State
			var told []comment.Ongoing
			b.job.Progress = func(o comment.Ongoing) { told = append(told, o) }
			b.job.Times = jobs.TimesBefore(time.Now().Add(time.Minute), time.Now().Add(time.Minute), time.Minute-2*time.Second)
			time.AfterFunc(3*time.Second, func() {
				if err := os.WriteFile(file, nil, 0o600); err != nil {
					t.Error(err)
				}
			})
			o := b.apply(p.Plan, true)
			if !o.Resumable || o.Progress != (comment.Progress{Done: 2, Of: 3}) || o.Counts != (counting.Counts{Add: 2}) || len(told) == 0 || told[0].Of != 3 {
				t.Fatalf("%+v, told %v", o, told)
			}
			other := *b
			other.job.Run, other.job.Continues, other.job.Times, other.job.Owner = "run/1/8/net/1", false, jobs.Times{}, "lockstep acme/infra#8"
			if x := other.apply(p.Plan, true); !x.Failed || !strings.Contains(x.Report, "is locked since") {
				t.Errorf("another run meanwhile: %+v", x)
			}
			if recovered {
				if u, err := b.engine.Unlock(t.Context(), b.job); err != nil || u.Locks == 0 {
					t.Fatalf("%+v, %v", u, err)
				}
				if r, err := other.engine.Recover(t.Context(), other.job); err != nil || len(r.Doubts) != 0 {
					t.Fatalf("%+v, %v", r, err)
				}
			}
			b.job.Continues, b.job.Times = true, jobs.Times{}
			got := b.apply(p.Plan, true)
			switch {
			case recovered && (!got.Failed || !got.Lost || !strings.Contains(got.Report, "cannot continue, because its journal is gone")):
				t.Errorf("recovered by somebody else: %+v", got)
			case !recovered && (got.Failed || got.Counts != (counting.Counts{Add: 3}) || got.Progress != (comment.Progress{Done: 3, Of: 3})):
				t.Errorf("the rest: %+v", got)
			}
			if u, err := b.engine.Unlock(t.Context(), b.job); err != nil || u.Locks != 0 {
				t.Errorf("it is still locked: %+v, %v", u, err)
			}
		})
	}
}
