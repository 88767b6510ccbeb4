package encrypting_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/config/early"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/functions/internal/encrypting"
	"github.com/lockstep-iac/lockstep/statebackend/encryption"
)

// read reads the block of a configuration, with what the environment adds.
func read(t *testing.T, main, environment string) (*encrypting.Set, diags.Diagnostics) {
	t.Helper()
	return readWith(t, main, environment, fakeProgram)
}

// readWith is read with the function that runs programs.
func readWith(t *testing.T, main, environment string, program encryption.RunProgram) (*encrypting.Set, diags.Diagnostics) {
	t.Helper()
	cfg, ds := loading.Load(loading.Input{Tree: source.Files(map[string][]byte{"main.tf": []byte(main)})})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	evaluate := early.New(early.Input{Secrets: true})
	return encrypting.Read(encrypting.Input{
		Blocks: cfg.Root.Encryption, Environment: environment, KMS: fakeKMS, Program: program,
		Evaluate: func(x hcl.Expression) (cty.Value, hcl.Diagnostics) { return evaluate(cfg.Root, x) },
	})
}

// recorded calls f with each recorded file of OpenTofu's, of each configuration.
func recorded(t *testing.T, f func(t *testing.T, main string, state, plan []byte)) {
	dirs, err := filepath.Glob("testdata/tofu/*/main.tf")
	if err != nil || len(dirs) < 3 {
		t.Fatal(dirs, err)
	}
	for _, path := range dirs {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) {
			t.Parallel()
			file := func(name string) []byte {
				data, err := os.ReadFile(filepath.Join(filepath.Dir(path), name))
				if err != nil {
					t.Fatal(err)
				}
				return data
			}
			f(t, string(file("main.tf")), file("state.json"), file("plan.json"))
		})
	}
}

// TestReadsTofu holds that states and plans of OpenTofu's are decrypted.
func TestReadsTofu(t *testing.T) {
	t.Parallel()
	recorded(t, func(t *testing.T, main string, state, plan []byte) {
		s, ds := read(t, main, "")
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		plain, current, err := s.State().DecryptState(t.Context(), state)
		if err != nil || !current || !bytes.Contains(plain, []byte(`"hunter2"`)) {
			t.Errorf("state %s, current %v, %v", plain, current, err)
		}
		if plain, err = s.Plan().DecryptPlan(t.Context(), plan); err != nil || !bytes.HasPrefix(plain, []byte("PK")) {
			t.Errorf("plan %.20q, %v", plain, err)
		}
	})
}

// TestTofuReads holds that OpenTofu, where it is installed, decrypts states and plans of ours.
func TestTofuReads(t *testing.T) {
	t.Parallel()
	tofu, err := exec.LookPath("tofu")
	if err != nil {
		t.Skip("no tofu on the PATH")
	}
	recorded(t, func(t *testing.T, main string, state, plan []byte) {
		if strings.Contains(main, "aws_kms") {
			t.Skip("tofu would ask AWS")
		}
		s, ds := read(t, main, "")
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		plain, _, err := s.State().DecryptState(t.Context(), state)
		if err == nil {
			state, err = s.State().EncryptState(t.Context(), plain)
		}
		if err == nil {
			plan, err = s.Plan().DecryptPlan(t.Context(), plan)
		}
		if err == nil {
			plan, err = s.Plan().EncryptPlan(t.Context(), plan)
		}
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		for name, data := range map[string][]byte{"main.tf": []byte(main), "terraform.tfstate": state, "saved": plan} {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		run := func(args ...string) []byte {
			c := exec.CommandContext(t.Context(), tofu, args...)
			c.Dir, c.Env = dir, append(os.Environ(), "TF_CLI_CONFIG_FILE="+os.DevNull)
			c.Stderr = t.Output()
			out, err := c.Output()
			if err != nil {
				t.Errorf("tofu %q: %v", args, err)
			}
			return out
		}
		run("init", "-no-color")
		if got := run("state", "pull"); !bytes.Equal(bytes.TrimSpace(got), bytes.TrimSpace(plain)) {
			t.Errorf("tofu has the state\n%s\nwant\n%s", got, plain)
		}
		if got := run("show", "-no-color", "saved"); !bytes.Contains(got, []byte("hunter2")) {
			t.Errorf("tofu shows the plan %s", got)
		}
	})
}
