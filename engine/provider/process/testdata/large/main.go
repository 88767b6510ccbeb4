// Command large is a provider plugin of the size of a cloud's: 1,500 resource types and 400 data
// sources, described as those of large providers are. It plans what it is proposed, and keeps nothing.
// Benchmarks measure with it how much of a run goes into schemas. Before it answers a call it GETs the address in
// the variable LARGE_TELL, if there is one, followed by the call's name, the answer's size in bytes, and the milliseconds
// that it took.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/lockstep-iac/lockstep/engine/provider/internal/tfplugin"
	"github.com/lockstep-iac/lockstep/engine/provider/internal/tfplugin6"
)

func main() {
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig: goplugin.HandshakeConfig{
			ProtocolVersion: 4, MagicCookieKey: "TF_PLUGIN_MAGIC_COOKIE", MagicCookieValue: os.Getenv("TF_PLUGIN_MAGIC_COOKIE"),
		},
		VersionedPlugins: map[int]goplugin.PluginSet{6: {"provider": service{}}},
		GRPCServer:       goplugin.DefaultGRPCServer,
	})
}

type service struct {
	goplugin.NetRPCUnsupportedPlugin
}

func (service) GRPCClient(context.Context, *goplugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, fmt.Errorf("only a server")
}

func (service) GRPCServer(_ *goplugin.GRPCBroker, s *grpc.Server) error {
	s.RegisterService(&grpc.ServiceDesc{ServiceName: "tfplugin6.Provider", HandlerType: (*any)(nil), Methods: []grpc.MethodDesc{
		method("GetProviderSchema", func(*tfplugin.Empty) proto.Message { return declaration() }),
		method("ValidateProviderConfig", func(*tfplugin.Empty) proto.Message { return &tfplugin.ValidateProviderConfig_Response{} }),
		method("ConfigureProvider", func(*tfplugin.Empty) proto.Message { return &tfplugin.ConfigureProvider_Response{} }),
		method("ValidateResourceConfig", func(*tfplugin.Empty) proto.Message { return &tfplugin.ValidateConfig_Response{} }),
		method("PlanResourceChange", func(r *tfplugin.PlanResourceChange_Request) proto.Message {
			return &tfplugin.PlanResourceChange_Response{PlannedState: r.ProposedNewState}
		}),
		method("StopProvider", func(*tfplugin.Empty) proto.Message { return &tfplugin.StopProvider_Response{} }),
	}}, nil)
	return nil
}

// method answers one kind of call.
func method[R any, P interface {
	*R
	proto.Message
}](name string, answer func(P) proto.Message) grpc.MethodDesc {
	return grpc.MethodDesc{MethodName: name, Handler: func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		req := P(new(R))
		if err := decode(req); err != nil {
			return nil, err
		}
		asked := time.Now()
		res := answer(req)
		tell(name, proto.Size(res), asked)
		return res, nil
	}}
}

// tell tells of a call that is about to be answered.
func tell(name string, size int, asked time.Time) {
	address := os.Getenv("LARGE_TELL")
	if address == "" {
		return
	}
	res, err := http.Get(fmt.Sprintf("%s/%s/%d/%d", address, name, size, time.Since(asked).Milliseconds()))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	res.Body.Close()
}

var types = []string{`"string"`, `"bool"`, `"number"`, `["list","string"]`, `["map","string"]`, `["set",["object",{"a":"string","b":"number"}]]`}

// declaration returns all types. It is made anew for each call, as large providers do.
func declaration() *tfplugin.GetProviderSchema_Response {
	out := &tfplugin.GetProviderSchema_Response{
		Provider: raw(attributes(10)), ResourceSchemas: map[string][]byte{}, DataSourceSchemas: map[string][]byte{},
		ServerCapabilities: &tfplugin.ServerCapabilities{GetProviderSchemaOptional: true},
	}
	for i := range 1500 {
		b := attributes(15)
		for j := range 4 {
			b.BlockTypes = append(b.BlockTypes, &tfplugin6.Schema_NestedBlock{TypeName: fmt.Sprint("block_", j), Nesting: tfplugin6.Schema_NestedBlock_LIST, Block: attributes(8)})
		}
		out.ResourceSchemas[fmt.Sprint("large_thing_", i)] = raw(b)
	}
	for i := range 400 {
		out.DataSourceSchemas[fmt.Sprint("large_thing_", i)] = raw(attributes(20))
	}
	return out
}

func attributes(n int) *tfplugin6.Schema_Block {
	b := &tfplugin6.Schema_Block{}
	for i := range n {
		b.Attributes = append(b.Attributes, &tfplugin6.Schema_Attribute{
			Name: fmt.Sprint("attribute_", i), Type: []byte(types[i%len(types)]), Optional: true, Description: strings.Repeat("A sentence about it. ", 5),
		})
	}
	return b
}

func raw(b *tfplugin6.Schema_Block) []byte {
	out, err := proto.Marshal(&tfplugin6.Schema{Block: b})
	if err != nil {
		panic(err)
	}
	return out
}
