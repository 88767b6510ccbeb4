package report

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// Annotations returns notes as annotations of a check run, without those that GitHub would refuse.
func Annotations(notes []comment.LineNote) (out []github.Annotation) {
	for _, n := range notes {
		a := github.Annotation{Path: n.Path, First: n.Line, Last: n.Last, Level: github.Level(n.Level), Title: n.Title, Message: n.Message}
		if a.Level == "" {
			a.Level = github.Failure
		}
		if strings.TrimSpace(a.Message) == "" {
			a.Message = n.Title
		}
		if a.Path == "" || strings.TrimSpace(a.Message) == "" || a.First < 1 || a.Last < a.First {
			continue
		}
		if len(a.Title) > github.MaxCheckTitle {
			a.Title = strings.ToValidUTF8(a.Title[:github.MaxCheckTitle], "")
		}
		if len(a.Message) > github.MaxAnnotationMessage {
			a.Message = strings.ToValidUTF8(a.Message[:github.MaxAnnotationMessage], "")
		}
		out = append(out, a)
	}
	return out
}

// EncodeNotes returns the notes about a plan for their artifact, without secrets; nil if there are none.
func EncodeNotes(rp *Reporter, notes []comment.LineNote) []byte {
	if len(notes) == 0 {
		return nil
	}
	notes = slices.Clone(notes)
	for i, n := range notes {
		notes[i].Title, notes[i].Message = rp.Clean(n.Title), rp.Clean(n.Message)
	}
	return pipeline.Encode(comment.NotesWithin(notes))
}

// planAnnotations returns the annotations of the check run of a plan. Only the handler that makes the plan writes
// them: GitHub keeps them when the check run is written again.
func (rp *Reporter) planAnnotations(ctx context.Context, r runs.Run) ([]github.Annotation, error) {
	if !hasNotes(rp, r) {
		return nil, nil
	}
	return rp.annotationsIn(ctx, r.NotesArtifact(), r.Project)
}

// annotationsIn returns the annotations in an artifact with the notes about a plan of a project; nil if it does not exist.
func (rp *Reporter) annotationsIn(ctx context.Context, a pipeline.Artifact, project string) ([]github.Annotation, error) {
	data, err := rp.Artifacts.Get(ctx, a)
	if errors.Is(err, pipeline.ErrNoArtifact) {
		return nil, nil // the plan has no notes
	}
	if err != nil {
		return nil, fmt.Errorf("read the notes of %s: %w", project, err)
	}
	var notes []comment.LineNote
	if err := json.Unmarshal(data, &notes); err != nil {
		return nil, fmt.Errorf("read the notes of %s: %w", project, err)
	}
	return Annotations(notes), nil
}
