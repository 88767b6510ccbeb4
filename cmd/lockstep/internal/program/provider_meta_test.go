package program

import (
	"testing"
)

// What a module says in provider_meta goes to the provider with every question, and is held against
// the provider's schema when there is one to ask.
func TestProviderMeta(t *testing.T) {
	t.Parallel()
	const required = "terraform {\n  required_providers {\n    lab = { source = \"lockstep/lab\" }\n  }\n"
	const thing = "resource \"lab_thing\" \"a\" {\n  name = \"a\"\n}\n"
	const module = required + "  provider_meta \"lab\" {\n    module = \"net\"\n  }\n}\n" + thing
	d := newLab(t, "main.tf", "module \"m\" {\n  source = \"./m\"\n  count  = 2\n}\n", "m/main.tf", module)
	d.want(0, "init")
	d.want(0, "apply -auto-approve", "2 added")
	d.want(0, "state show module.m[1].lab_thing.a", `module = "net"`)
	d.want(0, "plan -detailed-exitcode")
	// Of the module instance that goes nothing can be evaluated any more.
	d.Write("main.tf", "module \"m\" {\n  source = \"./m\"\n  count  = 1\n}\n")
	d.want(0, "apply -auto-approve", "1 destroyed")

	// The values are written out, and the name is a provider's.
	d.Write("main.tf", required+"  provider_meta \"lab\" {\n    module = \"net-${var.suffix}\"\n  }\n}\nvariable \"suffix\" {}\n"+thing)
	d.want(1, "init", "Variables not allowed", "provider_meta block", `value of "module"`)
	d.want(1, "validate", "Variables not allowed")
	d.Write("main.tf", "terraform {\n  provider_meta \"bad_name\" {\n    x = 1\n  }\n}\n")
	d.want(1, "init", "Invalid provider local name", `"bad_name"`)
	d.want(1, "validate", "Invalid provider local name")

	d.Write("main.tf", required+"  provider_meta \"lab\" {\n    nonsense = 1\n  }\n}\n"+thing)
	d.want(0, "init")
	d.want(0, "validate")
	d.want(1, "plan", "Unsupported argument", `An argument named "nonsense"`)
	d.Write("main.tf", required+"  provider_meta \"time\" {\n  }\n}\nresource \"time_static\" \"a\" {}\n")
	d.want(0, "init")
	d.want(0, "validate")
	d.want(1, "plan", "Provider registry.terraform.io/hashicorp/time doesn't support provider_meta", "time_static.a belongs to")
	d.Write("main.tf", required+"  provider_meta \"time\" {\n  }\n}\n"+thing)
	d.want(0, "plan") // of which nobody is asked
}
