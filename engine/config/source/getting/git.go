package getting

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/hosts"
)

// Git returns a getter for git repositories, which runs git. go-getter's own git getter has disadvantages: it
// clones a repository's whole history, cannot combine ref with depth, and leaves .git in the package, where
// git stores the address with its password. This getter fetches only the commit, if the server allows that.
//
// git asks for no passwords (GIT_TERMINAL_PROMPT) and runs no hooks. It uses only https and ssh, also for
// submodules, unless the options allow more.
func Git(o GitOptions) Getter { return gitGetter{dirOnly{[]string{"git"}}, o} }

// GitOptions says what git may do.
type GitOptions struct {
	// Policy decides which hosts may be requested. Before git starts, the IP addresses of the host are checked.
	Policy hosts.Policy
	// Environ is git's environment, each entry as "NAME=value".
	Environ []string
	// Files allows git repositories that are directories of this machine.
	Files bool
}

type gitGetter struct {
	dirOnly
	GitOptions
}

// A clone is one repository that is being fetched.
type clone struct {
	dir    string
	url    string
	ref    string
	depth  int
	env    []string
	closer func()
}

// Get fetches a repository. It handles the parameters ref, depth and sshkey of the address itself, by
// go-getter's rules.
func (g gitGetter) Get(ctx context.Context, req *Request) error {
	c, err := g.clone(ctx, req)
	if err != nil {
		return err
	}
	defer c.closer()
	if err := c.fetch(ctx); err != nil {
		return err
	}
	if _, err := os.Lstat(filepath.Join(c.dir, ".gitmodules")); err == nil {
		args := []string{"submodule", "--quiet", "update", "--init", "--recursive"}
		if c.depth > 0 {
			args = append(args, "--depth", strconv.Itoa(c.depth))
		}
		if err := c.git(ctx, args...); err != nil {
			return err
		}
	}
	return removeGit(c.dir)
}

func (g gitGetter) clone(ctx context.Context, req *Request) (*clone, error) {
	if _, err := exec.LookPath("git"); err != nil {
		return nil, errors.New("git is needed to fetch it, and is not on the PATH")
	}
	u := *req.URL()
	q := u.Query()
	c := &clone{dir: req.Dst, ref: q.Get("ref"), closer: func() {}}
	key := q.Get("sshkey")
	if text := q.Get("depth"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("depth=%s is not a number of commits", text)
		}
		c.depth = n
	}
	for _, name := range []string{"ref", "sshkey", "depth"} {
		q.Del(name)
	}
	u.RawQuery = q.Encode()
	if err := g.check(ctx, &u); err != nil {
		return nil, err
	}
	if strings.HasPrefix(c.ref, "-") || strings.Contains(c.ref, "..") || strings.Contains(c.ref, ":") {
		return nil, fmt.Errorf("ref=%s is not the name of a branch, a tag or a commit", c.ref)
	}
	c.url = u.String()
	c.env = g.environment()
	return c, c.useKey(key)
}

// check returns an error for an address that the policy forbids, or that git would not read as the address of
// a server.
func (g gitGetter) check(ctx context.Context, u *url.URL) error {
	switch {
	case u.Scheme == "file" && g.Files:
		return nil
	case u.Scheme != "ssh":
		if err := g.Policy.CheckURL(u); err != nil {
			return err
		}
	case u.Hostname() == "" || strings.HasPrefix(u.Hostname(), "-") || strings.HasPrefix(u.User.Username(), "-"):
		return fmt.Errorf("the address has no host that ssh could connect to")
	}
	return g.Policy.CheckName(ctx, u.Hostname())
}

func (g gitGetter) environment() []string {
	allowed := "https:ssh"
	if g.Policy.HTTP {
		allowed += ":http"
	}
	if g.Files {
		allowed += ":file"
	}
	var env []string
	prompt := false
	for _, kv := range g.Environ {
		name, _, _ := strings.Cut(kv, "=")
		switch name {
		case "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALLOW_PROTOCOL":
			continue // A hook of another git repository may have started this process, with variables for that repository.
		case "GIT_TERMINAL_PROMPT":
			prompt = true
		}
		env = append(env, kv)
	}
	if !prompt {
		env = append(env, "GIT_TERMINAL_PROMPT=0")
	}
	return append(env, "GIT_ALLOW_PROTOCOL="+allowed, "LC_ALL=C")
}

// useKey makes ssh use a private key from the address, in base64. The key is on disk until c.closer is
// called.
func (c *clone) useKey(key string) error {
	if key == "" {
		return nil
	}
	text, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		return errors.New("sshkey is not in base64")
	}
	f, err := os.CreateTemp("", "lockstep-key-") // with mode 0600
	if err != nil {
		return err
	}
	c.closer = func() { os.Remove(f.Name()) }
	_, err = f.Write(text)
	if err := errors.Join(err, f.Close()); err != nil {
		c.closer()
		return err
	}
	c.env = append(c.env, "GIT_SSH_COMMAND=ssh -o IdentitiesOnly=yes -i '"+strings.ReplaceAll(f.Name(), "'", `'\''`)+"'")
	return nil
}

// fullID matches a complete commit ID.
var fullID = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// fetch checks out the commit that ref names. For a branch, a tag or a complete commit ID it fetches as
// little history as possible. For anything else (an abbreviated commit ID, or a server that does not serve
// commits by ID) it fetches everything.
func (c *clone) fetch(ctx context.Context) error {
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return err
	}
	if err := c.git(ctx, "init", "--quiet"); err != nil {
		return err
	}
	if err := c.git(ctx, "remote", "add", "--", "origin", c.url); err != nil {
		return err
	}
	ref, depth := c.ref, c.depth
	if ref == "" {
		ref = "HEAD"
	}
	if depth == 0 {
		depth = 1
	}
	err := c.git(ctx, "fetch", "--quiet", "--no-tags", "--depth", strconv.Itoa(depth), "--", "origin", ref)
	if err == nil {
		return c.git(ctx, "checkout", "--quiet", "--detach", "FETCH_HEAD")
	}
	if c.ref == "" || ctx.Err() != nil || c.depth > 0 && !fullID.MatchString(c.ref) {
		return err
	}
	if all := c.git(ctx, "fetch", "--quiet", "--tags", "origin"); all != nil {
		return all
	}
	if c.git(ctx, "checkout", "--quiet", "--detach", "refs/remotes/origin/"+c.ref) == nil {
		return nil
	}
	if c.git(ctx, "checkout", "--quiet", "--detach", c.ref) != nil {
		return fmt.Errorf("the repository has no branch, tag or commit %q: check ref= in the address", c.ref)
	}
	return nil
}

// git runs one git command.
func (c *clone) git(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "core.hooksPath=" + os.DevNull, "-c", "advice.detachedHead=false"}, args...)...)
	cmd.Dir, cmd.Env = c.dir, c.env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	text := strings.TrimSpace(out.String())
	if text == "" {
		text = err.Error()
	}
	// The address may have a password, which nobody may read.
	return fmt.Errorf("git says: %s", strings.ReplaceAll(text, c.url, "the repository"))
}

// removeGit removes git's own files from a package, including the files of git in submodules.
func removeGit(dir string) error {
	return filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || !strings.EqualFold(e.Name(), ".git") {
			return err
		}
		if err := os.RemoveAll(path); err != nil {
			return err
		}
		if e.IsDir() {
			return filepath.SkipDir
		}
		return nil
	})
}
