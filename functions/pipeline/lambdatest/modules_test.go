//go:build linux

package lambdatest_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// calling calls a module of another repository.
func calling(source string) string {
	return "module \"range\" {\n  source = \"" + source + "\"\n}\noutput \"range\" {\n  value = module.range.cidr\n}\n"
}

// TestPrivateModule plans and applies with a module of another private repository, which
// the base branch names; then its branch moves, and what was planned before is not
// applied. One that the base branch does not name is not had, whatever the pull request
// says. The tokens of the App are written down nowhere.
func TestPrivateModule(t *testing.T) {
	t.Parallel()
	r := newRoad(t, githubtest.Files{
		"lockstep.hcl": "allow {\n  modules = [\"github.com/acme/modules\"]\n}\n",
		"net/main.tf":  project(netState, thing("vpc", "10.0.0.0/16")),
	})
	module := func(cidr string) githubtest.Files {
		return githubtest.Files{
			"range/main.tf":  "output \"cidr\" {\n  value = chomp(file(\"${path.module}/cidr.txt\"))\n}\n" + thing("own", "of the module"),
			"range/cidr.txt": cidr + "\n",
		}
	}
	modules := r.hub.AddRepository("acme", "modules", module("10.1.0.0/16"))
	modules.SetPrivate()
	r.hub.AddRepository("acme", "secrets", module("s3cret")).SetPrivate()

	met := false
	r.stack.Fault(once(func(q lambdatest.Request) bool {
		return q.Function == "plan" && q.Action == "s3:GetObject" && strings.HasSuffix(q.Resource, netState)
	}, func() { met = r.unwritten("net/.terraform/modules/range/range/cidr.txt") }))
	n := r.pull("range", githubtest.Files{"net/range.tf": calling("git::ssh://git@github.com/acme/modules.git//range?ref=main")})
	r.expect("the plan", r.status(n), "2 to add", "module.range.terraform_data.own", "10.1.0.0/16")
	if !met {
		t.Error("nobody has looked at the directory while the module was there")
	}

	modules.Push("alice", "main", "Another range", module("10.2.0.0/16"))
	r.expect("the answer when the module moved", r.say("alice", n, "lockstep apply"),
		"because the sources of these modules have changed", "`range from git::ssh://git@github.com/acme/modules.git//range?ref=main`", "lockstep plan")
	r.expect("the status when the module moved", r.status(n), "out of date")
	if serial, _ := r.serial(netState); serial != 0 {
		t.Errorf("a state with serial %d was written", serial)
	}
	r.say("alice", n, "lockstep plan")
	r.expect("the new plan", r.status(n), "10.2.0.0/16")
	r.expect("the answer", r.say("alice", n, "lockstep apply"), "**Applied**", "2 added")
	if !strings.Contains(r.state(netState), "10.2.0.0/16") {
		t.Error("the state does not have what the module says")
	}

	other := r.pull("secrets", githubtest.Files{
		"lockstep.hcl": "allow {\n  modules = [\"github.com/acme/*\"]\n}\n",
		"net/range.tf": calling("github.com/acme/secrets//range"),
	})
	r.expect("the plan with what is not named", flat(r.status(other)), "there is no public repository acme/secrets", `modules = ["github.com/acme/secrets"]`)
	inside := r.pull("inside", githubtest.Files{"net/range.tf": calling("https://169.254.169.254/latest/meta-data/m.zip")})
	r.expect("the plan with an address inside", flat(r.status(inside)), "cannot allow modules from the host 169.254.169.254")
	git := r.pull("git", githubtest.Files{"net/range.tf": calling("git::https://gitlab.com/acme/modules.git//range")})
	r.expect("the plan with another git", flat(r.status(git)), "does not allow modules from the host gitlab.com", `modules = ["gitlab.com"]`)
	r.unwritten("")
	if strings.Contains(r.told(), "s3cret") {
		t.Error("what nobody may read was told")
	}
}

// flat takes the breaks of lines out of a message.
func flat(text string) string { return strings.Join(strings.Fields(text), " ") }

// told is everything that people can read: on GitHub and in the functions' logs.
func (r *road) told() string {
	said := r.log.String()
	for _, e := range r.hub.Edits() {
		said += e.Text
	}
	for _, p := range r.repo.Pulls() {
		for _, c := range r.repo.Comments(p.Number) {
			said += c.Body
		}
		for _, c := range r.repo.Checks(p.Head) {
			said += c.Title + c.Summary + c.Text
		}
	}
	return said
}

// unwritten holds that no token that GitHub has given out is in what was told, or in a
// file on the disk of a function, and reports whether a file whose path ends so is among them.
func (r *road) unwritten(path string) (met bool) {
	given := r.hub.Given()
	if len(given) == 0 {
		r.t.Error("there are no tokens to look for")
	}
	clean := func(where, text string) {
		for _, secret := range given {
			if strings.Contains(text, secret) {
				r.t.Errorf("a token is in %s", where)
			}
		}
	}
	clean("what was told", r.told())
	files := 0
	for _, f := range r.stack.Functions {
		for _, dir := range f.Disks() {
			_ = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
				if err != nil || !e.Type().IsRegular() {
					return nil // gone again, or a socket
				}
				if data, err := os.ReadFile(name); err == nil {
					files++
					met = met || path != "" && strings.HasSuffix(name, path)
					clean(name, string(data))
				}
				return nil
			})
		}
	}
	if files == 0 {
		r.t.Error("there are no files to look through")
	}
	return met
}
