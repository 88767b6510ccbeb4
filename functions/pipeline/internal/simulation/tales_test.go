package simulation

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// tales are those of [TestEachWebhookThrice]. Within a chapter nothing depends on the order of what people do: they see the
// outcome of the chapter before.
var tales = []tale{
	{"pushes", "", []func(*post){
		func(p *post) {
			p.opens("b", "p0/b.tf", "b = 1", "p1/b.tf", "b = 1")
			p.pushes("b", "p0/b.tf", "b = 2")
			p.sends("push", "")
			p.repo.Label("bob", 1, "infra")
			p.pushes("b", "p1/c.tf", "c = 1")
			p.repo.Unlabel("bob", 1, "infra")
			p.repo.Draft("alice", 1)
			p.repo.Ready("alice", 1)
		},
		func(p *post) {
			p.repo.Close("alice", 1)
			p.repo.Reopen("alice", 1)
			p.opens("c", "p0/c.tf", "c = 1")
			p.pushes("c", "p0/c.tf", "c = 2")
			p.repo.Close("alice", 2)
			p.says("bob", 1, "looks good to me")
			p.repo.Review("bob", 1, github.Approved, "Good.")
		},
		func(p *post) { p.says("bob", 1, "lockstep apply") },
		func(p *post) { p.merges("bob", 1) },
	}},
	{"commands", "", []func(*post){
		func(p *post) { p.opens("b", "p0/b.tf", "b = 1", "p1/b.tf", "b = 1") },
		func(p *post) {
			p.says("alice", 1, "lockstep plan -p p0")
			p.says("bob", 1, "lockstep help")
			p.says("bob", 1, "lockstep aply")
			p.repo.CommentOn("alice", 1, "p1/b.tf", "lockstep plan -p p1")
			p.repo.EditComment("alice", p.says("alice", 1, "never mind"), "lockstep apply")
		},
		func(p *post) { p.repo.Review("bob", 1, github.Commented, "lockstep plan") },
		func(p *post) { p.says("mallory", 1, "lockstep apply") },
		func(p *post) { p.says("bob", 1, `lockstep lock -p p1 --reason "mine"`) },
		func(p *post) { p.says("bob", 1, "lockstep apply -p p0") },
		func(p *post) {
			p.says("alice", 1, "lockstep plan -p p1\nlockstep apply -p p1")
			p.says("alice", 1, "lockstep unlock -p p0")
		},
		func(p *post) { p.repo.Close("alice", 1) },
	}},
	{"buttons", "", []func(*post){
		func(p *post) { p.opens("b", "p0/b.tf", "b = 1", "p1/b.tf", "b = 1") },
		func(p *post) { p.presses("bob", "b", "lockstep/p0", "apply") },
		func(p *post) { p.repo.Rerequest("bob", p.check("b", "lockstep/p1").ID) },
		func(p *post) { p.repo.RerequestAll("alice", p.repo.Head("b")) },
		func(p *post) { p.presses("mallory", "b", "lockstep/p1", "apply") },
		func(p *post) { p.presses("bob", "b", "lockstep/p1", "apply") },
	}},
	{"requirements", required, []func(*post){
		func(p *post) { p.opens("b", "p0/b.tf", "b = 1") },
		func(p *post) { p.says("alice", 1, "lockstep apply") },
		func(p *post) {
			p.repo.Review("bob", 1, github.Approved, "Good.")
			p.repo.SetStatus(p.repo.Head("b"), "security", "success")
			p.repo.AddCheck("ci", github.Check{Name: "build", SHA: p.repo.Head("b"), Status: github.CheckCompleted, Conclusion: github.ConcludedSuccess})
			p.repo.Label("bob", 1, "infra")
			p.repo.Resolve("bob", 1, p.repo.Discuss("bob", 1))
		},
		func(p *post) {
			p.repo.Dismiss("alice", 1, "bob")
			p.repo.Unlabel("bob", 1, "infra")
		},
		func(p *post) {
			p.repo.Review("bob", 1, github.Approved, "Good again.")
			p.repo.Label("bob", 1, "infra")
		},
		func(p *post) { p.says("alice", 1, "lockstep apply") },
		func(p *post) { p.pushes("b", "p0/b.tf", "b = 2") },
	}},
	{"on merge", onMerge, []func(*post){
		func(p *post) { p.opens("b", "p0/b.tf", "b = 1", "p1/b.tf", "b = 1") },
		func(p *post) { p.opens("c", "p0/c.tf", "c = 1") },
		func(p *post) { p.merges("bob", 1) },
		func(p *post) { p.says("alice", 1, "lockstep plan"); p.pushes("c", "p0/c.tf", "c = 2") },
		func(p *post) { p.merges("bob", 2) },
	}},
	{"the merge queue", onMerge, []func(*post){
		func(p *post) {
			p.opens("b", "p0/b.tf", "b = 1")
			p.opens("c", "p1/c.tf", "c = 1")
			p.opens("d", "p1/d.tf", "d = 1")
		},
		func(p *post) {
			p.repo.Enqueue("alice", 1)
			p.repo.Enqueue("alice", 2)
			p.repo.Enqueue("alice", 3)
			p.repo.Dequeue(3)
		},
		func(p *post) { p.lands(1) },
		func(p *post) { p.lands(2) },
	}},
	{"one state", "", []func(*post){
		func(p *post) {
			p.opens("b", "p0/b.tf", "b = 1")
			p.opens("c", "p0/c.tf", "c = 1")
		},
		func(p *post) { p.says("bob", 1, "lockstep apply") },
		func(p *post) { p.says("bob", 2, "lockstep apply") },
		func(p *post) { p.merges("alice", 1) },
		func(p *post) { p.says("bob", 2, "lockstep apply") },
		func(p *post) { p.merges("alice", 2) },
	}},
	{"in order", inOrder, []func(*post){
		func(p *post) { p.opens("b", "p0/b.tf", "b = 1", "p1/b.tf", "b = 1") },
		func(p *post) { p.says("bob", 1, "lockstep apply -p p1") },
		func(p *post) { p.says("bob", 1, "lockstep apply") },
		func(p *post) { p.says("bob", 1, "lockstep apply -p p1") },
		func(p *post) { p.merges("alice", 1) },
	}},
	{"other bases", "", []func(*post){
		func(p *post) {
			p.opens("b", "p0/b.tf", "b = 1")
			p.repo.Push("alice", "release", "Release", githubtest.Files{"RELEASE.md": "1\n"})
			p.repo.Retarget("alice", 1, "release")
			p.repo.Retarget("alice", 1, "main")
		},
		func(p *post) { p.repo.Retarget("alice", 1, "release") },
		func(p *post) { p.says("bob", 1, "lockstep apply") },
		func(p *post) { p.repo.Retarget("alice", 1, "main") },
		func(p *post) { p.says("bob", 1, "lockstep apply") },
	}},
	{"another name", "", []func(*post){
		func(p *post) {
			p.opens("b", "p0/b.tf", "b = 1", "p1/b.tf", "b = 1")
			p.hub.AddRepository("beta", "other", githubtest.Files{"README.md": "hello\n"})
		},
		func(p *post) {
			p.says("alice", 1, "lockstep plan -p p0")
			p.repo.Rename("alice", "infrastructure")
			p.sends("repository", "renamed")
		},
		func(p *post) { p.says("bob", 1, "lockstep apply -p p0") },
		func(p *post) {
			p.repo.Transfer("alice", "beta")
			p.sends("repository", "transferred")
			p.pushes("b", "p1/c.tf", "c = 1")
		},
		func(p *post) { p.says("bob", 1, "lockstep apply -p p1") },
		func(p *post) { p.repo.Uninstall("beta") },
	}},
}

const (
	required = "require \"apply\" {\n  approvals     = 1\n  labels        = [\"infra\"]\n  checks        = [\"build\", \"security\"]\n  conversations = \"resolved\"\n}\n"
	onMerge  = "project \"p0\" {\n  dir   = \"p0\"\n  apply = \"merge\"\n}\n\nproject \"p1\" {\n  dir   = \"p1\"\n  apply = \"merge\"\n}\n"
	inOrder  = "project \"p0\" {\n  dir = \"p0\"\n}\n\nproject \"p1\" {\n  dir        = \"p1\"\n  depends_on = [\"p0\"]\n}\n"
)

// opens has alice open a pull request from a branch, with files and their settings.
func (p *post) opens(branch string, edits ...string) {
	p.pushes(branch, edits...)
	p.pushed[p.repo.Head(branch)] = []int{p.repo.OpenPull("alice", "Change", branch)}
}

// pushes has alice push to a branch.
func (p *post) pushes(branch string, edits ...string) {
	files := githubtest.Files{}
	for i := 0; i < len(edits); i += 2 {
		files[edits[i]] = "# " + edits[i+1] + "\n"
	}
	p.heads = append(p.heads, p.repo.Push("alice", branch, "Change", files))
}

// says has somebody comment, and returns the ID of the comment.
func (p *post) says(who string, number int, text string) int64 {
	v, _ := p.view(number)
	p.comment(v, who, text)
	all := p.repo.Comments(number)
	return all[len(all)-1].ID
}

func (p *post) merges(who string, number int) {
	v, _ := p.view(number)
	p.approve(number, who).merged = v.Head
	p.repo.Merge(who, number)
}

func (p *post) lands(number int) {
	v, _ := p.view(number)
	p.approve(number, "alice").merged = v.Head
	if !p.repo.Land("lockstep") {
		p.bug("the merge queue puts #%d out", number)
	}
}

// check is the check run of a name at the head of a branch.
func (p *post) check(branch, name string) (found githubtest.Check) {
	for _, c := range p.repo.Checks(p.repo.Head(branch)) {
		if c.Name == name {
			found = c
		}
	}
	if found.ID == 0 {
		p.bug("%s has no check %s", branch, name)
	}
	return found
}

// presses has somebody press a button whose identifier begins so.
func (p *post) presses(who, branch, name, button string) {
	c := p.check(branch, name)
	for _, b := range c.Buttons {
		if len(b.Identifier) >= len(button) && b.Identifier[:len(button)] == button {
			a := p.approve(1, who)
			for _, t := range tokens.FindAllString(c.Summary+c.Text, -1) {
				a.tokens[t] = true
			}
			p.repo.Press(who, c.ID, b.Identifier)
			return
		}
	}
	p.bug("%s has no button %s: %v", name, button, fmt.Sprint(c.Buttons))
}
