package tfplugin

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// closing is the message of a call whose connection was closed by this client.
// Source: https://pkg.go.dev/google.golang.org/grpc#ErrClientConnClosing
const closing = "grpc: the client connection is closing"

// explain turns the error of a call into a diagnostic: the call was cancelled, the plugin died, the plugin
// does not implement the method, or it broke the protocol.
func (c *client) explain(ctx context.Context, method string, err error) diags.Diagnostics {
	if ctx.Err() != nil {
		return cancelled(method, context.Cause(ctx))
	}
	s := status.Convert(err)
	code := s.Code()
	if code == codes.Canceled && s.Message() == closing {
		code = codes.Unavailable // we have ended the plugin, and the end of its connection was reported first
	}
	switch code {
	case codes.Unavailable:
		c.lost.Store(true)
		fate := ""
		if c.Fate != nil {
			fate = c.Fate()
		}
		if fate == "" {
			fate = "The connection to it was lost: " + s.Message() + "."
		}
		detail := fmt.Sprintf("The plugin of provider %s gave no answer to the call %s. %s", c.Name, method, fate)
		if method == invokeAction {
			detail += "\n\nNobody knows how much of the action was done. Find out before you invoke it again."
		}
		if method == applyChange {
			detail += "\n\nBefore the next apply, check the real objects: the state does not have those that this call may have created or changed. An object that was created can be imported."
		}
		return diags.Errorf(nil, "Plugin did not respond", "%s", detail)
	case codes.Canceled:
		return cancelled(method, errors.New(s.Message()))
	case codes.Unimplemented:
		return diags.Errorf(nil, "Unsupported plugin method",
			"The plugin of provider %s does not support the call %s. A newer version of the provider may.", c.Name, method)
	case codes.ResourceExhausted:
		return diags.Errorf(nil, "Plugin answer too large",
			"The plugin of provider %s answered the call %s with more than is accepted: %s.", c.Name, method, s.Message())
	}
	return diags.Errorf(nil, "Plugin error",
		"The plugin of provider %s failed in the call %s without saying why in the form that is expected of it: %s.", c.Name, method, s.Message())
}

// unanswered reports whether nobody knows what the plugin did in a failed call: it may have done everything
// except answer. A plugin that reports a failure itself has answered.
func unanswered(err error) bool {
	switch status.Code(err) {
	case codes.Unavailable, codes.Canceled, codes.DeadlineExceeded, codes.ResourceExhausted:
		return true
	}
	return false
}

func cancelled(method string, cause error) diags.Diagnostics {
	return diags.Errorf(nil, "Request cancelled",
		"The call %s was given up: %s. The provider's effects until then are not known.", method, cause)
}

// undecodable returns the diagnostic for an answer to a call with a value that does not have the declared type.
// value names the value.
func (c *client) undecodable(method, value string, err error) diags.Diagnostics {
	return diags.Errorf(nil, "Provider produced invalid value",
		"The plugin of provider %s answered the call %s with %s that does not conform to its own schema: %s. This is a bug in the provider, which should be reported to its authors.",
		c.Name, method, value, err)
}

// missing returns the diagnostic for a type that the provider does not declare, or whose declaration is not
// valid.
func (c *client) missing(declared *schema.Provider, mode, name string) diags.Diagnostics {
	if err := declared.Broken(mode, name); err != nil {
		return c.misdeclared(fmt.Errorf("%s: %w", name, err))
	}
	kind := map[string]string{"managed": "resource type", "data": "data source", "ephemeral": "ephemeral resource type", "list": "list resource type", "action": "action"}[mode]
	return c.unsupported(kind, name)
}

// unsupported returns the diagnostic for anything that the provider does not declare.
func (c *client) unsupported(kind, name string) diags.Diagnostics {
	return diags.Errorf(nil, "Unsupported "+kind,
		"The provider %s does not support the %s %q.", c.Name, kind, name)
}

// misdeclared returns the diagnostic for a plugin whose declarations (schemas, functions) are not valid.
func (c *client) misdeclared(err error) diags.Diagnostics {
	return diags.Errorf(nil, "Invalid provider schema",
		"The plugin of provider %s declares something that cannot be understood: %s. This is a bug in the provider.", c.Name, err)
}

// mustNotDefer returns an error if the provider deferred a call: ClientCapabilities do not allow that.
func (c *client) mustNotDefer(method string, d *Deferred) diags.Diagnostics {
	if d == nil {
		return nil
	}
	return diags.Errorf(nil, "Provider deferred a change",
		"The plugin of provider %s deferred the call %s (reason: %s), though it was told that deferrals are not allowed. This is a bug in the provider, which should be reported to its authors.",
		c.Name, method, fmt.Sprint(d.Reason))
}
