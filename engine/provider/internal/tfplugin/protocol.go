// Package tfplugin speaks with provider plugins over gRPC: it adapts the calls of
// package provider to the wire. The common part of protocols 5 and 6, nearly everything, is
// here; the rest of each is a [Protocol] in tfplugin5 and tfplugin6.
//
// It refuses to know how a connection came about and how a plugin ends: package
// process does. Start at [New].
package tfplugin

import "github.com/lockstep-iac/lockstep/engine/schema"

// A Protocol holds what differs between the two major versions of the plugin protocol, 5 and 6: the names of
// methods, and the form of schemas.
type Protocol struct {
	Version int
	// Service is the gRPC service, for instance "tfplugin6.Provider".
	Service string
	// The methods whose names differ between the protocols.
	GetSchema, ValidateProvider, ValidateResource, ValidateData, Configure, Stop string
	// Schema decodes one schema message.
	Schema func(raw []byte, types *Types) (*schema.Schema, error)
}

// The methods of one name.
const (
	identitySchemas   = "GetResourceIdentitySchemas"
	upgradeState      = "UpgradeResourceState"
	upgradeIdentity   = "UpgradeResourceIdentity"
	readResource      = "ReadResource"
	planChange        = "PlanResourceChange"
	applyChange       = "ApplyResourceChange"
	importState       = "ImportResourceState"
	moveState         = "MoveResourceState"
	readData          = "ReadDataSource"
	validateList      = "ValidateListResourceConfig"
	listResource      = "ListResource"
	generateConfig    = "GenerateResourceConfig"
	callFunction      = "CallFunction"
	validateEphemeral = "ValidateEphemeralResourceConfig"
	openEphemeral     = "OpenEphemeralResource"
	renewEphemeral    = "RenewEphemeralResource"
	closeEphemeral    = "CloseEphemeralResource"
	validateAction    = "ValidateActionConfig"
	planAction        = "PlanAction"
	invokeAction      = "InvokeAction"
)
