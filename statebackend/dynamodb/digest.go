package dynamodb

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// Digest returns the text of the digest item, or "" if there is no item. [IsDigest] checks the text.
func (i *Items) Digest(ctx context.Context) (string, error) {
	found, err := i.get(ctx, i.Path+digestSuffix)
	return found[digestAttribute], err
}

// IsDigest reports whether the text of a digest item is a digest. Only a hexadecimal MD5 is: stock tools
// ignore any other text, and so does Lockstep.
func IsDigest(text string) bool {
	sum, err := hex.DecodeString(text)
	return err == nil && len(sum) == md5.Size
}

// ErrDigestMoved is returned if the digest item no longer has the digest that the caller expects.
var ErrDigestMoved = errors.New("the digest was written by somebody else in the meantime")

// SetDigest replaces the digest item if it has the expected digest. If expected is empty, there must be no
// item, or an item without a digest. If the item has a third digest, neither the expected nor the new one, the
// error is ErrDigestMoved.
func (i *Items) SetDigest(ctx context.Context, digest, expected string) error {
	key := i.Path + digestSuffix
	err := i.put(ctx, item{keyAttribute: key, digestAttribute: digest}, equals(digestAttribute, expected))
	if err == nil {
		return nil
	}
	now, readErr := i.Digest(ctx)
	switch {
	case readErr == nil && now == digest:
		return nil // caused by our own earlier write, or another process has repaired the digest
	case errors.Is(err, errCondition):
		return ErrDigestMoved
	}
	return err
}

// DeleteDigest removes the digest item if it has the expected digest. If it has another digest, the error is
// ErrDigestMoved.
func (i *Items) DeleteDigest(ctx context.Context, expected string) error {
	err := i.remove(ctx, i.Path+digestSuffix, equals(digestAttribute, expected))
	if err == nil {
		return nil
	}
	found, readErr := i.get(ctx, i.Path+digestSuffix)
	switch {
	case readErr == nil && found == nil:
		return nil // caused by our own earlier request
	case errors.Is(err, errCondition):
		return ErrDigestMoved
	}
	return err
}

// Announce stores the digest of the next write in the lock item, if info still holds the lock. If not, the
// error is a *statebackend.LockLostError.
func (i *Items) Announce(ctx context.Context, info statebackend.LockInfo, digest string) error {
	text := string(info.Marshal())
	err := i.put(ctx, item{keyAttribute: i.Path, infoAttribute: text, announcedAttribute: digest}, equals(infoAttribute, text))
	if errors.Is(err, errCondition) {
		return &statebackend.LockLostError{Path: i.Path, ID: info.ID}
	}
	return err
}

// Announced returns the digests that the holder of the lock and all earlier holders have announced. The
// stored state may have any of them.
func (i *Items) Announced(ctx context.Context) ([]string, error) {
	found, err := i.get(ctx, i.Path)
	return strings.Fields(found[announcedAttribute] + " " + found[formerAttribute]), err
}
