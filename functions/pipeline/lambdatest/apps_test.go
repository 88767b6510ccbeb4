//go:build linux

package lambdatest_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest"
	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest/templates"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

const ghesSecret = "the secret of another webhook"

// newGHES deploys two Apps: the first one of GitHub, and one of a GitHub Enterprise Server, whose API is at another path, and
// whose repository has the ID, owner and name of the first one's.
func newGHES(t *testing.T) (first, ghes *road) {
	t.Helper()
	hub := githubtest.New(githubtest.Options{Secret: github.NewSecret(ghesSecret)})
	mux := http.NewServeMux()
	mux.Handle("/api/v3/", http.StripPrefix("/api/v3", hub))
	mux.Handle("/", hub)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	repo := hub.AddRepository("acme", "infra", githubtest.Files{"net/main.tf": project("ghes/terraform.tfstate", thing("ghes", "1"))})
	repo.Grant("alice", "write")
	first = newRoad(t, githubtest.Files{"net/main.tf": project(netState, thing("first", "1"))}, func(o *lambdatest.StackOptions) {
		o.Parameters["Apps"] = "ghes 4711 " + server.URL + "/api/v3/ acme/infra"
	})
	first.account.KeepFor(templates.SecretARN("lockstep/apps/ghes/github-app-key"), hub.AppKey())
	first.account.KeepFor(templates.SecretARN("lockstep/apps/ghes/webhook-secret"), ghesSecret)
	ghes = &road{t: t, hub: hub, repo: repo, account: first.account, stack: first.stack, hook: first.hook + "/webhook/ghes", log: first.log}
	hub.SetWebhook(ghes.hook)
	if first.repo.Repo() != repo.Repo() || first.repo.Installation() != repo.Installation() {
		t.Fatalf("the attack needs the same repository: %+v, %+v", first.repo.Repo(), repo.Repo())
	}
	return first, ghes
}

// TestTwoApps carries out an attack through the functions: whoever runs a GitHub Enterprise Server gives a repository the ID,
// owner and name of another one on GitHub, and a pull request its number. It holds that plans, applies and the janitor's
// rounds of one change no record and no artifact of the other, that comments and roles are of the right one, and that a
// webhook with the signature of one means nothing at the other's address.
func TestTwoApps(t *testing.T) {
	t.Parallel()
	first, ghes := newGHES(t)
	n := first.pull("b", githubtest.Files{"net/b.tf": thing("first_b", "2")})
	if got := ghes.pull("b", githubtest.Files{"net/b.tf": thing("ghes_b", "2")}); got != n {
		t.Fatalf("the attack needs the same number: %d, %d", got, n)
	}
	first.expect("the status", first.status(n), "terraform_data.first_b", "2 to add")
	ghes.expect("the other's status", ghes.status(n), "terraform_data.ghes_b", "2 to add")

	before := first.kept()
	said, check := first.status(n), first.checks("b")
	ghes.expect("the other's answer", ghes.say("alice", n, "lockstep apply"), "**Applied** `net`")
	if got := first.status(n); got != said || first.checks("b") != check || strings.Contains(got, "ghes") {
		t.Errorf("the first one's status has changed: %s", got)
	}
	if after := first.kept(); !slices.Equal(before, after) {
		t.Errorf("records or artifacts of the first App have changed:\n%s\n\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
	}
	if first.state(netState) != "" || !strings.Contains(ghes.state("ghes/terraform.tfstate"), "ghes_b") {
		t.Error("the apply is in another state")
	}
	first.expect("the answer", first.say("alice", n, "lockstep apply"), "**Applied** `net`")
	tagged := map[string]bool{}
	for _, a := range first.stack.Sessions() {
		tagged[a.Tags["repository"]] = true
	}
	if len(tagged) != 2 || !tagged["acme/infra"] || !tagged["ghes:acme/infra"] {
		t.Errorf("roles that reach states were assumed for %v", tagged)
	}

	// The janitor makes up for what was lost at either.
	for _, r := range []*road{first, ghes} {
		r.hub.LoseDeliveries(1)
		lost := r.pull("lost", githubtest.Files{"net/lost.tf": thing("lost", "2")})
		r.round()
		r.expect("the status after a round", r.status(lost), "1 to add, 0 to change")
	}

	// Each sends to the address of the other.
	for r, hook := range map[*road]string{first: ghes.hook, ghes: first.hook} {
		r.hub.SetWebhook(hook)
		r.repo.Comment("alice", n, "lockstep plan")
		if _, err := r.hub.Deliver(t.Context()); err == nil || !strings.Contains(err.Error(), "401") {
			t.Errorf("the signature of another App: %v", err)
		}
	}
	if strings.Contains(first.log.String(), ghesSecret) {
		t.Error("a secret is in the log")
	}
}

// kept are the first App's records and artifacts.
func (r *road) kept() (out []string) {
	r.t.Helper()
	items, err := r.stack.DynamoDB.Scan(r.t.Context(), &dynamodb.ScanInput{TableName: aws.String(r.stack.Ref("Records"))})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, i := range items.Items {
		dir, name := i["Dir"].(*dynamodbtypes.AttributeValueMemberS).Value, i["Name"].(*dynamodbtypes.AttributeValueMemberS).Value
		if !strings.Contains(dir+"/"+name, "/~") {
			out = append(out, fmt.Sprintf("%s/%s %s", dir, name, i["Value"].(*dynamodbtypes.AttributeValueMemberB).Value))
		}
	}
	for _, key := range r.artifacts() {
		if !strings.HasPrefix(key, "~") {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}
