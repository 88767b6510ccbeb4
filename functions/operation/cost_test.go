package operation

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/config/inputs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/functions/workdir"
	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/local"
	"github.com/lockstep-iac/lockstep/statebackend/s3"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// metered is a backend that counts the bytes of states and journals.
type metered struct {
	statebackend.Backend
	states, journals atomic.Int64
	last             int64
}

type meteredWorkspace struct {
	statebackend.Workspace
	m *metered
}

type meteredLog struct {
	statebackend.Log
	m *metered
}

func (m *metered) Open(name string) (statebackend.Workspace, error) {
	w, err := m.Backend.Open(name)
	return meteredWorkspace{w, m}, err
}

func (w meteredWorkspace) Put(ctx context.Context, data []byte, prev statebackend.Version) (statebackend.Version, error) {
	w.m.states.Add(int64(len(data)))
	w.m.last = int64(len(data))
	return w.Workspace.Put(ctx, data, prev)
}

func (w meteredWorkspace) Journal() statebackend.Log {
	return meteredLog{w.Workspace.(statebackend.Journaled).Journal(), w.m}
}

func (l meteredLog) Append(ctx context.Context, number uint64, data []byte, durable bool) error {
	l.m.journals.Add(int64(len(data)))
	return l.Log.Append(ctx, number, data, durable)
}

// create plans and applies n objects of the built-in provider, ten at a time, and returns what a
// person reads.
func create(t testing.TB, backend statebackend.Backend, n int, soon bool) diags.Diagnostics {
	return createIn(t, backend, n, soon, &Lock{Operation: "OperationTypeApply"})
}

// createIn is create under a lock.
func createIn(t testing.TB, backend statebackend.Backend, n int, soon bool, lock *Lock) diags.Diagnostics {
	dir := t.TempDir()
	text := fmt.Sprintf("resource \"terraform_data\" \"a\" {\n  count = %d\n  input = \"value ${count.index}\"\n}\n", n)
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	d, ds := workdir.Open(dir, []string{"TF_CLI_CONFIG_FILE=" + os.DevNull})
	d.Scratch = ""
	op := &Operation{Settings: &workdir.Settings{Type: "fake"}, Workspace: "default", Journaled: true}
	defer op.Close()
	var more diags.Diagnostics
	op.Config, more = d.Load()
	ds = append(ds, more...)
	op.Variables, more = inputs.Values(op.Config.Root.Content, nil)
	ds = append(ds, more...)
	if ds = append(ds, op.OpenState(t.Context(), backend, "default", lock)...); ds.HasErrors() {
		return ds
	}
	ds = append(ds, op.OpenProviders(t.Context(), d, workdir.PoolOptions{}, 0)...)
	r := op.Run()
	r.WorkingDir = dir
	p, more := engine.Plan(t.Context(), r, op.State.Current, engine.PlanOptions{})
	if ds = append(ds, more...); !ds.HasErrors() {
		_, more = op.Apply(t.Context(), r, p, engine.ApplyOptions{SaveSoon: soon})
		ds = append(ds, more...)
	}
	return append(ds, op.Unlock(t.Context())...)
}

// BenchmarkBytesWritten is an apply of 10,000 creations on a local state: the bytes of all saves, of
// which the file system gets each twice, and of the journal, each divided by the size of the final
// state. On two busy cores: 2.0 and 1.9; beyond that the states grow with the time, by one each half of SaveEvery.
func BenchmarkBytesWritten(b *testing.B) {
	for b.Loop() {
		l, err := local.Open(map[string]any{"path": filepath.Join(b.TempDir(), "terraform.tfstate")}, local.Options{})
		if err != nil {
			b.Fatal(err)
		}
		m := &metered{Backend: l}
		if ds := create(b, m, 10_000, true); ds.HasErrors() {
			b.Fatal(ds)
		}
		b.ReportMetric(float64(m.states.Load())/float64(m.last), "state-bytes/size")
		b.ReportMetric(float64(m.journals.Load())/float64(m.last), "journal-bytes/size")
	}
}

// inBucket is a backend block for a state on a server, with a lock file.
func inBucket(url string) map[string]any {
	return map[string]any{
		"bucket": "states", "key": "terraform.tfstate", "region": "us-east-1", "use_lockfile": true, "max_retries": 0,
		"access_key": statebackendtest.AccessKey, "secret_key": statebackendtest.SecretKey,
		"endpoints": map[string]any{"s3": url}, "use_path_style": true,
		"skip_credentials_validation": true, "skip_requesting_account_id": true, "skip_metadata_api_check": true,
	}
}

// BenchmarkRequests is an apply of 1,000 creations on a state in S3, whose provider answers at once:
// the requests of state, journal and lock together for each creation: 0.24, of which two are needed
// for ten creations at a time.
func BenchmarkRequests(b *testing.B) {
	for b.Loop() {
		var requests atomic.Int64
		fake := new(statebackendtest.S3).Start(b)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requests.Add(1)
			fake.ServeHTTP(w, r)
		}))
		defer server.Close()
		backend, err := s3.Open(b.Context(), inBucket(server.URL), s3.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if ds := create(b, backend, 1000, false); ds.HasErrors() {
			b.Fatal(ds)
		}
		b.ReportMetric(float64(requests.Load())/1000, "requests/change")
	}
}
