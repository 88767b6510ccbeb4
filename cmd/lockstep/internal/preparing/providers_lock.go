package preparing

import (
	"fmt"
	"net/url"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/provider/install"
	"github.com/lockstep-iac/lockstep/functions/workdir"
)

var ProvidersLock = cli.Command{Name: "providers lock", Synopsis: "Record the checksums of providers' packages for platforms", Run: func(a *cli.App, args []string) int {
	o := workdir.ChecksumOptions{Events: func(e install.Event) { fmt.Fprintln(a.Out, e) }}
	var platforms cli.ListFlag
	f := a.NewFlags("providers lock", "providers lock [OPTIONS] [PROVIDER...]")
	f.Vars(&cli.VarFlags{}) // sources of modules may need them
	f.StringVar(&o.FilesystemMirror, "fs-mirror", "", "use this directory instead of the registries")
	f.StringVar(&o.NetworkMirror, "net-mirror", "", "use the mirror at this URL instead of the registries")
	f.Var(&platforms, "platform", "a platform such as linux_amd64; may be given several times (default: this one)")
	f.BoolVar(&o.PluginCache, "enable-plugin-cache", false, "use packages in the plugin cache without downloading them")
	f.String("test-directory", "tests", "")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if o.FilesystemMirror != "" && o.NetworkMirror != "" {
		return f.Refuse("Invalid installation method options", "-fs-mirror and -net-mirror exclude each other")
	}
	if u, err := url.Parse(o.NetworkMirror); o.NetworkMirror != "" && (err != nil || u.Scheme != "https" || u.Host == "") {
		return f.Refuse("Invalid network mirror URL", "-net-mirror needs the https URL that the mirror's documents are below")
	}
	var ds diags.Diagnostics
	if o.Platforms, ds = parsePlatforms(platforms); ds.HasErrors() {
		return a.Show(ds)
	}
	if o.FilesystemMirror != "" {
		o.FilesystemMirror = a.Path(o.FilesystemMirror)
	}
	d, reqs, ds := configured(a)
	if ds = append(ds, pick(reqs, f.Args())...); ds.HasErrors() {
		return a.Show(ds)
	}
	changed, more := d.LockChecksums(a.Ctx, reqs, o)
	if ds = append(ds, more...); ds.HasErrors() {
		return a.Show(ds)
	}
	if changed {
		fmt.Fprintf(a.Out, "\n%s\n\nReview the changes in .terraform.lock.hcl and then commit to your\nversion control system to retain the new checksums.\n\n", a.Print().Bold("Success! Lockstep has updated the lock file."))
	} else {
		fmt.Fprintf(a.Out, "\n%s\n", a.Print().Bold("Success! Lockstep has validated the lock file and found no need for changes."))
	}
	return a.Show(ds)
}}

// configured opens the working directory and reads the configuration. It returns the providers that the
// configuration needs. Providers that only the state needs are left out.
func configured(a *cli.App) (*workdir.Dir, install.Requirements, diags.Diagnostics) {
	d, ds := a.Dir()
	cfg, more := a.LoadIfAny(d)
	if ds = append(ds, more...); ds.HasErrors() {
		return d, nil, ds
	}
	reqs, more := workdir.Requirements(cfg, nil)
	return d, reqs, append(ds, more...)
}

// pick removes from reqs all providers that are not in names. If names is empty, it removes none. A name without
// a host means the provider in reqs, of the registry of Terraform or of OpenTofu.
func pick(reqs install.Requirements, names []string) (ds diags.Diagnostics) {
	named := map[addrs.Provider]bool{}
	for _, name := range names {
		p, err := addrs.ParseProvider(name)
		if err != nil {
			ds = append(ds, diags.FromError("Invalid provider source string", err)...)
			continue
		}
		if tofu, _ := addrs.ParseProviderIn(addrs.OpenTofuRegistryHost, name); has(reqs, tofu) {
			p = tofu
		}
		if !has(reqs, p) {
			ds = append(ds, diags.Errorf(nil, "Invalid provider argument", "The provider %s is not required by the current configuration.", p)...)
		}
		named[p] = true
	}
	for p := range reqs {
		if len(names) > 0 && !named[p] {
			delete(reqs, p)
		}
	}
	return ds
}

func has(reqs install.Requirements, p addrs.Provider) bool {
	_, ok := reqs[p]
	return ok
}

// parsePlatforms parses the values of the option -platform. Without values, it returns the platform of this
// program.
func parsePlatforms(given []string) (platforms []install.Platform, ds diags.Diagnostics) {
	for _, text := range given {
		p, err := install.ParsePlatform(text)
		ds = append(ds, diags.FromError("Invalid target platform", err)...)
		platforms = append(platforms, p)
	}
	if len(given) == 0 {
		platforms = append(platforms, install.CurrentPlatform())
	}
	return platforms, ds
}
