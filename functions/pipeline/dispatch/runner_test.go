package dispatch_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/buildrunner"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// onRunner are files with an environment, whose body is the text.
func onRunner(body string) githubtest.Files {
	return githubtest.Files{
		"net/main.tf":  resource("a", "1"),
		"lockstep.hcl": "project \"net\" {\n  dir         = \"net\"\n  environment = \"slow\"\n}\n\nenvironment \"slow\" {\n" + body + "}\n",
	}
}

const codebuild = "  runner = \"codebuild\"\n"

// builds are a service of builds, each of which works when somebody looks at it for the first time.
type builds struct {
	*stage
	at      map[string]string // IDs by tokens
	forget  bool              // tokens, as after five minutes
	letters []pipeline.Message
	ends    []buildrunner.End
	begun   int // builds that have worked
	// before happens at the start of each build's work, with its number from 0; an end is its own, without work.
	before  func(number int) buildrunner.End
	refused error
	stopped []string
	images  []string // of the builds
	slow    bool     // builds of plans do not begin
}

// building gives a stage builds.
func (s *stage) building() *builds {
	b := &builds{stage: s, at: map[string]string{}}
	s.pipeline.Runners, s.pipeline.Builds = []string{"codebuild"}, b
	return b
}

func (b *builds) Start(ctx context.Context, token, image string, m pipeline.Message) (id string, err error) {
	if b.refused != nil {
		return "", b.refused
	}
	if id = b.at[token]; id == "" || b.forget {
		id = fmt.Sprintf("lockstep:%d", len(b.letters))
		b.at[token] = id
		b.letters, b.ends, b.images = append(b.letters, m), append(b.ends, "waits"), append(b.images, image)
		if n := len(b.letters) - 1; m.Kind == pipeline.ToPlan && !b.slow { // nobody looks at builds of plans
			for range 3 { // as often as a build tries
				if b.ends[n] = b.work(ctx, n); b.ends[n] == buildrunner.Done {
					break
				}
			}
		}
	}
	return id, nil
}

func (b *builds) Look(ctx context.Context, id string) (buildrunner.End, error) {
	var n int
	if _, err := fmt.Sscanf(id, "lockstep:%d", &n); err != nil || n >= len(b.letters) {
		return buildrunner.Gone, nil
	}
	if b.ends[n] == "waits" {
		b.ends[n] = b.work(ctx, n)
		return buildrunner.Working, nil
	}
	return b.ends[n], nil
}

func (b *builds) Stop(_ context.Context, id string) error {
	b.stopped = append(b.stopped, id)
	return nil
}

// work is the process of a build.
func (b *builds) work(ctx context.Context, n int) buildrunner.End {
	if b.before != nil {
		if end := b.before(n); end != buildrunner.Working {
			return end
		}
	}
	b.begun++
	p := *b.stage.pipeline
	p.Builds, p.Build = nil, fmt.Sprintf("lockstep:%d", n)
	ctx, cancel := inHours(ctx)
	defer cancel()
	err := p.Handle(ctx, b.letters[n])
	if err != nil && !errors.As(err, new(*pipeline.HandOver)) && !errors.As(err, new(*pipeline.BusyError)) {
		return buildrunner.Failed
	}
	return buildrunner.Done
}

// inHours is the context of a build's process.
func inHours(ctx context.Context) (context.Context, context.CancelFunc) {
	end := time.Now().Add(36 * time.Hour)
	return context.WithDeadline(pipeline.WithHardStop(ctx, end), end.Add(-time.Minute))
}

// buildStory is of an apply in a build.
func buildStory(t *testing.T, f *faults) {
	s := newStage(t, onRunner(codebuild))
	b := s.building()
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	f.use(s)
	s.pipeline.Builds = faultyBuilds{b, f}
	id := s.repo.Comment("alice", n, "lockstep apply")
	s.stubborn()
	s.appliedOnce(f, n, "net", s.answerTo(n, id), 3)
	if b.begun == 0 {
		t.Errorf("%v: no build has worked", f)
	}
	s.tidy(f)
}

type faultyBuilds struct {
	*builds
	f *faults
}

func (b faultyBuilds) Start(ctx context.Context, token, image string, m pipeline.Message) (string, error) {
	return memory.Pass(ctx, b.f.gate(), memory.Effect{Call: "start"}, func(ctx context.Context) (string, error) { return b.builds.Start(ctx, token, image, m) })
}

func (b faultyBuilds) Look(ctx context.Context, id string) (buildrunner.End, error) {
	return memory.Read(ctx, b.f.gate(), "look", func(ctx context.Context) (buildrunner.End, error) { return b.builds.Look(ctx, id) })
}

// buildPartsStory is of an apply that takes several builds.
func buildPartsStory(t *testing.T, f *faults) {
	s := newStage(t, onRunner(codebuild))
	b := s.building()
	p := &parts{Engine: s.pipeline.Engine, of: 3, each: 1}
	s.pipeline.Engine = p
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	f.use(s)
	s.pipeline.Builds = faultyBuilds{b, f}
	id := s.repo.Comment("alice", n, "lockstep apply")
	s.stubborn()
	s.expect(f.String()+": the answer", s.answerTo(n, id), "**Applied** `net`: 3 added")
	if p.done != 3 || p.unlocked != 0 || b.begun < 3 {
		t.Errorf("%v: %d done by %d builds, unlocked %d times", f, p.done, b.begun, p.unlocked)
	}
	s.tidy(f)
}

// TestRunnerThatIsNotHere holds that a runner which the deployment does not have is refused with its line, in comment and
// check, before anything is planned; and that only the base branch names one.
func TestRunnerThatIsNotHere(t *testing.T) {
	t.Parallel()
	s := newStage(t, onRunner(codebuild))
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	const want = "the environment \"slow\" has runner = \"codebuild\" (lockstep.hcl:7 on the base branch), and this deployment of Lockstep has no such runner, as none has with SubnetIds or ProviderLayerArn: remove the line"
	s.expect("the status", s.status(n), want)
	s.expect("the check", s.check("b"), "failure")
}

// TestRunnerOfAPullRequest carries out an attack: a pull request names a runner for itself, in the environment and by a new
// one. It holds that no build is started.
func TestRunnerOfAPullRequest(t *testing.T) {
	t.Parallel()
	s := newStage(t, onRunner(""))
	b := s.building()
	n := s.pull("alice", "b", githubtest.Files{"lockstep.hcl": onRunner(codebuild)["lockstep.hcl"], "net/b.tf": resource("b", "1")})
	s.expect("the environment", s.say("alice", n, "lockstep apply"), "**Applied** `net`")
	other := strings.ReplaceAll(onRunner(codebuild)["lockstep.hcl"], "slow", "mine")
	n = s.pull("alice", "c", githubtest.Files{"lockstep.hcl": other, "net/c.tf": resource("c", "1")})
	s.expect("a new one", s.status(n), "the environment \"mine\"")
	if len(b.letters) > 0 {
		t.Errorf("%d builds were started", len(b.letters))
	}
}

// TestBuildEnds is a table of the ends of builds that have done nothing, again and again: each is told with its remedy, and leaves
// a plan that can be applied.
func TestBuildEnds(t *testing.T) {
	t.Parallel()
	for end, want := range map[buildrunner.End]string{
		buildrunner.Done:     "ended before the apply did",
		buildrunner.Failed:   "its log has the reason",
		buildrunner.TimedOut: "took longer than the deployment lets a build take",
		buildrunner.Faulty:   "a fault of CodeBuild",
		buildrunner.Gone:     "is not known there",
		buildrunner.Stopped:  "whoever stopped its build",
	} {
		s := newStage(t, onRunner(codebuild))
		b := s.building()
		b.before = func(int) buildrunner.End { return end }
		n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
		s.expect(string(end), s.say("alice", n, "lockstep apply"), want)
		most := pipeline.MaxReceives
		if end == buildrunner.Stopped {
			most = 1
		}
		if len(b.letters) != most || b.begun > 0 {
			t.Errorf("%s: %d builds", end, len(b.letters))
		}
		b.before = nil
		s.expect("the same again", s.say("alice", n, "lockstep apply"), "**Applied** `net`: 2 added")
		s.tidy(&faults{})
	}
}

// TestBuildRefused holds that a build which can never be started is told of, with the line of the setting.
func TestBuildRefused(t *testing.T) {
	t.Parallel()
	s := newStage(t, onRunner(codebuild))
	b := s.building()
	b.refused = &buildrunner.RefusedError{Err: errors.New("AccessDenied")}
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.expect("the answer", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", "lockstep.hcl:7 on the base branch", "AccessDenied")
	s.tidy(&faults{})
}

// TestBuildDies is the story of builds that are killed after their first change, long before their end: the next one goes on
// at once, nothing is done twice, and builds that do not get on are given up.
func TestBuildDies(t *testing.T) {
	t.Parallel()
	s := newStage(t, onRunner(codebuild))
	b := s.building()
	p := &parts{Engine: s.pipeline.Engine, of: 5, each: 1}
	s.pipeline.Engine = killed{p, func(error) {}}
	p.during = func(context.Context, int) error { return errKilled }
	b.before = func(n int) (end buildrunner.End) {
		if n >= 4 {
			p.during = nil
			return buildrunner.Working
		}
		defer func() {
			if x := recover(); x != nil && x != any(errKilled) {
				panic(x)
			}
			end = buildrunner.Faulty
		}()
		q := *s.pipeline
		q.Builds, q.Build = nil, fmt.Sprintf("lockstep:%d", n)
		ctx, cancel := inHours(t.Context())
		defer cancel()
		_ = q.Handle(ctx, b.letters[n])
		return end
	}
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.expect("the answer", s.say("alice", n, "lockstep apply"), "**Applied** `net`: 5 added")
	if len(p.jobs) != 5 || len(b.letters) != 5 {
		t.Errorf("%d parts in %d builds", len(p.jobs), len(b.letters))
	}
	s.tidy(&faults{})
}

// TestBuildTwice is the story of a start whose answer is lost for longer than its token is known: two builds have the
// message, and one of them does it.
func TestBuildTwice(t *testing.T) {
	t.Parallel()
	s := newStage(t, onRunner(codebuild))
	b := s.building()
	b.forget = true
	s.pipeline.Builds = faultyBuilds{b, &faults{at: 0, how: done}}
	p := &parts{Engine: s.pipeline.Engine, of: 1, each: 1}
	s.pipeline.Engine = p
	p.during = func(ctx context.Context, part int) error { // while the first one works
		if len(b.letters) == 2 && part == 1 {
			if end := b.work(ctx, 0); end != buildrunner.Done {
				t.Errorf("the other one %s", end)
			}
		}
		return nil
	}
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.expect("the answer", s.say("alice", n, "lockstep apply"), "**Applied** `net`: 1 added")
	if len(p.jobs) != 1 || len(b.letters) != 2 || b.begun != 2 {
		t.Errorf("%d parts in %d builds, of which %d worked", len(p.jobs), len(b.letters), b.begun)
	}
	s.tidy(&faults{})
}

// TestStopBuild holds that an order to stop ends a build before its work, and between two changes.
func TestStopBuild(t *testing.T) {
	t.Parallel()
	s := newStage(t, onRunner(codebuild))
	b := s.building()
	p := &parts{Engine: s.pipeline.Engine, of: 3, each: 1}
	s.pipeline.Engine = p
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	m, id := s.toApply("alice", n)
	if err := s.pipeline.Handle(t.Context(), m); !errors.As(err, new(*pipeline.HandOver)) {
		t.Fatal(err)
	}
	var busy *pipeline.BusyError
	b.before = func(int) buildrunner.End { return buildrunner.Failed } // as if it were being prepared
	s.command("bob", n, "lockstep stop")
	if err := s.pipeline.Handle(t.Context(), m); !errors.As(err, &busy) || !slices.Equal(b.stopped, []string{"lockstep:0"}) {
		t.Errorf("%v, stopped: %q", err, b.stopped)
	}
	b.ends[0] = buildrunner.Stopped
	if err := s.pipeline.Handle(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	s.settle()
	s.expect("the answer", s.answerTo(n, id), "`bob`")
	b.before = nil
	p.during = func(context.Context, int) error { s.command("bob", n, "lockstep stop"); return nil }
	s.expect("between two changes", s.say("alice", n, "lockstep apply"), "**Cancelled** the apply of `net`, as `bob` requested")
	if p.done != 1 || len(b.letters) != 2 {
		t.Errorf("%d done in %d builds", p.done, len(b.letters))
	}
	s.tidy(&faults{})
}

// TestLongWithoutBuilds holds that an apply which functions did not get on with names builds as the remedy, if there are any.
func TestLongWithoutBuilds(t *testing.T) {
	t.Parallel()
	const remedy = "`runner = \"codebuild\"`"
	for _, has := range []bool{true, false} {
		s := newStage(t, onRunner(""))
		if has {
			s.building()
		}
		p := &parts{Engine: s.pipeline.Engine, of: 3, each: 0}
		s.pipeline.Engine = p
		n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
		answer := s.say("alice", n, "lockstep apply")
		s.expect("the answer", answer, "made no progress")
		if strings.Contains(answer, remedy) != has {
			t.Errorf("builds: %t: %s", has, answer)
		}
	}
}

const (
	baseImage  = "123456789012.dkr.ecr.eu-central-1.amazonaws.com/tools@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	otherImage = "123456789012.dkr.ecr.eu-central-1.amazonaws.com/tools@sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

// inImage are settings whose projects are planned and applied in an image.
func inImage(image string) string { return codebuild + "  image  = \"" + image + "\"\n" }

// imageStory is of a plan and an apply in builds with an image.
func imageStory(t *testing.T, f *faults) {
	s := newStage(t, onRunner(inImage(baseImage)))
	b := s.building()
	f.use(s)
	s.pipeline.Builds = faultyBuilds{b, f}
	s.repo.Push("alice", "b", "B", githubtest.Files{"net/b.tf": resource("b", "1")})
	n := s.repo.OpenPull("alice", "B", "b")
	s.stubborn()
	s.expect(f.String()+": the plan", s.status(n), "ready to apply")
	id := s.repo.Comment("alice", n, "lockstep apply")
	s.stubborn()
	s.appliedOnce(f, n, "net", s.answerTo(n, id), 3)
	s.tidy(f)
}

// TestImageIsTheBase carries out an attack: a pull request names another image, or none. Its plans and applies have the image of
// the base branch.
func TestImageIsTheBase(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{"another image": inImage(otherImage), "no image": codebuild, "no runner": "", "the same": inImage(baseImage)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, onRunner(inImage(baseImage)))
			b := s.building()
			n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1"), "lockstep.hcl": onRunner(body)["lockstep.hcl"]})
			s.expect("the answer", s.say("alice", n, "lockstep apply"), "**Applied** `net`: 2 added")
			if !slices.Equal(b.images, []string{baseImage, baseImage}) || b.letters[0].Kind != pipeline.ToPlan || b.letters[1].Kind != pipeline.ToApply {
				t.Errorf("builds with the images %q", b.images)
			}
			s.tidy(&faults{})
		})
	}
	t.Run("a new project", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, onRunner(codebuild))
		b := s.building()
		n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1"), "lockstep.hcl": onRunner(inImage(otherImage))["lockstep.hcl"]})
		s.expect("the answer", s.say("alice", n, "lockstep apply"), "**Applied** `net`: 2 added")
		if !slices.Equal(b.images, []string{""}) {
			t.Errorf("builds with the images %q", b.images)
		}
	})
}

// TestPlanInABuild holds what happens to a plan whose build cannot start, does not begin, or fails.
func TestPlanInABuild(t *testing.T) {
	t.Parallel()
	s := newStage(t, onRunner(inImage(baseImage)))
	b := s.building()
	b.refused = &buildrunner.RefusedError{Err: errors.New("AccessDenied")}
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.expect("no build", s.status(n), "CodeBuild does not start a build with the image "+baseImage, "AccessDenied")
	b.refused, b.slow = nil, true
	s.say("alice", n, "lockstep plan")
	s.expect("a build that does not begin", s.status(n), "planning")
	m := b.letters[0]
	if err := s.pipeline.Revive(t.Context(), ledger.Lease{Message: m}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	s.settle()
	s.expect("after its lease", s.status(n), "the process that did it ended before it was done")
	s.say("alice", n, "lockstep plan")
	b.work(t.Context(), 1)
	s.settle()
	s.expect("once a build works", s.status(n), "ready to apply")
	b.slow = false
	s.expect("the apply", s.say("alice", n, "lockstep apply"), "**Applied** `net`: 2 added")
	s.tidy(&faults{})
}
