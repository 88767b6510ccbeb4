package encryption

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Source makes keys. It is called for by several goroutines at once. secret is the key of the provider
// that is chained before it, nil without.
type Source interface {
	// Generate makes a new key, and the metadata, JSON, from which Restore makes it again.
	Generate(ctx context.Context, secret []byte) (key, meta []byte, err error)
	// Restore makes the key with these metadata, which are as trustworthy as the file they are from.
	Restore(ctx context.Context, secret, meta []byte) (key []byte, err error)
}

// metadata are those of key providers, by name. encoding/json writes them in Base64.
type metadata map[string][]byte

// generate makes a new key, and adds the metadata of all providers in the chain.
func (k *Keys) generate(ctx context.Context, all metadata) ([]byte, error) {
	var secret []byte
	if k.Chain != nil {
		var err error
		if secret, err = k.Chain.generate(ctx, all); err != nil {
			return nil, err
		}
	}
	key, meta, err := k.Source.Generate(ctx, secret)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", k.Name, err)
	}
	if _, ok := all[k.Name]; ok {
		return nil, fmt.Errorf("two chained key providers have the metadata name %s: give one of them another encrypted_metadata_alias", k.Name)
	}
	all[k.Name] = meta
	return key, nil
}

// restore makes the key of a file with these metadata.
func (k *Keys) restore(ctx context.Context, all metadata) ([]byte, error) {
	var secret []byte
	if k.Chain != nil {
		var err error
		if secret, err = k.Chain.restore(ctx, all); err != nil {
			return nil, err
		}
	}
	meta, ok := all[k.Name]
	if !ok {
		return nil, fmt.Errorf("it was not encrypted with keys of %s, but of %s: name the key provider as it was named then, or set its encrypted_metadata_alias to that name",
			k.Name, strings.Join(slices.Sorted(maps.Keys(all)), ", "))
	}
	key, err := k.Source.Restore(ctx, secret, meta)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", k.Name, err)
	}
	return key, nil
}
