//go:build clients

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

// `make clients` installs Terragrunt, and sets the build tag "clients".

// A stacked is a repository with units of Terragrunt, and a machine that runs a real Terragrunt for them.
type stacked struct {
	t      testing.TB
	hub    *githubtest.Hub
	repo   *githubtest.Repository
	m      *Machine
	server string // the states
	digest string
	mirror string // a CLI configuration file with the mirror of providers
}

// newStacked returns a repository with the files on its base branch. Files without lockstep.hcl get one that allows
// Terragrunt.
func newStacked(t testing.TB, files githubtest.Files) *stacked {
	t.Helper()
	program := statebackendtest.Part(t, "clients", "bin", "terragrunt")
	data, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
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
	packages, err := filepath.EvalSymlinks(statebackendtest.Part(t, "mirror"))
	if err != nil {
		t.Fatal(err)
	}
	s.mirror = filepath.Join(dir, "cli.tfrc")
	if err := os.WriteFile(s.mirror, []byte(fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", packages)), 0o600); err != nil {
		t.Fatal(err)
	}
	keys := []string{"AWS_ACCESS_KEY_ID=" + statebackendtest.AccessKey, "AWS_SECRET_ACCESS_KEY=" + statebackendtest.SecretKey, "AWS_REGION=us-east-1"}
	s.m, err = Open(Config{
		Dir: dir, Version: "test", App: app, Serves: serving(t), Secret: github.NewSecret("hush"), URL: "http://127.0.0.1:8080", Log: func(err error) { t.Error(err) },
		Apart: &Apart{Limits: confine.Limits{Memory: 2 << 30}, Show: []string{packages}}, Environ: append([]string{"AWS_ENDPOINT_URL_S3=" + s.server}, keys...), PluginEnv: keys, CLIConfig: s.mirror,
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
	return fmt.Sprintf("tools = { terragrunt = \"sha256:%s\" }\nterragrunt {\n%s}\nallow {\n  providers = [\"registry.terraform.io/hashicorp/time\"]\n  states = [\"s3://states/**\"]\n}\n", s.digest, block)
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
		"modules/net/main.tf":     "variable \"name\" {}\nresource \"time_static\" \"t\" {\n  rfc3339 = \"2026-01-01T00:00:00Z\"\n}\nresource \"terraform_data\" \"net\" {\n  input = var.name\n}\noutput \"id\" {\n  value = terraform_data.net.id\n}\noutput \"name\" {\n  value = var.name\n}\n",
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
	for _, want := range []string{"**Applied** `live/net`: 2 added", "**Applied** `live/app`: 1 added", "The changes are the same."} {
		if !strings.Contains(got, want) {
			t.Fatalf("no %q in\n%s", want, got)
		}
	}
}

const includeRoot = "include \"root\" {\n  path = find_in_parent_folders(\"root.hcl\")\n}\n"

// box is a repository with a module that keeps a value, and a unit for it with the lines.
func box(lines string) githubtest.Files {
	return githubtest.Files{
		"root.hcl":                rootHCL,
		"modules/box/main.tf":     "variable \"in\" {}\nresource \"terraform_data\" \"box\" {\n  input = var.in\n}\noutput \"out\" {\n  value = var.in\n}\n",
		"live/box/terragrunt.hcl": includeRoot + "terraform {\n  source = \"../../modules/box\"\n}\n" + lines,
	}
}

// TestTerragruntSourceElsewhere has a unit whose module is in another private repository, which the base branch allows.
// Terragrunt has no network.
func TestTerragruntSourceElsewhere(t *testing.T) {
	t.Parallel()
	s := newStacked(t, nil)
	net := s.hub.AddRepository("acme", "mods", githubtest.Files{
		"net/main.tf":  "variable \"in\" {}\nmodule \"name\" {\n  source = \"../name\"\n  in     = var.in\n}\noutput \"out\" {\n  value = module.name.out\n}\n",
		"name/main.tf": "variable \"in\" {}\noutput \"out\" {\n  value = \"from elsewhere: ${var.in}\"\n}\n",
	})
	net.SetPrivate()
	net.Tag("v1.0.0", "main")
	files := box("inputs = { in = \"x\" }\n")
	files["live/box/terragrunt.hcl"] = strings.ReplaceAll(files["live/box/terragrunt.hcl"], "../../modules/box", "git::https://github.com/acme/mods.git//net?ref=v1.0.0")
	n := s.pull("units", files)
	if got := s.said(n); !strings.Contains(strings.Join(strings.Fields(got), " "), "there is no public repository acme/mods") {
		t.Fatalf("without a permission: %s", got)
	}
	s.repo.Push("alice", "main", "Allow the modules", githubtest.Files{"lockstep.hcl": strings.ReplaceAll(s.settings(""), "allow {", "allow {\n  modules = [\"github.com/acme/mods\"]")})
	s.settle()
	if got := s.say(n, "lockstep plan"); !strings.Contains(got, "from elsewhere: x") {
		t.Fatal(got)
	}
	if got := s.say(n, "lockstep apply"); !strings.Contains(got, "**Applied** `live/box`") {
		t.Fatal(got)
	}
}

// TestTerragruntLife is the life of a unit: it is made, looked at, locked by another apply, changed after the merge of
// another pull request, and removed.
func TestTerragruntLife(t *testing.T) {
	t.Parallel()
	s := newStacked(t, nil)
	n := s.pull("units", box("inputs = { in = \"x\" }\n"))
	expect := func(got string, all ...string) {
		t.Helper()
		for _, want := range all {
			if !strings.Contains(got, want) {
				t.Errorf("no %q in\n%s", want, got)
			}
		}
	}
	expect(s.say(n, "lockstep apply"), "**Applied** `live/box`: 1 added")
	s.repo.Merge("alice", n)
	s.settle()
	first := s.pull("first", githubtest.Files{"live/box/terragrunt.hcl": box("inputs = { in = \"first\" }\n")["live/box/terragrunt.hcl"]})
	second := s.pull("second", githubtest.Files{"modules/box/more.tf": "resource \"terraform_data\" \"more\" {\n  input = var.in\n}\n"})
	expect(s.said(first), "0 to add, 1 to change")
	expect(s.said(second), "1 to add, 0 to change")
	expect(s.say(first, "lockstep output -p live/box"), "\"x\"")
	expect(s.say(first, "lockstep apply"), "**Applied** `live/box`: 0 added, 1 changed")
	s.repo.Merge("alice", first)
	s.settle()
	expect(s.said(second), "files of the plan have changed: `live/box/terragrunt.hcl`\n")
	s.say(second, "lockstep plan")
	expect(s.say(second, "lockstep apply"), "**Applied** `live/box`: 1 added")
	s.repo.Merge("alice", second)
	s.settle()
	gone := s.pull("gone", githubtest.Files{"live/box/terragrunt.hcl": githubtest.Deleted})
	expect(s.said(gone), "2 to destroy")
	expect(s.say(gone, "lockstep apply -p live/box"), "**Applied** `live/box`", "2 destroyed")
	if got := states(t, s.server); strings.Contains(got, "terraform_data") {
		t.Errorf("left: %s", got)
	}
}

// TestTerragruntTrouble is a table of mistakes, with what the pull request says. Each is an error at its place, and other
// units are planned.
func TestTerragruntTrouble(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files githubtest.Files
		want  []string
	}{
		"a syntax error": {githubtest.Files{"live/bad/terragrunt.hcl": "inputs = {\n"}, []string{"live/bad/terragrunt.hcl line 2", "1 project failed to plan", "1 ready to apply"}},
		"a file outside of the repository": {githubtest.Files{"live/bad/terragrunt.hcl": "locals {\n  x = file(\"../../../secret\")\n}\nterraform {\n  source = \"../../modules/box\"\n}\ninputs = { in = local.x }\n"},
			[]string{"live/bad/terragrunt.hcl", "no file exists at", "1 project failed to plan", "1 ready to apply"}},
		"a source outside of the repository": {githubtest.Files{"live/bad/terragrunt.hcl": includeRoot + "terraform {\n  source = \"../../../etc\"\n}\n"}, []string{"1 project failed to plan", "The source of the unit is \"../../../etc\", which is not in the repository", "1 ready to apply"}},
		"no configuration":                   {githubtest.Files{"live/bad/terragrunt.hcl": includeRoot}, []string{"1 project failed to plan", "the unit has neither a source nor configuration files", "1 ready to apply"}},
		"a dependency that is not there": {githubtest.Files{"live/bad/terragrunt.hcl": includeRoot + "terraform {\n  source = \"../../modules/box\"\n}\ndependency \"x\" {\n  config_path = \"../none\"\n}\ninputs = { in = dependency.x.outputs.out }\n"},
			[]string{"1 project failed to plan", "live/none", "1 ready to apply"}},
		"a circle": {githubtest.Files{
			"live/one/terragrunt.hcl": includeRoot + "terraform {\n  source = \"../../modules/box\"\n}\ndependency \"x\" {\n  config_path = \"../two\"\n}\ninputs = { in = dependency.x.outputs.out }\n",
			"live/two/terragrunt.hcl": includeRoot + "terraform {\n  source = \"../../modules/box\"\n}\ndependency \"x\" {\n  config_path = \"../one\"\n}\ninputs = { in = dependency.x.outputs.out }\n",
		}, []string{"2 projects failed to plan", "Found a dependency cycle between modules: live/one/terragrunt.hcl", "1 ready to apply"}},
		"a hook that runs a program": {githubtest.Files{"live/bad/terragrunt.hcl": includeRoot + "terraform {\n  source = \"../../modules/box\"\n  before_hook \"x\" {\n    commands = [\"plan\"]\n    execute  = [\"tflint\"]\n  }\n}\ninputs = { in = 1 }\n"},
			[]string{"1 project failed to plan", "tflint", "1 ready to apply"}},
		"an option that changes the plan": {githubtest.Files{"live/bad/terragrunt.hcl": includeRoot + "terraform {\n  source = \"../../modules/box\"\n  extra_arguments \"x\" {\n    commands  = [\"plan\"]\n    arguments = [\"-target=terraform_data.box\"]\n  }\n}\ninputs = { in = 1 }\n"},
			[]string{"1 project failed to plan", "passes the option -target", "1 ready to apply"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStacked(t, nil)
			files := box("inputs = { in = \"x\" }\n")
			for name, text := range c.files {
				files[name] = text
			}
			got := s.said(s.pull("units", files))
			for _, want := range c.want {
				if !strings.Contains(strings.Join(strings.Fields(got), " "), want) {
					t.Errorf("no %q in\n%s", want, got)
				}
			}
		})
	}
}

// TestTerragruntProgram has a program that the base branch does not name, and one that does not end.
func TestTerragruntProgram(t *testing.T) {
	t.Parallel()
	s := newStacked(t, nil)
	s.repo.Push("alice", "main", "Name another program", githubtest.Files{"lockstep.hcl": strings.ReplaceAll(s.settings(""), s.digest, strings.Repeat("ab", 32))})
	n := s.pull("units", box("inputs = { in = \"x\" }\n"))
	if got := s.said(n); !strings.Contains(got, "the toolbox does not have the tool terragrunt with the digest sha256:abab") {
		t.Error(got)
	}
	s.repo.Push("alice", "main", "Name a limit", githubtest.Files{"lockstep.hcl": s.settings("  timeout = \"2s\"\n")})
	s.settle()
	files := box("inputs = { in = run_cmd(\"/bin/sh\", \"-c\", \"while :; do :; done\") }\n")
	n = s.pull("endless", files)
	if got := s.said(n); !strings.Contains(got, "Terragrunt did not end within its time limit of 2s") {
		t.Error(got)
	}
}

// TestTerragruntChanges has values that differ each time. The plan is refused, and says why.
func TestTerragruntChanges(t *testing.T) {
	t.Parallel()
	s := newStacked(t, nil)
	n := s.pull("units", box("inputs = { in = run_cmd(\"--terragrunt-quiet\", \"/bin/cat\", \"/proc/sys/kernel/random/uuid\") }\n"))
	if got := s.said(n); !strings.Contains(got, "ready to apply") {
		t.Fatal(got)
	}
	if got := s.say(n, "lockstep apply"); !strings.Contains(got, "Since the plan, this has changed: the variable in.") {
		t.Error(got)
	}
}

// TestTerragruntTouches has changes of files, and the units that they plan.
func TestTerragruntTouches(t *testing.T) {
	t.Parallel()
	unit := func(lines string) string {
		return includeRoot + "terraform {\n  source = \"../../modules/box\"\n}\n" + lines
	}
	s := newStacked(t, nil)
	files := box("inputs = { in = \"x\" }\n")
	files["live/read/terragrunt.hcl"] = unit("inputs = { in = yamldecode(file(\"${get_repo_root()}/live/values.yaml\")).a }\n")
	files["live/config/terragrunt.hcl"] = unit("locals {\n  c = read_terragrunt_config(\"../c.hcl\")\n}\ninputs = { in = local.c.locals.a }\n")
	files["live/other/terragrunt.hcl"] = "terraform {\n  source = \"../../modules/other\"\n}\n" + rootHCLFor("other")
	files["live/values.yaml"] = "a: 1\n"
	files["live/c.hcl"] = "locals {\n  a = 1\n}\n"
	files["modules/other/main.tf"] = "output \"x\" {\n  value = 1\n}\n"
	s.repo.Push("alice", "main", "Add units", files)
	s.settle()
	for i, c := range []struct {
		name, text string
		want       []string
	}{
		{"root.hcl", rootHCL + "inputs = { more = 1 }\n", []string{"live/box", "live/config", "live/read"}},
		{"modules/box/main.tf", files["modules/box/main.tf"] + "# more\n", []string{"live/box", "live/config", "live/read"}},
		{"modules/other/main.tf", "output \"x\" {\n  value = 2\n}\n", []string{"live/other"}},
		{"live/values.yaml", "a: 2\n", []string{"live/read"}},
		{"live/c.hcl", "locals {\n  a = 2\n}\n", []string{"live/config"}},
		{"live/box/terragrunt.hcl", unit("inputs = { in = \"y\" }\n"), []string{"live/box"}},
		{"README.md", "hello\n", nil},
	} {
		n := s.pull(fmt.Sprintf("change-%d", i), githubtest.Files{c.name: c.text})
		said := s.said(n)
		for _, p := range []string{"live/box", "live/config", "live/other", "live/read"} {
			if got := strings.Contains(said, "`"+p+"`"); got != slices.Contains(c.want, p) {
				t.Errorf("%s plans %s: %t\n%s", c.name, p, got, said)
			}
		}
	}
}

// rootHCLFor is rootHCL for a unit that includes nothing.
func rootHCLFor(name string) string {
	return strings.ReplaceAll(rootHCL, "${path_relative_to_include()}", name)
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
