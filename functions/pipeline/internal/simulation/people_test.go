package simulation

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// people are what was said and done.
type people struct {
	reopened  map[int]time.Time // the last time of each pull request
	mishaps   int               // that are left
	acts      int               // that are left
	awaited   int               // how often somebody waited for a plan
	approvals []*approval
	commands  []command
	branches  int
	// pushed are the pull requests of all heads that there were.
	pushed map[string][]int
	// asPushed are the projects that each pull request changed when it had its head, if it shares commits with others: once one
	// of those is merged, it may change more, which its own merge finds.
	asPushed map[int][]string
	soon     bool // the next act comes
	groups
	reviews
	shifts
	moved int // how often the repository was
	// looked is set once the janitor has gone round: comments before that are found by no other way than their webhooks.
	looked bool
	taken  []*githubtest.Repository // of its former names
}

// An approval is somebody's word for the plans that they can have seen.
type approval struct {
	number int
	who    string
	tokens map[string]bool
	merged string            // the head that was merged
	seen   string            // the head that a comment is for which asks for a plan with its apply
	used   map[string]string // the apply that was made of it, by token
	own    string            // the project that it names; "" for all
}

// A command is a comment that waits for an answer.
type command struct {
	number int
	id     int64
	text   string
	early  bool // before the janitor has looked: if the repository moves before its webhook is handled, nobody else finds it
}

const projects = 2

// files are the configuration at the beginning.
func (s *simulation) firstFiles() githubtest.Files {
	files := githubtest.Files{"README.md": "hello\n"}
	for i := range projects {
		dir := dirOf(i)
		files[dir+"/backend.tf"] = s.backend(dir)
		files[dir+"/a.tf"] = "# a = 1\n"
	}
	if s.IntN(2) == 0 {
		files["lockstep.hcl"] = "project \"p0\" {\n  dir = \"p0\"\n}\n\nproject \"p1\" {\n  dir   = \"p1\"\n  apply = \"merge\"\n}\n"
	}
	if s.queues() {
		files["lockstep.hcl"] = "project \"p0\" {\n  dir = \"p0\"\n  apply = \"merge\"\n}\n\nproject \"p1\" {\n  dir   = \"p1\"\n  apply = \"merge\"\n}\n"
	}
	if s.automerges() {
		files["lockstep.hcl"] = "automerge {\n  delete_branch = true\n}\n"
		for i := range projects {
			files["lockstep.hcl"] += fmt.Sprintf("project %q {\n  dir = %q\n}\n", dirOf(i), dirOf(i))
		}
	}
	if s.ordered() {
		files["lockstep.hcl"] = s.ordering("  depends_on = [\"p0\"]\n")
	}
	if s.migrating() && !s.ordered() {
		files["lockstep.hcl"] += s.anyKey()
	}
	switch {
	case s.teaming():
		s.blocks(files)
	case s.removing():
		if delete(files, "lockstep.hcl"); s.listing(s.holding(files)) != "" {
			files["lockstep.hcl"] = s.listing(s.holding(files))
		}
	case s.reviewing():
		files["lockstep.hcl"] += s.requireReview()
	}
	return files
}

// automerges reports whether applied pull requests are merged by Lockstep, as in every seventh history.
func (s *simulation) automerges() bool { return s.seed%7 == 5 && !s.teaming() }

// ordered reports whether the second project depends on the first one, which is so in every fifth history.
func (s *simulation) ordered() bool { return s.seed%5 == 0 && !s.teaming() }

// ordering is the settings of such a history, in three ways: both projects are applied by comments, the second one
// on merge, or both.
func (s *simulation) ordering(depends string) string {
	const merge = "  apply = \"merge\"\n"
	way := s.seed / 5 % 3
	first, second := "", depends
	if way > 0 {
		second += merge
	}
	if way > 1 {
		first = merge
	}
	return "project \"p0\" {\n  dir = \"p0\"\n" + first + "}\n\nproject \"p1\" {\n  dir = \"p1\"\n" + second + "}\n" + s.anyKey()
}

func dirOf(i int) string { return fmt.Sprintf("p%d", i) }

var lines = []string{
	"lockstep apply", "lockstep apply", "lockstep apply", "lockstep apply", "lockstep plan", "lockstep plan -p p0",
	"lockstep apply -p p0", "lockstep apply -p p1", "lockstep unlock", "lockstep stop", "lockstep recover", "lockstep help",
	"lockstep plan\nlockstep apply", "lockstep aply", "looks good to me",
}

// locking are said beside lines in every fourth history.
var locking = []string{`lockstep lock --reason "it moves"`, `lockstep lock -p p0 --reason "mine"`, "lockstep unlock -p p0"}

// again is said beside lines where buttons are pressed, too.
var again = []string{"lockstep retry", "lockstep apply --failed", "lockstep plan --failed", "lockstep retry"}

// pressing reports whether people press buttons of check runs, as in every fourth aimed history.
func (s *simulation) pressing() bool { return s.length.aimed && s.seed%4 == 2 }

// press has somebody press a button of a check run of the head, and reports whether there is one.
func (s *simulation) press(p githubtest.PullView) bool {
	var checks []githubtest.Check
	for _, c := range s.repo.Checks(p.Head) {
		if len(c.Buttons) > 0 {
			checks = append(checks, c)
		}
	}
	if len(checks) == 0 {
		return false
	}
	c := checks[s.IntN(len(checks))]
	b := c.Buttons[s.IntN(len(c.Buttons))]
	who := []string{"alice", "bob", "mallory"}[s.IntN(3)]
	s.note("%s presses %q of %s", who, b.Identifier, c.Name)
	if strings.Contains(b.Identifier, "apply") && who != "mallory" {
		for _, other := range s.repo.Pulls() { // it may be another one's, with the same head
			if other.Head != p.Head {
				continue
			}
			a := s.approve(other.Number, who)
			for _, t := range tokens.FindAllString(c.Summary+c.Text, -1) {
				a.tokens[t] = true
			}
			a.own = strings.TrimPrefix(c.Name, "lockstep/")
		}
	}
	s.repo.Press(who, c.ID, b.Identifier)
	return true
}

// act lets somebody do something.
func (s *simulation) act() {
	s.acts--
	if s.length.away && s.looked && !s.moving() && !s.queues() { // a merge group that comes meanwhile GitHub gives up
		s.comesAndGoes()
	}
	var open, closed []githubtest.PullView
	for _, p := range s.repo.Pulls() {
		switch p.State {
		case "open":
			open = append(open, p)
		case "closed":
			closed = append(closed, p)
		}
	}
	if s.pressing() && s.IntN(4) == 0 && s.returns() {
		return
	}
	n := s.IntN(100)
	if s.migrating() && len(open) == 1 {
		s.open()
		return
	}
	if s.moving() && s.looked && (!s.teaming() || s.moved == 0) && s.IntN(10) == 0 {
		s.move()
	}
	if s.shifting() && len(open) > 0 && s.IntN(5) == 0 {
		s.shift(open[s.IntN(len(open))])
		return
	}
	if own := slices.DeleteFunc(slices.Clone(open), func(p githubtest.PullView) bool { return p.Fork }); s.teaming() && len(own) > 0 && s.IntN(6) > 0 {
		s.pursue(own[s.IntN(len(own))])
		return
	}
	if s.team.forks && len(open) > 0 && s.IntN(2) == 0 {
		s.theirs()
		return
	}
	if s.length.aimed && !s.teaming() && len(open) > 0 && s.IntN(3) > 0 {
		s.aim(open[s.IntN(len(open))])
		return
	}
	switch {
	case len(open) == 0 || n < 12 && len(open) < 3:
		s.open()
		return
	case len(closed) > 0 && n < 15:
		p := closed[s.IntN(len(closed))]
		s.note("alice reopens #%d", p.Number)
		if s.reopened == nil {
			s.reopened = map[int]time.Time{}
		}
		s.reopened[p.Number] = time.Now()
		s.repo.Reopen("alice", p.Number)
		return
	}
	p := open[s.IntN(len(open))]
	if p.Fork {
		s.visit(p)
		return
	}
	switch {
	case n < 30:
		s.note("alice pushes to #%d", p.Number)
		push, on := s.repo.Push, p.Head
		if s.IntN(4) == 0 {
			push, on = s.repo.ForcePush, s.repo.Head("main")
		}
		s.leave(p.Number)
		sha := push("alice", p.From, "More", s.edit(on))
		s.isPushed(sha, p.Number)
	case n < 55 && s.queues() && len(s.line) > 0:
		s.land()
	case n < 65 && !p.Conflicts && s.queues():
		s.enqueue(p)
	case n < 67 && s.queues():
		s.leave(p.Number)
	case n < 40 && !p.Conflicts:
		s.merge(p)
	case n < 43:
		s.leave(p.Number)
		s.note("bob closes #%d", p.Number)
		s.repo.Close("bob", p.Number)
	default:
		s.say(p)
	}
}

// aim has somebody take the next step to an apply: they wait for a plan, and comment to apply it, or merge.
func (s *simulation) aim(p githubtest.PullView) {
	switch {
	case !s.planned(p.Number):
		if s.awaited++; s.awaited <= 10 {
			s.acts++ // not for ever: there may be nothing to plan
		}
	case s.lifting() && s.missesReview(p) && s.IntN(2) == 0:
		s.lift(p)
	case s.reviewing() && s.missesReview(p) && s.IntN(4) > 0:
		s.review(p)
	case s.reviewing() && s.IntN(8) == 0:
		s.dismiss(p)
	case s.pressing() && s.IntN(2) == 0 && s.press(p):
	case s.queues() && len(s.line) > 0:
		s.land()
	case s.queues() && !p.Conflicts:
		s.enqueue(p)
	case s.IntN(3) == 0 && !p.Conflicts:
		s.merge(p)
	case s.opting() && s.IntN(3) == 0:
		s.comment(p, []string{"alice", "bob"}[s.IntN(2)], options[s.IntN(len(options))])
	case s.removing() && s.IntN(2) == 0:
		dirs := s.places()
		s.comment(p, []string{"alice", "bob"}[s.IntN(2)], "lockstep apply -p "+dirs[s.IntN(len(dirs))])
	default:
		s.comment(p, []string{"alice", "bob"}[s.IntN(2)], "lockstep apply")
	}
}

// edit is a change of some objects at a commit.
func (s *simulation) edit(at string) githubtest.Files {
	files := s.editAnywhere()
	switch {
	case s.removing():
		files = s.remove(s.repo.Files(at), files)
	case s.migrating():
		files = s.migrate(s.repo.Files(at))
	}
	return files
}

func (s *simulation) editAnywhere() githubtest.Files {
	if s.IntN(12) == 0 {
		return githubtest.Files{"README.md": fmt.Sprintf("hello %d\n", s.IntN(100))}
	}
	files := githubtest.Files{}
	for range 1 + s.IntN(3) {
		name := string(rune('a' + s.IntN(4)))
		content := fmt.Sprintf("# %s = %d\n", name, s.IntN(3))
		if s.IntN(5) == 0 && name != "a" {
			content = githubtest.Deleted
		}
		files[dirOf(s.IntN(projects))+"/"+name+".tf"] = content
	}
	if s.ordered() && s.seed%2 == 0 && s.IntN(8) == 0 {
		files["lockstep.hcl"] = s.ordering("") // without the order
	}
	return files
}

// open opens a pull request from a new branch, or one from each of two with the same commit.
func (s *simulation) open() {
	files := s.edit(s.repo.Head("main"))
	s.openOf(files)
	if s.twins() && s.IntN(2) == 0 {
		s.openOf(files)
	}
}

func (s *simulation) openOf(files githubtest.Files) {
	s.branches++
	branch := fmt.Sprintf("branch-%d", s.branches)
	sha := s.repo.Push("alice", branch, "Change", files)
	n := s.openedAs(branch)
	s.isPushed(sha, n)
	s.note("alice opens #%d", n)
}

func (s *simulation) isPushed(sha string, number int) {
	s.pushed[sha] = append(s.pushed[sha], number)
	if s.twins() {
		s.asPushed[number] = s.touched(number)
	}
}

// twins reports whether several pull requests have the same head, as in every ninth history.
func (s *simulation) twins() bool { return s.seed%9 == 4 }

// merge merges a pull request, which approves the plans of its head that were shown before.
func (s *simulation) merge(p githubtest.PullView) {
	who := []string{"alice", "bob"}[s.IntN(2)]
	s.note("%s merges #%d", who, p.Number)
	s.approve(p.Number, who).merged = p.Head
	if s.IntN(2) == 0 {
		s.repo.Squash(who, p.Number)
	} else {
		s.repo.Merge(who, p.Number)
	}
}

// say comments on a pull request.
func (s *simulation) say(p githubtest.PullView) {
	said := lines
	switch {
	case s.seed%4 == 3:
		said = slices.Concat(lines, locking)
	case s.pressing():
		said = slices.Concat(lines, again)
	}
	if s.opting() {
		said = slices.Concat(said, options)
	}
	text := said[s.IntN(len(said))]
	who := []string{"alice", "bob", "bob", "alice", "bob", "mallory"}[s.IntN(6)]
	if s.IntN(2) == 0 && s.planned(p.Number) {
		text = "lockstep apply"
	}
	s.comment(p, who, text)
}

// comment has somebody write a comment, which approves the plans that they can have seen if it says that they are applied.
func (s *simulation) comment(p githubtest.PullView, who, text string) {
	s.note("%s says on #%d: %q", who, p.Number, text)
	if strings.Contains(text, "apply") && who != "mallory" {
		a := s.approve(p.Number, who)
		if strings.Contains(text, "plan") {
			a.seen = p.Head
		}
		if _, name, named := strings.Cut(text, "apply -p "); named {
			a.own = name
		}
	}
	id := s.repo.Comment(who, p.Number, text)
	if len(grammar.Parse(text)) > 0 {
		s.commands = append(s.commands, command{p.Number, id, text, !s.looked})
	}
}

// planned reports whether somebody can see a plan.
func (s *simulation) planned(number int) bool {
	for _, c := range s.repo.Comments(number) {
		if c.Author == "lockstep[bot]" && tokens.MatchString(c.Body) {
			return true
		}
	}
	return false
}

// approve notes the plans that somebody can have seen.
func (s *simulation) approve(number int, who string) *approval {
	a := &approval{number: number, who: who, tokens: map[string]bool{}, used: map[string]string{}}
	for _, c := range s.repo.Comments(number) {
		if c.Author == "lockstep[bot]" {
			for _, t := range tokens.FindAllString(c.Body, -1) {
				a.tokens[t] = true
			}
		}
	}
	s.approvals = append(s.approvals, a)
	return a
}
