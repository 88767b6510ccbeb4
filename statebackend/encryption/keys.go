package encryption

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// A Source creates keys. The argument secret of its methods is the key of the chained provider, or nil
// without one.
type Source interface {
	// Generate creates a new key, and metadata (JSON) from which Restore creates the same key again.
	Generate(ctx context.Context, secret []byte) (key, meta []byte, err error)
	// Restore creates the key that these metadata describe. The metadata are only as trustworthy as the file
	// they come from.
	Restore(ctx context.Context, secret, meta []byte) (key []byte, err error)
}

// Keys is a key provider. It creates one key to encrypt with. To decrypt, it creates the key for each set of
// metadata once. It is safe for concurrent use.
type Keys struct {
	name   string
	source Source
	chain  *Keys

	mu    sync.Mutex
	own   *ownKey
	known map[[2]string][]byte // by secret and metadata
}

type ownKey struct{ key, meta []byte }

// NewKeys returns a key provider. name identifies its metadata in files: "key_provider.TYPE.NAME", or the
// configured alias. chain provides the secret from which source creates its keys; nil: source has its own
// secret.
func NewKeys(name string, source Source, chain *Keys) *Keys {
	return &Keys{name: name, source: source, chain: chain, known: map[[2]string][]byte{}}
}

// metadata are the metadata of key providers, by provider name. encoding/json writes them in Base64.
type metadata map[string][]byte

// toEncrypt returns the key to encrypt with. It adds the metadata of each provider in the chain to the map
// all.
func (k *Keys) toEncrypt(ctx context.Context, all metadata) ([]byte, error) {
	var secret []byte
	if k.chain != nil {
		var err error
		if secret, err = k.chain.toEncrypt(ctx, all); err != nil {
			return nil, err
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.own == nil {
		key, meta, err := k.source.Generate(ctx, secret)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k.name, err)
		}
		k.own = &ownKey{key, meta}
		k.known[[2]string{string(secret), string(meta)}] = key
	}
	if _, ok := all[k.name]; ok {
		return nil, fmt.Errorf("two chained key providers have the metadata name %s: give one of them another encrypted_metadata_alias", k.name)
	}
	all[k.name] = k.own.meta
	return k.own.key, nil
}

// toDecrypt returns the key that a file's metadata describe.
func (k *Keys) toDecrypt(ctx context.Context, all metadata) ([]byte, error) {
	var secret []byte
	if k.chain != nil {
		var err error
		if secret, err = k.chain.toDecrypt(ctx, all); err != nil {
			return nil, err
		}
	}
	meta, ok := all[k.name]
	if !ok {
		return nil, fmt.Errorf("its keys are not of %s, but of %s: name the key provider as it was named then, or set its encrypted_metadata_alias to that name",
			k.name, strings.Join(slices.Sorted(maps.Keys(all)), ", "))
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	id := [2]string{string(secret), string(meta)}
	if key, ok := k.known[id]; ok {
		return key, nil
	}
	key, err := k.source.Restore(ctx, secret, meta)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", k.name, err)
	}
	k.known[id] = key
	return key, nil
}
