// Package places says where a state is, as a value: which object of which bucket, and by
// which locks and under which key it is kept. Two backend blocks that mean one object have
// one [Place], however they are written; a block that could mean another one's object in
// other words, or its locks, has none.
//
// It also knows patterns of places ([Pattern]), by which people allow them, and the record
// of who owns one ([Claim]). It refuses to know repositories' contents, pull requests, and
// who decides: that is package runs. Start at [Of].
package places

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Place is where one state is. The zero value is nowhere. It may hold a secret
// (sse_customer_key), and is in no record and no log: [Place.String] is.
type Place struct {
	// Backend is the type: "s3", or "local" for the directory that Lockstep keeps a
	// project's state in, whatever path its block names.
	Backend string `json:",omitempty"`
	// Bucket and Key name the object; Key has the workspace in it.
	Bucket, Key string `json:",omitempty"`
	// Arguments are the other arguments of the block, as JSON has them: how the state is
	// locked, encrypted and reached.
	Arguments map[string]any `json:",omitempty"`
}

// Local is the place of states that Lockstep keeps itself.
var Local = Place{Backend: "local"}

// Arguments of the backend "s3" that are part of what a Place is, or choose its locks.
const (
	bucketArgument = "bucket"
	keyArgument    = "key"
	prefixArgument = "workspace_key_prefix"
	TableArgument  = "dynamodb_table"
	FileArgument   = "use_lockfile"
)

// defaultPrefix begins the keys of other workspaces than the default one.
// Source: https://developer.hashicorp.com/terraform/language/backend/s3#workspace_key_prefix
const defaultPrefix = "env:"

// defaultWorkspace is the one whose state has the key as it is.
const defaultWorkspace = "default"

// Of returns the place of a workspace's state, by the type of its backend, "" for none,
// and the arguments of the block as JSON has them. The error says, for people, why there
// is none.
func Of(backend string, arguments map[string]any, workspace string) (Place, error) {
	switch backend {
	case "", "local":
		return Local, nil
	case "s3":
	default:
		return Place{}, fmt.Errorf("the backend %q is none that Lockstep knows", backend)
	}
	p := Place{Backend: backend, Bucket: text(arguments[bucketArgument]), Key: text(arguments[keyArgument])}
	if p.Key != "" && workspace != defaultWorkspace && workspace != "" {
		prefix := defaultPrefix
		if arguments[prefixArgument] != nil {
			prefix = text(arguments[prefixArgument])
		}
		if err := segments(prefix); prefix != "" && err != nil {
			return Place{}, fmt.Errorf("its %s is %q: %w", prefixArgument, prefix, err)
		}
		if err := segments(p.Key); err != nil {
			return Place{}, fmt.Errorf("its key is %q: %w", p.Key, err)
		}
		p.Key = path.Join(prefix, workspace, p.Key)
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
	return p, nil
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// bucketPattern is the name of a bucket. Access points and their aliases are other names
// of the same objects: what may be known by two names cannot be known to be one's own.
// Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
var bucketPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)

// tablePattern is the name of a table. An ARN could be one of another account.
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html
var tablePattern = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,255}$`)

var aliases = []string{"-s3alias", "--ol-s3", ".mrap"}

// besides are the endings of what is kept beside a state, under its name: a state with
// such a name would be another one's lock or digest.
var besides = []string{".tflock", "-md5", "-lockstep"}

// maxKey is how long the key of an object may be, in bytes.
// Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-keys.html
const maxKey = 1024

// check says why p is no place, or not one by this name only.
func (p Place) check() error {
	if !bucketPattern.MatchString(p.Bucket) || slices.ContainsFunc(aliases, func(x string) bool { return strings.HasSuffix(p.Bucket, x) }) {
		return fmt.Errorf("its bucket is %q: name the bucket itself, not an access point or an alias", p.Bucket)
	}
	if err := segments(p.Key); err != nil {
		return fmt.Errorf("its key is %q: %w", p.Key, err)
	}
	for _, end := range besides {
		if strings.HasSuffix(p.Key, end) {
			return fmt.Errorf("its key is %q: what ends with %s is kept beside a state, as its lock or digest; choose another key", p.Key, end)
		}
	}
	return nil
}

// segments says why a key cannot be taken as it is: servers and clients make one of some
// that are written differently, and some characters mean others in policies.
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

// String returns "s3://bucket/key", "local", or "" for nowhere: the same for the same
// place.
func (p Place) String() string {
	if p.Backend == "s3" {
		return "s3://" + p.Bucket + "/" + p.Key
	}
	return p.Backend
}

// Is reports whether two places are the same one, however it is locked.
func (p Place) Is(x Place) bool { return p.String() == x.String() }

// Table returns the DynamoDB table with the lock; "" for none.
func (p Place) Table() string { return text(p.Arguments[TableArgument]) }

// LockFile reports whether the block asks for a lock object beside the state.
func (p Place) LockFile() bool {
	switch v := p.Arguments[FileArgument].(type) {
	case bool:
		return v
	case string:
		return v == "true"
	}
	return false
}

// Block returns all arguments of a backend block that means p in the default workspace.
func (p Place) Block() map[string]any {
	out := maps.Clone(p.Arguments)
	if out == nil {
		out = map[string]any{}
	}
	out[bucketArgument], out[keyArgument] = p.Bucket, p.Key
	return out
}

// With returns p with one argument more, or another one.
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

// Differing returns the names of the arguments that p and x do not have in common,
// sorted.
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
