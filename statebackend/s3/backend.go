package s3

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/dynamodb"
	"github.com/lockstep-iac/lockstep/statebackend/lockfile"
)

// Options are the settings of a backend besides the backend block.
type Options struct {
	// Note is called with a sentence about a problem that does not stop the work. It may be called from any
	// goroutine. If Note is nil, the sentences are dropped.
	Note func(sentence string)

	// EndedRun reports whether a Lockstep run that has ended took the lock with that ID. If so, and the item
	// in the table is gone, Lock removes the lock object with that ID. Such an object remains after
	// force-unlock by a tool without lock objects. If EndedRun is nil, Lock removes no such object.
	EndedRun func(id string) bool

	// Credentials, unless nil, replace the credentials of the block and the environment.
	Credentials aws.CredentialsProvider
}

// Backend keeps states in a bucket. It implements statebackend.Backend.
type Backend struct {
	objects     *objects
	items       dynamodb.Items // Path is empty; without a Table, no items are used
	key         string
	prefix      string // workspace_key_prefix
	useLockfile bool
	options     Options
	patience    patience
}

// patience is how long Get waits for a digest that does not match: the pause between two attempts, and the
// limit in all.
type patience struct{ pause, limit time.Duration }

// Open creates a backend from the attributes of a backend block and the environment: see Decode. It finds
// credentials, and lets AWS verify them unless the block turns that off. Errors contain no secrets.
func Open(ctx context.Context, attributes map[string]any, options Options) (*Backend, error) {
	c, err := Decode(attributes)
	if err != nil {
		return nil, err
	}
	clients, err := c.connect(ctx, options)
	if err != nil {
		return nil, err
	}
	key, err := c.customerKey()
	if err != nil {
		return nil, err
	}
	prefix := defaultWorkspaceKeyPrefix
	if c.WorkspaceKeyPrefix != nil {
		prefix = *c.WorkspaceKeyPrefix
	}
	if options.Note == nil {
		options.Note = func(string) {}
	}
	if options.EndedRun == nil {
		options.EndedRun = func(string) bool { return false }
	}
	return &Backend{
		objects: &objects{
			client:      clients.s3,
			bucket:      c.Bucket,
			acl:         c.ACL,
			tags:        taggingOf(c.StateTags),
			lockTags:    taggingOf(c.LockTags),
			kmsKeyID:    c.KMSKeyID,
			encrypt:     c.Encrypt,
			customerKey: key,
			checksum:    !c.SkipS3Checksum,
			amazon:      clients.s3.Options().BaseEndpoint == nil,
		},
		items:       dynamodb.Items{Client: clients.dynamodb, Table: c.DynamoDBTable},
		key:         c.Key,
		prefix:      prefix,
		useLockfile: c.UseLockfile,
		options:     options,
		patience:    patience{pause: 2 * time.Second, limit: 10 * time.Second}, // the stock backend's
	}, nil
}

// Workspaces finds the workspaces by the keys that begin with the prefix. Without the permission to list, it
// returns only the default workspace, as the stock backend does.
func (b *Backend) Workspaces(ctx context.Context) ([]string, error) {
	var names []string
	prefix, end := b.below(), "/"+b.key
	objects, err := b.objects.list(ctx, prefix)
	if err != nil && !errors.Is(err, statebackend.ErrDenied) {
		return nil, err
	}
	for _, o := range objects {
		name, ok := strings.CutSuffix(strings.TrimPrefix(o.key, prefix), end)
		switch {
		case !ok && encoded(o.key, end):
			return nil, b.objects.unfitList("lists keys in another form", fmt.Sprintf("It lists %q, which is the escaped form of a key that ends with %q.", o.key, end))
		case ok && name != statebackend.DefaultWorkspace && statebackend.CheckWorkspaceName(name) == nil:
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return append([]string{statebackend.DefaultWorkspace}, slices.Compact(names)...), nil
}

// List checks that the bucket exists and may be listed. If the permission to list is missing, the error wraps
// statebackend.ErrDenied.
func (b *Backend) List(ctx context.Context) error {
	_, err := b.objects.list(ctx, b.below())
	return err
}

// below returns the prefix of the keys of all workspaces except "default".
func (b *Backend) below() string {
	if b.prefix == "" {
		return ""
	}
	return b.prefix + "/"
}

// DeleteWorkspace deletes the state's object, its digest item and its sidecar.
func (b *Backend) DeleteWorkspace(ctx context.Context, name string, prev statebackend.Version) error {
	if name == statebackend.DefaultWorkspace {
		return errors.New("the default workspace cannot be deleted")
	}
	w, err := b.open(name)
	if err != nil {
		return err
	}
	data, tag, err := w.objects.Get(ctx, w.key)
	if err != nil {
		return err
	}
	conflict := &statebackend.ConflictError{Path: w.path(), Want: prev, Found: statebackend.Version(tag)}
	if tag != "" && tag != string(prev) {
		return conflict
	}
	if err := w.deleteSidecar(ctx); err != nil {
		return err
	}
	// The digest is deleted before the state. A crash after this leaves a state without a
	// digest, which is harmless; in the other order it would leave a digest
	// without a state, and every reader would fail.
	if w.items != nil {
		if err := w.deleteDigest(ctx, data); errors.Is(err, dynamodb.ErrDigestMoved) {
			return conflict
		} else if err != nil {
			return err
		}
	}
	if tag == "" {
		return nil
	}
	err = w.objects.Delete(ctx, w.key, tag)
	if err == nil {
		return nil
	}
	// The refusal may be caused by the first attempt of this request, whose answer was lost: read what is
	// stored now.
	_, now, readErr := w.objects.Get(ctx, w.key)
	switch {
	case readErr == nil && now == "":
		return nil
	case readErr == nil && now != tag:
		conflict.Found = statebackend.Version(now)
		return conflict
	}
	return err
}

// deleteDigest deletes the digest of the state data. If the item has the digest of another state, somebody
// has written since, and the error is an ErrDigestMoved.
func (w *workspace) deleteDigest(ctx context.Context, data []byte) error {
	digest, err := w.items.Digest(ctx)
	if err != nil || digest == "" {
		return err
	}
	if len(data) > 0 && dynamodb.IsDigest(digest) && digest != digestOf(data) {
		return dynamodb.ErrDigestMoved
	}
	return w.items.DeleteDigest(ctx, digest)
}

// Open returns the state of a workspace.
func (b *Backend) Open(name string) (statebackend.Workspace, error) { return b.open(name) }

func (b *Backend) open(name string) (*workspace, error) {
	if err := statebackend.CheckWorkspaceName(name); err != nil {
		return nil, err
	}
	key := b.key
	if name != statebackend.DefaultWorkspace {
		key = path.Join(b.prefix, name, b.key)
	}
	w := &workspace{
		objects:     b.objects,
		key:         key,
		holder:      statebackend.NewLockID(),
		file:        &lockfile.File{Objects: b.objects, Key: key + lockfile.Suffix, Leases: b.items.Table == "", Strict: b.objects.amazon},
		useLockfile: b.useLockfile,
		options:     b.options,
		patience:    b.patience,
	}
	w.file.Path = w.path()
	if b.items.Table != "" {
		w.items = &dynamodb.Items{Client: b.items.Client, Table: b.items.Table, Path: w.path()}
	}
	return w, nil
}

// Place is the object's URL.
func (w *workspace) Place() string { return "s3://" + w.path() }

// path returns the name that stock tools use for the state: "<bucket>/<key>".
func (w *workspace) path() string { return fmt.Sprintf("%s/%s", w.objects.bucket, w.key) }

// digestOf returns the digest of a state, or "" if data is empty.
func digestOf(data []byte) string {
	if len(data) == 0 {
		return ""
	}
	sum := md5.Sum(data)
	return hex.EncodeToString(sum[:])
}
