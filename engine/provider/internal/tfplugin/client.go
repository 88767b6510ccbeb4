package tfplugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/zclconf/go-cty/cty"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/language"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// MaxMessage is the largest message accepted from a plugin, in bytes. Schemas of large providers exceed
// gRPC's own limit of 4 MiB; 256 MiB is Terraform's limit.
const MaxMessage = 256 << 20

// A Config is a connection to a plugin, with facts about the plugin.
type Config struct {
	Protocol Protocol
	// Name is the provider's name for messages.
	Name string
	// Terraform is the release of Terraform that the plugin is told; "" means [language.NewestRelease].
	Terraform string
	Conn      grpc.ClientConnInterface
	// Declared is the provider's schema if another process has returned it; otherwise nil.
	Declared *schema.Provider
	// Memory keeps the plugin's answer about its schema between runs; it may be nil.
	Memory Memory
	// Fate returns a sentence about how the process ended, or "" if it still runs or nobody knows. It may
	// wait a short time for the end of the process. It may be nil.
	Fate func() string
	// Close ends the process; it may be nil.
	Close func() error
}

// A Memory keeps a plugin's answer about its schema. It belongs to exactly one plugin program: another
// program has another Memory.
type Memory interface {
	// Recall returns the answer that was kept last, or nil if there is none.
	Recall() []byte
	Keep(answer []byte)
}

// New returns the client of a connected plugin. It makes no call.
func New(c Config) provider.Client {
	c.Terraform = cmp.Or(c.Terraform, language.NewestRelease)
	cl := &client{Config: c, declared: c.Declared, asking: make(chan struct{}, 1)}
	cl.asked = c.Declared != nil && c.Declared.SchemaOptional
	return cl
}

// client is a plugin. Every call except Stop first calls ready: some plugins require that they are asked for
// their schema.
type client struct {
	Config
	lost atomic.Bool // the connection to the plugin is lost

	asking   chan struct{} // held to read or write the fields below
	asked    bool          // the schema is known, and nothing more must be asked
	declared *schema.Provider
	warnings diags.Diagnostics // that came with declared
}

var _ provider.Client = (*client)(nil)

// Lost reports whether the connection to the plugin is lost. See [provider.Lost].
func (c *client) Lost() bool { return c.lost.Load() }

// Schema returns the plugin's declarations. A failed attempt is not remembered.
func (c *client) Schema(ctx context.Context) (*schema.Provider, diags.Diagnostics) {
	select {
	case c.asking <- struct{}{}:
		defer func() { <-c.asking }()
	case <-ctx.Done():
		return nil, cancelled(c.Protocol.GetSchema, ctx.Err())
	}
	if c.asked {
		return c.declared, c.warnings
	}
	if c.declared == nil && c.recall() {
		return c.declared, nil
	}
	if c.declared != nil {
		// Another process of this plugin has returned the schema. But the plugin requires that every process is
		// asked for the schema, so ask this one. Its answer is not decoded.
		if ds := c.call(ctx, c.Protocol.GetSchema, &Empty{}, &Empty{}); ds.HasErrors() {
			return nil, ds
		}
		c.asked = true
		return c.declared, nil
	}
	resp := Declarations{Schemas: &GetProviderSchema_Response{}, Identities: &GetResourceIdentitySchemas_Response{}}
	if ds := c.call(ctx, c.Protocol.GetSchema, &Empty{}, resp.Schemas); ds.HasErrors() {
		return nil, ds
	}
	ds := diagnostics(resp.Schemas.Diagnostics)
	if ds.HasErrors() {
		return nil, ds
	}
	// A provider declares its identities only in this answer. A provider that is older than identities does
	// not implement the call.
	err := c.Conn.Invoke(ctx, c.method(identitySchemas), &Empty{}, resp.Identities)
	if err != nil && status.Code(err) != codes.Unimplemented {
		return nil, c.explain(ctx, identitySchemas, err)
	}
	if ds = append(ds, diagnostics(resp.Identities.Diagnostics)...); ds.HasErrors() {
		return nil, ds
	}
	declared, err := decodeSchemas(&resp, c.Protocol)
	if err != nil {
		return nil, append(ds, c.misdeclared(err)...)
	}
	c.declared, c.asked, c.warnings = declared, true, ds
	c.keep(&resp)
	return declared, ds
}

// recall takes the schema from the memory, and reports whether the memory has a usable one. The caller holds
// c.asking. Source of the rule: GetProviderSchemaOptional in Terraform's tfplugin6.proto.
func (c *client) recall() bool {
	if c.Memory == nil {
		return false
	}
	var resp Declarations
	answer := c.Memory.Recall()
	if answer == nil || proto.Unmarshal(answer, &resp) != nil || !keepable(&resp) {
		return false
	}
	declared, err := decodeSchemas(&resp, c.Protocol)
	if err != nil {
		return false
	}
	c.declared, c.asked = declared, true
	return true
}

// keep stores an answer in the memory, if it may replace asking later processes: see [keepable].
func (c *client) keep(resp *Declarations) {
	if c.Memory == nil || !keepable(resp) {
		return
	}
	if answer, err := proto.Marshal(resp); err == nil {
		c.Memory.Keep(answer)
	}
}

// keepable reports whether an answer may be used instead of asking later processes. It returns false if the
// plugin requires that every process is asked, or if the answer has warnings, which are shown each time.
func keepable(resp *Declarations) bool {
	return resp.GetSchemas().GetServerCapabilities().GetGetProviderSchemaOptional() &&
		len(resp.Schemas.Diagnostics) == 0 && len(resp.Identities.GetDiagnostics()) == 0
}

// ready returns the schema, for all methods except Schema. It drops the warnings: only callers of Schema get
// them.
func (c *client) ready(ctx context.Context) (*schema.Provider, diags.Diagnostics) {
	declared, ds := c.Schema(ctx)
	if ds.HasErrors() {
		return nil, ds
	}
	return declared, nil
}

// call makes one gRPC call to the plugin, and returns its error as a diagnostic.
func (c *client) call(ctx context.Context, method string, req, resp proto.Message) diags.Diagnostics {
	if err := c.Conn.Invoke(ctx, c.method(method), req, resp); err != nil {
		return c.explain(ctx, method, err)
	}
	return nil
}

func (c *client) method(name string) string { return "/" + c.Protocol.Service + "/" + name }

func (c *client) ValidateProvider(ctx context.Context, config cty.Value) diags.Diagnostics {
	declared, ds := c.ready(ctx)
	if ds.HasErrors() {
		return ds
	}
	req := ValidateProviderConfig_Request{Config: encode(config, implied(declared.Provider))}
	var resp ValidateProviderConfig_Response
	if ds := c.call(ctx, c.Protocol.ValidateProvider, &req, &resp); ds.HasErrors() {
		return ds
	}
	// In protocol 5 the answer also has a "prepared" configuration. Terraform does not use it, and providers
	// add their defaults again when they are configured.
	return diagnostics(resp.Diagnostics)
}

func (c *client) Configure(ctx context.Context, config cty.Value) diags.Diagnostics {
	declared, ds := c.ready(ctx)
	if ds.HasErrors() {
		return ds
	}
	req := ConfigureProvider_Request{
		TerraformVersion:   c.Terraform,
		Config:             encode(config, implied(declared.Provider)),
		ClientCapabilities: ours,
	}
	var resp ConfigureProvider_Response
	if ds := c.call(ctx, c.Protocol.Configure, &req, &resp); ds.HasErrors() {
		return ds
	}
	return diagnostics(resp.Diagnostics)
}

// Stop returns the plugin's error. A plugin whose process has ended counts as stopped.
func (c *client) Stop(ctx context.Context) error {
	var resp StopProvider_Response
	err := c.Conn.Invoke(ctx, c.method(c.Protocol.Stop), &Empty{}, &resp)
	if err != nil && status.Code(err) != codes.Unavailable {
		return fmt.Errorf("stop the plugin of provider %s: %w", c.Name, err)
	}
	if resp.Error != "" {
		return errors.New(resp.Error)
	}
	return nil
}

func (c *client) Close() error {
	if c.Config.Close == nil {
		return nil
	}
	return c.Config.Close()
}

// ours are the capabilities that Lockstep announces to a provider: it supports write-only attributes, but not
// deferrals.
var ours = &ClientCapabilities{WriteOnlyAttributesAllowed: true}
