//go:build linux

package lambdatest_test

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/lockstep-iac/lockstep/engine/config/source/sourcetest"
	"github.com/lockstep-iac/lockstep/engine/provider/install/registrytest"
	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// proxied starts a proxy that leads the names of hosts to servers on this machine, and returns its address.
func proxied(t testing.TB, hosts map[string]string) string {
	t.Helper()
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		address, ok := hosts[strings.TrimSuffix(r.Host, ":443")]
		if r.Method != http.MethodConnect || !ok {
			http.Error(w, "there is no such host", http.StatusBadGateway)
			return
		}
		server, err := net.Dial("tcp", address)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer server.Close()
		w.WriteHeader(http.StatusOK)
		client, buf, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer client.Close()
		go func() {
			io.Copy(server, buf)
			server.(*net.TCPConn).CloseWrite()
		}()
		io.Copy(client, server)
	}))
	t.Cleanup(proxy.Close)
	return proxy.URL
}

// TestPrivateSources plans and applies with a module of a private registry, whose package is on a private git server, a
// module in an archive, one in a bucket, and a provider of another private registry: each host gets the token that a secret of the environment
// has for it. Without one the answer has the host's 401 and the remedy. No token is in any output, log, artifact or file.
func TestPrivateSources(t *testing.T) {
	t.Parallel()
	server := sourcetest.New(t)
	server.Password, server.Token = horse+"modules", horse+"modules"
	server.Repository("net", "v1", map[string]string{"main.tf": "output \"o\" {\n  value = \"from the git server\"\n}\n"})
	server.Module("acme/net/aws", "1.0.0", "git::https://"+sourcetest.Host+"/git/net.git?ref=v1")
	server.File("/archive.tar.gz", sourcetest.Tarball(t, map[string]string{"main.tf": "output \"o\" {\n  value = \"from the archive\"\n}\n"}), nil)

	g := register(t, nil)
	g.Token = horse + "registry"
	source := registrytest.Host + "/lockstep/lab"
	authorities := filepath.Join(t.TempDir(), "ca.pem")
	var all []byte
	for _, path := range []string{g.CAFile(), strings.TrimPrefix(server.Environ()[0], "SSL_CERT_FILE=")} {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, data...)
	}
	if err := os.WriteFile(authorities, all, 0o600); err != nil {
		t.Fatal(err)
	}
	proxy := proxied(t, map[string]string{sourcetest.Host: server.Address(), registrytest.Host: g.Address()})

	config := "module \"m\" {\n  source = \"" + sourcetest.Host + "/acme/net/aws\"\n}\nmodule \"a\" {\n  source = \"https://" + sourcetest.Host + "/archive.tar.gz\"\n}\noutput \"o\" {\n  value = \"${module.m.o} and ${module.a.o}\"\n}\n"
	inBucket := "module \"b\" {\n  source = \"s3::https://s3.us-east-1.amazonaws.com/acme-modules/net.zip\"\n}\noutput \"b\" {\n  value = module.b.o\n}\n"
	hashes := ""
	for _, sum := range slices.Sorted(maps.Values(g.Checksums("lockstep", "lab", "1.0.0"))) {
		hashes += fmt.Sprintf("    %q,\n", sum)
	}
	lock := fmt.Sprintf("provider %q {\n  version = \"1.0.0\"\n  hashes = [\n%s  ]\n}\n", source, hashes)
	r := newRoad(t, githubtest.Files{}, func(o *lambdatest.StackOptions) {
		o.Parameters["PlanRolePattern"], o.Parameters["ApplyRolePattern"] = "arn:aws:iam::*:role/lockstep-plan", "arn:aws:iam::*:role/lockstep-apply"
		o.Env = map[string]string{"SSL_CERT_FILE": authorities, "HTTPS_PROXY": proxy}
		o.OtherRoles = func(role, action, resource string) bool {
			return strings.HasSuffix(role, "-222222222222") && action == "s3:GetObject" && resource == "arn:aws:s3:::acme-modules/net.zip"
		}
	})
	bucket, key := "acme-modules", "net.zip"
	if _, err := r.stack.S3.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &bucket}); err != nil {
		t.Fatal(err)
	}
	archive := sourcetest.Zip(t, map[string]string{"main.tf": "output \"o\" {\n  value = \"from the bucket\"\n}\n"})
	if _, err := r.stack.S3.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: bytes.NewReader(archive)}); err != nil {
		t.Fatal(err)
	}
	plan := r.account.AddRoleOf("222222222222", "lockstep-plan", lambdatest.Trust{ExternalID: "id-production", Repository: "acme/infra"})
	apply := r.account.AddRoleOf("222222222222", "lockstep-apply", lambdatest.Trust{ExternalID: "id-production", Repository: "acme/infra"})
	secrets := ""
	for _, of := range []string{"modules", "registry"} {
		arn := "arn:aws:secretsmanager:eu-west-1:222222222222:secret:" + of
		r.account.KeepFor(arn, horse+of, plan, apply)
		secrets += fmt.Sprintf("    TF_TOKEN_%s_example_com = %q\n", of, arn)
	}
	base := githubtest.Files{"lockstep.hcl": fmt.Sprintf("allow {\n  modules   = [%q, \"s3://acme-modules\"]\n  providers = [%q]\n}\nenvironment \"tokens\" {\n  plan_role   = %q\n  apply_role  = %q\n  external_id = \"id-production\"\n  secrets = {\n%s  }\n}\n",
		sourcetest.Host, registrytest.Host+"/lockstep/*", plan, apply, secrets) + declared("prod", "  environment = \"tokens\"\n") + declared("own", "")}
	for _, name := range []string{"prod", "own"} {
		base[name+"/main.tf"], base[name+"/.terraform.lock.hcl"] = "terraform {\n  backend \"s3\" {\n  }\n}\n", lock
	}
	r.repo.Push("alice", "main", "settings", base)

	provider := r.pull("provider", githubtest.Files{"own/thing.tf": strings.ReplaceAll(labThing("a", ""), "lockstep/lab", source)})
	r.expect("a provider without a token", flat(r.status(provider)), "demands other credentials", "secrets = { TF_TOKEN_registry_example_com =")
	n := r.pull("sources", githubtest.Files{"prod/a.tf": config, "prod/b.tf": inBucket, "prod/thing.tf": strings.ReplaceAll(labThing("a", ""), "lockstep/lab", source)})
	r.expect("the plan", r.status(n), "1 to add", "from the git server and from the archive", `b = "from the bucket"`)
	r.nowhere(horse)
	r.expect("the answer", r.say("alice", n, "lockstep apply"), "**Applied** `prod`", "1 added")
	if got := r.state("prod/partial.tfstate"); !strings.Contains(got, "lab_thing") || !strings.Contains(got, "from the git server and from the archive") {
		t.Errorf("the state: %s", got)
	}
	without := r.pull("without", githubtest.Files{"own/a.tf": config})
	r.expect("a module without a token", flat(r.status(without)), "demands other credentials", "secrets = { TF_TOKEN_modules_example_com =")
	r.expect("a bucket that the role may not read", flat(r.status(r.pull("bucket", githubtest.Files{"own/b.tf": inBucket}))), "S3 refuses net.zip in bucket acme-modules: AccessDenied")
	other := strings.Replace(inBucket, "acme-modules", "states", 1)
	r.expect("a bucket that the base branch does not name", flat(r.status(r.pull("states", githubtest.Files{"prod/s.tf": other}))), "does not allow modules from the bucket states", `modules = ["s3://states"]`)
	r.nowhere(horse)
}
