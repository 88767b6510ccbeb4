// Package provider is the engine's side of the conversation with providers: the
// calls that the engine makes ([Client]), and how plugin processes are started,
// shared and stopped.
//
// It refuses to know why a call is made: questions and the consequences of answers are for
// planning and applying. The sub-package process starts plugins,
// tfplugin speaks with them (tfplugin5 and tfplugin6 hold the differences of the two
// protocols), builtin is the provider that is part of the engine, install brings
// plugins to disk, providertest has providers for tests. Start at [Pool].
package provider

import (
	"context"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// A Client is one provider process (or an equivalent), before or after it was
// configured. All values it takes and gives are without marks and conform to the
// implied type of the type's schema; unknown values are allowed where said.
//
// Methods may be called by many goroutines at once. A call returns early, with an
// error diagnostic, when ctx ends; the provider may have done a part by then.
// Diagnostics carry the provider's attribute path in Attribute; the caller adds address
// and range. A broken connection (the plugin crashed) is an error diagnostic, too.
type Client interface {
	// Schema returns the provider's declarations. It asks the plugin once.
	Schema(ctx context.Context) (*schema.Provider, diags.Diagnostics)
	// ValidateProvider checks a provider block's value; unknowns allowed.
	ValidateProvider(ctx context.Context, config cty.Value) diags.Diagnostics
	// Configure gives the provider its configuration; unknowns allowed while planning.
	Configure(ctx context.Context, config cty.Value) diags.Diagnostics
	// Stop asks calls under way to end early. They still answer.
	Stop(ctx context.Context) error
	// Close ends the process. No call may be under way.
	Close() error

	Resources
	DataSources
	Ephemerals
	Lists
	Actions
	Functions
}

// Resources are the calls about managed resource types.
type Resources interface {
	ValidateResource(ctx context.Context, typeName string, config cty.Value) diags.Diagnostics
	UpgradeState(ctx context.Context, req UpgradeRequest) (cty.Value, diags.Diagnostics)
	// UpgradeIdentity is called for stored identities of older versions only.
	UpgradeIdentity(ctx context.Context, req UpgradeIdentityRequest) (cty.Value, diags.Diagnostics)
	Read(ctx context.Context, req ReadRequest) (ReadResponse, diags.Diagnostics)
	Plan(ctx context.Context, req PlanRequest) (PlanResponse, diags.Diagnostics)
	Apply(ctx context.Context, req ApplyRequest) (ApplyResponse, diags.Diagnostics)
	Import(ctx context.Context, req ImportRequest) ([]Imported, diags.Diagnostics)
	Move(ctx context.Context, req MoveRequest) (MoveResponse, diags.Diagnostics)
}

// DataSources are the calls about data sources.
type DataSources interface {
	ValidateData(ctx context.Context, typeName string, config cty.Value) diags.Diagnostics
	ReadData(ctx context.Context, typeName string, config, meta cty.Value) (cty.Value, diags.Diagnostics)
}

// Ephemerals are the calls about ephemeral resource types.
type Ephemerals interface {
	ValidateEphemeral(ctx context.Context, typeName string, config cty.Value) diags.Diagnostics
	OpenEphemeral(ctx context.Context, typeName string, config cty.Value) (OpenResponse, diags.Diagnostics)
	RenewEphemeral(ctx context.Context, typeName string, private []byte) (RenewResponse, diags.Diagnostics)
	CloseEphemeral(ctx context.Context, typeName string, private []byte) diags.Diagnostics
}

// Lists are the calls about list resource types, which find existing objects, and about the configuration for an object.
type Lists interface {
	ValidateList(ctx context.Context, req ListRequest) diags.Diagnostics
	// List calls found for each object, in the provider's order, until found returns false. The provider is told to stop then.
	List(ctx context.Context, req ListRequest, found func(Listed) bool) diags.Diagnostics
	// GenerateConfig returns the configuration for an object of a managed resource type. It is called only if the schema has GenerateConfig set.
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
	// CallFunction returns a *FunctionError if the function itself refused.
	CallFunction(ctx context.Context, name string, args []cty.Value) (cty.Value, error)
}

// An UpgradeRequest holds an object as a state file keeps it. One of JSON and
// Flatmap is set.
type UpgradeRequest struct {
	TypeName string
	Version  int64             // the schema version it was written with
	JSON     []byte            // attributes as JSON
	Flatmap  map[string]string // attributes as states of Terraform 0.11 hold them
}

// An UpgradeIdentityRequest holds the identity of an object as a state file keeps it.
type UpgradeIdentityRequest struct {
	TypeName string
	Version  int64 // the version of the identity schema that it was written with
	JSON     []byte
}

// Identities are in the requests and responses about objects of those types that have an identity schema. A request's
// is wholly known, except that a planned one may be unknown; cty.NilVal stands for none, in a response too.

// A ReadRequest asks for the present value of an object.
type ReadRequest struct {
	TypeName string
	Prior    cty.Value
	Identity cty.Value // the stored one
	Private  []byte
	Meta     cty.Value // the provider_meta block's value, or cty.NilVal
}

// A ReadResponse holds the new value: null if the object is gone.
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

// A PlanResponse holds the planned value.
type PlanResponse struct {
	Planned         cty.Value
	Identity        cty.Value // may be unknown, or unknown in part
	Private         []byte
	RequiresReplace []cty.Path
	// LegacyTypeSystem exempts the answer from most of the contract between values.
	LegacyTypeSystem bool
}

// An ApplyRequest asks to turn Prior into Planned. Planned and Config are
// null for a deletion, Prior for a creation.
type ApplyRequest struct {
	TypeName string
	Prior    cty.Value
	Planned  cty.Value
	Config   cty.Value
	Identity cty.Value // as planned
	Private  []byte
	Meta     cty.Value
}

// An ApplyResponse holds the new value, also beside errors: then it is the
// object as far as the provider knows (cty.NilVal if it did not tell).
type ApplyResponse struct {
	New              cty.Value
	Identity         cty.Value
	Private          []byte
	LegacyTypeSystem bool
	// Unanswered: the provider was asked and did not answer, since it died, was killed, or was cut off.
	// Nobody knows what it has done.
	Unanswered bool
}

// An ImportRequest asks for an object by its ID or by its identity: exactly one is set.
type ImportRequest struct {
	TypeName string
	ID       string
	Identity cty.Value // cty.NilVal: by ID
}

// Imported is one object found: a stub that a read completes.
type Imported struct {
	TypeName string
	State    cty.Value
	Identity cty.Value
	Private  []byte
}

// A MoveRequest asks to turn an object of another type into one of TargetType.
type MoveRequest struct {
	SourceProvider string // full source address
	SourceType     string
	SourceVersion  int64
	SourceJSON     []byte
	SourcePrivate  []byte
	// SourceIdentity is the stored identity, nil for none, and SourceIdentityVersion the version it was written with.
	SourceIdentity        []byte
	SourceIdentityVersion int64
	TargetType            string
}

// A MoveResponse holds the object in its new type.
type MoveResponse struct {
	State    cty.Value
	Identity cty.Value
	Private  []byte
}

// A ListRequest asks for the objects of a list resource type, which is named as the managed type of the objects.
type ListRequest struct {
	TypeName string
	Config   cty.Value
	// Objects asks for whole objects, beside their identities.
	Objects bool
	Limit   int64
}

// Listed is one object that was found, or a problem with one.
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

// A RenewResponse has the time of the next renewal.
type RenewResponse struct {
	Private []byte
	RenewAt time.Time // zero: never
}

// An InvokeResponse is the end of an action.
type InvokeResponse struct {
	// Unanswered: the provider was asked and did not report the end, since it died, was killed, or was cut off.
	// Nobody knows what it has done.
	Unanswered bool
}

// A FunctionError is a provider-defined function's own refusal.
type FunctionError struct {
	Text     string
	Argument int // index of the argument at fault, or -1
}

func (e *FunctionError) Error() string { return e.Text }
