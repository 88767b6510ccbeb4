package render

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/engine/render/formats"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// UIVersion is the version of the stream of messages that -json asks for, one JSON
// object a line; see https://developer.hashicorp.com/terraform/internals/machine-readable-ui.
const UIVersion = "1.3"

// A Message is one line of the stream. Encoding it as JSON adds the current time. The functions of this
// package make messages. None contains a sensitive value, except those of [TestMessages].
type Message struct {
	Level      string              `json:"@level"`
	Text       string              `json:"@message"`
	Module     string              `json:"@module"`
	Timestamp  string              `json:"@timestamp"`
	Type       string              `json:"type"`
	Terraform  string              `json:"terraform,omitempty"`
	Lockstep   string              `json:"lockstep,omitempty"`
	UI         string              `json:"ui,omitempty"`
	Code       InitCode            `json:"message_code,omitempty"`
	Diagnostic *formats.Diagnostic `json:"diagnostic,omitempty"`
	Change     *changeMember       `json:"change,omitempty"`
	Changes    *countsMember       `json:"changes,omitempty"`
	Invocation *invocationMember   `json:"invocation,omitempty"`
	Outputs    any                 `json:"outputs,omitempty"` // map[string]outputMember
	Hook       *hookMember         `json:"hook,omitempty"`

	// Members about queries.
	ListStart    *listStartMember    `json:"list_start,omitempty"`
	ListFound    *listFoundMember    `json:"list_resource_found,omitempty"`
	ListComplete *listCompleteMember `json:"list_complete,omitempty"`

	// Members about tests: the file and the run, and what belongs to each kind of message.
	TestFile       string                     `json:"@testfile,omitempty"`
	TestRun        string                     `json:"@testrun,omitempty"`
	TestAbstract   any                        `json:"test_abstract,omitempty"` // map[string][]string
	TestFileMember *testFileMember            `json:"test_file,omitempty"`
	TestRunMember  *testRunMember             `json:"test_run,omitempty"`
	TestCleanup    *testCleanupMember         `json:"test_cleanup,omitempty"`
	TestSummary    *TestSummary               `json:"test_summary,omitempty"`
	TestCoverage   *events.TestCoverage       `json:"test_coverage,omitempty"`
	TestState      map[string]json.RawMessage `json:"test_state,omitempty"`
	TestPlan       map[string]json.RawMessage `json:"test_plan,omitempty"`
}

// MarshalJSON encodes the message, with the current time.
func (m Message) MarshalJSON() ([]byte, error) {
	type plain Message
	m.Module, m.Timestamp = "terraform.ui", time.Now().Format("2006-01-02T15:04:05.000000Z07:00")
	return json.Marshal(plain(m))
}

func message(kind, text string) Message { return Message{Level: "info", Text: text, Type: kind} }

// VersionMessage returns the first message of the stream.
func VersionMessage(language, lockstep string) Message {
	m := message("version", "Lockstep "+lockstep)
	m.Terraform, m.Lockstep, m.UI = language, lockstep, UIVersion
	return m
}

// LogMessage returns a message with text that fits no other kind.
func LogMessage(text string) Message { return message("log", text) }

// An InitCode identifies the subject of an init message, independent of its text.
type InitCode string

// The subjects of init messages.
const (
	InitCopying       InitCode = "copying_configuration_message"
	InitBackend       InitCode = "initializing_backend_message"
	InitModules       InitCode = "initializing_modules_message"
	InitUpgrade       InitCode = "upgrading_modules_message"
	InitProviders     InitCode = "initializing_provider_plugin_message"
	InitLockCreated   InitCode = "lock_info"
	InitLockChanged   InitCode = "dependencies_lock_changes_info"
	InitEmpty         InitCode = "output_init_empty_message"
	InitSuccess       InitCode = "output_init_success_message"
	InitSuccessAdvice InitCode = "output_init_success_cli_message"
)

// InitMessage returns a message with a text of init.
func InitMessage(code InitCode, text string) Message {
	m := message("init_output", text)
	m.Code = code
	return m
}

// DiagnosticMessage returns a message with a diagnostic.
func DiagnosticMessage(d diags.Diagnostic, files map[string]*hcl.File) Message {
	m := message("diagnostic", "Error: "+d.Summary)
	m.Level = "error"
	if d.Severity == diags.Warning {
		m.Level, m.Text = "warn", "Warning: "+d.Summary
	}
	x := formats.NewDiagnostic(d, files)
	m.Diagnostic = &x
	return m
}

// resourceMember is a resource instance in the JSON messages of -json.
type resourceMember struct {
	Addr     string `json:"addr"`
	Module   string `json:"module"`
	Resource string `json:"resource"`
	Provider string `json:"implied_provider"`
	Type     string `json:"resource_type"`
	Name     string `json:"resource_name"`
	Key      any    `json:"resource_key"`
}

func newResourceMember(a addrs.AbsResourceInstance) resourceMember {
	r := a.Resource.Resource
	implied, _, _ := strings.Cut(r.Type, "_") // implied by the type's name, which may differ from the provider's name
	m := resourceMember{
		Addr: a.String(), Module: a.Module.String(), Resource: a.Resource.String(),
		Provider: implied, Type: r.Type, Name: r.Name,
	}
	if n, ok := a.Resource.Key.Int(); ok {
		m.Key = n
	} else if s, ok := a.Resource.Key.Str(); ok {
		m.Key = s
	}
	return m
}

// uiAction returns the word for an action in the JSON messages of -json.
func uiAction(a plans.Action) string {
	switch a {
	case plans.NoOp:
		return "noop"
	case plans.Forget:
		return "remove"
	}
	return a.String()
}

// uiReasons are the words for reasons in the JSON messages of -json, where they differ from the words in the
// plan format.
var uiReasons = map[plans.Reason]string{
	plans.ReasonReplaceBecauseTainted: "tainted",
	plans.ReasonReplaceByRequest:      "requested",
	plans.ReasonReplaceByTriggers:     "replace_triggered_by",
	plans.ReasonReplaceBecauseCannot:  "cannot_update",
}

// changeMember is a planned change or a drift in the JSON messages of -json.
type changeMember struct {
	Resource        resourceMember   `json:"resource"`
	Previous        *resourceMember  `json:"previous_resource,omitempty"`
	Action          string           `json:"action"`
	Reason          string           `json:"reason,omitempty"`
	Importing       *importingMember `json:"importing,omitempty"`
	GeneratedConfig string           `json:"generated_config,omitempty"`
	Causes          []Cause          `json:"causes,omitempty"` // only Lockstep has this member
}

type importingMember struct {
	ID      string `json:"id,omitempty"`
	Unknown bool   `json:"unknown,omitempty"`
}

func newChangeMember(c *plans.ResourceChange) *changeMember {
	m := &changeMember{
		Resource: newResourceMember(c.Addr.Instance), Action: uiAction(c.Action),
		Reason: string(c.Reason), GeneratedConfig: c.GeneratedConfig,
	}
	if r, ok := uiReasons[c.Reason]; ok {
		m.Reason = r
	}
	if moved(c) {
		prev := newResourceMember(c.PrevAddr)
		m.Previous = &prev
	}
	switch {
	case c.Action == plans.NoOp && m.Previous != nil:
		m.Action = "move"
	case c.Action == plans.NoOp && c.Importing != nil:
		m.Action = "import"
	}
	if c.Importing != nil {
		m.Importing = &importingMember{c.Importing.ID, c.Importing.Unknown}
	}
	return m
}

// PlannedChangeMessage returns the message about a planned change; ok is false if the object does not change.
func PlannedChangeMessage(c *plans.ResourceChange) (m Message, ok bool) {
	if c.Action == plans.NoOp && !moved(c) && c.Importing == nil {
		return m, false
	}
	change := newChangeMember(c)
	m = message("planned_change", fmt.Sprintf("%s: Plan to %s", c.Addr.Instance, change.Action))
	m.Change = change
	return m, true
}

// WithCauses returns the message of [PlannedChangeMessage] with the causes of the change. all are the causes of all
// changes, by object.
func (m Message) WithCauses(all map[string][]Cause) Message {
	m.Change.Causes = all[m.Change.Resource.Addr]
	return m
}

// DriftMessage returns the message about an object that differs from the state.
func DriftMessage(c *plans.ResourceChange) Message {
	change := newChangeMember(c)
	m := message("resource_drift", fmt.Sprintf("%s: Drift detected (%s)", c.Addr.Instance, change.Action))
	m.Change = change
	return m
}

// countsMember has the numbers of changes in the JSON messages of -json.
type countsMember struct {
	Add       int    `json:"add"`
	Change    int    `json:"change"`
	Import    int    `json:"import"`
	Remove    int    `json:"remove"`
	Forget    int    `json:"forget,omitempty"` // only OpenTofu and Lockstep have this member
	Invoked   int    `json:"action_invocation"`
	Failed    int    `json:"action_fail"`
	Operation string `json:"operation"`
	// Unresolved counts the creations of an earlier apply whose outcome nobody knows. Only Lockstep has this
	// member.
	Unresolved int `json:"unresolved,omitempty"`
	// Affected says what a plan with -refresh=affected has not read. Only Lockstep has this member.
	Affected *formats.Affected `json:"refresh_affected,omitempty"`
}

// ChangeSummaryMessage returns the message with the numbers of changes that are planned ("plan") or done
// ("apply", "destroy").
func ChangeSummaryMessage(operation string, n counting.Counts) Message {
	m := message("change_summary", summaryText(operation, n))
	m.Changes = &countsMember{
		Add: n.Add, Change: n.Change, Import: n.Import, Remove: n.Destroy, Forget: n.Forget, Invoked: n.Invoke, Failed: n.InvokeFailed, Operation: operation,
	}
	return m
}

// PlanSummaryMessage returns the [ChangeSummaryMessage] of a plan. It also counts unresolved creations of an
// earlier apply, which the plan leaves out. With such creations, a plan without changes is not called "no
// changes".
func PlanSummaryMessage(p *plans.Plan) Message {
	m := ChangeSummaryMessage("plan", p.Counts())
	switch m.Changes.Unresolved = len(p.Waiting); m.Changes.Unresolved {
	case 0:
	case 1:
		m.Text += " 1 creation of an earlier apply is unresolved."
	default:
		m.Text += fmt.Sprintf(" %d creations of an earlier apply are unresolved.", m.Changes.Unresolved)
	}
	if m.Changes.Affected = formats.AffectedOf(p.Affected); affectedText(p.Affected) != "" {
		m.Text += " " + affectedText(p.Affected)
	}
	return m
}

func summaryText(operation string, n counting.Counts) string {
	switch operation {
	case "plan":
		return "Plan: " + countsText(n)
	case "destroy":
		return DestroyedText(n)
	}
	return AppliedText(n)
}

// AppliedText returns the summary of a successful apply. Programs read this text.
func AppliedText(n counting.Counts) string {
	first := ""
	if n.Import > 0 {
		first = fmt.Sprintf("%d imported, ", n.Import)
	}
	return fmt.Sprintf("Apply complete! Resources: %s%d added, %d changed, %d destroyed.", first, n.Add, n.Change, n.Destroy) + invokedText(n)
}

// DestroyedText returns the summary of a successful destroy. Programs read this text.
func DestroyedText(n counting.Counts) string {
	return fmt.Sprintf("Destroy complete! Resources: %d destroyed.", n.Destroy) + invokedText(n)
}

// outputMember is an output in the JSON messages of -json.
type outputMember struct {
	Sensitive bool            `json:"sensitive"`
	Type      json.RawMessage `json:"type,omitempty"`
	Value     json.RawMessage `json:"value,omitempty"`
	Action    string          `json:"action,omitempty"`
}

// PlannedOutputsMessage returns the message about the changes of root outputs.
func PlannedOutputsMessage(p *plans.Plan) Message {
	m := message("outputs", fmt.Sprintf("Outputs: %d", len(p.Outputs)))
	outputs := map[string]outputMember{}
	for _, o := range p.Outputs {
		outputs[o.Name] = outputMember{Sensitive: o.Sensitive, Action: uiAction(o.Action)}
	}
	m.Outputs = outputs
	return m
}

// OutputsMessage returns the message with the root outputs of a state. For sensitive outputs it has only the
// name and type.
func OutputsMessage(s *states.State) Message {
	outputs := map[string]outputMember{}
	for name, o := range s.Outputs() {
		x := outputMember{Sensitive: o.Sensitive}
		if ty, err := ctyjson.MarshalType(o.Value.Type()); err == nil {
			x.Type = ty
		}
		if !o.Sensitive {
			x.Value = formats.Plain(o.Value)
		}
		outputs[name] = x
	}
	m := message("outputs", fmt.Sprintf("Outputs: %d", len(outputs)))
	m.Outputs = outputs
	return m
}
