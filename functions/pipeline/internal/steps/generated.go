package steps

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// A configFile is a configuration file that a step on "generate" has written, as far as it is compared.
type configFile struct {
	// Text is the content without secrets, and without differences that mean nothing: see [canonical].
	Text string `json:",omitempty"`
	// Size and Sum are the number of bytes and the SHA-256 checksum of a file that is too large for Text.
	Size int64  `json:",omitempty"`
	Sum  string `json:",omitempty"`
}

// configFiles are configuration files by their paths in the checkout.
type configFiles map[string]configFile

// These limit what is compared of the files of a step.
const (
	maxConfigFiles = 1_000
	maxConfigFile  = 4 << 20 // bytes of a file
	maxConfigText  = 8 << 20 // bytes of all files
)

// isConfig reports whether a file has configuration, by its name.
func isConfig(name string) bool {
	return slices.ContainsFunc([]string{".tf", ".tofu", ".tfvars", ".hcl", ".tf.json", ".tofu.json", ".tfvars.json"}, func(end string) bool { return strings.HasSuffix(name, end) })
}

// readConfig reads those of the named files in a checkout that have configuration. Files that do not exist are left out.
func readConfig(checkout *os.Root, names []string, redact func(string) string) (configFiles, error) {
	out, left := configFiles{}, maxConfigText
	for _, name := range names {
		if !isConfig(name) || len(out) == maxConfigFiles {
			continue
		}
		info, err := checkout.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			continue
		}
		if err != nil {
			return nil, err
		}
		f, err := checkout.Open(name)
		if err != nil {
			return nil, err
		}
		if info.Size() > maxConfigFile || int(info.Size()) > left {
			sum := sha256.New()
			size, err := io.Copy(sum, f)
			if err = cmp.Or(err, f.Close()); err != nil {
				return nil, err
			}
			out[name] = configFile{Size: size, Sum: hex.EncodeToString(sum.Sum(nil))}
			continue
		}
		data, err := io.ReadAll(f)
		if err = cmp.Or(err, f.Close()); err != nil {
			return nil, err
		}
		left -= len(data)
		out[name] = configFile{Text: redact(canonical(name, data))}
	}
	return out, nil
}

// configuration returns the files of the results' generators, as JSON for later comparisons; nil if they wrote none.
func (all Results) configuration() []byte {
	out := map[string]configFiles{}
	for _, r := range all {
		if len(r.config) > 0 {
			out[r.Name] = r.config
		}
	}
	if len(out) == 0 {
		return nil
	}
	return pipeline.Encode(out)
}

// compareConfig adds to the results of generators how their files differ from those on the base branch: those of the last
// pull request that was merged, or else those in its commit. It is for people only, so what cannot be read is left out.
func (x Runner) compareConfig(ctx context.Context, r runs.Run, checkout string, all Results) {
	if !slices.ContainsFunc(all, func(s Result) bool { return len(s.config) > 0 }) {
		return
	}
	base, was := comment.LastMerge, map[string]configFiles{}
	data, err := x.Artifacts.Get(ctx, r.BaseConfig(x.Facts.Pull.Base.Ref))
	if errors.Is(err, pipeline.ErrNoArtifact) {
		base = comment.BaseBranch
		was, err = x.committed(ctx, r, all)
	} else if err == nil {
		err = json.Unmarshal(data, &was)
	}
	if err != nil {
		return
	}
	root, err := os.OpenRoot(checkout)
	if err != nil {
		return
	}
	defer root.Close()
	for i, s := range all {
		if s.On != requirements.Generate {
			continue
		}
		// A file that is still there was not generated this time: it is a file of the pull request.
		maps.DeleteFunc(was[s.Name], func(name string, _ configFile) bool {
			_, now := s.config[name]
			_, err := root.Lstat(name)
			return !now && err == nil
		})
		all[i].changes, all[i].difference = changesOf(base, was[s.Name], s.config)
	}
}

// committed returns the files of the base branch's commit that generators have written.
func (x Runner) committed(ctx context.Context, r runs.Run, all Results) (map[string]configFiles, error) {
	dir, done, err := x.Facts.Checkout(ctx, r.Spec.Base)
	if err != nil {
		return nil, err
	}
	defer done()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	out := map[string]configFiles{}
	for _, s := range all {
		if out[s.Name], err = readConfig(root, slices.Sorted(maps.Keys(s.config)), x.redactor(s.StepResult)); err != nil {
			return nil, err
		}
	}
	return out, nil
}
