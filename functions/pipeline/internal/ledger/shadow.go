package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/shadow"
)

// A Shadowed is a project of the pull request that is in shadow mode, according to the base commit.
type Shadowed struct{ Project, Dir, Workspace string }

func shadowKey(p pipeline.Pull, target, head string) string {
	sum := sha256.Sum256([]byte(target)) // a target can be as long as the longest name in a key
	return fmt.Sprintf("%s/%.12s-%s", shadow.Dir(p), head, hex.EncodeToString(sum[:8]))
}

// AddShadowedPull records that a pull request has plans in shadow mode, and that comments on it may have plans of another
// tool.
func (ld Ledger) AddShadowedPull(ctx context.Context, p pipeline.Pull) error {
	key := fmt.Sprintf("%s/%d-%d", shadow.PullsDir, p.Repo.ID, p.Number)
	if err := Edit(ctx, ld, key, func(*pipeline.Pull) *pipeline.Pull { return &p }); err != nil {
		return err
	}
	w := pipeline.Watch{Pull: p, Head: pipeline.ShadowHead}
	return Edit(ctx, ld, w.Key(), func(*pipeline.Watch) *pipeline.Watch { return &w })
}

// ChangeShadow changes the record of a plan in shadow mode. target is the project's runs.ID.Target. If change returns nil, the
// record stays as it is.
func (ld Ledger) ChangeShadow(ctx context.Context, p pipeline.Pull, target, head string, change func(have *shadow.Record) *shadow.Record) error {
	return Edit(ctx, ld, shadowKey(p, target, head), change)
}

// Shadow returns the record of a plan in shadow mode; the zero value if there is none.
func (ld Ledger) Shadow(ctx context.Context, p pipeline.Pull, target, head string) (shadow.Record, error) {
	return Get[shadow.Record](ctx, ld, shadowKey(p, target, head))
}

// Shadows returns the records of all plans of a pull request in shadow mode, of all heads.
func (ld Ledger) Shadows(ctx context.Context, p pipeline.Pull) ([]shadow.Record, error) {
	return List[shadow.Record](ctx, ld, shadow.Dir(p))
}
