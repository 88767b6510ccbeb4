package provider

import "context"

// readingKey is the key of the address in a context.
type readingKey struct{}

// WithReading returns a context for [Client.ReadData] with the address of the data source, a resource
// instance, for clients in this process. Plugins are not told.
func WithReading(ctx context.Context, address string) context.Context {
	return context.WithValue(ctx, readingKey{}, address)
}

// Reading returns the address of WithReading, "" without one.
func Reading(ctx context.Context) string {
	address, _ := ctx.Value(readingKey{}).(string)
	return address
}
