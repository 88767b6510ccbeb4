package modules

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/config/source/sourcetest"
	"github.com/lockstep-iac/lockstep/engine/hosts"
	"github.com/lockstep-iac/lockstep/engine/oci/ocitest"
)

// TestPipeline installs what a pull request calls: GitHub's repositories through the
// App, whatever else from the hosts that are allowed.
func TestPipeline(t *testing.T) {
	t.Parallel()
	server := sourcetest.New(t)
	server.File("/m.zip", sourcetest.Zip(t, map[string]string{"main.tf": ""}), nil)
	for name, to := range map[string]string{
		"elsewhere": "https://example.org/m.zip", "metadata": "https://169.254.169.254/m.zip", "inside": "https://10.0.0.1/m.zip",
		"plain": "http://" + sourcetest.Host + "/m.zip", "file": "file:///etc", "repository": "git::https://github.com/acme/linked.git//modules/x",
	} {
		server.Redirect("/to/"+name, to)
		server.File("/get/"+name, []byte{}, http.Header{"X-Terraform-Get": {to}})
	}
	server.Module("acme/evil/aws", "1.0.0", "https://127.0.0.1/m.zip")
	server.Module("acme/net/aws", "1.0.0", "git::ssh://git@github.com/acme/private.git//modules/x?ref=v2")
	server.Redirect("/v2/evil/elsewhere/manifests/latest", "https://example.org/v2/x/manifests/latest")
	server.Redirect("/v2/evil/metadata/manifests/latest", "https://169.254.169.254/v2/x/manifests/latest")
	var asked []string
	options := PipelineOptions{
		Transport: server.Transport(),
		Host: func(name string) error {
			if name != sourcetest.Host && net.ParseIP(name) == nil {
				return fmt.Errorf("the host %s is not among those that may be asked", name)
			}
			return nil
		},
		Bucket: Bucket{
			Allowed: func(name string) error {
				if name != "granted" {
					return fmt.Errorf("the base branch does not allow the bucket %s", name)
				}
				return nil
			},
			Env: func(context.Context) ([]string, error) { return []string{"AWS_REGION=eu-west-1"}, nil },
		},
		Repository: func(_ context.Context, owner, name, ref, dir string) error {
			asked = append(asked, fmt.Sprint(owner, "/", name, "@", ref))
			if name == "none" {
				return errors.New("the App has no access to it")
			}
			return os.MkdirAll(filepath.Join(dir, "modules/x"), 0o755)
		},
	}
	dir := t.TempDir()
	for _, test := range []struct{ source, want string }{
		{"github.com/acme/public", ""},
		{"git::https://github.com/acme/private.git//modules/x?ref=v1", ""},
		{"git@github.com:acme/private.git", ""},
		{sourcetest.Host + "/acme/net/aws", ""},
		{"https://" + sourcetest.Host + "/m.zip", ""},
		{"git::https://github.com/acme/none.git?ref=main", "could not be fetched from git::https://github.com/acme/none.git?ref=main: the App has no access to it"},
		{"git::https://github.com/acme/x/y.git", "must be OWNER/REPOSITORY"},
		{"git::https://github.com/acme/x.git?sshkey=s3cret", "the App that Lockstep runs as must be installed"},
		{"git::https://gitlab.com/acme/x.git", "the host gitlab.com is not among those that may be asked"},
		{"https://example.com/m.zip", "the host example.com is not among those that may be asked"},
		{"example.com/acme/net/aws", "the host example.com is not among those that may be asked"},
		{"https://" + sourcetest.Host + "/to/elsewhere", "the host example.org is not among those that may be asked"},
		{"https://" + sourcetest.Host + "/to/metadata", "no connection is made to the address 169.254.169.254"},
		{"https://" + sourcetest.Host + "/to/inside", "no connection is made to the address 10.0.0.1 here: it is in a private network"},
		{"https://" + sourcetest.Host + "/to/plain", "only https URLs are followed"},
		{"https://" + sourcetest.Host + "/get/metadata", "no connection is made to the address 169.254.169.254"},
		{"https://" + sourcetest.Host + "/get/file", `no getter available for X-Terraform-Get source protocol: "file"`},
		{"https://" + sourcetest.Host + "/get/repository", ""},
		{sourcetest.Host + "/acme/evil/aws", "no connection is made to the address 127.0.0.1 here: it is in a private network"},
		{"https://10.0.0.1/m.zip", "it is in a private network"},
		{"s3::https://s3.amazonaws.com/b/k.zip", "does not allow the bucket b"},
		{"s3::https://s3.amazonaws.com/b/k", "does not allow the bucket b"},
		{"b.s3-eu-west-1.amazonaws.com/k.zip", "does not allow the bucket b"},
		{"s3::https://s3.amazonaws.com/granted/k.zip?aws_access_key_id=x", "the parameter aws_access_key_id is not for a pull request to say"},
		{"s3::https://s3.amazonaws.com/granted/k.zip?aws_profile=x", "the parameter aws_profile is not for a pull request to say"},
		{"s3::https://" + sourcetest.Host + "/granted/k.zip", "only Amazon's own servers are asked"},
		{"s3::https://169.254.169.254/granted/k.zip", "link-local"},
		{"s3::https://s3.amazonaws.com/granted/k.zip", "there are no AWS credentials to read the bucket granted with: give the project's environment a plan_role"},
		{"oci://" + sourcetest.Host + "/acme/net?tag=1", "has no modules.example.com/acme/net:1"},
		{"oci://" + sourcetest.Host + "/evil/elsewhere", "the host example.org is not among those that may be asked"},
		{"oci://" + sourcetest.Host + "/evil/metadata", "no connection is made to the address 169.254.169.254"},
		{"oci://example.com/acme/net", "the host example.com is not among those that may be asked"},
		{"oci://127.0.0.1/acme/net", "it is in a private network"},
		{"/etc", `not fetched by "file"`},
		{"http://127.0.0.1/x.zip", "only https URLs are followed"},
	} {
		if err := os.RemoveAll(filepath.Join(dir, ".terraform")); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "main.tf"), fmt.Appendf(nil, "module \"m\" {\n  source = %q\n}\n", test.source), 0o644); err != nil {
			t.Fatal(err)
		}
		_, ds := Pipeline(dir, source.Dir(dir), options).Install(t.Context())
		if got := ds.Error(); test.want == "" && ds.HasErrors() || !strings.Contains(got, test.want) || strings.Contains(got, "s3cret") {
			t.Errorf("%s: %s, want %q", test.source, got, test.want)
		}
	}
	want := []string{"acme/public@HEAD", "acme/private@v1", "acme/private@HEAD", "acme/private@v2", "acme/none@main", "acme/linked@HEAD"}
	if !slices.Equal(asked, want) {
		t.Errorf("asked for %q, want %q", asked, want)
	}
}

// Without a transport of somebody's, only public addresses are connected to.
func TestPipelineStaysOutside(t *testing.T) {
	t.Parallel()
	server := sourcetest.New(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), fmt.Appendf(nil, "module \"m\" {\n  source = %q\n}\n", strings.Replace(server.URL(), "127.0.0.1", "localhost", 1)+"/m.zip"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, ds := Pipeline(dir, source.Dir(dir), PipelineOptions{}).Install(t.Context())
	if !strings.Contains(ds.Error(), "it is in a private network") || len(server.Requests()) != 0 {
		t.Errorf("got %v", ds)
	}
}

// A registry gets the token that the base branch grants, and never what a user of this machine has stored for it.
func TestPipelineArtifacts(t *testing.T) {
	docker := t.TempDir()
	t.Setenv("DOCKER_CONFIG", docker)
	t.Setenv("HOME", docker)
	if err := os.WriteFile(filepath.Join(docker, "config.json"), []byte(`{"auths": {"registry.example.com": {"auth": "dXNlcjpzM2NyZXQ="}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s := ocitest.New(t, true)
	s.Login = "user:s3cret"
	s.Module("acme/net", "1", sourcetest.Zip(t, map[string]string{"main.tf": "locals {}"}))
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte("module \"m\" {\n  source = \"oci://registry.example.com/acme/net?tag=1\"\n}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	options := PipelineOptions{Transport: s.Transport()}
	_, ds := Pipeline(dir, source.Dir(dir), options).Install(t.Context())
	if !strings.Contains(ds.Error(), "the registry registry.example.com demands other credentials") || !strings.Contains(ds.Error(), "TF_TOKEN_registry_example_com") {
		t.Errorf("without a token: %v", ds)
	}
	options.Token = func(host string) (hosts.Token, bool) {
		return hosts.NewToken("user:s3cret"), host == "registry.example.com"
	}
	if _, ds = Pipeline(dir, source.Dir(dir), options).Install(t.Context()); ds.HasErrors() {
		t.Errorf("with a token: %v", ds)
	}
}
