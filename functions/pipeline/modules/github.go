package modules

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	getter "github.com/hashicorp/go-getter/v2"

	"github.com/lockstep-iac/lockstep/engine/config/source/getting"
)

// A Repository unpacks a ref of a GitHub repository into the directory dir, which exists and is empty. The ref
// is a branch, a tag, a commit's ID, or "HEAD" for the default branch. The main packages provide a function
// that uses the App's client and keeps its token secret.
type Repository func(ctx context.Context, owner, name, ref, dir string) error

var errNoArchive = errors.New("an archive cannot be in it: take archive= and the archive's name out of the address")

// githubGetter fetches git sources on github.com where no git is installed, as in a Lambda function. It treats
// https and ssh addresses the same way.
type githubGetter struct{ fetch Repository }

func (g githubGetter) Mode(context.Context, *url.URL) (getter.Mode, error) {
	return getter.ModeDir, nil
}

func (g githubGetter) GetFile(context.Context, *getting.Request) error {
	return errNoArchive
}

// Detect reports whether the request is for git and GitHub.
func (g githubGetter) Detect(req *getting.Request) (bool, error) {
	if req.Forced != "git" {
		return false, nil
	}
	u, err := url.Parse(req.Src)
	return err == nil && strings.EqualFold(u.Hostname(), "github.com"), nil
}

func (g githubGetter) Get(ctx context.Context, req *getting.Request) error {
	u := req.URL()
	parts := strings.Split(strings.TrimPrefix(u.Path, "/"), "/")
	if len(parts) != 2 {
		return fmt.Errorf("%s is no repository of GitHub's: it must be OWNER/REPOSITORY", u.Path)
	}
	q := u.Query()
	if q.Has("sshkey") {
		return errors.New("a private key in the address is not used here: the App that Lockstep runs as must be installed on the repository")
	}
	ref := q.Get("ref")
	if ref == "" {
		ref = "HEAD"
	}
	if err := os.MkdirAll(req.Dst, 0o755); err != nil {
		return err
	}
	return g.fetch(ctx, parts[0], strings.TrimSuffix(parts[1], ".git"), ref, req.Dst)
}
