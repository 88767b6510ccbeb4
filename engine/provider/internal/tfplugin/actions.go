package tfplugin

import (
	"context"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"
	"google.golang.org/grpc"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/provider"
)

func (c *client) actionType(ctx context.Context, name string) (cty.Type, diags.Diagnostics) {
	declared, ds := c.ready(ctx)
	if ds.HasErrors() {
		return cty.NilType, ds
	}
	s := declared.Resource("action", name)
	if s == nil {
		return cty.NilType, c.missing(declared, "action", name)
	}
	return implied(s), nil
}

func (c *client) ValidateAction(ctx context.Context, typeName string, config cty.Value) diags.Diagnostics {
	ty, ds := c.actionType(ctx, typeName)
	if ds.HasErrors() {
		return ds
	}
	return c.validate(ctx, validateAction, &ValidateConfig_Request{TypeName: typeName, Config: encode(config, ty)})
}

func (c *client) PlanAction(ctx context.Context, typeName string, config cty.Value) diags.Diagnostics {
	ty, ds := c.actionType(ctx, typeName)
	if ds.HasErrors() {
		return ds
	}
	var resp PlanAction_Response
	if ds := c.call(ctx, planAction, &PlanAction_Request{ActionType: typeName, Config: encode(config, ty), ClientCapabilities: ours}, &resp); ds.HasErrors() {
		return ds
	}
	return append(diagnostics(resp.Diagnostics), c.mustNotDefer(planAction, resp.Deferred)...)
}

// errUnfinished is a stream of events that ended without a Completed event.
var errUnfinished = errors.New("the stream of events ended before the event that completes the action")

func (c *client) InvokeAction(ctx context.Context, typeName string, config cty.Value, progress func(string)) (provider.InvokeResponse, diags.Diagnostics) {
	ty, ds := c.actionType(ctx, typeName)
	if ds.HasErrors() {
		return provider.InvokeResponse{}, ds
	}
	ctx, end := context.WithCancel(ctx) // end releases the stream if it was not read to its end.
	defer end()
	done, err := c.invoke(ctx, &InvokeAction_Request{ActionType: typeName, Config: encode(config, ty), ClientCapabilities: ours}, progress)
	switch {
	case errors.Is(err, errUnfinished):
		return provider.InvokeResponse{Unanswered: true}, diags.Errorf(nil, "Provider did not report the end of an action",
			"The plugin of provider %s ended the call %s without reporting whether the action %q succeeded. Nobody knows how much of it was done. This is a bug in the provider, which should be reported to its authors.",
			c.Name, invokeAction, typeName)
	case err != nil:
		return provider.InvokeResponse{Unanswered: unanswered(err)}, c.explain(ctx, invokeAction, err)
	}
	return provider.InvokeResponse{}, diagnostics(done.Diagnostics)
}

// invoke reads the events of an action until the last, which it returns. It calls progress with each message
// before.
func (c *client) invoke(ctx context.Context, req *InvokeAction_Request, progress func(string)) (*InvokeAction_Event_Completed, error) {
	stream, err := c.Conn.NewStream(ctx, &grpc.StreamDesc{StreamName: invokeAction, ServerStreams: true}, c.method(invokeAction))
	if err != nil {
		return nil, err
	}
	if err := stream.SendMsg(req); err != nil && !errors.Is(err, io.EOF) { // after EOF, receiving has the cause
		return nil, err
	}
	if err := stream.CloseSend(); err != nil {
		return nil, err
	}
	for n := 0; ; {
		var e InvokeAction_Event
		err := stream.RecvMsg(&e)
		switch {
		case errors.Is(err, io.EOF):
			return nil, errUnfinished
		case err != nil:
			return nil, err
		case e.GetCompleted() != nil:
			return e.GetCompleted(), nil
		case e.GetProgress() == nil || n == provider.MostProgress:
			continue
		}
		if n++; n == provider.MostProgress {
			progress("(the provider sends more messages, which are left out)")
			continue
		}
		progress(shortened(e.GetProgress().Message))
	}
}

// shortened returns a message of a provider within the limit for its length, as valid text.
func shortened(message string) string {
	const left = "..."
	if len(message) > provider.LongestProgress {
		end := provider.LongestProgress - len(left)
		for end > 0 && !utf8.RuneStart(message[end]) {
			end--
		}
		message = message[:end] + left
	}
	return strings.ToValidUTF8(message, "\uFFFD")
}
