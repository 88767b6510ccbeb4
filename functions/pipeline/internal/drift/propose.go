package drift

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// Propose queues a look at the project of an issue, which opens a pull request with the present values of its objects. It carries
// out a command, for those who may plan the project. The replies are the refusals.
func (f *Finder) Propose(ctx context.Context, c comment.Command) ([]comment.Reply, error) {
	m := f.Facts.Message
	issue, err := f.Ledger.IssueOf(ctx, m.Pull)
	if err != nil {
		return nil, err
	}
	r := runs.Run{ID: runs.ID{Pull: m.Pull, Project: runs.ProjectOf(issue.Target), Workspace: runs.WorkspaceOf(issue.Target)}}
	d, err := gatefacts.MayQuery(ctx, f.Facts, c.Verb, r)
	if err != nil {
		no, err := gatefacts.FinalReply(c, runs.Label(r), err)
		return []comment.Reply{no}, err
	}
	if d.Allowed() && !f.Facts.Pull.Open && !f.Facts.Pull.Merged {
		d = admission.Refusal(reasons.IssueClosed{Project: r.Project})
	}
	if !d.Allowed() {
		return []comment.Reply{gatefacts.Refused(c, runs.Label(r), d)}, nil
	}
	answer := report.AnswerTo(m)
	// The message is sent first. A reply that announces a look without a message would stay for ever.
	next := pipeline.Message{Kind: pipeline.ToDrift, Target: issue.Target, Actor: m.Actor, At: m.At, Answer: answer, Propose: true}
	if err := pipeline.Send(ctx, f.Queue, m.Pull, next, r.MessageName(), answer, "propose"); err != nil {
		return nil, err
	}
	return nil, f.reply(ctx, next, comment.Pending{Project: runs.Label(r), Verb: c.Verb})
}

// reply answers the command behind the message m with a reply, in place of the reply before it.
func (f *Finder) reply(ctx context.Context, m pipeline.Message, reply comment.Reply) error {
	return f.Report.Reply(ctx, m.Answer, report.NewReply(string(comment.DriftPropose)+" "+m.Target, reply))
}

// Answer answers the command that asked for the look, if one did, and has the answer written.
func (f *Finder) Answer(ctx context.Context, reply comment.Reply) error {
	m := f.Facts.Message
	if m.Answer == "" {
		return nil
	}
	if err := f.reply(ctx, m, reply); err != nil {
		return err
	}
	return pipeline.Send(ctx, f.Queue, m.Pull, pipeline.Message{Kind: pipeline.SyncComments}, m.ID)
}

// propose opens the pull request for the message m with the values that a look has found.
func (f *Finder) propose(ctx context.Context, m pipeline.Message, r runs.Run, found jobs.PlanResult) (comment.DriftProposed, error) {
	lines := found.Literals.Clean(f.Report.Clean)
	reply := comment.DriftProposed{Project: runs.Label(r), Left: lines.Left, More: lines.More, None: found.Drifted == 0}
	files, changed, err := f.edited(ctx, r, found.Literals)
	if reply.Lines = changed; err != nil || changed == 0 {
		return reply, err
	}
	if n := len(found.Literals.Lines) - changed; n > 0 {
		reply.More += n
	}
	text := comment.DriftPull{Project: runs.Label(r), By: m.Actor, Issue: m.Pull.Number, Literals: lines}
	p := github.Proposal{
		Base: f.Facts.Pull.Base.Ref, From: r.Spec.Head, Files: files, Group: runs.Branches("drift", m.Target),
		Title: text.Title(github.MaxTitle), Body: text.Body(github.MaxComment),
	}
	p.Branch = p.Group + runs.BranchOf(m.Pull.Number, m.Answer)
	p.Message = fmt.Sprintf("%s\n\nRequested by %s in #%d.\n\n%s\n", p.Title, m.Actor, m.Pull.Number, github.CoAuthor(m.Actor))
	number, own, err := f.Hub.Propose(ctx, p)
	var final *github.FinalError
	if errors.As(err, &final) {
		reply.Problem, reply.Remedy = f.Report.Clean(final.Error()), final.Remedy
		return reply, nil
	}
	reply.Number, reply.Earlier = number, !own
	return reply, err
}

// maxEdited is the maximum size of a file that Lockstep changes, in bytes. GitHub returns the content of no larger one.
// Source: https://docs.github.com/en/rest/repos/contents#get-repository-content
const maxEdited = 1 << 20

// edited returns the files of a project with the changed lines, and the number of lines. A process that has read the configuration of
// the repository has named the lines. So they count only in configuration files of the project's own directory, and only if they are
// what the process says. A line in which a secret was hidden is none of these.
func (f *Finder) edited(ctx context.Context, r runs.Run, x comment.Literals) (files []github.ProposedFile, lines int, err error) {
	dir, done, err := f.Facts.Checkout(ctx, r.Spec.Head)
	if err != nil {
		return nil, 0, err
	}
	defer done()
	for _, l := range x.Lines {
		at := slices.IndexFunc(files, func(p github.ProposedFile) bool { return p.Path == l.Path })
		if at < 0 {
			if path.Dir(l.Path) != path.Clean(r.Spec.Dir) || path.Ext(l.Path) != ".tf" && path.Ext(l.Path) != ".tofu" {
				continue
			}
			content, err := readWithin(dir, l.Path)
			if err != nil {
				continue // the process has named a file that there is not
			}
			at, files = len(files), append(files, github.ProposedFile{Path: l.Path, Content: content, Replaces: content})
		}
		if next, ok := withLine(files[at].Content, l); ok && f.Report.Clean(l.After) == l.After {
			files[at].Content, lines = next, lines+1
		}
	}
	return slices.DeleteFunc(files, func(p github.ProposedFile) bool { return bytes.Equal(p.Content, p.Replaces) }), lines, nil
}

// withLine returns a file's content with one line replaced. ok is false if the line is another one, or if its new text is not one line.
func withLine(content []byte, l comment.LiteralLine) (_ []byte, ok bool) {
	all := strings.SplitAfter(string(content), "\n")
	if l.Line < 1 || l.Line > len(all) || strings.ContainsAny(l.After, "\r\n") {
		return content, false
	}
	was := all[l.Line-1]
	text := strings.TrimRight(was, "\r\n")
	if text != l.Before || text == l.After {
		return content, false
	}
	all[l.Line-1] = l.After + was[len(text):]
	return []byte(strings.Join(all, "")), true
}

// readWithin reads a regular file of a checkout. No link leads out of it.
func readWithin(dir, name string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Lstat(name)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxEdited) {
		err = fs.ErrInvalid
	}
	if err != nil {
		return nil, err
	}
	return root.ReadFile(name)
}
