package operation

import (
	"context"

	"github.com/lockstep-iac/lockstep/statebackend/journal"
)

// CanJournal reports whether applies to the state keep a journal: the backend can store one, and we have the
// right to read it. Without a journal, nobody knows which changes a killed apply has begun.
func (o *Operation) CanJournal(ctx context.Context) bool {
	log := o.logOf()
	if log == nil {
		return false
	}
	defer log.Close()
	_, err := journal.Read(ctx, log)
	return err == nil
}
