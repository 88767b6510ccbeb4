package tfplugin_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/provider/internal/tfplugin"
	"github.com/lockstep-iac/lockstep/engine/provider/internal/tfplugin5"
	"github.com/lockstep-iac/lockstep/engine/provider/internal/tfplugin6"
)

// streaming is a wire whose plugin answers the invocation of an action with events, and then with an error. io.EOF is the end
// of the stream.
type streaming struct {
	*wire
	grpc.ClientStream
	method string
	sent   *tfplugin.InvokeAction_Request
	events []*tfplugin.InvokeAction_Event
	end    error
}

func (s *streaming) NewStream(_ context.Context, d *grpc.StreamDesc, method string, _ ...grpc.CallOption) (grpc.ClientStream, error) {
	if s.method = method; !d.ServerStreams || d.ClientStreams {
		panic("it is not a stream of the server")
	}
	return s, nil
}

func (s *streaming) SendMsg(m any) error {
	s.sent = m.(*tfplugin.InvokeAction_Request)
	return nil
}

func (s *streaming) CloseSend() error { return nil }

func (s *streaming) RecvMsg(m any) error {
	if len(s.events) == 0 {
		return s.end
	}
	e := s.events[0]
	s.events = s.events[1:]
	proto.Merge(m.(proto.Message), e)
	return nil
}

func says(message string) *tfplugin.InvokeAction_Event {
	return &tfplugin.InvokeAction_Event{Type: &tfplugin.InvokeAction_Event_Progress_{Progress: &tfplugin.InvokeAction_Event_Progress{Message: message}}}
}

func completes(ds ...*tfplugin.Diagnostic) *tfplugin.InvokeAction_Event {
	return &tfplugin.InvokeAction_Event{Type: &tfplugin.InvokeAction_Event_Completed_{Completed: &tfplugin.InvokeAction_Event_Completed{Diagnostics: ds}}}
}

// acting returns a client of a provider with an action, and its connection.
func acting(p tfplugin.Protocol, events ...*tfplugin.InvokeAction_Event) (provider.Client, *streaming) {
	notify := raw(&tfplugin6.Schema{Block: &tfplugin6.Schema_Block{Attributes: []*tfplugin6.Schema_Attribute{{Name: "name", Type: []byte(`"string"`), Required: true}}}})
	if p.Version == 5 {
		notify = raw(&tfplugin5.Schema{Block: &tfplugin5.Schema_Block{Attributes: []*tfplugin5.Schema_Attribute{{Name: "name", Type: []byte(`"string"`), Required: true}}}})
	}
	s := &streaming{events: events, end: io.EOF, wire: &wire{answers: map[string]any{
		p.GetSchema:            &tfplugin.GetProviderSchema_Response{ActionSchemas: map[string]*tfplugin.ActionSchema{"lab_notify": {Schema: notify}}},
		"ValidateActionConfig": &tfplugin.ValidateConfig_Response{Diagnostics: []*tfplugin.Diagnostic{{Severity: tfplugin.Diagnostic_ERROR, Summary: "not valid"}}},
		"PlanAction":           &tfplugin.PlanAction_Response{Deferred: &tfplugin.Deferred{}},
	}}}
	return tfplugin.New(tfplugin.Config{Protocol: p, Name: "lab", Conn: s}), s
}

var notice = cty.ObjectVal(map[string]cty.Value{"name": cty.StringVal("n")})

// TestActions: the calls about actions, in both protocols.
func TestActions(t *testing.T) {
	t.Parallel()
	for _, p := range []tfplugin.Protocol{tfplugin5.Protocol, tfplugin6.Protocol} {
		c, s := acting(p, says("one"), says("two"), completes(&tfplugin.Diagnostic{Severity: tfplugin.Diagnostic_WARNING, Summary: "slow"}), says("late"))
		if ds := c.ValidateAction(t.Context(), "lab_notify", notice); !strings.Contains(ds.Error(), "not valid") {
			t.Errorf("validate: %v", ds)
		}
		if ds := c.PlanAction(t.Context(), "lab_notify", notice); !strings.Contains(ds.Error(), "deferred") {
			t.Errorf("plan: %v", ds)
		}
		var told []string
		resp, ds := c.InvokeAction(t.Context(), "lab_notify", notice, func(text string) { told = append(told, text) })
		if resp.Unanswered || ds.HasErrors() || len(ds) != 1 || ds[0].Summary != "slow" {
			t.Errorf("invoke: %v, %v", resp, ds)
		}
		if got := strings.Join(told, ","); got != "one,two" {
			t.Errorf("messages: %s", got)
		}
		if want := "/" + p.Service + "/InvokeAction"; s.method != want || s.sent.ActionType != "lab_notify" || len(s.sent.Config.GetMsgpack()) == 0 {
			t.Errorf("called %s with %v", s.method, s.sent)
		}
		if _, ds := c.InvokeAction(t.Context(), "lab_other", notice, nil); !ds.HasErrors() {
			t.Error("an action that the provider does not have was invoked")
		}
	}
}

// TestActionWithoutEnd: where the provider does not report the end, nobody knows what was done.
func TestActionWithoutEnd(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		end        error
		unanswered bool
		text       string
	}{
		"the stream ends": {io.EOF, true, "did not report the end"},
		"it dies":         {status.Error(codes.Unavailable, "broken pipe"), true, "Find out before you invoke it again"},
		"it is cut off":   {status.Error(codes.ResourceExhausted, "too large"), true, "too large"},
		"it refuses":      {status.Error(codes.Internal, "no"), false, "no"},
		"it is too old":   {status.Error(codes.Unimplemented, "unknown"), false, "InvokeAction"},
	} {
		c, s := acting(tfplugin6.Protocol, says("half done"))
		s.end = x.end
		told := 0
		resp, ds := c.InvokeAction(t.Context(), "lab_notify", notice, func(string) { told++ })
		if resp.Unanswered != x.unanswered || !strings.Contains(ds.Error(), x.text) || told != 1 {
			t.Errorf("%s: %v, %v", name, resp, ds)
		}
	}
}

// TestEndlessMessages: a provider may send any number of messages of any length; few and short ones arrive, as valid text.
func TestEndlessMessages(t *testing.T) {
	t.Parallel()
	events := []*tfplugin.InvokeAction_Event{says(strings.Repeat("ü", 10<<20)), says("in\xffvalid")}
	for i := range 3 * provider.MostProgress {
		events = append(events, says(fmt.Sprint(i)))
	}
	c, _ := acting(tfplugin6.Protocol, append(events, completes())...)
	var told []string
	resp, ds := c.InvokeAction(t.Context(), "lab_notify", notice, func(text string) { told = append(told, text) })
	if resp.Unanswered || len(ds) > 0 {
		t.Errorf("%v, %v", resp, ds)
	}
	if len(told) != provider.MostProgress || !strings.Contains(told[len(told)-1], "left out") {
		t.Errorf("%d messages, the last is %q", len(told), told[len(told)-1])
	}
	for _, text := range told {
		if len(text) > provider.LongestProgress || !utf8.ValidString(text) {
			t.Errorf("a message of %d bytes: %.20q", len(text), text)
		}
	}
}
