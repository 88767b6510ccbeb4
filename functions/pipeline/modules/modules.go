package modules

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/config/source/getting"
	"github.com/lockstep-iac/lockstep/engine/config/source/installing"
	"github.com/lockstep-iac/lockstep/engine/config/source/registry"
	"github.com/lockstep-iac/lockstep/engine/hosts"
	"github.com/lockstep-iac/lockstep/functions/workdir"
)

// HTTPVariable is the environment variable by which a user of the command line lets
// modules come over plain http.
const HTTPVariable = "LOCKSTEP_HTTP_MODULES"

// Options are a person's.
type Options struct {
	Upgrade bool
	Events  func(installing.Event)
}

// CommandLine returns what installs modules into a person's working directory, with
// that person's rights: their git, their netrc file, their tokens for registries.
// A manifest that cannot be read is taken for none.
func CommandLine(d *workdir.Dir, o Options) *installing.Installer {
	known, err := d.Installed()
	if err != nil {
		known = nil
	}
	allow, _ := strconv.ParseBool(d.Getenv(HTTPVariable))
	policy := hosts.Policy{HTTP: allow}
	client := &hosts.Client{
		Policy: policy, Token: d.CLI.Token,
		Retries: number(d.Getenv("TF_REGISTRY_DISCOVERY_RETRY"), 1),
		Timeout: time.Duration(number(d.Getenv("TF_REGISTRY_CLIENT_TIMEOUT"), 10)) * time.Second,
	}
	get := &getting.Getters{Policy: policy, Netrc: true, More: []getting.Getter{
		getting.Git(getting.GitOptions{Policy: policy, Environ: d.Environ, Files: true}),
		s3Getter{policy, getting.DefaultLimits},
		getting.Directory(),
	}}
	dataDir, err := filepath.Rel(d.Path, d.DataDir)
	if err != nil || filepath.IsAbs(d.Getenv("TF_DATA_DIR")) {
		dataDir = d.DataDir
	}
	return &installing.Installer{
		Tree: source.Dir(d.Path), Root: d.Path, DataDir: filepath.ToSlash(dataDir),
		Registry: registry.New(client, d.CLI.Service), Fetch: hinting(get.Fetch, policy),
		Known: known, Upgrade: o.Upgrade, Events: o.Events, Early: d.Early(),
	}
}

// hinting tells a person how plain http could be allowed.
func hinting(fetch installing.Fetch, policy hosts.Policy) installing.Fetch {
	return func(ctx context.Context, address, dir string) error {
		err := fetch(ctx, address, dir)
		if _, url, _ := strings.Cut("::"+address, "::"); err != nil && !policy.HTTP &&
			(strings.HasPrefix(url, "http://") || strings.Contains(url, "::http://")) {
			err = fmt.Errorf("%w; anybody on the way could change what comes over plain http: use https, or set %s=1 if that does not matter here", err, HTTPVariable)
		}
		return err
	}
}

// number reads a setting; what is none, or negative, is the default.
func number(text string, otherwise int) int {
	if n, err := strconv.Atoi(text); err == nil && n >= 0 {
		return n
	}
	return otherwise
}

// PipelineOptions say what a pull request's modules may come from.
type PipelineOptions struct {
	// Host says why a host may not be asked, nil if it may, registries' and archives' alike.
	// GitHub's repositories do not depend on it: see Repository.
	Host func(name string) error
	// Repository fetches repositories of GitHub; see [Repository].
	Repository Repository
	// Transport makes the connections of http; nil stands for one that connects to public
	// addresses only.
	Transport http.RoundTripper
}

// Pipeline returns what installs the modules that the configuration in a checkout
// calls. dir is the root module's directory on this machine; modules go to its data
// directory ".terraform", which the caller has removed: a repository may have put a
// link there. Registries are asked without tokens.
func Pipeline(dir string, tree source.Tree, o PipelineOptions) *installing.Installer {
	policy := hosts.Policy{Host: o.Host, PublicOnly: true}
	get := &getting.Getters{Policy: policy, Transport: o.Transport, More: []getting.Getter{noS3{}}}
	if o.Repository != nil {
		get.More = append(get.More, githubGetter{o.Repository})
	}
	client := &hosts.Client{Policy: policy, Transport: o.Transport, Retries: 1}
	return &installing.Installer{
		Tree: tree, Root: dir, DataDir: ".terraform", Registry: registry.New(client, nil), Fetch: get.Fetch,
	}
}
