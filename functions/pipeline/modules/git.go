package modules

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
	"github.com/go-git/go-git/v5/storage/filesystem"
	getter "github.com/hashicorp/go-getter/v2"

	"github.com/lockstep-iac/lockstep/engine/config/source/getting"
	"github.com/lockstep-iac/lockstep/engine/hosts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
)

// gitGetter fetches git sources where no git is installed, as in a Lambda function. It fetches one commit
// without its history, by https, and treats ssh addresses the same way. Submodules are left out, as in GitHub's
// archives. A server gets the token of its host, and no redirect carries the token to another host.
type gitGetter struct {
	policy hosts.Policy
	client *http.Client
	token  hosts.Tokens
	limits getting.Limits
}

// tokenUser is the user name that is sent with a token. GitLab, GitHub, Gitea and Azure DevOps accept any name,
// and Bitbucket requires this one. Source:
// https://support.atlassian.com/bitbucket-cloud/docs/using-access-tokens/
const tokenUser = "x-token-auth"

// largeObject is the size in bytes above which an object is read from the disk in pieces.
const largeObject = 1 << 20

func (g gitGetter) Mode(context.Context, *url.URL) (getter.Mode, error) {
	return getter.ModeDir, nil
}

func (g gitGetter) GetFile(context.Context, *getting.Request) error { return errNoArchive }

// Detect reports whether the request is for git and not for GitHub.
func (g gitGetter) Detect(req *getting.Request) (bool, error) {
	own, err := githubGetter{}.Detect(req)
	return req.Forced == "git" && !own, err
}

func (g gitGetter) Get(ctx context.Context, req *getting.Request) error {
	u := *req.URL()
	q := u.Query()
	ref := q.Get("ref")
	if q.Has("sshkey") {
		return fmt.Errorf("a private key in the address is not used here, since git servers are asked by https; %s", jobs.TokenRemedy(hosts.TokenVariable(u.Hostname())))
	}
	for _, name := range []string{"ref", "depth"} {
		q.Del(name)
	}
	if u.RawQuery = q.Encode(); u.Scheme == "ssh" {
		u.Scheme, u.User, u.Host = "https", nil, u.Hostname()
	}
	if err := g.policy.CheckURL(&u); err != nil {
		return err
	}
	err := g.fetch(ctx, &u, ref, req.Dst)
	switch {
	case errors.Is(err, transport.ErrAuthenticationRequired), errors.Is(err, transport.ErrAuthorizationFailed):
		return fmt.Errorf("the git server %s demands other credentials: %s", u.Hostname(), jobs.TokenRemedy(hosts.TokenVariable(u.Hostname())))
	case errors.Is(err, transport.ErrRepositoryNotFound):
		return fmt.Errorf("the git server %s has no repository %s, or its token may not read it", u.Hostname(), strings.TrimPrefix(u.Path, "/"))
	}
	return err
}

// fetch unpacks the commit of a ref into a directory.
func (g gitGetter) fetch(ctx context.Context, u *url.URL, ref, dir string) error {
	at, err := transport.NewEndpoint(u.String())
	if err != nil {
		return hosts.Plain(err)
	}
	session, err := githttp.NewClientWithOptions(g.within(u.Host), nil).NewUploadPackSession(at, g.auth(u))
	if err != nil {
		return err
	}
	defer session.Close()
	refs, err := session.AdvertisedReferencesContext(ctx)
	if err != nil {
		return err
	}
	commit, err := resolve(refs, ref)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	store := filepath.Join(dir, gitDir)
	objects := filesystem.NewStorageWithOptions(osfs.New(store), cache.NewObjectLRU(4*cache.MiByte), filesystem.Options{LargeObjectThreshold: largeObject})
	if err := g.pack(ctx, session, refs, commit, objects); err != nil {
		return err
	}
	if err := g.unpack(ctx, objects, commit, dir); err != nil {
		return err
	}
	return errors.Join(objects.Close(), os.RemoveAll(store))
}

// gitDir is the directory for the objects of the commit while the commit is unpacked. No repository can have a
// file with this name.
const gitDir = ".git"

// within returns the HTTP client for one host. The host may redirect the client only to the host itself.
func (g gitGetter) within(host string) *http.Client {
	c := *g.client
	follow := c.CheckRedirect
	c.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if !strings.EqualFold(req.URL.Host, host) {
			return fmt.Errorf("the git server %s leads to another host, %s: use that address", host, req.URL.Host)
		}
		return follow(req, via)
	}
	return &c
}

// auth returns the credentials for a server. Credentials in the address override the token of the host. The
// token may have the form USER:PASSWORD.
func (g gitGetter) auth(u *url.URL) transport.AuthMethod {
	if u.User != nil || g.token == nil {
		return nil
	}
	t, ok := g.token(strings.ToLower(u.Host))
	if !ok {
		return nil
	}
	user, password, both := strings.Cut(t.Reveal(), ":")
	if !both {
		user, password = tokenUser, t.Reveal()
	}
	return &githttp.BasicAuth{Username: user, Password: password}
}

// resolve returns the ID of the commit or tag that a ref names, by git's rules and in their order; "" means the
// default branch. Source: https://git-scm.com/docs/gitrevisions
func resolve(refs *packp.AdvRefs, ref string) (plumbing.Hash, error) {
	if ref == "" {
		if refs.Head == nil {
			return plumbing.ZeroHash, errors.New("the repository has no default branch: name a ref in the address")
		}
		return *refs.Head, nil
	}
	for _, name := range []string{ref, "refs/" + ref, "refs/tags/" + ref, "refs/heads/" + ref} {
		if h, ok := refs.References[name]; ok {
			return h, nil
		}
	}
	if plumbing.IsHash(ref) {
		return plumbing.NewHash(ref), nil
	}
	return plumbing.ZeroHash, fmt.Errorf("the repository has no branch and no tag %q, and it is not the whole ID of a commit", ref)
}

// pack fetches the objects of a commit.
func (g gitGetter) pack(ctx context.Context, session transport.UploadPackSession, refs *packp.AdvRefs, commit plumbing.Hash, to *filesystem.Storage) (err error) {
	req := packp.NewUploadPackRequest()
	req.Wants = []plumbing.Hash{commit}
	if refs.Capabilities.Supports(capability.OFSDelta) {
		err = req.Capabilities.Set(capability.OFSDelta)
	}
	if err == nil && refs.Capabilities.Supports(capability.Shallow) {
		req.Depth = packp.DepthCommits(1)
		err = req.Capabilities.Set(capability.Shallow)
	}
	if err != nil {
		return err
	}
	resp, err := session.UploadPack(ctx, req)
	if err != nil {
		return fmt.Errorf("the server does not give the commit %s: %w", commit, hosts.Plain(err))
	}
	defer func() { err = errors.Join(err, resp.Close()) }()
	in := &io.LimitedReader{R: resp, N: g.limits.Archive + 1}
	err = packfile.UpdateObjectStorage(to, in)
	if in.N <= 0 {
		return fmt.Errorf("it has more than %d bytes, packed", g.limits.Archive)
	}
	return err
}

// unpack writes the files of a commit.
func (g gitGetter) unpack(ctx context.Context, from *filesystem.Storage, at plumbing.Hash, dir string) error {
	if tag, err := object.GetTag(from, at); err == nil {
		at = tag.Target
	}
	commit, err := object.GetCommit(from, at)
	if err != nil {
		return fmt.Errorf("the ref does not lead to a commit: %w", err)
	}
	tree, err := commit.Tree()
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	files, bytes := 0, int64(0)
	return tree.Files().ForEach(func(f *object.File) error {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		files, bytes = files+1, bytes+f.Size
		switch {
		case files > g.limits.Files:
			return fmt.Errorf("it has more than %d files", g.limits.Files)
		case bytes > g.limits.Bytes:
			return fmt.Errorf("it has more than %d bytes", g.limits.Bytes)
		}
		return write(root, f)
	})
}

// write writes a file or a link.
func write(root *os.Root, f *object.File) (err error) {
	if err := root.MkdirAll(path.Dir(f.Name), 0o755); err != nil {
		return err
	}
	if f.Mode == filemode.Symlink {
		to, err := f.Contents()
		if err != nil {
			return err
		}
		return root.Symlink(to, f.Name)
	}
	mode := os.FileMode(0o644)
	if f.Mode == filemode.Executable {
		mode = 0o755
	}
	in, err := f.Reader()
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := root.OpenFile(f.Name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
