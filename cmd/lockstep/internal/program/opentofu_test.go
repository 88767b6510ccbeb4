package program

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/oci/ocitest"
	"github.com/lockstep-iac/lockstep/engine/provider/install/registrytest"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// newTofuLab returns a directory like newLab, whose mirror has the same packages below the hosts of both registries.
func newTofuLab(t *testing.T, files ...string) *labDir {
	t.Helper()
	d := newLab(t, files...)
	mirror := t.TempDir()
	for _, host := range []string{"registry.terraform.io", "registry.opentofu.org"} {
		if err := os.CopyFS(mirror+"/"+host+"/lockstep/lab", os.DirFS(statebackendtest.Part(t, "mirror", "registry.terraform.io", "lockstep", "lab"))); err != nil {
			t.Fatal(err)
		}
	}
	d.Write("cli.tfrc", fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path = %q\n    include = [\"lockstep/*\"]\n  }\n}\n", mirror))
	return d
}

// addresses returns which of the two registries the lock file and the state name.
func (d *labDir) addresses() string {
	d.T.Helper()
	var out []string
	for _, name := range []string{".terraform.lock.hcl", "terraform.tfstate"} {
		for _, host := range []string{"terraform.io", "opentofu.org"} {
			if d.has(name) && strings.Contains(d.read(name), "registry."+host+"/lockstep/lab") {
				out = append(out, host)
			}
		}
	}
	return strings.Join(out, " ")
}

const tofuLock = `provider "registry.opentofu.org/lockstep/lab" {
  version = "1.0.0"
}
`

// A directory that OpenTofu has prepared keeps OpenTofu's addresses, and no other provider is installed.
func TestDefaultRegistry(t *testing.T) {
	t.Parallel()
	language := "language {\n  compatible_with {\n    opentofu = \">= 1.10\"\n  }\n}\n"
	named := strings.Replace(labConfig, `"lockstep/lab"`, `"registry.terraform.io/lockstep/lab"`, 1)
	for _, test := range []struct {
		name  string
		files []string
		want  string
	}{
		{"no sign of OpenTofu", []string{"main.tf", labConfig}, "terraform.io terraform.io"},
		{"a file for OpenTofu", []string{"main.tofu", labConfig}, "opentofu.org opentofu.org"},
		{"a further file for OpenTofu", []string{"main.tf", labConfig, "more.tofu.json", "{}"}, "opentofu.org opentofu.org"},
		{"a file for OpenTofu in a called module", []string{"main.tf", labConfig + "module \"m\" {\n  source = \"./m\"\n}\n", "m/main.tofu", "locals {}"}, "terraform.io terraform.io"},
		{"a language block", []string{"main.tf", labConfig + language}, "opentofu.org opentofu.org"},
		{"a language block for Terraform", []string{"main.tf", labConfig + strings.Replace(language, "opentofu", "terraform", 1)}, "terraform.io terraform.io"},
		{"OpenTofu's lock file", []string{"main.tf", labConfig, ".terraform.lock.hcl", tofuLock}, "opentofu.org opentofu.org"},
		{"Terraform's lock file", []string{"main.tofu", labConfig, ".terraform.lock.hcl", strings.ReplaceAll(tofuLock, "opentofu.org", "terraform.io")}, "terraform.io terraform.io"},
		{"an address with a host", []string{"main.tofu", named}, "terraform.io terraform.io"},
		{"a provider without an entry in a module", []string{"main.tofu", labConfig + "module \"m\" {\n  source = \"./m\"\n}\n", "m/main.tf",
			strings.ReplaceAll(labConfig, `"a"`, `"b"`)}, "opentofu.org opentofu.org"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := newTofuLab(t, test.files...)
			for range 2 {
				d.want(0, "init", "lockstep/lab v1.0.0")
				d.want(0, "apply -auto-approve")
				d.want(0, "plan -detailed-exitcode", "No changes.")
				if got := d.addresses(); got != test.want {
					t.Errorf("lock file and state have the hosts %s, want %s", got, test.want)
				}
			}
			d.want(0, "plan -destroy -out=destroy.plan")
			d.want(0, "apply destroy.plan", "destroyed")
			if got := d.addresses(); got != strings.Fields(test.want)[0] {
				t.Errorf("after the destruction, the lock file has the host %s", got)
			}
		})
	}
}

// A state of Terraform is read with the addresses of OpenTofu's registry, where the configuration does not name
// Terraform's, and the other way round where the configuration has the same provider.
func TestStateOfOtherRegistry(t *testing.T) {
	t.Parallel()
	d := newTofuLab(t, "main.tf", labConfig)
	d.want(0, "init")
	d.want(0, "apply -auto-approve")
	before := d.read("terraform.tfstate")
	d.forget()
	if err := os.Rename(d.file("main.tf"), d.file("main.tofu")); err != nil {
		t.Fatal(err)
	}
	if r := d.want(0, "init", "Installed registry.opentofu.org/lockstep/lab v1.0.0"); strings.Contains(r.Out, "Installed lockstep/lab") {
		t.Errorf("Terraform's provider is installed, too:\n%s", r.Out)
	}
	d.want(0, "plan -detailed-exitcode", "No changes.")
	d.want(0, "state show lab_thing.a", `name`)
	d.want(0, "show", "lab_thing.a")
	if d.read("terraform.tfstate") != before {
		t.Error("reading has changed the state")
	}
	// The block is gone, so only the state needs the provider.
	d.Write("main.tofu", "")
	d.want(0, "plan -out=p", "1 to destroy")
	d.want(0, "apply p", "1 destroyed")

	d.Write("main.tofu", labConfig)
	d.want(0, "apply -auto-approve")
	if got := d.addresses(); got != "opentofu.org opentofu.org" {
		t.Errorf("lock file and state have the hosts %s", got)
	}
	d.want(0, "state replace-provider -auto-approve lockstep/lab lockstep/labv5", "registry.opentofu.org/lockstep/labv5", "replaced provider for 1 resources")
	d.want(0, "state replace-provider -auto-approve lockstep/labv5 lockstep/lab")
	d.want(0, "providers lock -fs-mirror="+mirrorOf(d)+" lockstep/lab")

	d.forget()
	if err := os.Rename(d.file("main.tofu"), d.file("main.tf")); err != nil {
		t.Fatal(err)
	}
	if r := d.want(0, "init", "Installed lockstep/lab v1.0.0"); strings.Contains(r.Out, "opentofu") {
		t.Errorf("OpenTofu's provider is installed, too:\n%s", r.Out)
	}
	d.want(0, "plan -detailed-exitcode", "No changes.")
	d.forget()
	d.Write("main.tf", "")
	d.want(0, "init", "Installed registry.opentofu.org/lockstep/lab v1.0.0")
	d.want(0, "apply -auto-approve", "1 destroyed")
}

// mirrorOf returns the directory of the mirror in the CLI configuration.
func mirrorOf(d *labDir) string {
	_, rest, _ := strings.Cut(d.read("cli.tfrc"), `path = "`)
	path, _, _ := strings.Cut(rest, `"`)
	return path
}

// A provider comes from an OCI registry, with the credentials that podman has for it.
func TestProvidersOfOCIRegistry(t *testing.T) {
	t.Parallel()
	d := newLab(t, "main.tofu", labConfig)
	program, err := os.ReadFile(plugin(t, "lockstep/lab"))
	if err != nil {
		t.Fatal(err)
	}
	s := ocitest.New(t, false)
	s.Login = "user:s3cret"
	s.Provider("mirror/lockstep/lab", "1.0.0", map[string][]byte{
		runtime.GOOS + "_" + runtime.GOARCH: registrytest.Zip(t, registrytest.Entry{Name: "terraform-provider-lab_v1.0.0", Content: string(program), Mode: 0o755}),
	})
	d.Write("cli.tfrc", "provider_installation {\n  oci_mirror {\n    repository_template = \""+s.Address()+"/mirror/${namespace}/${type}\"\n    include = [\"registry.opentofu.org/*/*\"]\n  }\n}\n")
	d.want(1, "init", "demands other credentials")
	d.Write("config/containers/auth.json", `{"auths": {"`+s.Address()+`": {"auth": "dXNlcjpzM2NyZXQ="}}}`)
	d.set("XDG_CONFIG_HOME=" + d.file("config"))
	d.want(0, "init", "Installed registry.opentofu.org/lockstep/lab v1.0.0 (verified checksum)")
	d.want(0, "apply -auto-approve", "1 added")
}

// A provider in development has no host in dev_overrides, and counts for both default registries.
func TestDevelopmentWithOpenTofu(t *testing.T) {
	t.Parallel()
	d := newLab(t, "main.tofu", labConfig)
	d.Write("cli.tfrc", fmt.Sprintf("provider_installation {\n  dev_overrides {\n    \"lockstep/lab\" = %q\n  }\n}\n", filepath.Dir(plugin(t, "lockstep/lab"))))
	r := d.want(0, "apply -auto-approve", "1 added", "- lockstep/lab in ")
	if strings.Contains(r.Out+r.Stderr, "registry.opentofu.org") {
		t.Errorf("the provider is listed twice:\n%s", r.Out)
	}
}
