package dispatch_test

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestOneDeploymentAnswers holds that of two deployments one answers what is for neither's projects in particular: calls for
// help, misspellings, and commands for what has failed where nothing has.
func TestOneDeploymentAnswers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		changes githubtest.Files
		retry   string // whether a command for what has failed is for the projects here
	}{
		"projects of both":      {githubtest.Files{"net/x.tf": resource("x", "1"), "db/x.tf": resource("x", "1")}, "No project of this pull request has failed."},
		"projects of the first": {githubtest.Files{"db/x.tf": resource("x", "1")}, "No project of this pull request has failed."},
		"projects of the other": {githubtest.Files{"net/x.tf": resource("x", "1")}, "No project matches"},
		"no projects":           {githubtest.Files{"README.md": "# Words\n"}, "No project matches"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b := newDivided(t, divided)
			n := open(a, b, "c", test.changes)
			for _, said := range [][2]string{
				{"lockstep help", "Write each command on its own line of a new comment:"}, {"lockstep aply", "Did you mean `lockstep apply`?"}, {"terraform apply", "**nothing was done**"},
				{"lockstep retry", ""}, {"lockstep apply --failed", ""}, {"lockstep stop --failed", ""},
			} {
				first, second := answers(a, b, n, said[0])
				if a.expect(said[0], first, said[1]); first == "" || second != "" {
					t.Errorf("%s\nthe first says: %s\nthe other says: %s", said[0], first, second)
				}
			}
			if name == "projects of the other" {
				first, _ := answers(a, b, n, "lockstep help")
				a.expect("help", first, "Projects: `net`.")
			}
		})
	}
}

// TestOneDeploymentRefuses holds that of two deployments one tells somebody that they have no right to a command, whichever has
// projects that it is for, and one that they comment too often.
func TestOneDeploymentRefuses(t *testing.T) {
	t.Parallel()
	for name, changes := range map[string]githubtest.Files{
		"projects of both":      {"net/x.tf": resource("x", "1"), "db/x.tf": resource("x", "1"), "app/x.tf": resource("x", "1")},
		"projects of the first": {"db/x.tf": resource("x", "1")},
		"projects of the other": {"net/x.tf": resource("x", "1")},
		"no projects":           {"README.md": "# Words\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b := newDivided(t, divided)
			n := open(a, b, "c", changes)
			commands := []string{
				"plan", "plan -p net", "plan -p db", "apply", "apply -p net", "apply -p db", "apply --failed", "retry", "drift", "stop", "unlock", "recover", "lock --reason x", "override --reason x",
			}
			for _, c := range commands {
				first, second := answersTo("mallory", a, b, n, "lockstep "+c)
				a.expect(c, first, "**Not ", "`mallory` has the permission `read`")
				if strings.Count(first, "`mallory`") != 1 || second != "" {
					t.Errorf("%s\nthe first says: %s\nthe other says: %s", c, first, second)
				}
			}
			a.pipeline.MaxCommands, b.pipeline.MaxCommands = 1, 1
			first, second := answersTo("mallory", a, b, n, "lockstep plan")
			if a.expect("one too many", first, "has reached the limit"); second != "" {
				t.Errorf("the other says: %s", second)
			}
		})
	}
}

// TestFailedElsewhere holds that a command for what has failed is answered by the deployment with the failure, whichever
// comes first, and that it is told once where there is none.
func TestFailedElsewhere(t *testing.T) {
	t.Parallel()
	for name, turn := range map[string]func(a, b *stage) (*stage, *stage){
		"the first first": func(a, b *stage) (*stage, *stage) { return a, b },
		"the other first": func(a, b *stage) (*stage, *stage) { return b, a },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b := newDivided(t, divided)
			broken := "resource \"terraform_data\" \"x\" {\n  input = local.zone\n}\n"
			n := open(a, b, "c", githubtest.Files{"net/x.tf": broken, "db/x.tf": resource("x", "1")})
			for _, command := range []string{"lockstep retry", "lockstep plan --failed", "lockstep retry -p *"} {
				var first, second string
				one, two := turn(a, b)
				if first, second = answers(one, two, n, command); first != "" {
					t.Errorf("%s, without a failure: %s", command, first)
				}
				a.expect(command, second, "**Failed to plan** `net`.")
			}
			first, second := answers(a, b, n, "lockstep retry -p net")
			a.expect("the first", first, "another deployment of Lockstep serves `net`: the one with the name `ou-a`")
			a.expect("its own", second, "**Failed to plan** `net`.")
			a.repo.Push("bob", "main", "Zones", githubtest.Files{"net/zone.tf": "locals {\n  zone = \"z\"\n}\n"})
			one, two := turn(a, b)
			first, second = answers(one, two, n, "lockstep retry")
			if a.expect("mended", second, "**Planned** `net`"); first != "" {
				t.Errorf("while the other one plans again: %s", first)
			}
		})
	}
}

// TestVoicesOfStrangers holds that a deployment answers alone where no other one is there, and that a check run with the name of
// one that the base branch does not know silences nobody.
func TestVoicesOfStrangers(t *testing.T) {
	t.Parallel()
	a, b := newDivided(t, divided)
	a.pipeline.Deployment, b.pipeline.Deployment = "ou-a", "aaa"
	n := open(a, b, "c", githubtest.Files{"net/x.tf": resource("x", "1")})
	first, _ := answers(a, b, n, "lockstep help")
	a.expect("help", first, "Write each command on its own line of a new comment:")
	first, _ = answers(a, b, n, "lockstep retry")
	a.expect("retry", first, "No project of this pull request has failed.")
}
