package modules

import (
	"net/http"

	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/config/source/getting"
	"github.com/lockstep-iac/lockstep/engine/config/source/installing"
	"github.com/lockstep-iac/lockstep/engine/hosts"
	"github.com/lockstep-iac/lockstep/engine/oci"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
)

// PipelineOptions are the allowed sources of a pull request's modules.
type PipelineOptions struct {
	// Host returns an error for a registry or a server of archives that is not allowed. It does not decide
	// about repositories on GitHub: see Repository.
	Host func(name string) error
	// Private reports whether a host may be in a private network because the base branch itself names the host.
	// nil allows no such host.
	Private func(name string) bool
	// Repository fetches repositories of GitHub; see [Repository].
	Repository Repository
	// Transport makes the HTTP connections. nil means a transport that connects only to public addresses, and
	// to hosts in private networks that Private allows.
	Transport http.RoundTripper
	// Bucket decides about modules in buckets of S3.
	Bucket Bucket
	// Token returns the tokens for hosts of registries that the base branch gives to the project. nil means no
	// tokens.
	Token hosts.Tokens
}

// Pipeline returns the installer of the modules of a checkout. dir is the root module's directory on this
// machine. Modules go to its data directory ".terraform". The caller must have removed that directory before,
// because the repository may contain a link with that name.
func Pipeline(dir string, tree source.Tree, o PipelineOptions) *installing.Installer {
	policy := hosts.Policy{Host: o.Host, PublicOnly: true, Private: o.Private}
	get := &getting.Getters{Policy: policy, Transport: o.Transport}
	if o.Repository != nil {
		get.More = append(get.More, githubGetter{o.Repository})
	}
	limits := getting.DefaultLimits
	web := (&hosts.Client{Policy: policy, Transport: o.Transport}).HTTP()
	artifacts := &oci.Client{Policy: policy, Transport: o.Transport, Credentials: oci.FromTokens(o.Token), Remedy: func(host string) string {
		return jobs.TokenRemedy(hosts.TokenVariable(host))
	}}
	get.More = append(get.More, gitGetter{policy, web, o.Token, limits}, getting.OCI(artifacts, limits), o.Bucket.getter(limits))
	client := &hosts.Client{Policy: policy, Transport: o.Transport, Retries: 1, Token: o.Token, Remedy: jobs.TokenRemedy}
	return &installing.Installer{
		Tree: tree, Root: dir, DataDir: ".terraform", Registry: installing.NewRegistries(client, nil), Fetch: get.Fetch,
	}
}
