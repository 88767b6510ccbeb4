package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"

	"github.com/lockstep-iac/lockstep/engine/provider/install/lockfile"
)

// versionInfo is the output of `version -json`. Programs that run terraform read two of its members:
// terraform_version, to learn which features of Terraform they can use, and provider_selections.
type versionInfo struct {
	TerraformVersion   string            `json:"terraform_version"`
	Platform           string            `json:"platform"`
	ProviderSelections map[string]string `json:"provider_selections"`
	TerraformOutdated  bool              `json:"terraform_outdated"`
	// LockstepVersion is omitted if a program reads the output (TF_IN_AUTOMATION), because some programs accept
	// only the JSON members that they know.
	LockstepVersion string `json:"lockstep_version,omitempty"`
	BuiltFrom       *built `json:"built_from,omitempty"`
}

var Version = Command{Name: "version", Synopsis: "Show the versions of Lockstep and of the selected providers", Run: func(a *App, args []string) int {
	var asJSON bool
	f := a.NewFlags("version", "version [OPTIONS]")
	f.BoolVar(&asJSON, "json", false, "print JSON, with details of the build unless TF_IN_AUTOMATION is set")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	info := versionInfo{
		TerraformVersion: a.Language().Release(),
		Platform:         runtime.GOOS + "_" + runtime.GOARCH, ProviderSelections: a.selections(),
	}
	if !a.InAutomation() {
		from := builtFrom(debug.ReadBuildInfo())
		info.LockstepVersion, info.BuiltFrom = a.Version, &from
	}
	if asJSON {
		data, err := json.MarshalIndent(info, "", "  ")
		return a.WriteJSON(data, err)
	}
	// The first line is the same as Terraform's, because programs parse it.
	fmt.Fprintf(a.Out, "Terraform v%s\nLockstep v%s, which speaks as Terraform %[1]s where programs listen\non %[3]s\n", info.TerraformVersion, a.Version, info.Platform)
	for _, p := range slices.Sorted(maps.Keys(info.ProviderSelections)) {
		fmt.Fprintf(a.Out, "+ provider %s v%s\n", p, info.ProviderSelections[p])
	}
	return 0
}}

// selections returns the versions of the providers in the dependency lock file.
func (a *App) selections() map[string]string {
	out := map[string]string{}
	d, _ := a.Dir()
	lock, ds := lockfile.Read(d.LockFile())
	if ds.HasErrors() {
		return out
	}
	for _, p := range lock.Providers() {
		if l, ok := lock.Lock(p); ok {
			out[p.String()] = l.Version.String()
		}
	}
	return out
}
