package report

import (
	"context"

	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
)

// Listen finds out whether all projects of the base branch are in shadow mode, and records that they are. From then on, Lockstep
// writes nothing on the pull request but one check. The caller has read the pull request.
func (rp *Reporter) Listen(ctx context.Context) (silent bool, err error) {
	s, err := gatefacts.SettingsNow(ctx, rp.Facts)
	if absent, err := gatefacts.Absent(ctx, rp.Facts, err); err != nil || absent {
		_, err = gatefacts.FinalRefusal(err)
		return false, err
	}
	if !s.OnlyShadows() {
		return false, nil
	}
	rp.Silent = true
	return true, rp.Ledger.ChangeLook(ctx, rp.Facts.Message.Pull, func(l *ledger.Look) { l.Silent = true })
}

// ListenFirst is [Reporter.Listen] for an event about a pull request that was not looked at before. The look says it of others.
func (rp *Reporter) ListenFirst(ctx context.Context) error {
	l, err := rp.Ledger.LastLook(ctx, rp.Facts.Message.Pull)
	if err == nil && l.Head == "" && !l.Silent {
		_, err = rp.Listen(ctx)
	}
	return err
}
