//go:build clients

package localpipeline

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// BenchmarkPush measures the CPU time of a push that changes a module of 60 projects, with the processes of its runs and the fake
// GitHub. Run it once: -benchtime 1x.
func BenchmarkPush(b *testing.B) {
	const module = "variable \"n\" {\n  type = number\n}\nresource \"time_static\" \"t\" {\n  rfc3339 = \"2026-01-01T00:00:00Z\"\n}\nresource \"terraform_data\" \"app\" {\n  count = 3\n  input = \"${var.n} %s\"\n}\n"
	files := githubtest.Files{"lockstep.hcl": "allow {\n  providers = [\"registry.terraform.io/hashicorp/time\"]\n  states = [\"s3://states/**\"]\n}\n", "module/main.tf": fmt.Sprintf(module, "one")}
	const projects = 60
	for n := range projects {
		files[fmt.Sprintf("live/app%02d/main.tf", n)] = fmt.Sprintf("terraform {\n  backend \"s3\" {\n    bucket = \"states\"\n    key = \"app%02d\"\n    region = \"us-east-1\"\n    use_path_style = true\n    skip_credentials_validation = true\n    skip_requesting_account_id = true\n    use_lockfile = true\n  }\n}\nmodule \"app\" {\n  source = \"../../module\"\n  n = %d\n}\n", n, n)
		files[fmt.Sprintf("live/app%02d/.terraform.lock.hcl", n)] = "provider \"registry.terraform.io/hashicorp/time\" {\n  version = \"0.14.2\"\n}\n"
	}
	s := newStacked(b, files)
	before, began, requests := cpu(b), time.Now(), len(s.hub.Lines())
	n := s.pull("two", githubtest.Files{"module/main.tf": fmt.Sprintf(module, "two")})
	b.ReportMetric((cpu(b)-before).Seconds()/projects*1000, "cpu-ms/project")
	b.ReportMetric(time.Since(began).Seconds(), "s")
	b.ReportMetric(float64(len(s.hub.Lines())-requests), "lines")
	if got := s.said(n); !strings.Contains(got, fmt.Sprintf("%d projects", projects)) || strings.Contains(got, "failed") {
		b.Fatal(got)
	}
}
