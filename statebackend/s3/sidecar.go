package s3

import (
	"context"
	"errors"

	"github.com/lockstep-iac/lockstep/statebackend"
)

var _ statebackend.Sidecar = (*workspace)(nil)

// sidecarName is the name of the sidecar in the prefix of the journal, for which every role that may use the state
// has the rights.
const sidecarName = "digests"

func (w *workspace) sidecar() string { return JournalOf(w.key) + sidecarName }

// ReadSidecar reads the object in one request.
func (w *workspace) ReadSidecar(ctx context.Context) ([]byte, error) {
	data, _, err := w.objects.Get(ctx, w.sidecar())
	return data, err
}

// WriteSidecar replaces the object in one request.
func (w *workspace) WriteSidecar(ctx context.Context, data []byte) error {
	_, err := w.objects.write(ctx, w.sidecar(), data, "")
	return err
}

// deleteSidecar deletes the object, if there is one. Rights that do not allow this are no error: the object counts for
// no other state.
func (w *workspace) deleteSidecar(ctx context.Context) error {
	if err := w.objects.delete(ctx, w.sidecar(), ""); !errors.Is(err, statebackend.ErrDenied) {
		return err
	}
	return nil
}
