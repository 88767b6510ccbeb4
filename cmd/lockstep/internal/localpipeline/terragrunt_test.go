package localpipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/credentials"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/lockstep-iac/lockstep/functions/confine"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// A stacked is a repository with units of Terragrunt, and a machine that runs a real Terragrunt for them.
type stacked struct {
	t      *testing.T
	hub    *githubtest.Hub
	repo   *githubtest.Repository
	m      *Machine
	server string // the states
	digest string
}

// newStacked returns a repository with the files on its base branch. Files without lockstep.hcl get one that allows
// Terragrunt.
func newStacked(t *testing.T, files githubtest.Files) *stacked {
	t.Helper()
	program := filepath.Join(os.Getenv("LOCKSTEP_PARTS"), "clients", "bin", "terragrunt")
	data, err := os.ReadFile(program)
	if err != nil {
		t.Skip("make clients installs Terragrunt, and runs this test")
	}
	sum := sha256.Sum256(data)
	s := &stacked{t: t, server: statebackendtest.StartVersitygw(t), digest: hex.EncodeToString(sum[:])}
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "tools"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(ToolPath(dir, s.digest), data, 0o700); err != nil {
		t.Fatal(err)
	}
	s.hub = githubtest.New(githubtest.Options{Secret: github.NewSecret("hush")})
	api := httptest.NewServer(s.hub)
	t.Cleanup(api.Close)
	app, err := github.NewApp(s.hub.App(api.URL))
	if err != nil {
		t.Fatal(err)
	}
	keys := []string{"AWS_ACCESS_KEY_ID=" + statebackendtest.AccessKey, "AWS_SECRET_ACCESS_KEY=" + statebackendtest.SecretKey, "AWS_REGION=us-east-1"}
	s.m, err = Open(Config{
		Dir: dir, Version: "test", App: app, Serves: serving(t), Secret: github.NewSecret("hush"), URL: "http://127.0.0.1:8080", Log: func(err error) { t.Error(err) },
		Apart: &Apart{Limits: confine.Limits{Memory: 2 << 30}}, Environ: append([]string{"AWS_ENDPOINT_URL_S3=" + s.server}, keys...), PluginEnv: keys,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.m.Close(); err != nil {
			t.Error(err)
		}
	})
	hook := httptest.NewServer(s.m.Webhook)
	t.Cleanup(hook.Close)
	s.hub.SetWebhook(hook.URL)
	base := githubtest.Files{"lockstep.hcl": s.settings("")}
	for name, text := range files {
		base[name] = text
	}
	s.repo = s.hub.AddRepository("acme", "infra", base)
	s.repo.Grant("alice", "write")
	return s
}

// settings returns a lockstep.hcl with Terragrunt. block are lines of the terragrunt block.
func (s *stacked) settings(block string) string {
	return fmt.Sprintf("tools = { terragrunt = \"sha256:%s\" }\nterragrunt {\n%s}\nallow {\n  states = [\"s3://states/**\"]\n}\n", s.digest, block)
}

// settle handles everything that has happened.
func (s *stacked) settle() {
	s.t.Helper()
	for {
		sent, err := s.hub.Deliver(s.t.Context())
		if err != nil {
			s.t.Fatal(err)
		}
		handled, err := s.m.Settle(s.t.Context())
		if err != nil {
			s.t.Fatal(err)
		}
		if sent+handled == 0 {
			return
		}
	}
}

// pull opens a pull request with the files, and returns its number.
func (s *stacked) pull(branch string, files githubtest.Files) int {
	s.t.Helper()
	s.repo.Push("alice", branch, "Change "+branch, files)
	n := s.repo.OpenPull("alice", "Change "+branch, branch)
	s.settle()
	return n
}

// say writes a comment, and returns everything that the pull request says then.
func (s *stacked) say(n int, command string) string {
	s.t.Helper()
	s.repo.Comment("alice", n, command)
	s.settle()
	return s.said(n)
}

// said returns all comments of a pull request.
func (s *stacked) said(n int) string {
	var b strings.Builder
	for _, c := range s.repo.Comments(n) {
		b.WriteString(c.Body + "\n")
	}
	return b.String()
}

const rootHCL = `remote_state {
  backend  = "s3"
  generate = { path = "backend.tf", if_exists = "overwrite_terragrunt" }
  config = {
    bucket = "states"
    key    = "${path_relative_to_include()}/terraform.tfstate"
    region = "us-east-1"

    use_path_style              = true
    skip_credentials_validation = true
    skip_requesting_account_id  = true
  }
}
`

// TestTerragruntUnits plans and applies two units, of which one depends on the other, in one pull request.
func TestTerragruntUnits(t *testing.T) {
	t.Parallel()
	s := newStacked(t, nil)
	n := s.pull("units", githubtest.Files{
		"root.hcl":                rootHCL,
		"modules/net/main.tf":     "variable \"name\" {}\nresource \"terraform_data\" \"net\" {\n  input = var.name\n}\noutput \"id\" {\n  value = terraform_data.net.id\n}\noutput \"name\" {\n  value = var.name\n}\n",
		"modules/app/main.tf":     "variable \"net\" {}\nvariable \"label\" {}\nresource \"terraform_data\" \"app\" {\n  input = \"${var.label} in ${var.net}\"\n}\n",
		"live/net/terragrunt.hcl": "include \"root\" {\n  path = find_in_parent_folders(\"root.hcl\")\n}\nterraform {\n  source = \"../../modules/net\"\n}\ninputs = { name = \"blue\" }\n",
		"live/app/terragrunt.hcl": "include \"root\" {\n  path = find_in_parent_folders(\"root.hcl\")\n}\nterraform {\n  source = \"../../modules/app\"\n}\ndependency \"net\" {\n  config_path = \"../net\"\n}\ninputs = {\n  net   = dependency.net.outputs.id\n  label = \"app-${dependency.net.outputs.name}\"\n}\n",
	})
	for _, want := range []string{"2 projects ready to apply", "ready to apply, after `live/net` | `live/app`", "known after apply"} {
		if got := s.said(n); !strings.Contains(got, want) {
			t.Fatalf("no %q in\n%s", want, got)
		}
	}
	got := s.say(n, "lockstep apply")
	for _, want := range []string{"**Applied** `live/net`: 1 added", "**Applied** `live/app`: 1 added", "The changes are the same."} {
		if !strings.Contains(got, want) {
			t.Fatalf("no %q in\n%s", want, got)
		}
	}
}

var update = flag.Bool("update", false, "record the states that Terragrunt makes with Terraform 1.11")

// TestTerragruntStacks plans and applies the stacks in testdata in one pull request each. Their states must be those that
// the same Terragrunt has made with Terraform 1.11.4.
func TestTerragruntStacks(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("testdata/terragrunt/*.txtar")
	if err != nil || len(names) < 12 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files, env, want := githubtest.Files{}, "", ""
			for _, f := range a.Files {
				switch f.Name {
				case "env":
					env = strings.TrimSpace(string(f.Data))
				case statesName:
					want = string(f.Data)
				default:
					files[f.Name] = string(f.Data)
				}
			}
			s := newStacked(t, nil)
			if *update {
				record(t, name, a, files, env, s)
				return
			}
			if key, value, ok := strings.Cut(env, "="); ok {
				s.repo.Push("alice", "main", "Set a variable", githubtest.Files{"lockstep.hcl": s.settings(fmt.Sprintf("  env = { %s = %q }\n", key, value))})
				s.settle()
			}
			n := s.pull("stack", files)
			s.say(n, "lockstep apply")
			if got := states(t, s.server); got != want {
				t.Errorf("the states differ: %s\n%s", cmp.Diff(want, got), s.said(n))
			}
		})
	}
}

// statesName is the name of the file with the recorded states.
const statesName = "states.json"

// record applies a stack with Terragrunt and Terraform 1.11, and writes the states into the file of the stack.
func record(t *testing.T, name string, a *txtar.Archive, files githubtest.Files, env string, s *stacked) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		at := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(filepath.Join(os.Getenv("LOCKSTEP_PARTS"), "clients", "bin", "terragrunt"), "run", "--all", "--", "apply")
	cmd.Dir = filepath.Join(dir, "live")
	cmd.Env = append(os.Environ(), "TG_TF_PATH=terraform", "TF_CLI_CONFIG_FILE=/dev/null", "CHECKPOINT_DISABLE=1", "TG_NON_INTERACTIVE=true", "AWS_ENDPOINT_URL_S3="+s.server,
		"AWS_ACCESS_KEY_ID="+statebackendtest.AccessKey, "AWS_SECRET_ACCESS_KEY="+statebackendtest.SecretKey)
	if env != "" {
		cmd.Env = append(cmd.Env, env)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	a.Files = slices.DeleteFunc(a.Files, func(f txtar.File) bool { return f.Name == statesName })
	a.Files = append(a.Files, txtar.File{Name: statesName, Data: []byte(states(t, s.server))})
	if err := os.WriteFile(name, txtar.Format(a), 0o600); err != nil {
		t.Fatal(err)
	}
}

// states returns the states in the bucket of a server as JSON, by their keys: outputs and objects, without identifiers that
// differ each time.
func states(t *testing.T, server string) string {
	t.Helper()
	client := awss3.New(awss3.Options{BaseEndpoint: &server, Region: "us-east-1", UsePathStyle: true, Credentials: credentials.NewStaticCredentialsProvider(statebackendtest.AccessKey, statebackendtest.SecretKey, "")})
	bucket := "states"
	list, err := client.ListObjectsV2(t.Context(), &awss3.ListObjectsV2Input{Bucket: &bucket})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	for _, o := range list.Contents {
		if !strings.HasSuffix(*o.Key, ".tfstate") {
			continue
		}
		got, err := client.GetObject(t.Context(), &awss3.GetObjectInput{Bucket: &bucket, Key: o.Key})
		if err != nil {
			t.Fatal(err)
		}
		var state struct {
			Outputs   any `json:"outputs"`
			Resources []struct {
				Module    string `json:"module,omitempty"`
				Type      string `json:"type"`
				Name      string `json:"name"`
				Instances []struct {
					Key        any            `json:"index_key,omitempty"`
					Attributes map[string]any `json:"attributes"`
				} `json:"instances"`
			} `json:"resources"`
		}
		d := json.NewDecoder(got.Body)
		d.UseNumber()
		if err := d.Decode(&state); err != nil {
			t.Fatal(err)
		}
		for _, r := range state.Resources {
			for _, i := range r.Instances {
				delete(i.Attributes, "id")
				delete(i.Attributes, "store") // an attribute of later versions of Terraform
			}
		}
		out[*o.Key] = state
	}
	data, err := json.MarshalIndent(out, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data) + "\n"
}
