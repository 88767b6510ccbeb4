package encryption

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// A Source makes keys. secret is the key of the provider that is chained before it, nil without.
type Source interface {
	// Generate makes a new key, and the metadata, JSON, from which Restore makes it again.
	Generate(ctx context.Context, secret []byte) (key, meta []byte, err error)
	// Restore makes the key with these metadata, which are as trustworthy as the file they are from.
	Restore(ctx context.Context, secret, meta []byte) (key []byte, err error)
}

// Keys are a key provider. It makes one key to encrypt with, and each to decrypt with once. It is
// safe for concurrent use.
type Keys struct {
	name   string
	source Source
	chain  *Keys

	mu    sync.Mutex
	own   *ownKey
	known map[[2]string][]byte // by secret and metadata
}

type ownKey struct{ key, meta []byte }

// NewKeys returns a key provider. name is that of its metadata in files: "key_provider.TYPE.NAME", or
// the alias that is configured. chain provides the secret from which source makes its keys; nil: source
// has one.
func NewKeys(name string, source Source, chain *Keys) *Keys {
	return &Keys{name: name, source: source, chain: chain, known: map[[2]string][]byte{}}
}

// metadata are those of key providers, by name. encoding/json writes them in Base64.
type metadata map[string][]byte

// toEncrypt returns the key to encrypt with, and adds the metadata of all providers in the chain.
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

// toDecrypt returns the key of a file with these metadata.
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
