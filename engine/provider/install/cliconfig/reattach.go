package cliconfig

import (
	"encoding/json"
	"fmt"
	"net"
	"net/netip"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// ReattachVariable is the environment variable that lists running providers.
const ReattachVariable = "TF_REATTACH_PROVIDERS"

// Reattach describes the connection to a provider that another program has started, for example the
// provider's own acceptance test or a debugger. Lockstep neither installs nor locks nor ends such a provider.
type Reattach struct {
	Protocol        string // "grpc"
	ProtocolVersion int    // 5 or 6
	Pid             int
	Test            bool // do not end the process
	Addr            net.Addr
}

// ParseReattach reads the value of TF_REATTACH_PROVIDERS: a JSON object from source addresses to go-plugin's
// ReattachConfig. The empty string means no providers. A missing protocol version means 5. Addresses in the
// legacy namespace (`registry.terraform.io/-/NAME`), which provider tests set in addition to the real one,
// are returned unchanged.
func ParseReattach(text string) (map[addrs.Provider]Reattach, error) {
	if text == "" {
		return nil, nil
	}
	var entries map[string]struct {
		Protocol        string
		ProtocolVersion int
		Pid             int
		Test            bool
		Addr            struct{ Network, String string }
	}
	if err := json.Unmarshal([]byte(text), &entries); err != nil {
		return nil, fmt.Errorf("%s is not the JSON object it must be: %w", ReattachVariable, err)
	}
	found := make(map[addrs.Provider]Reattach, len(entries))
	for source, e := range entries {
		p, err := addrs.ParseProvider(source)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", ReattachVariable, err)
		}
		addr, err := reattachAddr(e.Addr.Network, e.Addr.String)
		if err != nil {
			return nil, fmt.Errorf("%s: provider %q: %w", ReattachVariable, source, err)
		}
		if e.ProtocolVersion == 0 {
			e.ProtocolVersion = 5
		}
		if e.ProtocolVersion != 5 && e.ProtocolVersion != 6 {
			return nil, fmt.Errorf("%s: provider %q speaks protocol %d: only 5 and 6 are supported", ReattachVariable, source, e.ProtocolVersion)
		}
		if e.Protocol != "grpc" {
			return nil, fmt.Errorf("%s: provider %q has the protocol %q: only \"grpc\" is supported", ReattachVariable, source, e.Protocol)
		}
		found[p] = Reattach{e.Protocol, e.ProtocolVersion, e.Pid, e.Test, addr}
	}
	return found, nil
}

func reattachAddr(network, text string) (net.Addr, error) {
	switch network {
	case "unix":
		return &net.UnixAddr{Name: text, Net: "unix"}, nil
	case "tcp":
		addr, err := netip.ParseAddrPort(text)
		if err != nil {
			return nil, fmt.Errorf("invalid address: %w", err)
		}
		return net.TCPAddrFromAddrPort(addr), nil
	}
	return nil, fmt.Errorf("unknown kind of address %q: it must be \"unix\" or \"tcp\"", network)
}
