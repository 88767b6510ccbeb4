// Package provisioning has the schemas of provisioner and connection blocks, and the command of a local-exec
// block.
//
// It runs nothing: it returns a command as a value ([Command]), for a caller that may run commands. Package
// applying decides when provisioners run, and what a failure means. Start at [Schema] and [LocalExec].
package provisioning

import (
	"errors"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// Types are the types of provisioners in the language. Only local-exec can be run.
// Source: https://developer.hashicorp.com/terraform/language/provisioners
var Types = []string{"file", "local-exec", "remote-exec"}

// Schema returns the schema of a provisioner's block; nil if there is no provisioner of that type.
func Schema(name string) *schema.Block { return blocks[name] }

// Connection returns the arguments of connection blocks, for all types of connection.
func Connection() *hcl.BodySchema { return connection }

func optional(ty cty.Type) *schema.Attribute { return &schema.Attribute{Type: ty, Optional: true} }

func required(ty cty.Type) *schema.Attribute { return &schema.Attribute{Type: ty, Required: true} }

var blocks = map[string]*schema.Block{
	"local-exec": {Attributes: map[string]*schema.Attribute{
		"command": required(cty.String), "interpreter": optional(cty.List(cty.String)), "working_dir": optional(cty.String),
		"environment": optional(cty.Map(cty.String)), "quiet": optional(cty.Bool),
	}},
	"remote-exec": {Attributes: map[string]*schema.Attribute{
		"inline": optional(cty.List(cty.String)), "script": optional(cty.String), "scripts": optional(cty.List(cty.String)),
	}},
	"file": {Attributes: map[string]*schema.Attribute{
		"source": optional(cty.String), "content": optional(cty.String), "destination": required(cty.String),
	}},
}

// connection has the arguments of ssh and winrm connections, and the arguments for proxies.
// Source: https://developer.hashicorp.com/terraform/language/provisioners (connection)
var connection = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{
	{Name: "host", Required: true},
	{Name: "type"}, {Name: "user"}, {Name: "password"}, {Name: "port"}, {Name: "timeout"}, {Name: "script_path"}, {Name: "target_platform"},
	{Name: "private_key"}, {Name: "certificate"}, {Name: "host_key"}, {Name: "agent"}, {Name: "agent_identity"},
	{Name: "proxy_scheme"}, {Name: "proxy_host"}, {Name: "proxy_port"}, {Name: "proxy_user_name"}, {Name: "proxy_user_password"},
	{Name: "bastion_host"}, {Name: "bastion_host_key"}, {Name: "bastion_port"}, {Name: "bastion_user"},
	{Name: "bastion_password"}, {Name: "bastion_private_key"}, {Name: "bastion_certificate"},
	{Name: "https"}, {Name: "insecure"}, {Name: "cacert"}, {Name: "use_ntlm"},
}}

// Check returns an error if the value of a provisioner's block breaks a rule that the schema cannot express.
func Check(name string, v cty.Value) error {
	given := 0
	count := func(attrs ...string) {
		for _, attr := range attrs {
			if a := v.GetAttr(attr); !a.IsKnown() || !a.IsNull() {
				given++
			}
		}
	}
	switch name {
	case "remote-exec":
		if count("inline", "script", "scripts"); given != 1 {
			return errors.New(`One of "inline", "script" and "scripts" must be given, and only one.`)
		}
	case "file":
		if count("source", "content"); given != 1 {
			return errors.New(`Either "source" or "content" must be given.`)
		}
	}
	return nil
}

// Refused returns the error for a provisioner that would have to run, but cannot or must not. name is the
// type of the provisioner. address is the object that has the provisioner.
func Refused(name string, place *hcl.Range, address string) diags.Diagnostics {
	if name == "local-exec" {
		return diags.Errorf(place, "Provisioners are not run here",
			"%s has a local-exec provisioner that would have to run a command on the machine that applies the plan. That is not allowed here: apply this change with the command line tool, or take out the provisioner. Nothing has been changed.", address).At(address)
	}
	return diags.Errorf(place, "Unsupported provisioner",
		"%s has a provisioner of the type %s, which Lockstep does not run. Let the object set itself up (by user data or an image), or use a local-exec provisioner. Nothing has been changed.", address, name).At(address)
}
