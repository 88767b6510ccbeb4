package modules

import (
	"net/http"

	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/config/source/getting"
	"github.com/lockstep-iac/lockstep/engine/config/source/installing"
	"github.com/lockstep-iac/lockstep/engine/config/source/registry"
	"github.com/lockstep-iac/lockstep/engine/hosts"
)

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
