package program

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// forget removes what init and the lock file remember.
func (d *labDir) forget() {
	d.T.Helper()
	for _, name := range []string{".terraform", ".terraform.lock.hcl"} {
		if err := os.RemoveAll(d.file(name)); err != nil {
			d.T.Fatal(err)
		}
	}
}

// `providers lock` asks the registry, whatever the CLI configuration has for installations,
// and what it writes is what the stock tool writes.
func TestProvidersLock(t *testing.T) {
	t.Parallel()
	s, d := registry(t, false)
	d.Write("cli.tfrc", s.CLIConfig()+"provider_installation {\n  filesystem_mirror {\n    path = \"/nowhere\"\n  }\n}\n")
	const what = "registry.example.com/lockstep/lab"
	d.want(0, "providers lock", "- Retrieved "+what+" 1.0.0 for "+runtime.GOOS+"_"+runtime.GOARCH+" (self-signed, key ID "+s.Signer.ID()+")", "This was a new provider", "Success! Lockstep has updated the lock file.")
	lock := d.read(".terraform.lock.hcl")
	d.want(0, "providers lock "+what, "All checksums for this platform were already tracked", "found no need for changes")
	d.forget()
	if output, code, ran := d.stock("providers", "lock"); ran && (code != 0 || d.read(".terraform.lock.hcl") != lock) {
		t.Errorf("terraform: exit code %d\n%s\n%s\nlockstep:\n%s", code, output, d.read(".terraform.lock.hcl"), lock)
	}
	d.Write("cli.tfrc", s.CLIConfig())
	d.want(0, "init", "Installed "+what)

	d.forget()
	d.want(0, "providers lock -net-mirror="+s.MirrorURL(), "(verified checksum)")
	if lock := d.read(".terraform.lock.hcl"); strings.Contains(lock, "zh:") || strings.Count(lock, "h1:") != 1 {
		t.Errorf("from a mirror:\n%s", lock)
	}
}

// `providers mirror` makes a directory that we and the stock tool install from, as it is and
// through a server.
func TestProvidersMirror(t *testing.T) {
	t.Parallel()
	s, d := registry(t, true)
	d.want(0, "providers mirror mirror", "- Mirroring registry.example.com/lockstep/lab...", "Selected v1.0.0 to meet constraints <= 1.0.0", "Package authenticated: self-signed")
	files := httptest.NewTLSServer(http.FileServer(http.Dir(d.file("mirror"))))
	t.Cleanup(files.Close)
	index := d.read("mirror/registry.example.com/lockstep/lab/index.json") + d.read("mirror/registry.example.com/lockstep/lab/1.0.0.json")
	if output, code, ran := d.stock("providers", "mirror", "other"); ran {
		if code != 0 || d.read("other/registry.example.com/lockstep/lab/index.json")+d.read("other/registry.example.com/lockstep/lab/1.0.0.json") != index {
			t.Errorf("terraform: exit code %d\n%s\nlockstep:\n%s", code, output, index)
		}
	}
	for _, method := range []string{
		fmt.Sprintf("filesystem_mirror {\n    path = %q\n  }", d.file("mirror")),
		fmt.Sprintf("network_mirror {\n    url = %q\n  }", files.URL+"/"),
	} {
		d.Write("cli.tfrc", "provider_installation {\n  "+method+"\n}\n")
		d.forget()
		if output, code, ran := d.stock("init"); ran && code != 0 {
			t.Errorf("terraform init from %s: exit code %d\n%s", method, code, output)
		}
		d.forget()
		d.want(0, "init", "Installed registry.example.com/lockstep/lab v1.0.0")
		d.want(0, "plan", "1 to add")
	}
	// The versions are the lock file's, unless it is not to count.
	d.Write("cli.tfrc", s.CLIConfig())
	d.Write("main.tf", strings.ReplaceAll(d.read("main.tf"), "<= 1.0.0", ">= 1.0.0"))
	d.want(0, "providers mirror mirror", "Selected v1.0.0 to match dependency lock file")
	d.want(0, "providers mirror -lock-file=false mirror", "Selected v1.1.0 to meet constraints >= 1.0.0")
	if got := d.read("mirror/registry.example.com/lockstep/lab/index.json"); got != "{\n  \"versions\": {\n    \"1.0.0\": {},\n    \"1.1.0\": {}\n  }\n}" {
		t.Error(got)
	}
}

// `providers mirror s3://BUCKET` puts packages into the store of a deployment, under the keys by which the functions look for
// them, and encrypted as the key's policy demands.
func TestProvidersMirrorToS3(t *testing.T) {
	t.Parallel()
	_, d := registry(t, true)
	c := new(statebackendtest.S3).Start(t)
	d.set("AWS_ENDPOINT_URL_S3="+c.URL, "AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID="+statebackendtest.AccessKey, "AWS_SECRET_ACCESS_KEY="+statebackendtest.SecretKey, "AWS_EC2_METADATA_DISABLED=true", "AWS_MAX_ATTEMPTS=1")
	for _, refused := range []string{"s3://states", "-kms-key=k s3://states/folder", "-kms-key=k s3://", "-kms-key=k mirror"} {
		if r := d.run("providers mirror " + refused); r.Code != 1 || !strings.Contains(r.Stderr, "Error: ") || len(c.Keys()) > 0 {
			t.Errorf("%s: exit code %d, %v\n%s", refused, r.Code, c.Keys(), r.Stderr)
		}
	}
	key := "providers/registry.example.com/lockstep/lab/terraform-provider-lab_1.0.0_" + runtime.GOOS + "_" + runtime.GOARCH + ".zip"
	d.want(0, "providers mirror -kms-key=arn:aws:kms:us-east-1:123456789012:key/1 s3://states", "Package authenticated: self-signed", "- Stored "+strings.TrimPrefix(key, "providers/"))
	if keys := c.Keys(); len(keys) != 1 || keys[0] != "states/"+key {
		t.Fatal(keys)
	}
	data, h := c.Object("states/" + key)
	if !strings.HasPrefix(string(data), "PK") || h.Get("X-Amz-Server-Side-Encryption") != "aws:kms" || h.Get("X-Amz-Server-Side-Encryption-Context") == "" || !strings.HasSuffix(h.Get("X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id"), "key/1") {
		t.Errorf("%d bytes, %v", len(data), h)
	}
	denied := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // or the connection is reset, and the request tried again
		w.WriteHeader(http.StatusForbidden)
	}))
	t.Cleanup(denied.Close)
	d.set("AWS_ENDPOINT_URL_S3=" + denied.URL)
	d.want(1, "providers mirror -kms-key=k s3://states", "Packages cannot be stored", "403")
}
