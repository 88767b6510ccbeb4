package modules

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/config/source/installing"
	"github.com/lockstep-iac/lockstep/engine/config/testfiles"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/hosts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/subprocess"
	"github.com/lockstep-iac/lockstep/github"
)

// An App fetches repositories of GitHub. *github.App implements it.
type App interface {
	// Fetch fetches a repository that the installation can access into dir. FetchPublic fetches a repository
	// that everybody may read. The errors wrap github.ErrNotFound if the repository or the ref does not exist.
	Fetch(ctx context.Context, installation int64, r github.Ref, dir string) error
	FetchPublic(ctx context.Context, r github.Ref, dir string) error
	// OfGitHubCom reports whether the App's repositories are on github.com.
	OfGitHubCom() bool
}

// Remote installs the remote modules of a pull request's configuration, if the base branch allows them: see the
// package's documentation.
type Remote struct {
	App App
	// Proxy fetches repositories in a process that does not have the App. It is used instead of App. It sends
	// the request to another process, which has the App and calls [Remote.Fetch].
	Proxy Repository
	// Transport makes the connections to registries and servers of archives. nil means a transport that
	// connects to public addresses only. With any Transport, an address that is written as a number must be
	// public.
	Transport http.RoundTripper
}

// These are the limits for all modules of a configuration. The limit of their bytes is half of the disk of a
// function in template.yaml.
const (
	installTimeout = 5 * time.Minute
	maxBytes       = 1 << 30
	maxCalls       = 500
)

// Install implements executor.Engine.Modules. The error is a temporary failure of GitHub, such as an outage or
// a rate limit.
func (e Remote) Install(ctx context.Context, j jobs.Job, dir string, tree source.Tree, early loading.Early, token hosts.Tokens, env func(context.Context) ([]string, error)) (*config.Config, diags.Diagnostics, error) {
	in, end := e.installer(ctx, j, dir, tree, early, token, env)
	cfg, ds := in.Install(in.ctx)
	return cfg, ds, end()
}

// InstallWithTests implements executor.Engine.TestModules. Otherwise it is like Install.
func (e Remote) InstallWithTests(ctx context.Context, j jobs.Job, dir string, tree source.Tree, early loading.Early, token hosts.Tokens, env func(context.Context) ([]string, error)) (*testfiles.Suite, diags.Diagnostics, error) {
	in, end := e.installer(ctx, j, dir, tree, early, token, env)
	suite, ds := in.InstallWithTests(in.ctx, testfiles.DefaultDirectory)
	return suite, ds, end()
}

// An installation is the installer of a job's modules, with the context that limits its time.
type installation struct {
	*installing.Installer
	ctx context.Context
}

// installer returns the installer of a job's modules. The caller must call end after the installation. end
// returns a failure of GitHub that may be temporary, or nil.
func (e Remote) installer(ctx context.Context, j jobs.Job, dir string, tree source.Tree, early loading.Early, token hosts.Tokens, env func(context.Context) ([]string, error)) (in installation, end func() error) {
	ctx, cancel := context.WithTimeoutCause(ctx, installTimeout, fmt.Errorf("modules are not installed within %s", installTimeout))
	var unknown error
	fetch := e.Proxy
	if fetch == nil {
		fetch = e.repository(j)
	}
	repository := func(ctx context.Context, owner, name, ref, dir string) error {
		err := fetch(ctx, owner, name, ref, dir)
		if err != nil && ctx.Err() == nil && !errors.As(err, new(*subprocess.Absent)) && !errors.As(err, new(*github.FinalError)) {
			unknown = err
		}
		return err
	}
	in = installation{ctx: ctx, Installer: Pipeline(dir, tree, PipelineOptions{Host: j.Grants.ModuleHost, Private: j.Grants.NamesModuleHost, Repository: repository, Transport: e.Transport, Token: token, Bucket: Bucket{j.Grants.Bucket, env}})}
	in.Early, in.Queries, in.Language = early, j.Queries, j.Language
	in.Bytes, in.Calls = maxBytes, maxCalls
	return in, func() error {
		cancel()
		return unknown
	}
}

// Fetch fetches a repository for a job into an empty directory, if the job may have the repository. The error
// is a *subprocess.Absent if the job cannot have it.
func (e Remote) Fetch(ctx context.Context, j jobs.Job, owner, name, ref, dir string) error {
	return e.repository(j)(ctx, owner, name, ref, dir)
}

// repository fetches repositories for a job. It uses the rights of the installation for the pull request's
// own repository and for those that the base branch names. All other repositories are fetched without a
// token, as anybody can.
func (e Remote) repository(j jobs.Job) Repository {
	return func(ctx context.Context, owner, name, ref, dir string) error {
		r := github.Ref{Owner: owner, Name: name, Ref: ref}
		mine := e.App.OfGitHubCom() && (j.Snapshot == nil || j.PrivateModules) // otherwise as anybody may
		own := mine && strings.EqualFold(owner+"/"+name, j.Repo.String())
		granted := mine && strings.EqualFold(owner, j.Repo.Owner) && j.Grants.Repository(owner, name)
		if own || granted {
			if err := e.App.Fetch(ctx, j.Installation, r, dir); err == nil || !errors.Is(err, github.ErrNotFound) {
				return err
			}
		}
		err := e.App.FetchPublic(ctx, r, dir)
		if !errors.Is(err, github.ErrNotFound) {
			return err
		}
		return e.absent(j, r, own, granted)
	}
}

// absent returns the error about a repository or a ref that was not found for a job. The parameter own is set
// if it is the pull request's own repository, and granted is set if the base branch names it. In both cases
// the App's rights were used.
func (e Remote) absent(j jobs.Job, r github.Ref, own, granted bool) error {
	absent := func(text string) error { return &subprocess.Absent{Text: text} }
	where := fmt.Sprintf("there is no public repository %s/%s with the ref %s", r.Owner, r.Name, r.Ref)
	switch {
	case own:
		return absent("this repository has no ref " + r.Ref)
	case granted:
		return absent(where + ", and the App finds none either: check the name and the ref, and that the App is installed on it")
	case !e.App.OfGitHubCom():
		return absent(where + " on github.com; private ones are had from there only by an App of github.com")
	case strings.EqualFold(r.Owner, j.Repo.Owner):
		return absent(fmt.Sprintf("%s; if it is private, install the App on it, and name it in the allow block of lockstep.hcl on the base branch: modules = [\"github.com/%s/%s\"]", where, r.Owner, r.Name))
	}
	return absent(fmt.Sprintf("%s; a private one can be had from the account %s only", where, j.Repo.Owner))
}
