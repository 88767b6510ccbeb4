// Package places has the address of a state as a value, a [Place]: the object and its bucket, its locks and its
// encryption key. Two backend blocks for the same object have the same Place, however they are written. A block
// has no Place if it could mean another project's object or locks under a different name.
//
// The package also has patterns of places ([Pattern]), with which people allow places, and the record of a
// place's owner ([Claim]). It does not know the contents of repositories, pull requests, and the rules of
// permission. Package admission has these rules. Start reading at [Of].
package places

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lockstep-iac/lockstep/functions/internal/lazyregexp"
)

// A Place is the address of one state. The zero value is no address. It may contain a secret
// (sse_customer_key). So write only [Place.String] to records and logs.
type Place struct {
	// Backend is the type of the backend: "s3", or "local". A local state is stored in Lockstep's own directory
	// for the project, whatever path the block has.
	Backend string `json:",omitempty"`
	// Bucket and Key identify the object. Key includes the workspace.
	Bucket, Key string `json:",omitempty"`
	// Arguments are the other arguments of the block, as encoding/json decodes them: how the state is locked,
	// encrypted and accessed.
	Arguments map[string]any `json:",omitempty"`
}

// Local is the place of all states that Lockstep itself stores.
var Local = Place{Backend: "local"}

// Arguments of the backend "s3" that are part of a Place, or select its locks.
const (
	bucketArgument = "bucket"
	keyArgument    = "key"
	prefixArgument = "workspace_key_prefix"
	TableArgument  = "dynamodb_table"
	FileArgument   = "use_lockfile"
)

// defaultPrefix is the default prefix of the keys of workspaces other than the default workspace. Source:
// https://developer.hashicorp.com/terraform/language/backend/s3#workspace_key_prefix
const defaultPrefix = "env:"

// defaultWorkspace is the workspace in which the key of a state has no prefix.
const defaultWorkspace = "default"

// Of returns the place of a workspace's state. backend is the type of the backend; "" means that there is no
// backend block. arguments are the arguments of the block, as encoding/json decodes them. The error is the
// reason, for users, why there is no place.
func Of(backend string, arguments map[string]any, workspace string) (Place, error) {
	switch backend {
	case "", "local":
		return Local, nil
	case "s3":
	default:
		return Place{}, fmt.Errorf("its state is in the backend %q, and pull requests need states in S3", backend)
	}
	p := Place{Backend: backend, Bucket: text(arguments[bucketArgument]), Key: text(arguments[keyArgument])}
	if p.Key != "" && workspace != defaultWorkspace && workspace != "" {
		var err error
		if p.Key, err = keyIn(workspace, p.Key, arguments[prefixArgument]); err != nil {
			return Place{}, err
		}
	}
	if err := p.check(); err != nil {
		return Place{}, err
	}
	p.Arguments = maps.Clone(arguments)
	maps.DeleteFunc(p.Arguments, func(name string, v any) bool {
		return v == nil || slices.Contains([]string{bucketArgument, keyArgument, prefixArgument}, name)
	})
	if t := p.Arguments[TableArgument]; t != nil && text(t) != "" && !tablePattern.MatchString(text(t)) {
		return Place{}, fmt.Errorf("its %s is %q: name the table itself", TableArgument, t)
	}
	if err := p.checkRole(); err != nil {
		return Place{}, err
	}
	return p, nil
}

// keyIn returns the key of the state of a workspace other than the default one. given is the value of
// workspace_key_prefix, or nil.
func keyIn(workspace, key string, given any) (string, error) {
	prefix := defaultPrefix
	if given != nil {
		prefix = text(given)
	}
	if err := segments(prefix); prefix != "" && err != nil {
		return "", fmt.Errorf("its %s is %q: %w", prefixArgument, prefix, err)
	}
	if err := segments(key); err != nil {
		return "", fmt.Errorf("its key is %q: %w", key, err)
	}
	return path.Join(prefix, workspace, key), nil
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// bucketPattern matches the name of a bucket. Access points and their aliases are not allowed, because they are
// other names for the same objects. Lockstep could not see that an object with two names has one owner. Source:
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
var bucketPattern = lazyregexp.New(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)

// tablePattern matches the name of a DynamoDB table. ARNs are not allowed: an ARN could name a table in another
// account.
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html
var tablePattern = lazyregexp.New(`^[A-Za-z0-9_.-]{1,255}$`)

var aliases = []string{"-s3alias", "--ol-s3", ".mrap"}

// besides are the suffixes of the keys of other objects that belong to a state. A state with such a key could
// be the lock or the digest of another state, so it is not allowed.
var besides = []string{".tflock", "-md5", "-lockstep"}

// ours is a part of the keys of all other objects that belong to states. A state with such a key could be a
// part of another state's journal, so it is not allowed.
const ours = ".lockstep/"

// maxKey is the maximum length of a key in bytes. Source:
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-keys.html
const maxKey = 1024

// check returns an error if p is not a place, or if its object can have another name.
func (p Place) check() error {
	if p.Bucket == "" {
		return errors.New("it names no bucket: add bucket to the backend block, or to the project's backend_config in lockstep.hcl")
	}
	if !bucketPattern.MatchString(p.Bucket) || slices.ContainsFunc(aliases, func(x string) bool { return strings.HasSuffix(p.Bucket, x) }) {
		return fmt.Errorf("its bucket is %q: name the bucket itself, not an access point or an alias", p.Bucket)
	}
	if err := segments(p.Key); err != nil {
		return fmt.Errorf("its key is %q: %w", p.Key, err)
	}
	if strings.HasPrefix(p.Key, ours) {
		return fmt.Errorf("its key is %q: keys that begin with %s are those of journals; choose another key", p.Key, ours)
	}
	for _, end := range besides {
		if strings.HasSuffix(p.Key, end) {
			return fmt.Errorf("its key is %q: keys that end with %s are those of locks and digests; choose another key", p.Key, end)
		}
	}
	return nil
}

// segments returns an error if servers or clients could change a key to another one by normalizing it. It
// also returns an error if the key contains characters with a meaning in policies.
func segments(key string) error {
	switch {
	case key == "":
		return fmt.Errorf("a key must be given")
	case len(key) > maxKey:
		return fmt.Errorf("it has %d bytes, and at most %d are possible", len(key), maxKey)
	case !utf8.ValidString(key) || strings.ContainsFunc(key, unicode.IsControl) || strings.ContainsAny(key, `*?$\"`):
		return fmt.Errorf(`it must have no control characters, and none of * ? $ \ "`)
	}
	for s := range strings.SplitSeq(key, "/") {
		if s == "" || s == "." || s == ".." {
			return fmt.Errorf(`no part of it between slashes can be empty, "." or ".."`)
		}
	}
	return nil
}

// String returns "s3://bucket/key", "local", or "" for the zero value. Equal texts mean the same object.
func (p Place) String() string {
	if p.Backend == "s3" {
		return "s3://" + p.Bucket + "/" + p.Key
	}
	return p.Backend
}

// Is reports whether p and x are the same object, even if they are locked in different ways.
func (p Place) Is(x Place) bool { return p.String() == x.String() }

// Table returns the DynamoDB table with the lock; "" if there is none.
func (p Place) Table() string { return text(p.Arguments[TableArgument]) }

// LockFile reports whether the block has use_lockfile: a lock object beside the state.
func (p Place) LockFile() bool {
	switch v := p.Arguments[FileArgument].(type) {
	case bool:
		return v
	case string:
		return v == "true"
	}
	return false
}

// Block returns all arguments of a backend block for p in the default workspace.
func (p Place) Block() map[string]any {
	out := maps.Clone(p.Arguments)
	if out == nil {
		out = map[string]any{}
	}
	out[bucketArgument], out[keyArgument] = p.Bucket, p.Key
	return out
}

// With returns a copy of p with an argument added or replaced.
func (p Place) With(argument string, value any) Place {
	p.Arguments = maps.Clone(p.Arguments)
	if p.Arguments == nil {
		p.Arguments = map[string]any{}
	}
	if p.Arguments[argument] = value; value == nil {
		delete(p.Arguments, argument)
	}
	return p
}

// Differing returns the names of the arguments in which p and x differ, sorted.
func (p Place) Differing(x Place) []string {
	found := map[string]bool{}
	for _, pair := range [][2]map[string]any{{p.Arguments, x.Arguments}, {x.Arguments, p.Arguments}} {
		for name, v := range pair[0] {
			if fmt.Sprint(v) != fmt.Sprint(cmp.Or(pair[1][name], any(false))) {
				found[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}
