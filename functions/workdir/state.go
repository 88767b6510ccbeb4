package workdir

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/language"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/engine/states/statefile"
	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/leasing"
	"github.com/lockstep-iac/lockstep/statebackend/s3"
)

// A State is the state of one workspace as it was read. Writing fails if somebody else has written the state
// in the meantime.
type State struct {
	Workspace statebackend.Workspace
	Current   *states.State
	// Language is the version of the language that the written states name.
	Language language.Version
	// BeforePut, if set, is called with the bytes to store. If it returns an error, nothing is stored.
	BeforePut func(context.Context, []byte) error

	version  statebackend.Version
	size     int               // number of the bytes that were last read or written; 0 means none
	sum      [sha256.Size]byte // of the same bytes
	outdated bool              // the stored state is encrypted in another way than the configuration says
	lockID   string
	holding  *leasing.Holding // nil: the lock has no lease
	life     context.Context  // ends with the lease
	rest     func()           // stops renewing the lease; nil without one
	lineage  string           // lineage for a state that has none; see Next

	replaced bool // Current is not the stored state: see Pretend
}

// OpenState returns the State of a workspace. It does not read the state: see [State.Read].
func OpenState(b statebackend.Backend, workspace string) (*State, diags.Diagnostics) {
	if err := statebackend.CheckWorkspaceName(workspace); err != nil {
		return nil, diags.Errorf(nil, "Invalid workspace name",
			"%s. The workspace is set by the environment variable TF_WORKSPACE, or by \"lockstep workspace select\".", err)
	}
	w, err := b.Open(workspace)
	if err != nil {
		return nil, diags.FromError("Error opening the state", err)
	}
	return &State{Workspace: w, Current: states.Empty()}, nil
}

// Read reads the stored state into Current. If none is stored, Current becomes an empty state.
func (s *State) Read(ctx context.Context) diags.Diagnostics {
	snap, err := s.Workspace.Get(ctx)
	if err != nil {
		return notLoaded(err)
	}
	st, err := statefile.Read(snap.Bytes)
	if err != nil {
		return diags.Errorf(nil, "Failed to load state", "The state at %s cannot be used: %s.", s.Workspace.Place(), err)
	}
	st.Language = s.Language
	s.Current, s.version, s.outdated = st, snap.Version, snap.Outdated
	s.size, s.sum = len(snap.Bytes), sha256.Sum256(snap.Bytes)
	return nil
}

// notLoaded returns the error which says that a state cannot be loaded. Programs parse the summary, which is
// Terraform's.
func notLoaded(err error) diags.Diagnostics {
	if errors.Is(err, s3.ErrNoBucket) {
		return diags.FromError("Failed to load state: "+s3.ErrNoBucket.Error(), err)
	}
	return diags.FromError("Failed to load state", err)
}

// Version returns the version of the state that was last read or written.
func (s *State) Version() statebackend.Version { return s.version }

// Moved reports whether somebody else has stored another version since this State was last read or written.
func (s *State) Moved(ctx context.Context) (bool, error) {
	snap, err := s.Workspace.Get(ctx)
	return err == nil && snap.Version != s.version, err
}

// Sum returns the SHA-256 of the bytes that were last read or written, as journals contain it; "" if there are
// none. The bytes themselves are not kept, because a large state has a hundred megabytes.
func (s *State) Sum() string {
	if s.size == 0 {
		return ""
	}
	return hex.EncodeToString(s.sum[:])
}

// Exists reports whether there is a state, stored or set by Pretend.
func (s *State) Exists() bool { return s.size > 0 || s.replaced }

// Stored reports whether Current is the stored state. That is so if Pretend was not called.
func (s *State) Stored() bool { return !s.replaced }

// Pretend makes the parameter next the present state, without storing it.
func (s *State) Pretend(next *states.State) { s.Current, s.replaced = next, true }

// Write stores the state that [State.Next] returns for the parameter next. It stores nothing if the content
// is that of the stored state.
func (s *State) Write(ctx context.Context, next *states.State) error {
	if !s.Exists() && next.IsEmpty() && len(next.Checks) == 0 {
		return nil
	}
	out := s.Next(next)
	data, err := encode(out)
	if err != nil {
		return err
	}
	if s.Exists() && s.stored(data, out) && !s.outdated {
		return nil
	}
	return s.put(ctx, out, data)
}

func encode(st *states.State) ([]byte, error) {
	data, err := statefile.Write(st)
	if err != nil {
		return nil, fmt.Errorf("encode state: %w", err)
	}
	return data, nil
}

// stored reports whether data has the same content as the stored state, apart from lineage and serial. data
// is the encoded form of the state next.
func (s *State) stored(data []byte, next *states.State) bool {
	head, rest := statefile.Head(s.Current), data[len(statefile.Head(next)):]
	if len(head)+len(rest) != s.size {
		return false
	}
	h := sha256.New()
	h.Write(head)
	h.Write(rest)
	return bytes.Equal(h.Sum(nil), s.sum[:])
}

// Next returns the state next with the lineage of the present state and the following serial, as Write stores
// it. If the present state has no lineage, Next makes one, the same in each call.
func (s *State) Next(next *states.State) *states.State {
	out := *next
	out.Lineage, out.Serial, out.Language = s.Current.Lineage, s.Current.Serial+1, s.Language
	if out.Lineage == "" {
		if s.lineage == "" {
			s.lineage = uuid.NewString()
		}
		out.Lineage = s.lineage
	}
	return &out
}

// SetLineage sets the lineage that [State.Next] uses if the present state has none.
func (s *State) SetLineage(lineage string) { s.lineage = lineage }

// Replace stores the state next unchanged, with the lineage and the serial that next has.
func (s *State) Replace(ctx context.Context, next *states.State) error {
	out := next.With(next.Lineage, next.Serial)
	out.Language = s.Language
	data, err := encode(out)
	if err != nil {
		return err
	}
	return s.put(ctx, out, data)
}

func (s *State) put(ctx context.Context, next *states.State, data []byte) error {
	if s.BeforePut != nil {
		if err := s.BeforePut(ctx, data); err != nil {
			return err
		}
	}
	version, err := s.Workspace.Put(ctx, data, s.version)
	if err != nil {
		return err
	}
	s.Current, s.version, s.outdated = next, version, false
	s.size, s.sum = len(data), sha256.Sum256(data)
	return nil
}
