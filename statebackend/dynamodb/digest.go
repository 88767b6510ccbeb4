package dynamodb

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// Digest returns the digest of the digest item, or "" if there is none.
func (i *Items) Digest(ctx context.Context) (string, error) {
	found, err := i.get(ctx, i.Path+digestSuffix)
	return found[digestAttribute], err
}

// IsDigest reports whether a text of a digest item counts as a digest. Stock
// tools ignore any text but a hexadecimal MD5, and so do we.
func IsDigest(text string) bool {
	sum, err := hex.DecodeString(text)
	return err == nil && len(sum) == md5.Size
}

// ErrDigestMoved is returned when the digest item has another digest than the
// expected one.
var ErrDigestMoved = errors.New("the digest was written by somebody else in the meantime")

// SetDigest replaces the digest item if its digest is was ("": if there is no
// item, or one without a digest). If the item has a third digest by now, neither
// was nor the new one, the error is ErrDigestMoved.
func (i *Items) SetDigest(ctx context.Context, digest, was string) error {
	key := i.Path + digestSuffix
	err := i.put(ctx, item{keyAttribute: key, digestAttribute: digest}, equals(digestAttribute, was))
	if err == nil {
		return nil
	}
	now, readErr := i.Digest(ctx)
	switch {
	case readErr == nil && now == digest:
		return nil // the echo of our own write, or another process repaired it
	case errors.Is(err, errCondition):
		return ErrDigestMoved
	}
	return err
}

// DeleteDigest removes the digest item if its digest is was. If it has another
// one by now, the error is ErrDigestMoved.
func (i *Items) DeleteDigest(ctx context.Context, was string) error {
	err := i.remove(ctx, i.Path+digestSuffix, equals(digestAttribute, was))
	if err == nil {
		return nil
	}
	found, readErr := i.get(ctx, i.Path+digestSuffix)
	switch {
	case readErr == nil && found == nil:
		return nil // the echo of our own request
	case errors.Is(err, errCondition):
		return ErrDigestMoved
	}
	return err
}

// Announce stores the digest of the next write in the lock item, if info still
// holds the lock. Otherwise it returns a *statebackend.LockLostError.
func (i *Items) Announce(ctx context.Context, info statebackend.LockInfo, digest string) error {
	text := string(info.Marshal())
	err := i.put(ctx, item{keyAttribute: i.Path, infoAttribute: text, announcedAttribute: digest}, equals(infoAttribute, text))
	if errors.Is(err, errCondition) {
		return &statebackend.LockLostError{Path: i.Path, ID: info.ID}
	}
	return err
}

// Announced returns the digests that the holder of the lock, and those from whom it was taken over, have
// announced: of the state, it may be any.
func (i *Items) Announced(ctx context.Context) ([]string, error) {
	found, err := i.get(ctx, i.Path)
	return strings.Fields(found[announcedAttribute] + " " + found[formerAttribute]), err
}
