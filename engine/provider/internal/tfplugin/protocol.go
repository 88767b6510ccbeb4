// Package tfplugin makes the calls of package provider to plugins over gRPC. It has everything that protocols
// 5 and 6 have in common, which is nearly all. A [Protocol] has the differences; packages tfplugin5 and
// tfplugin6 define one each.
//
// It does not start or end plugins: package process does. Start at [New].
package tfplugin

import "github.com/lockstep-iac/lockstep/engine/schema"

// A Protocol has what differs between the two major versions of the plugin protocol, 5 and 6: the names of
// methods, and the form of schemas.
type Protocol struct {
	Version int
	// Service is the gRPC service, for instance "tfplugin6.Provider".
	Service string
	// These methods have different names in the two protocols.
	GetSchema, ValidateProvider, ValidateResource, ValidateData, Configure, Stop string
	// Schema decodes one schema message.
	Schema func(raw []byte, types *Types) (*schema.Schema, error)
}

// These methods have the same names in both protocols.
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
