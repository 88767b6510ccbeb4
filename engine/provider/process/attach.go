package process

import (
	"context"
	"fmt"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/provider/internal/tfplugin"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// A Reattach is a running provider that another program started and will end: an entry of
// TF_REATTACH_PROVIDERS. Its connection has no TLS.
// https://developer.hashicorp.com/terraform/plugin/debugging
type Reattach struct {
	// Name is the provider's name for messages.
	Name string
	// Terraform is as in Launch.
	Terraform string
	// Protocol is the kind of connection; only "grpc" is supported.
	Protocol string
	// ProtocolVersion is 5 or 6; 0 means 5.
	ProtocolVersion int
	Pid             int
	Test            bool
	// Network and Address are where the provider listens: "unix" and a path, or "tcp" and HOST:PORT.
	Network, Address string
}

var _ provider.Factory = Reattach{}.Start

// Start connects to the provider. Closing the client does not end the process.
func (a Reattach) Start(ctx context.Context, declared *schema.Provider) (provider.Client, error) {
	if a.Protocol != "grpc" {
		return nil, fmt.Errorf("attach to the provider %s: its protocol is %q, and only grpc is supported", a.Name, a.Protocol)
	}
	version := a.ProtocolVersion
	if version == 0 {
		version = 5
	}
	protocol, ok := protocols[version]
	if !ok {
		return nil, fmt.Errorf("attach to the provider %s: it speaks version %d of the plugin protocol, and only 5 and 6 are supported", a.Name, version)
	}
	dial := func(ctx context.Context, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, a.Network, a.Address)
	}
	// gRPC would connect only at the first call. Connect now, to find out whether the provider listens.
	probe, err := dial(ctx, "")
	if err != nil {
		return nil, fmt.Errorf("attach to the provider %s (process %d), which TF_REATTACH_PROVIDERS names; is it still running?: %w", a.Name, a.Pid, err)
	}
	probe.Close()
	conn, err := grpc.NewClient("passthrough:///"+a.Address,
		grpc.WithContextDialer(dial),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(tfplugin.MaxMessage)),
	)
	if err != nil {
		return nil, fmt.Errorf("attach to the provider %s: %w", a.Name, err)
	}
	return tfplugin.New(tfplugin.Config{
		Protocol:  protocol,
		Name:      a.Name,
		Terraform: a.Terraform,
		Conn:      conn,
		Declared:  declared,
		Close:     conn.Close,
	}), nil
}
