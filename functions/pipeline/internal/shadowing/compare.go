package shadowing

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/shadow"
	"github.com/lockstep-iac/lockstep/github"
)

// Compare compares the plans of a pull request's head with those in the comments of the other tool, records the result, and
// writes the check. l is what Lockstep has found at the head. It is called for messages of the events queue, so by one
// process at a time for each pull request.
func (sh *Shadower) Compare(ctx context.Context, l ledger.Look) error {
	s, err := gatefacts.SettingsNow(ctx, sh.Facts)
	if absent, err := gatefacts.Absent(ctx, sh.Facts, err); err != nil || absent {
		return err
	}
	source := shadow.Source{}
	if s != nil && s.Shadow != nil {
		source = shadow.Source{Tool: shadow.Tool(s.Shadow.Tool), Author: s.Shadow.Author}
	}
	all, err := sh.Ledger.Shadows(ctx, sh.Facts.Message.Pull)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(r shadow.Record) bool { return r.Head != l.Head })
	applied := map[string]bool{}
	if source.Tool != "" && len(all) > 0 {
		if applied, err = sh.read(ctx, source, all); err != nil {
			return err
		}
	}
	if sh.Facts.Pull.Merged {
		for _, r := range all {
			if err := sh.lookAtState(ctx, r, applied[r.Label()]); err != nil {
				return err
			}
		}
	}
	return sh.check(ctx, source.Tool, l, all)
}

// read compares the records with the comments of the other tool, and changes those of which there is something new. applied has
// the projects, by their labels, of which a comment says that the tool has applied them.
func (sh *Shadower) read(ctx context.Context, source shadow.Source, all []shadow.Record) (applied map[string]bool, err error) {
	since := all[0].Pushed
	for _, r := range all {
		if r.Pushed.Before(since) {
			since = r.Pushed
		}
	}
	list, err := sh.Hub.Comments(ctx, sh.Facts.Message.Pull.Number, since)
	if err != nil {
		_, err = gatefacts.FinalRefusal(err) // without a right to read them, all verdicts stay unknown
		return nil, err
	}
	applied = map[string]bool{}
	var comments []shadow.Comment
	for _, c := range list {
		if !c.Ours {
			comments = append(comments, shadow.Comment{ID: c.ID, Author: c.Author, Body: c.Body, At: c.Updated})
		}
	}
	claims := source.Claims(comments, since)
	var subjects []shadow.Subject
	for _, r := range all {
		subjects = append(subjects, r.Subject())
	}
	for i, r := range all {
		if r.Planned.IsZero() {
			continue
		}
		theirs, is := shadow.Find(claims, r.Subject(), subjects, r.Head)
		if applied[r.Label()] = is; theirs == nil {
			continue
		}
		r.Tool, r.Comment, r.Theirs, r.Agreement = source.Tool, theirs.Comment, theirs.At, shadow.Compare(r.Ours, *theirs)
		for j, d := range r.Differences { // the addresses and texts are those of a comment
			r.Differences[j].Address, r.Differences[j].Theirs = clip(sh.Report.Clean(d.Address)), clip(sh.Report.Clean(d.Theirs))
		}
		err := sh.Ledger.ChangeShadow(ctx, sh.Facts.Message.Pull, targetOf(ledger.Shadowed{Project: r.Project, Workspace: r.Workspace}), r.Head, func(*shadow.Record) *shadow.Record { return &r })
		if err != nil {
			return nil, err
		}
		all[i] = r
	}
	return applied, nil
}

// maxText is the maximum length of a text of a comment in a record, in bytes.
const maxText = 300

func clip(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "") + "..."
}

// lookAtState sends a message to compare a plan of a merged pull request with the state, if no comment was comparable. It is
// sent once for each merge, and once more when a comment says that the other tool has applied.
func (sh *Shadower) lookAtState(ctx context.Context, r shadow.Record, applied bool) error {
	if r.Verdict != shadow.Unknown || r.Planned.IsZero() || !r.Applied.IsZero() {
		return nil
	}
	m := pipeline.Message{Kind: pipeline.ToShadow, Target: targetOf(ledger.Shadowed{Project: r.Project, Workspace: r.Workspace}), Head: r.Head, Applied: true}
	return sh.send(ctx, m, fmt.Sprint("applied ", sh.Facts.Pull.MergeSHA, applied))
}

// check writes the check run about the projects in shadow mode. Its conclusion is always neutral.
func (sh *Shadower) check(ctx context.Context, tool shadow.Tool, l ledger.Look, all []shadow.Record) error {
	if l.Head == "" {
		return nil
	}
	page := comment.Shadow{Tool: tool.Title(), Problem: l.Problem, Refused: l.Refused, Conflict: l.Conflict, Merged: sh.Facts.Pull.Merged}
	for _, r := range all {
		p := comment.ShadowProject{Name: r.Label(), Plan: r.Ours.Say(), Planned: !r.Planned.IsZero(), Verdict: string(r.Verdict), Why: r.Why, More: r.More, Problem: r.Problem}
		p.Ours, _ = r.OurTime()
		p.Theirs, _ = r.TheirTime()
		for _, d := range r.Differences {
			p.Differences = append(p.Differences, comment.ShadowDifference{Object: d.Address, Ours: d.Ours, Theirs: d.Theirs, Advice: d.Cause.Sentence()})
		}
		page.Projects = append(page.Projects, p)
	}
	text := markdown.Cut(sh.Report.Clean(page.Summary()), github.MaxCheckText)
	c := github.Check{
		Name: pipeline.ShadowCheckOf(sh.Facts.Deployment), SHA: l.Head, ExternalID: "shadow",
		Title: page.Title(github.MaxCheckTitle), Summary: text, Status: github.CheckCompleted, Conclusion: github.ConcludedNeutral,
	}
	_, _, err := report.WriteCheck(ctx, sh.Report, 0, c)
	return err
}
