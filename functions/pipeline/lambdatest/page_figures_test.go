//go:build linux

package lambdatest_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/audit"
	"github.com/lockstep-iac/lockstep/functions/pipeline/awsstore"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

const (
	figureProjects = 500
	figureRuns     = 10_000
	figureOfAPull  = 5 // runs
)

// BenchmarkPage is the time of each page of a repository with 500 projects and 10,000 runs, with a function that is warm. Of
// each page, it reports the time that 99 of 100 requests do not exceed. The stores and the rights of AWS are simulated on the
// same machine.
func BenchmarkPage(b *testing.B) {
	r := newRoad(b, githubtest.Files{"net/main.tf": project(netState)})
	r.repo.SetPrivate()
	r.fill(b)
	alice := r.signedIn("alice")
	last := figureRuns / figureOfAPull
	for name, path := range map[string]string{
		"repositories": "/", "pulls": "/acme/infra", "pulls-last": "/acme/infra?at=31", "projects": "/acme/infra/view/projects", "locks": "/acme/infra/view/locks",
		"drift": "/acme/infra/view/drift", "audit": "/acme/infra/view/audit", "project": "/acme/infra/project/p007@default", "pull": fmt.Sprintf("/acme/infra/pull/%d", last), "search": "/search?q=p4",
	} {
		b.Run(name, func(b *testing.B) {
			var all []time.Duration
			for range 3 {
				if status, text := alice.get(path); status != http.StatusOK {
					b.Fatalf("%s: %d %s", path, status, text)
				}
			}
			for b.Loop() {
				begin := time.Now()
				alice.get(path)
				all = append(all, time.Since(begin))
			}
			slices.Sort(all)
			b.ReportMetric(float64(all[len(all)*99/100])/float64(time.Millisecond), "p99-ms")
			b.ReportMetric(median(all), "median-ms")
		})
	}
}

// fill writes the records of pull requests, of which each has plans of some projects. All but the latest are applied and merged.
func (r *road) fill(b *testing.B) {
	b.Helper()
	records := awsstore.Records{Client: r.stack.DynamoDB, Table: r.stack.Ref("Records")}
	chains := awsstore.Chains{Client: r.stack.S3, Bucket: r.stack.Ref("Audit")}
	repo := r.repo.Repo()
	var g errgroup.Group
	g.SetLimit(16)
	put := func(key string, value any) {
		g.Go(func() error {
			_, err := records.Put(b.Context(), key, pipeline.Encode(value), "")
			return err
		})
	}
	pulls := figureRuns / figureOfAPull
	for n := 1; n <= pulls; n++ {
		pull := pipeline.Pull{Repo: repo, Number: n, Installation: r.repo.Installation()}
		head := fmt.Sprintf("%040x", n)
		look := ledger.Look{Pull: pull, Head: head, Base: head, Merge: head, Into: "main", Discovery: ledger.Discovery{Projects: figureOfAPull, Compared: true}, Display: ledger.Display{Heads: []string{head}, Comment: ledger.Comment{ID: int64(n), Alone: true}}}
		look.Closed, look.Merged = n < pulls-50, n < pulls-50
		put(fmt.Sprintf("pull/%d/%d", repo.ID, n), look)
		for i := range figureOfAPull {
			p := (n*figureOfAPull + i) % figureProjects
			x := runs.Run{
				ID: runs.ID{Pull: pull, Project: fmt.Sprintf("p%03d", p), Workspace: "default"}, Phase: runs.Planned, Spec: runs.Spec{Dir: "net", Head: head, Base: head, Merge: head}, Asked: runs.Asked{By: "alice", Try: 1, Into: "main"},
				Plan: runs.Plan{PlanSummary: comment.PlanSummary{Applyable: true, Hash: head, Counts: counting.Counts{Add: 3}}, Inputs: head}, Artifacts: runs.Artifacts{Begun: 1},
			}
			x.Address.Place = fmt.Sprintf("s3://states/p%03d/terraform.tfstate", p)
			if look.Merged {
				x.Phase, x.End = runs.Dropped, runs.End{Was: runs.Applied, Fate: runs.Merged}
			}
			put(x.Key(), x)
			if n < pulls-figureProjects/figureOfAPull || n >= pulls {
				continue // the last round of projects, with the states
			}
			put(runs.AddressKey(repo.ID, x.Target()), map[string]any{"Place": x.Address.Place, "Of": map[string]any{"main": map[string]any{"Place": x.Address.Place}}})
			g.Go(func() error {
				rec := audit.Of(x, audit.ApplyEnded, "alice")
				at, err := (audit.Trail{Chains: chains}).Append(b.Context(), x, runs.Audited{}, rec)
				if err != nil {
					return err
				}
				last := runs.LastApply{Number: n, Head: head, By: "alice", State: runs.StateID{Lineage: head, Serial: 7}, Settled: true, Merged: true, Applies: 20, Audited: at}
				_, err = records.Put(b.Context(), x.StateKey(), pipeline.Encode(last), "")
				return err
			})
		}
	}
	if err := g.Wait(); err != nil {
		b.Fatal(err)
	}
}
