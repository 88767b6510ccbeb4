// Package provider is the engine's interface to providers: the calls that the engine makes ([Client]), and
// how plugin processes are started, shared and stopped.
//
// The package does not know why a call is made: planning and applying do. The sub-package process starts
// plugins. tfplugin makes the calls to plugins (tfplugin5 and tfplugin6 have the differences between the two
// protocols). builtin is the provider that is part of the engine. install installs plugins. providertest has
// providers for tests. Start at [Pool].
package provider

import (
	"context"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// Lost reports whether a call of the client has found that its process is gone: later calls fail, too. It is false for
// clients that have no process.
func Lost(c Client) bool {
	x, ok := c.(interface{ Lost() bool })
	return ok && x.Lost()
}

// A Client is one provider process (or an equivalent), before or after it was configured. All arguments and
// results are values without marks, and conform to the implied type of the type's schema. Unknown values are
// allowed where a comment says so.
//
// Methods may be called by many goroutines at once. A call returns early, with an error diagnostic, when ctx
// ends; the provider may have done a part by then. Diagnostics have the provider's attribute path in
// Attribute; the caller adds address and range. A broken connection (the plugin crashed) is also an error
// diagnostic.
type Client interface {
	// Schema returns the provider's declarations. It asks the plugin only once.
	Schema(ctx context.Context) (*schema.Provider, diags.Diagnostics)
	// ValidateProvider checks the value of a provider block. Unknown values are allowed.
	ValidateProvider(ctx context.Context, config cty.Value) diags.Diagnostics
	// Configure sends the provider its configuration. Unknown values are allowed while planning.
	Configure(ctx context.Context, config cty.Value) diags.Diagnostics
	// Stop asks running calls to end early. They still return an answer.
	Stop(ctx context.Context) error
	// Close ends the process. No call may be running.
	Close() error

	Resources
	DataSources
	Ephemerals
	Lists
	Actions
	Functions
}

// Resources has the calls for managed resource types.
type Resources interface {
	ValidateResource(ctx context.Context, typeName string, config cty.Value) diags.Diagnostics
	UpgradeState(ctx context.Context, req UpgradeRequest) (cty.Value, diags.Diagnostics)
	// UpgradeIdentity upgrades a stored identity to the current identity schema. It is called only for
	// identities that were stored with an older version of the schema.
	UpgradeIdentity(ctx context.Context, req UpgradeIdentityRequest) (cty.Value, diags.Diagnostics)
	Read(ctx context.Context, req ReadRequest) (ReadResponse, diags.Diagnostics)
	Plan(ctx context.Context, req PlanRequest) (PlanResponse, diags.Diagnostics)
	Apply(ctx context.Context, req ApplyRequest) (ApplyResponse, diags.Diagnostics)
	Import(ctx context.Context, req ImportRequest) ([]Imported, diags.Diagnostics)
	Move(ctx context.Context, req MoveRequest) (MoveResponse, diags.Diagnostics)
}

// DataSources has the calls for data sources.
type DataSources interface {
	ValidateData(ctx context.Context, typeName string, config cty.Value) diags.Diagnostics
	ReadData(ctx context.Context, typeName string, config, meta cty.Value) (cty.Value, diags.Diagnostics)
}

// Ephemerals has the calls for ephemeral resource types.
type Ephemerals interface {
	ValidateEphemeral(ctx context.Context, typeName string, config cty.Value) diags.Diagnostics
	OpenEphemeral(ctx context.Context, typeName string, config cty.Value) (OpenResponse, diags.Diagnostics)
	RenewEphemeral(ctx context.Context, typeName string, private []byte) (RenewResponse, diags.Diagnostics)
	CloseEphemeral(ctx context.Context, typeName string, private []byte) diags.Diagnostics
}

// Lists has the calls for list resource types, which find existing objects. It also has the call that returns
// the configuration for an object.
type Lists interface {
	ValidateList(ctx context.Context, req ListRequest) diags.Diagnostics
	// List calls found for each object, in the provider's order, until found returns false. The provider is told to stop then.
	List(ctx context.Context, req ListRequest, found func(Listed) bool) diags.Diagnostics
	// GenerateConfig returns the configuration for an object of a managed resource type. It is called only if the
	// schema has GenerateConfig set.
	GenerateConfig(ctx context.Context, typeName string, state cty.Value) (cty.Value, diags.Diagnostics)
}

// Actions are the calls about types of actions.
type Actions interface {
	ValidateAction(ctx context.Context, typeName string, config cty.Value) diags.Diagnostics
	// PlanAction asks the provider whether it could carry out an action. The configuration may have unknown values.
	PlanAction(ctx context.Context, typeName string, config cty.Value) diags.Diagnostics
	// InvokeAction carries out an action. progress is called for each message of the provider, by one goroutine, before
	// InvokeAction returns. It gets at most [MostProgress] messages, of at most [LongestProgress] bytes each; their text
	// is the provider's, and may hold control characters and secrets.
	InvokeAction(ctx context.Context, typeName string, config cty.Value, progress func(message string)) (InvokeResponse, diags.Diagnostics)
}

// The limits of the messages of one action. A provider may send any number of any length; a reader needs few.
const (
	MostProgress    = 1000
	LongestProgress = 4 << 10
)

// Functions are the calls about provider-defined functions.
type Functions interface {
	// CallFunction calls a function. If the function itself refuses its arguments, the error is a
	// *FunctionError.
	CallFunction(ctx context.Context, name string, args []cty.Value) (cty.Value, error)
}

// An UpgradeRequest has an object as it is stored in a state file. Either JSON or Flatmap is set.
type UpgradeRequest struct {
	TypeName string
	Version  int64             // the schema version it was written with
	JSON     []byte            // attributes as JSON
	Flatmap  map[string]string // attributes as states of Terraform 0.11 hold them
}

// An UpgradeIdentityRequest has the identity of an object as it is stored in a state file.
type UpgradeIdentityRequest struct {
	TypeName string
	Version  int64 // the version of the identity schema that it was written with
	JSON     []byte
}

// The fields Identity of requests and responses are set for types with an identity schema. cty.NilVal means that
// there is no identity. An identity in a request is completely known, but a planned identity may be unknown.

// A ReadRequest asks for the present value of an object.
type ReadRequest struct {
	TypeName string
	Prior    cty.Value
	Identity cty.Value // the stored identity
	Private  []byte
	Meta     cty.Value // the provider_meta block's value, or cty.NilVal
}

// A ReadResponse has the new value; it is null if the object no longer exists.
type ReadResponse struct {
	New      cty.Value
	Identity cty.Value
	Private  []byte
}

// A PlanRequest asks for the planned value of an object. Prior is null for a creation;
// Proposed and Config are null for a deletion.
type PlanRequest struct {
	TypeName string
	Prior    cty.Value
	Proposed cty.Value
	Config   cty.Value
	Identity cty.Value // of the prior object
	Private  []byte
	Meta     cty.Value
}

// A PlanResponse has the planned value.
type PlanResponse struct {
	Planned         cty.Value
	Identity        cty.Value // may be unknown, or unknown in part
	Private         []byte
	RequiresReplace []cty.Path
	// LegacyTypeSystem is set by providers on the old SDK. Most rules for the values in an answer do not apply
	// to them.
	LegacyTypeSystem bool
}

// An ApplyRequest asks to change an object from Prior to Planned. Planned and Config are null for a deletion,
// Prior for a creation.
type ApplyRequest struct {
	TypeName string
	Prior    cty.Value
	Planned  cty.Value
	Config   cty.Value
	Identity cty.Value // as planned
	Private  []byte
	Meta     cty.Value
}

// An ApplyResponse has the new value, even with errors. With errors it is the object as far as the provider
// knows it (cty.NilVal if the provider returned none).
type ApplyResponse struct {
	New              cty.Value
	Identity         cty.Value
	Private          []byte
	LegacyTypeSystem bool
	// Unanswered reports that the provider got the request and returned no answer, since it died, was killed,
	// or lost its connection. Nobody knows what it has done.
	Unanswered bool
}

// An ImportRequest asks for an object by its ID or by its identity: exactly one is set.
type ImportRequest struct {
	TypeName string
	ID       string
	Identity cty.Value // cty.NilVal: by ID
}

// Imported is one object that an import has found. It is incomplete until it is read.
type Imported struct {
	TypeName string
	State    cty.Value
	Identity cty.Value
	Private  []byte
}

// A MoveRequest asks to convert an object of another type into one of TargetType.
type MoveRequest struct {
	SourceProvider string // full source address
	SourceType     string
	SourceVersion  int64
	SourceJSON     []byte
	SourcePrivate  []byte
	// SourceIdentity is the stored identity; nil for none. SourceIdentityVersion is the version of the
	// identity schema that it was written with.
	SourceIdentity        []byte
	SourceIdentityVersion int64
	TargetType            string
}

// A MoveResponse has the object in its new type.
type MoveResponse struct {
	State    cty.Value
	Identity cty.Value
	Private  []byte
}

// A ListRequest asks for the objects of a list resource type, which has the same name as the managed type of
// the objects.
type ListRequest struct {
	TypeName string
	Config   cty.Value
	// Objects asks for whole objects, beside their identities.
	Objects bool
	Limit   int64
}

// Listed is one object that a list call has found, or a problem with one object.
type Listed struct {
	Identity    cty.Value // cty.NilVal beside an error
	DisplayName string
	Object      cty.Value // cty.NilVal if it was not asked for, or was not given
	Diagnostics diags.Diagnostics
}

// An OpenResponse holds an opened ephemeral resource.
type OpenResponse struct {
	Result  cty.Value
	Private []byte
	RenewAt time.Time // zero: never
}

// A RenewResponse is the answer to the renewal of an ephemeral object. RenewAt is when to renew it next.
type RenewResponse struct {
	Private []byte
	RenewAt time.Time // zero: never
}

// An InvokeResponse is the end of an action.
type InvokeResponse struct {
	// Unanswered is set if the provider was asked and did not report the end of the action, since it died, was
	// killed, or was cut off. Nobody knows what it has done.
	Unanswered bool
}

// A FunctionError is an error that a provider-defined function itself returns.
type FunctionError struct {
	Text     string
	Argument int // index of the argument at fault, or -1
}

func (e *FunctionError) Error() string { return e.Text }
