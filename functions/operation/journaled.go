package operation

import (
	"context"

	"github.com/lockstep-iac/lockstep/statebackend/journal"
)

// CanJournal reports whether applies to the state keep a journal: the backend can store one, and this process
// has the right to read it. If an apply without a journal is killed, nobody knows which changes it has begun.
func (o *Operation) CanJournal(ctx context.Context) bool {
	log := o.logOf()
	if log == nil {
		return false
	}
	defer log.Close()
	_, err := journal.Read(ctx, log)
	return err == nil
}
