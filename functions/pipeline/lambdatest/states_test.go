//go:build linux

package lambdatest_test

import (
	"crypto/md5"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest"
	"github.com/lockstep-iac/lockstep/github/githubtest"
	"github.com/lockstep-iac/lockstep/statebackend"
)

// wholeAccount has all repositories of the account served.
func wholeAccount(o *lambdatest.StackOptions) { o.Parameters["Serves"] = "acme/*" }

// neighbour adds another repository, whose pull requests have the same pipeline.
func (r *road) neighbour(name string, files githubtest.Files) *road {
	r.t.Helper()
	x := *r
	x.repo = r.hub.AddRepository("acme", name, files)
	x.repo.Grant("alice", "write")
	return &x
}

// applied has a pull request applied and merged.
func (r *road) applied(branch string, changes githubtest.Files) {
	r.t.Helper()
	n := r.pull(branch, changes)
	r.expect("the answer", r.say("alice", n, "lockstep apply"), "**Applied**")
	r.repo.Merge("alice", n)
	r.settle()
}

// secretThing keeps a sensitive value in its state.
const secretThing = "variable \"password\" {\n  default   = \"Tr0ub4dor-and-3\"\n  sensitive = true\n}\nresource \"terraform_data\" \"db\" {\n  input = var.password\n}\n"

// spelled is a configuration that says what is in another one's state, letter by letter,
// where nothing knows it any more. Whoever writes it knows the password's place only.
const spelled = "resource \"terraform_data\" \"db\" {\n  input = \"x\"\n  lifecycle {\n    ignore_changes = [input]\n  }\n}\noutput \"said\" {\n  value = join(\"~\", split(\"\", nonsensitive(terraform_data.db.output)))\n}\n"

const spelledSecret = "T~r~0~u~b~4~d~o~r"

// TestAnotherRepositorysState carries the attack out: a pull request of one repository
// names the state of another, to have its secrets printed, and its objects destroyed.
func TestAnotherRepositorysState(t *testing.T) {
	t.Parallel()
	r := newRoad(t, githubtest.Files{"net/main.tf": project(netState)}, wholeAccount)
	r.applied("db", githubtest.Files{"net/db.tf": secretThing})
	serial, _ := r.serial(netState)
	// The words of the attack work where the state is one's own.
	own := r.pull("own", githubtest.Files{"net/db.tf": spelled})
	r.expect("a plan of one's own", r.status(own), spelledSecret)

	const allow = "allow {\n  states = [\"s3://states/**\"]\n}\n"
	for name, test := range map[string]struct{ settings, want string }{
		"shop":   {"# nothing is allowed\n", "The settings on the base branch do not allow"},
		"greedy": {allow, "The state at `s3://states/net/terraform.tfstate` belongs to the project `net` of another repository, `acme/infra`."},
	} {
		x := r.neighbour(name, githubtest.Files{"shop/main.tf": project(name + "/terraform.tfstate"), "lockstep.hcl": test.settings})
		reads := x.pull("read", githubtest.Files{"shop/main.tf": project(netState, spelled)})
		r.expect(name+"'s plan", x.status(reads), "failed to plan", test.want)
		destroys := x.pull("destroy", githubtest.Files{"shop/main.tf": project(netState)})
		r.expect(name+"'s plan", x.status(destroys), "failed to plan", test.want)
		r.expect(name+"'s apply", x.say("alice", destroys, "lockstep apply"), "**Not applied**")
		r.expect(name+"'s unlock", x.say("alice", destroys, "lockstep unlock"), test.want)
		// A repository whose base branch already has the other's state.
		taken := r.neighbour(name+"-2", githubtest.Files{"shop/main.tf": project(netState, spelled)})
		n := taken.pull("touch", githubtest.Files{"shop/x.tf": "# touched\n"})
		r.expect("a plan of what was merged", taken.status(n), "failed to plan", "belongs to the project `net` of another repository, `acme/infra`")
		for _, c := range r.hub.Edits() {
			if strings.Contains(c.Text, "~b~4~") && c.Repo != "acme/infra" {
				t.Errorf("the secret is told: %s", c.Text)
			}
		}
	}
	if now, names := r.serial(netState); now != serial || len(names) != 1 {
		t.Errorf("the state went from serial %d to %d, with %v", serial, now, names)
	}
}

// TestDevWithProductionsKey carries the attack out: production is applied by merges only,
// so dev's directory is given its key, and production is dropped from the settings.
func TestDevWithProductionsKey(t *testing.T) {
	t.Parallel()
	const dev = "project \"dev\" {\n  dir = \"dev\"\n}\n"
	r := newRoad(t, githubtest.Files{
		"lockstep.hcl": dev + "project \"production\" {\n  dir = \"production\"\n  apply = \"merge\"\n}\n",
		"dev/main.tf":  project("dev/terraform.tfstate"), "production/main.tf": project(netState),
	})
	n := r.pull("live", githubtest.Files{"production/things.tf": thing("a", "1") + thing("b", "2")})
	r.repo.Merge("alice", n)
	r.settle()
	serial, names := r.serial(netState)
	if len(names) != 2 {
		t.Fatalf("production has %v", names)
	}
	for branch, settings := range map[string]string{
		"dropped": dev, "allowed": dev + "allow {\n  states = [\"s3://states/**\"]\n}\n",
		"renamed": "project \"x\" {\n  dir = \"dev\"\n}\n",
	} {
		n := r.pull(branch, githubtest.Files{"lockstep.hcl": settings, "dev/main.tf": project(netState)})
		r.expect("the plan, "+branch, r.status(n), "failed to plan", "which belongs to the project `production` on the base branch")
		for _, command := range []string{"plan -p dev", "plan -p x", "apply -p dev", "apply -p x", "apply"} {
			// The pull request may remove dev, whose own state is empty.
			if answer := r.say("alice", n, "lockstep "+command); strings.Contains(answer, "**Applied**") || strings.Contains(answer, "**Planned**") && !strings.Contains(answer, "**Planned** `dev`: no changes") {
				t.Errorf("%s, lockstep %s: %s", branch, command, answer)
			}
		}
	}
	if now, names := r.serial(netState); now != serial || len(names) != 2 {
		t.Errorf("production went from serial %d to %d, with %v", serial, now, names)
	}
}

// item returns a string attribute of an item in the table of locks.
func (r *road) item(key, attribute string) string {
	r.t.Helper()
	out, err := r.stack.DynamoDB.GetItem(r.t.Context(), &dynamodb.GetItemInput{
		TableName: aws.String("locks"), Key: map[string]dynamodbtypes.AttributeValue{"LockID": &dynamodbtypes.AttributeValueMemberS{Value: key}},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	s, _ := out.Item[attribute].(*dynamodbtypes.AttributeValueMemberS)
	if s == nil {
		return ""
	}
	return s.Value
}

// TestWithoutTheLockTable carries the attack out: a pull request leaves out the lock table
// of a state that somebody holds, and whose digest stock tools compare.
func TestWithoutTheLockTable(t *testing.T) {
	t.Parallel()
	locked := strings.Replace(project(netState), "    use_lockfile   = true\n", "", 1)
	r := newRoad(t, githubtest.Files{"net/main.tf": locked})
	r.applied("one", githubtest.Files{"net/one.tf": thing("one", "1")})
	info := statebackend.NewLockInfo("OperationTypeApply", "1.11.4")
	info.Who = "carol@laptop"
	lock := func(put bool) {
		t.Helper()
		key := map[string]dynamodbtypes.AttributeValue{"LockID": &dynamodbtypes.AttributeValueMemberS{Value: "states/" + netState}}
		var err error
		if put {
			key["Info"] = &dynamodbtypes.AttributeValueMemberS{Value: string(info.Marshal())}
			_, err = r.stack.DynamoDB.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("locks"), Item: key})
		} else {
			_, err = r.stack.DynamoDB.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String("locks"), Key: key})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	without := strings.Replace(locked, "    dynamodb_table = \"locks\"\n", "", 1)
	if without == locked {
		t.Fatal("there is no lock table to leave out")
	}
	lock(true)
	n := r.pull("without", githubtest.Files{"net/main.tf": without, "net/two.tf": thing("two", "2")})
	r.expect("the plan", r.status(n), "1 to add", "how the state of `net` is locked or stored: `dynamodb_table`")
	r.expect("the apply under carol's lock", r.say("alice", n, "lockstep apply"), "carol@laptop")
	lock(false)
	r.expect("the apply", r.say("alice", n, "lockstep apply"), "**Applied**")
	sum := md5.Sum([]byte(r.state(netState)))
	if got, want := r.item("states/"+netState+"-md5", "Digest"), hex.EncodeToString(sum[:]); got != want {
		t.Errorf("the digest is %q, and stock tools want %q", got, want)
	}
	r.free(netState)
}

// TestPlaces is the story of states that may be elsewhere: new ones, moved ones, and those
// whose project has another name.
func TestPlaces(t *testing.T) {
	t.Parallel()
	r := newRoad(t, githubtest.Files{"net/main.tf": project(netState, thing("vpc", "1"))}, wholeAccount, func(o *lambdatest.StackOptions) {
		o.Parameters["StatePatterns"] = "s3://states/{owner}/{name}/**"
	})
	r.applied("first", githubtest.Files{"net/subnet.tf": thing("subnet", "1")})

	n := r.pull("new", githubtest.Files{"app/main.tf": project("app/terraform.tfstate", thing("app", "1"))})
	r.expect("a new project", r.status(n), "failed to plan", "The settings on the base branch do not allow `app` to have its state at `s3://states/app/terraform.tfstate`.",
		"`states = [\"s3://states/app/terraform.tfstate\"]`")
	own := r.pull("own", githubtest.Files{"app/main.tf": project("acme/infra/app.tfstate", thing("app", "1"))})
	r.expect("a new project in a place of the repository's own", r.status(own), "1 to add")
	theirs := r.pull("theirs", githubtest.Files{"app/main.tf": project("acme/shop/app.tfstate", thing("app", "1"))})
	r.expect("a new project in another's", r.status(theirs), "failed to plan", "The settings on the base branch do not allow")
	r.expect("its apply", r.say("alice", own, "lockstep apply"), "**Applied** `app`: 1 added")

	moved := r.pull("moved", githubtest.Files{"net/main.tf": project("network/terraform.tfstate", thing("vpc", "1"))})
	r.expect("a move", r.status(moved), "failed to plan", "The settings on the base branch do not allow")
	r.repo.Push("alice", "main", "Allow it", githubtest.Files{"lockstep.hcl": "allow {\n  states = [\"s3://states/network/*\"]\n}\n"})
	r.say("alice", moved, "lockstep plan")
	r.expect("a move that is allowed", r.status(moved), "**This pull request moves the state** of `net` from `s3://states/net/terraform.tfstate` to `s3://states/network/terraform.tfstate`", "2 to add")

	gone := "# moved to ../network\n"
	renamed := r.pull("renamed", githubtest.Files{
		"net/main.tf": gone, "net/subnet.tf": gone, "network/main.tf": project(netState, thing("vpc", "1"), thing("subnet", "1"), thing("third", "1")),
	})
	r.expect("a project of another name", r.status(renamed), "1 to add", "takes over the state of the project `net`")
	r.expect("its apply", r.say("alice", renamed, "lockstep apply"), "**Not applied** `network`", "still belongs to the project `net` on the base branch", "Merge the pull request first")
	r.repo.Merge("alice", renamed)
	r.settle()
	n = r.pull("after", githubtest.Files{"network/fourth.tf": thing("fourth", "1")})
	r.expect("after the merge", r.status(n), "2 to add")
	r.expect("its apply", r.say("alice", n, "lockstep apply"), "**Applied** `network`: 2 added")
	if _, names := r.serial(netState); len(names) != 4 {
		t.Errorf("the state has %v", names)
	}
	r.repo.Merge("alice", n)
	r.settle()
	if _, err := r.stack.S3.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: aws.String("states"), Key: aws.String(netState)}); err != nil {
		t.Fatal(err)
	}
	x := r.neighbour("shop", githubtest.Files{"shop/main.tf": project(netState)})
	n = x.pull("touch", githubtest.Files{"shop/x.tf": thing("x", "1")})
	r.expect("a state that is gone is still owned", x.status(n), "belongs to the project `network` of another repository, `acme/infra`")
}

// TestBaseTakesItAway holds that the base branch is asked again when the state is locked:
// what it gives somebody else meanwhile is not written.
func TestBaseTakesItAway(t *testing.T) {
	t.Parallel()
	r, n := twoThings(t)
	r.stack.Fault(once(func(q lambdatest.Request) bool {
		return q.Function == "apply" && q.Action == "s3:PutObject" && strings.HasSuffix(q.Resource, netState+".tflock")
	}, func() {
		r.repo.Push("alice", "main", "Net is elsewhere now", githubtest.Files{"net/main.tf": project("else", thing("vpc", "10.0.0.0/16")), "prod/main.tf": project(netState)})
	}))
	answer := r.say("alice", n, "lockstep apply")
	r.stack.Fault(nil)
	r.expect("the apply", answer, "**Not applied** `net`", "which belongs to the project `prod` on the base branch")
	if serial, _ := r.serial(netState); serial != 0 {
		t.Error("it was written")
	}
	r.free(netState)
}
