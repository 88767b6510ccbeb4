package dynamodb

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// Digest returns what the digest item says, or "" if there is none.
func (i *Items) Digest(ctx context.Context) (string, error) {
	found, err := i.get(ctx, i.Path+digestSuffix)
	return found[digestAttribute], err
}

// IsDigest says whether the text of a digest item is one that the state is
// compared with: stock tools take what is not a hexadecimal MD5 for none.
func IsDigest(text string) bool {
	sum, err := hex.DecodeString(text)
	return err == nil && len(sum) == md5.Size
}

// ErrDigestMoved says that the digest item is not what it was taken for.
var ErrDigestMoved = errors.New("the digest was written by somebody else in the meantime")

// SetDigest replaces the digest item if it says was ("": if there is none, or
// one without a digest). The error is ErrDigestMoved if it says something else
// by now, other than digest itself.
func (i *Items) SetDigest(ctx context.Context, digest, was string) error {
	key := i.Path + digestSuffix
	err := i.put(ctx, item{keyAttribute: key, digestAttribute: digest}, equals(digestAttribute, was))
	if err == nil {
		return nil
	}
	now, readErr := i.Digest(ctx)
	switch {
	case readErr == nil && now == digest:
		return nil // our own echo, or somebody has put it right for us
	case errors.Is(err, errCondition):
		return ErrDigestMoved
	}
	return err
}

// DeleteDigest removes the digest item if it says was. The error is
// ErrDigestMoved if it says something else by now.
func (i *Items) DeleteDigest(ctx context.Context, was string) error {
	err := i.remove(ctx, i.Path+digestSuffix, equals(digestAttribute, was))
	if err == nil {
		return nil
	}
	found, readErr := i.get(ctx, i.Path+digestSuffix)
	switch {
	case readErr == nil && found == nil:
		return nil // our own echo
	case errors.Is(err, errCondition):
		return ErrDigestMoved
	}
	return err
}

// Announce notes in the lock item which digest is to be written next, on
// condition that the lock is still info's. The error is a
// *statebackend.LockLostError if it is not.
func (i *Items) Announce(ctx context.Context, info statebackend.LockInfo, digest string) error {
	text := string(info.Marshal())
	err := i.put(ctx, item{keyAttribute: i.Path, infoAttribute: text, announcedAttribute: digest}, equals(infoAttribute, text))
	if errors.Is(err, errCondition) {
		return &statebackend.LockLostError{Path: i.Path, ID: info.ID}
	}
	return err
}

// Announced returns the digest that the holder of the lock announced, or "".
func (i *Items) Announced(ctx context.Context) (string, error) {
	found, err := i.get(ctx, i.Path)
	return found[announcedAttribute], err
}
