//go:build clients

package localpipeline

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/github/githubtest"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// monorepo returns the files of 60 units. All but one depend on the first one.
func monorepo(tag string) githubtest.Files {
	const include = "include \"root\" {\n  path = find_in_parent_folders(\"root.hcl\")\n}\n"
	files := githubtest.Files{
		"root.hcl":                rootHCL + "inputs = { tag = \"" + tag + "\" }\n",
		"modules/net/main.tf":     "variable \"tag\" {}\nresource \"time_static\" \"t\" {\n  rfc3339 = \"2026-01-01T00:00:00Z\"\n}\nresource \"terraform_data\" \"net\" {\n  input = var.tag\n}\noutput \"id\" {\n  value = terraform_data.net.id\n}\n",
		"modules/app/main.tf":     "variable \"tag\" {}\nvariable \"net\" {}\nvariable \"n\" {\n  type = number\n}\nresource \"time_static\" \"t\" {\n  rfc3339 = \"2026-01-01T00:00:00Z\"\n}\nresource \"terraform_data\" \"app\" {\n  count = 3\n  input = \"${var.n} ${var.tag} ${var.net}\"\n}\n",
		"live/net/terragrunt.hcl": include + "terraform {\n  source = \"../../modules/net\"\n}\n",
	}
	for n := range 59 {
		files[fmt.Sprintf("live/app%02d/terragrunt.hcl", n)] = include + "terraform {\n  source = \"../../modules/app\"\n}\ndependency \"net\" {\n  config_path = \"../net\"\n}\ninputs = {\n  n   = " + fmt.Sprint(n) + "\n  net = dependency.net.outputs.id\n}\n"
	}
	return files
}

// cpu returns the CPU time of this process and of its ended descendants.
func cpu(b *testing.B) (sum time.Duration) {
	b.Helper()
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var r syscall.Rusage
		if err := syscall.Getrusage(who, &r); err != nil {
			b.Fatal(err)
		}
		sum += time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	return sum
}

// BenchmarkTerragruntMonorepo compares the CPU time of two plans of 60 units: in the pipeline, with its GitHub, and by
// "terragrunt run --all plan" with Terraform. Run it once: -benchtime 1x.
func BenchmarkTerragruntMonorepo(b *testing.B) {
	s := newStacked(b, nil)
	n := s.pull("units", monorepo("one"))
	if got := s.say(n, "lockstep apply"); !strings.Contains(got, "60 projects applied") {
		b.Fatal(got)
	}
	s.repo.Merge("alice", n)
	s.settle()
	before, began := cpu(b), time.Now()
	n = s.pull("tag", monorepo("two"))
	b.ReportMetric((cpu(b) - before).Seconds(), "pipeline-cpu-s")
	b.ReportMetric(time.Since(began).Seconds(), "pipeline-s")
	if got := s.said(n); !strings.Contains(got, "60 projects ready to apply") {
		b.Fatal(got)
	}
	dir := b.TempDir()
	for name, text := range monorepo("two") {
		at := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(text), 0o600)); err != nil {
			b.Fatal(err)
		}
	}
	cmd := exec.Command(filepath.Join(os.Getenv("LOCKSTEP_PARTS"), "clients", "bin", "terragrunt"), "run", "--all", "--", "plan")
	cmd.Dir = filepath.Join(dir, "live")
	cmd.Env = append(os.Environ(), "TG_TF_PATH=terraform", "TF_CLI_CONFIG_FILE="+s.mirror, "", "CHECKPOINT_DISABLE=1", "TG_NON_INTERACTIVE=true", "AWS_ENDPOINT_URL_S3="+s.server,
		"AWS_ACCESS_KEY_ID="+statebackendtest.AccessKey, "AWS_SECRET_ACCESS_KEY="+statebackendtest.SecretKey)
	began = time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	b.ReportMetric((cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), "terraform-cpu-s")
	b.ReportMetric(time.Since(began).Seconds(), "terraform-s")
}
