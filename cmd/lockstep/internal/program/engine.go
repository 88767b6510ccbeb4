package program

import (
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/authoring"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/changing"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/preparing"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/statekeeping"
)

// Engine returns the table of the commands that need only the engine and not the pipeline, in the order of the
// help.
func Engine() cli.Table {
	var t cli.Table
	t.Add(cli.Terraform, preparing.Init, "Configures the backend, and installs modules and providers. Run it first in a directory, and again after a change of one of the three.", "lockstep init -upgrade")
	t.Add(cli.Terraform, authoring.Validate, "Checks the configuration without reading the state or asking a provider's server. It finds wrong types, names and references.", "lockstep validate -json")
	t.Add(cli.Terraform, changing.Plan, "Reads the real objects and shows the changes that an apply would make. With -out it saves the plan, and apply then makes exactly these changes.", "lockstep plan -out=tfplan")
	t.Add(cli.Terraform, changing.Apply, "Makes a plan, asks for your approval, and applies it. With a saved plan, it does not ask.", "lockstep apply tfplan")
	t.Add(cli.Terraform, changing.Destroy, "Plans the destruction of all objects in the state, and asks for your approval. It is the same as apply -destroy.", "lockstep destroy -target=aws_instance.web")
	t.Add(cli.Terraform, changing.Refresh, "Reads the real objects and writes their attributes into the state. Prefer plan -refresh-only, which shows them first.", "lockstep refresh")
	t.Add(cli.Terraform, statekeeping.Show, "Shows the stored state, or a saved plan or state file. With -json, programs can read it.", "lockstep show -json tfplan")
	t.Add(cli.Terraform, statekeeping.Output, "Shows the values of the root module's outputs. With a name it shows one of them.", "lockstep output -raw url")
	t.Add(cli.Terraform, authoring.Console, "Evaluates expressions against the configuration and the state. It changes nothing.", "lockstep console")
	t.Add(cli.Terraform, authoring.Fmt, "Rewrites configuration files in the canonical format. With -check it changes nothing, and its exit code is 3 if a file is not formatted.", "lockstep fmt -recursive -check")
	t.Add(cli.Terraform, preparing.Get, "Installs the modules that the configuration calls. The command init does the same, and more.", "lockstep get -update")
	t.Add(cli.Terraform, authoring.Graph, "Writes the graph of dependencies in the DOT language. Graphviz draws it.", "lockstep graph | dot -Tsvg > graph.svg")
	t.Add(cli.Terraform, changing.Import, "Adds an existing object to the state, under an address of the configuration. An import block does the same, and shows a plan first.", "lockstep import aws_instance.web i-0abc12")
	t.Add(cli.Terraform, preparing.Login, "Gets a token from a host and saves it for later commands. Registries and module sources of the host then ask with it.", "lockstep login registry.example.com")
	t.Add(cli.Terraform, preparing.Logout, "Removes the token of a host that login has saved. The token stays valid on the host.", "lockstep logout registry.example.com")
	t.Add(cli.Terraform, authoring.MetadataFunctions, "Prints the signatures of all built-in functions as JSON. Editors use it to complete and check expressions.", "lockstep metadata functions -json")
	t.Add(cli.Terraform, authoring.Why, "Shows which lines of the configuration cause a change of a saved plan: for each attribute the references, and the place where they end. With -since, it shows only lines that the branch has changed.", "lockstep why -since=origin/main aws_instance.web.tags")
	t.Add(cli.Terraform, authoring.Risks, "Shows what a saved plan destroys, opens and widens: databases, ports, buckets, policies. It also counts the objects that depend on what changes.", "lockstep risks -stateful=acme_ledger")
	t.Add(cli.Terraform, cli.Group("metadata", "Details of the language, for programs"), "Describes the language for programs, such as editors. Its output is JSON.", "lockstep metadata functions -json")
	t.Add(cli.Terraform, preparing.Modules, "Lists the modules that the configuration calls, with their sources and versions. It reads what init has installed.", "lockstep modules -json")
	t.Add(cli.Terraform, cli.Version, "Shows the version of Lockstep, and the versions of the providers that the lock file selects. The first line names the version of the Terraform language.", "lockstep version -json")
	t.Add(cli.Terraform, changing.Test, "Runs the tests of a module: it plans and applies the module as test files say, and compares the results with assertions. At the end it destroys everything that it has made.", "lockstep test -filter=tests/main.tftest.hcl")
	t.Add(cli.Terraform, changing.Query, "Finds existing objects by the list blocks of query files (*.tfquery.hcl), whether the state has them or not. With -generate-config-out it writes the blocks that import them.", "lockstep query -generate-config-out=found.tf")
	t.Add(cli.State, cli.Group("state", "Inspect and edit the state"), "Lists, shows, moves and removes objects in the state. Each command that changes the state locks it and keeps a backup.", "lockstep state list")
	t.Add(cli.State, statekeeping.StateList, "Lists the addresses of the objects in the state. Addresses and -id choose some of them.", "lockstep state list module.net")
	t.Add(cli.State, statekeeping.StateIdentities, "Prints the identities of the objects in the state, by address. An identity is what a provider finds an object by, for example in an import block. Addresses and -id choose some of the objects.", "lockstep state identities -json module.net")
	t.Add(cli.State, statekeeping.StateShow, "Shows the attributes of one object, as the state has them. Sensitive values are hidden, but not with -json.", "lockstep state show 'aws_instance.web[0]'")
	t.Add(cli.State, statekeeping.StateMv, "Moves objects of the state to another address, and changes no real object. A moved block does the same in a plan.", "lockstep state mv aws_instance.old aws_instance.web")
	t.Add(cli.State, statekeeping.StateRm, "Removes objects from the state, and does not destroy the real ones. A removed block does the same in a plan.", "lockstep state rm aws_instance.web")
	t.Add(cli.State, statekeeping.StatePull, "Writes the stored state to standard output, in Terraform's format. It changes nothing.", "lockstep state pull > backup.tfstate")
	t.Add(cli.State, statekeeping.StatePush, "Replaces the stored state with a state file of the same lineage that is not older. With -force, it replaces any state.", "lockstep state push errored.tfstate")
	t.Add(cli.State, statekeeping.StateReplaceProvider, "Changes the provider of resources in the state. Use it after a provider has moved to another namespace.", "lockstep state replace-provider hashicorp/foo acme/foo")
	t.Add(cli.State, statekeeping.Recover, "Brings the results of a killed apply into the state, and lists objects that may exist outside the state. For each of these, you decide with -forget or -retry.", "lockstep recover -retry aws_instance.web")
	t.Add(cli.State, statekeeping.ForceUnlock, "Releases the state lock of a process that has died. Prefer recover, which also releases the lock and loses no change.", "lockstep force-unlock 6638e010-8fb0-7a4c")
	t.Add(cli.State, statekeeping.Taint, "Marks an object as tainted, so that the next plan replaces it. Prefer plan -replace=ADDRESS, which shows the replacement at once.", "lockstep taint aws_instance.web")
	t.Add(cli.State, statekeeping.Untaint, "Removes the mark from a tainted object. The next plan then does not replace it.", "lockstep untaint aws_instance.web")
	t.Add(cli.State, cli.Group("workspace", "Keep several states for one configuration"), "Lists, creates, selects and deletes workspaces. Each has a state of its own.", "lockstep workspace list")
	for _, family := range []string{"workspace", "env"} {
		t.Add(cli.State, statekeeping.WorkspaceList(family), "Lists the workspaces. A star marks the selected one.", "lockstep workspace list")
		t.Add(cli.State, statekeeping.WorkspaceNew(family), "Creates a workspace with an empty state, and selects it. With -state, it copies a state file into the workspace.", "lockstep workspace new staging")
		t.Add(cli.State, statekeeping.WorkspaceSelect(family), "Selects a workspace for the commands that follow. The environment variable TF_WORKSPACE does the same for one command.", "lockstep workspace select staging")
		t.Add(cli.State, statekeeping.WorkspaceShow(family), "Shows the name of the selected workspace. A new directory has the workspace default.", "lockstep workspace show")
		t.Add(cli.State, statekeeping.WorkspaceDelete(family), "Deletes a workspace whose state is empty. With -force, it deletes the state too, and the real objects stay unmanaged.", "lockstep workspace delete staging")
	}
	t.Add(cli.State, preparing.Providers, "Shows which modules require which providers, and which providers the state has. It reads files and the state only.", "lockstep providers")
	t.Add(cli.State, preparing.ProvidersLock, "Records the checksums of providers' packages in the lock file, for the platforms that you name. Then the same packages are used everywhere.", "lockstep providers lock -platform=linux_arm64")
	t.Add(cli.State, preparing.ProvidersMirror, "Copies the packages of all providers in use into a directory. Machines without a network install from there.", "lockstep providers mirror ./mirror")
	t.Add(cli.State, preparing.ProvidersSchema, "Prints the schemas of all providers in use as JSON. Editors and checks read them.", "lockstep providers schema -json")
	t.Add(cli.State, cli.Group("env", "Deprecated name of `workspace`"), "Is the former name of the command workspace. Use workspace instead.", "lockstep workspace list")
	return t
}
