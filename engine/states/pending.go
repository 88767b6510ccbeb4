package states

import (
	"encoding/json"
	"maps"
	"slices"
)

// pendingMember is the member of an instance object in a state file that lists pending actions. Stock tools ignore it, and
// drop it with the next write of the object.
const pendingMember = "lockstep_pending_actions"

// A PendingAction is an action that an apply was to invoke after a change of an object, and did not complete: it failed, or
// its turn did not come. The next plan invokes it.
type PendingAction struct {
	Action string `json:"action"` // the instance, within the module of the object: action.type.name["a"]
	Event  string `json:"event"`  // as JSON has it: "AfterCreate"
}

// PendingActions returns the pending actions of an object in the order of their invocation. If the stored
// list cannot be decoded, it returns none.
func (o *Object) PendingActions() []PendingAction {
	if o == nil || o.Extra[pendingMember] == nil {
		return nil
	}
	var list []PendingAction
	if json.Unmarshal(o.Extra[pendingMember], &list) != nil {
		return nil
	}
	return list
}

// WithPendingActions returns a copy of an object with other pending actions.
func (o *Object) WithPendingActions(list []PendingAction) *Object {
	if slices.Equal(o.PendingActions(), list) {
		return o
	}
	out := *o
	out.Extra = maps.Clone(o.Extra)
	if len(list) == 0 {
		delete(out.Extra, pendingMember)
		return &out
	}
	if out.Extra == nil {
		out.Extra = map[string]json.RawMessage{}
	}
	out.Extra[pendingMember], _ = json.Marshal(list) // no text fails
	return &out
}

// PendingText returns the pending actions as JSON, as the state file has them; nil without pending actions.
func (o *Object) PendingText() []byte { return o.Extra[pendingMember] }
