package provider

import (
	"context"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// instanceKey is the context key of a resource instance. readingKey is the context key of a data source's
// address.
type (
	instanceKey struct{}
	readingKey  struct{}
)

// WithInstance returns a context for a call of a [Client] about the resource instance a, of any mode. Only
// clients in this process use it: the one that reads remote states, and the mocks of tests. Plugins do not
// get the address.
func WithInstance(ctx context.Context, a addrs.AbsResourceInstance) context.Context {
	return context.WithValue(ctx, instanceKey{}, a)
}

// Instance returns the address that [WithInstance] put into ctx. ok is false if there is none.
func Instance(ctx context.Context) (a addrs.AbsResourceInstance, ok bool) {
	a, ok = ctx.Value(instanceKey{}).(addrs.AbsResourceInstance)
	return a, ok
}

// WithReading returns a context for [Client.ReadData] with the address of the data source. It is for reading
// a data source on behalf of another process.
func WithReading(ctx context.Context, address string) context.Context {
	return context.WithValue(ctx, readingKey{}, address)
}

// Reading returns the address of the data source that a call reads: the one that [WithReading] put into ctx, or
// otherwise the one that [WithInstance] put there. It is "" if there is none.
func Reading(ctx context.Context) string {
	if address, ok := ctx.Value(readingKey{}).(string); ok {
		return address
	}
	if a, ok := Instance(ctx); ok {
		return a.String()
	}
	return ""
}
