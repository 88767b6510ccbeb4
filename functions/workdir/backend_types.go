package workdir

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/config/decoding"
	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/http"
	"github.com/lockstep-iac/lockstep/statebackend/inmem"
	"github.com/lockstep-iac/lockstep/statebackend/local"
	"github.com/lockstep-iac/lockstep/statebackend/s3"
)

// A BackendType is a kind of backend, as the label of a backend block names it.
type BackendType struct {
	Attributes []statebackend.Attribute
	// Open opens a backend with the values of these attributes. paths are for the local backend.
	Open func(ctx context.Context, attributes map[string]any, d *Dir, paths LocalPaths) (statebackend.Backend, error)
}

// backendTypes are the supported types of backends, by name. Programs add types with AddBackendType.
var backendTypes = map[string]BackendType{
	"http": {http.Attributes, func(_ context.Context, attributes map[string]any, _ *Dir, _ LocalPaths) (statebackend.Backend, error) {
		return http.Open(attributes)
	}},
	"inmem": {inmem.Attributes, func(_ context.Context, attributes map[string]any, _ *Dir, _ LocalPaths) (statebackend.Backend, error) {
		return inmem.Open(attributes)
	}},
	"local": {local.Attributes, func(_ context.Context, attributes map[string]any, d *Dir, paths LocalPaths) (statebackend.Backend, error) {
		return local.Open(attributes, local.Options{Dir: d.Path, StatePath: paths.State, StateOutPath: paths.StateOut, BackupPath: paths.Backup})
	}},
	"s3": {s3.Attributes, func(ctx context.Context, attributes map[string]any, d *Dir, _ LocalPaths) (statebackend.Backend, error) {
		return s3.Open(ctx, attributes, s3.Options{Note: d.note})
	}},
}

// AddBackendType adds a type of backend whose client not every program links. Call it from an init function.
func AddBackendType(name string, t BackendType) { backendTypes[name] = t }

const unsupportedBackend = "Unsupported backend type"

// unsupported returns the message about a backend type that is not supported. It says how to move the states.
func unsupported(backendType string) string {
	message := fmt.Sprintf("Lockstep does not support the backend type %q. Use one of %s.", backendType, supportedBackends())
	switch backendType {
	case "azurerm", "consul", "cos", "gcs", "kubernetes", "oss", "pg":
		return message + " To move the states, write the block of the new backend in place of this block. Then run \"terraform init -migrate-state\" (or \"tofu init -migrate-state\"), and then \"lockstep init\"."
	case "remote":
		return message + " " + decoding.MoveFromCloud
	}
	return message
}

// supportedBackends lists the types of backends in which states last.
func supportedBackends() string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(backendTypes)) {
		if name != "inmem" {
			names = append(names, fmt.Sprintf("%q", name))
		}
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
