package render

import (
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// words are the verbs for an action when it starts, while it continues, and when it ends.
type words struct{ start, still, end string }

var actionWords = map[plans.Action]words{
	plans.Create: {"Creating", "creating", "Creation"},
	plans.Update: {"Modifying", "modifying", "Modifications"},
	plans.Delete: {"Destroying", "destroying", "Destruction"},
	plans.Read:   {"Reading", "reading", "Read"},
	plans.Open:   {"Opening", "opening", "Opening"},
}

// wordsOf returns the words for an action. If the table has none, they are made from the action's name.
func wordsOf(a plans.Action) words {
	if w, ok := actionWords[a]; ok {
		return w
	}
	return words{"Applying", "applying", "Action"}
}

// seconds returns a duration in whole seconds.
func seconds(d time.Duration) string { return d.Round(time.Second).String() }

// idNote returns the text that identifies an object in progress lines; "" without an ID. A line feed in an ID must not
// begin a new line, because the new line could pass for another message, or be a command to a CI service.
func idNote(id string) string {
	if id == "" {
		return ""
	}
	return " [id=" + oneLine(visible(id)) + "]"
}

// Event returns a line of progress for people, without a line feed; "" for events without a line.
func (p *Printer) Event(e events.Event) string {
	if e.Invocation != nil {
		return p.invokeLine(e)
	}
	addr := p.in(bold, e.Addr.String())
	w := wordsOf(e.Action)
	switch e.Kind {
	case events.RefreshStart:
		return addr + p.in(bold, ": Refreshing state..."+idNote(e.ID))
	case events.ImportStart:
		note := idNote(e.ID)
		if e.Identity != "" {
			note = " [identity=" + oneLine(visible(e.Identity)) + "]"
		}
		return addr + p.in(bold, ": Preparing import..."+note)
	case events.ApplyStart:
		return addr + p.in(bold, ": "+w.start+"..."+idNote(e.ID))
	case events.ApplyProgress:
		id := ""
		if e.ID != "" {
			id = "id=" + oneLine(visible(e.ID)) + ", "
		}
		return addr + p.in(bold, fmt.Sprintf(": Still %s... [%s%s elapsed]", w.still, id, seconds(e.Elapsed)))
	case events.ApplyDone:
		id := idNote(e.ID)
		if e.Action == plans.Delete {
			id = "" // the object no longer exists
		}
		return addr + p.in(bold, fmt.Sprintf(": %s complete after %s%s", w.end, seconds(e.Elapsed), id))
	case events.EphemeralStart:
		return addr + p.in(bold, fmt.Sprintf(": %s...", ephemeralWords[e.Text].start))
	case events.EphemeralDone:
		return addr + p.in(bold, fmt.Sprintf(": %s complete after %s", ephemeralWords[e.Text].end, seconds(e.Elapsed)))
	case events.ProvisionStart:
		return addr + p.in(bold, fmt.Sprintf(": Provisioning with '%s'...", e.Provisioner))
	case events.ProvisionOutput:
		return fmt.Sprintf("%s%s %s", addr, p.in(bold, " ("+e.Provisioner+"):"), visible(e.Text))
	}
	return ""
}

// EventMessage returns the JSON message (option -json) about an event; ok is false for events without a
// message. In messages, a deposed object has the address of its instance.
func EventMessage(e events.Event) (m Message, ok bool) {
	switch e.Kind {
	case events.RefreshStart, events.RefreshDone:
		return refreshMessage(e), true
	case events.ApplyFailed:
		if e.Addr.Instance.Resource.Resource.Mode == addrs.Data {
			return m, false // the stream has only the diagnostic
		}
		return applyMessage(e), true
	case events.ApplyStart, events.ApplyProgress, events.ApplyDone:
		return applyMessage(e), true
	case events.EphemeralStart, events.EphemeralDone, events.EphemeralFailed:
		return ephemeralMessage(e), true
	case events.ProvisionStart, events.ProvisionOutput, events.ProvisionDone, events.ProvisionFailed:
		return provisionMessage(e), true
	case events.InvokeStart, events.InvokeProgress, events.InvokeDone, events.InvokeFailed:
		return invokeMessage(e), true
	}
	return m, false
}

// hookMember is an object with an action in progress, in the JSON messages of -json.
type hookMember struct {
	Resource    *resourceMember `json:"resource,omitempty"`
	Action      any             `json:"action,omitempty"` // a word; for an action block that is invoked, an *actionMember
	IDKey       string          `json:"id_key,omitempty"`
	IDValue     string          `json:"id_value,omitempty"`
	Elapsed     *int            `json:"elapsed_seconds,omitempty"`
	Provisioner string          `json:"provisioner,omitempty"`
	Output      *string         `json:"output,omitempty"`

	// Members about an action block that is invoked.
	Message   *string        `json:"message,omitempty"`
	Error     string         `json:"error,omitempty"`
	Lifecycle *triggerMember `json:"lifecycle,omitempty"`
	Invoke    *struct{}      `json:"invoke,omitempty"`
}

func newHook(e events.Event, withID bool) *hookMember {
	r := newResourceMember(e.Addr.Instance)
	h := &hookMember{Resource: &r}
	if withID && e.ID != "" {
		h.IDKey, h.IDValue = "id", e.ID
	}
	return h
}

func refreshMessage(e events.Event) Message {
	text, kind := "Refreshing state...", "refresh_start"
	if e.Kind == events.RefreshDone {
		text, kind = "Refresh complete", "refresh_complete"
	}
	m := message(kind, fmt.Sprintf("%s: %s%s", e.Addr.Instance, text, idNote(e.ID)))
	m.Hook = newHook(e, true)
	return m
}

func applyMessage(e events.Event) Message {
	w := wordsOf(e.Action)
	if e.Kind == events.ApplyDone && e.Action == plans.Delete {
		e.ID = "" // the object no longer exists
	}
	if e.Addr.Instance.Resource.Resource.Mode == addrs.Data {
		w = words{"Refreshing", "refreshing", "Refresh"} // the stream's word
	}
	h := newHook(e, e.Kind != events.ApplyFailed)
	h.Action = uiAction(e.Action)
	elapsed := int(e.Elapsed.Round(time.Second) / time.Second)
	m := Message{}
	switch e.Kind {
	case events.ApplyStart:
		m = message("apply_start", fmt.Sprintf("%s: %s...%s", e.Addr.Instance, w.start, idNote(e.ID)))
	case events.ApplyProgress:
		m = message("apply_progress", fmt.Sprintf("%s: Still %s... [%s elapsed]", e.Addr.Instance, w.still, seconds(e.Elapsed)))
	case events.ApplyDone:
		m = message("apply_complete", fmt.Sprintf("%s: %s complete after %s%s", e.Addr.Instance, w.end, seconds(e.Elapsed), idNote(e.ID)))
	default:
		m = message("apply_errored", fmt.Sprintf("%s: %s errored after %s", e.Addr.Instance, w.end, seconds(e.Elapsed)))
	}
	if e.Kind != events.ApplyStart {
		h.Elapsed = &elapsed
	}
	m.Hook = h
	return m
}

var ephemeralWords = map[string]words{
	"open":  {start: "Opening", end: "Opening"},
	"renew": {start: "Renewing", end: "Renewal"},
	"close": {start: "Closing", end: "Closing"},
}

func ephemeralMessage(e events.Event) Message {
	h := newHook(e, false)
	h.Action = e.Text
	w := ephemeralWords[e.Text]
	if e.Kind == events.EphemeralStart {
		m := message("ephemeral_op_start", fmt.Sprintf("%s: %s...", e.Addr.Instance, w.start))
		m.Hook = h
		return m
	}
	kind, how := "ephemeral_op_complete", "complete"
	if e.Kind == events.EphemeralFailed {
		kind, how = "ephemeral_op_errored", "errored"
	}
	m := message(kind, fmt.Sprintf("%s: %s %s after %s", e.Addr.Instance, w.end, how, seconds(e.Elapsed)))
	elapsed := int(e.Elapsed.Round(time.Second) / time.Second)
	h.Elapsed = &elapsed
	m.Hook = h
	return m
}

func provisionMessage(e events.Event) Message {
	h := newHook(e, false)
	h.Provisioner = e.Provisioner
	var m Message
	switch e.Kind {
	case events.ProvisionStart:
		m = message("provision_start", fmt.Sprintf("%s: Provisioning with '%s'...", e.Addr.Instance, e.Provisioner))
	case events.ProvisionOutput:
		m = message("provision_progress", fmt.Sprintf("%s: (%s): %s", e.Addr.Instance, e.Provisioner, e.Text))
		h.Output = &e.Text
	case events.ProvisionDone:
		m = message("provision_complete", fmt.Sprintf("%s: (%s) Provisioning complete", e.Addr.Instance, e.Provisioner))
	default:
		m = message("provision_errored", fmt.Sprintf("%s: (%s) Provisioning errored", e.Addr.Instance, e.Provisioner))
	}
	m.Hook = h
	return m
}
