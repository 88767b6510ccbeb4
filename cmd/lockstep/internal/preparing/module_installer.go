package preparing

import (
	"path/filepath"
	"strconv"
	"time"

	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/config/source/getting"
	"github.com/lockstep-iac/lockstep/engine/config/source/installing"
	"github.com/lockstep-iac/lockstep/engine/hosts"
	"github.com/lockstep-iac/lockstep/engine/oci"
	"github.com/lockstep-iac/lockstep/engine/provider/install/cliconfig"
	"github.com/lockstep-iac/lockstep/functions/modules/buckets"
	"github.com/lockstep-iac/lockstep/functions/workdir"
)

// httpVariable is the environment variable that allows downloading modules over http, without TLS.
const httpVariable = "LOCKSTEP_HTTP_MODULES"

// moduleOptions are the options of a command that installs modules.
type moduleOptions struct {
	Upgrade bool
	Events  func(installing.Event)
}

// moduleInstaller returns the installer of modules for a working directory. It downloads with the user's
// rights: git, the netrc file, tokens for registries, and the environment's credentials for S3. A manifest of
// installed modules that cannot be read counts as missing.
func moduleInstaller(d *workdir.Dir, o moduleOptions) *installing.Installer {
	known, err := d.Installed()
	if err != nil {
		known = nil
	}
	allow, _ := strconv.ParseBool(d.Getenv(httpVariable))
	policy := hosts.Policy{HTTP: allow, HTTPRemedy: "plain http is open to manipulation: use https, or set " + httpVariable + "=1 to allow it"}
	client := &hosts.Client{
		Policy: policy, Token: cliconfig.OpenCredentials(d.CLI).Token,
		Retries: numberOr(d.Getenv("TF_REGISTRY_DISCOVERY_RETRY"), 1),
		Timeout: time.Duration(numberOr(d.Getenv("TF_REGISTRY_CLIENT_TIMEOUT"), 10)) * time.Second,
	}
	get := &getting.Getters{Policy: policy, Netrc: true, More: []getting.Getter{
		getting.Git(getting.GitOptions{Policy: policy, Environ: d.Environ, Files: true}),
		buckets.Getter{Policy: policy, Limits: getting.DefaultLimits, Config: bucketConfig},
		getting.OCI(&oci.Client{Policy: policy, Credentials: d.CLI.OCI.Credentials(d.Getenv)}, getting.DefaultLimits),
		getting.Directory(),
	}}
	dataDir, err := filepath.Rel(d.Path, string(d.DataDir))
	if err != nil || filepath.IsAbs(d.Getenv("TF_DATA_DIR")) {
		dataDir = string(d.DataDir)
	}
	return &installing.Installer{
		Tree: source.Dir(d.Path), Root: d.Path, DataDir: filepath.ToSlash(dataDir),
		Registry: installing.NewRegistries(client, d.CLI.Service), Fetch: get.Fetch,
		Known: known, Upgrade: o.Upgrade, Events: o.Events, Early: d.Early(), Language: d.Language(),
	}
}

// numberOr parses a number in a setting. It returns fallback if the number is invalid or negative.
func numberOr(text string, fallback int) int {
	if n, err := strconv.Atoi(text); err == nil && n >= 0 {
		return n
	}
	return fallback
}
