package provider

import (
	"context"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// instanceKey is the key of the resource instance in a context, readingKey that of a data source's address.
type (
	instanceKey struct{}
	readingKey  struct{}
)

// WithInstance returns a context for a call of a [Client] about a resource instance of any mode, with its address, for
// clients in this process: the one that reads remote states, and the mocks of tests. Plugins are not told.
func WithInstance(ctx context.Context, a addrs.AbsResourceInstance) context.Context {
	return context.WithValue(ctx, instanceKey{}, a)
}

// Instance returns the address of WithInstance. ok is false without one.
func Instance(ctx context.Context) (a addrs.AbsResourceInstance, ok bool) {
	a, ok = ctx.Value(instanceKey{}).(addrs.AbsResourceInstance)
	return a, ok
}

// WithReading returns a context for [Client.ReadData] with the address of a data source that was read in another process.
func WithReading(ctx context.Context, address string) context.Context {
	return context.WithValue(ctx, readingKey{}, address)
}

// Reading returns the address of WithReading, or else of WithInstance; "" without one.
func Reading(ctx context.Context) string {
	if address, ok := ctx.Value(readingKey{}).(string); ok {
		return address
	}
	if a, ok := Instance(ctx); ok {
		return a.String()
	}
	return ""
}
