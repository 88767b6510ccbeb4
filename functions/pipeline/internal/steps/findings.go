package steps

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/lockstep-iac/lockstep/functions/internal/toolresults"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// findings are the findings of steps, by the steps' names.
type findings map[string]toolresults.Findings

// encoded returns the findings of the results as JSON; nil if no step reports findings.
func (all Results) encoded() []byte {
	out := findings{}
	for _, r := range all {
		if r.prints != nil {
			out[r.Name] = *r.prints
		}
	}
	if len(out) == 0 {
		return nil
	}
	return pipeline.Encode(out)
}

// fingerprints returns the findings with nothing but what a comparison needs. There can be thousands of each step.
func fingerprints(f toolresults.Findings) *toolresults.Findings {
	out := toolresults.Findings{Group: toolresults.Group{Counts: f.Counts}}
	for _, x := range f.List {
		out.List = append(out.List, toolresults.Finding{Severity: x.Severity, Fingerprint: x.Fingerprint})
	}
	return &out
}

// A base has the findings of a run's project on the base branch. It reads them when they are first needed.
type base struct {
	x    Runner
	r    runs.Run
	read bool
	all  findings
}

// compare compares the findings of a step with those on the base branch; nil if there are none to compare with. They are
// for people only, so findings that cannot be read count as missing.
func (b *base) compare(ctx context.Context, step string, head toolresults.Findings) *toolresults.Comparison {
	if !b.read {
		b.read = true
		data, err := b.x.Artifacts.Get(ctx, b.r.BaseFindings(b.x.Facts.Pull.Base.Ref))
		if err != nil || json.Unmarshal(data, &b.all) != nil {
			b.all = nil
		}
	}
	was, ok := b.all[step]
	if !ok {
		return nil
	}
	c := toolresults.Compare(was, head)
	return &c
}

// KeepForBase makes the findings and the generated files of a merged run those of the branch into which it was merged.
func KeepForBase(ctx context.Context, a pipeline.Artifacts, r runs.Run, branch string) error {
	for _, x := range []struct {
		has      bool
		from, to pipeline.Artifact
	}{
		{r.Plan.Findings, r.FindingsArtifact(), r.BaseFindings(branch)},
		{r.Plan.Generated, r.ConfigArtifact(), r.BaseConfig(branch)},
	} {
		if !x.has {
			continue
		}
		data, err := a.Get(ctx, x.from)
		if errors.Is(err, pipeline.ErrNoArtifact) {
			continue
		}
		if err == nil {
			err = a.Put(ctx, x.to, data)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
