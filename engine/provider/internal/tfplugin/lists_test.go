package tfplugin_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/provider/internal/tfplugin"
	"github.com/lockstep-iac/lockstep/engine/provider/internal/tfplugin6"
)

// listing is a connection whose streams send what event returns, one after the other, until that is an error.
type listing struct {
	wire
	event   func(i int) (*tfplugin.ListResource_Event, error)
	request *tfplugin.ListResource_Request
	sent    int
	ctx     context.Context
}

func (s *listing) NewStream(ctx context.Context, _ *grpc.StreamDesc, method string, _ ...grpc.CallOption) (grpc.ClientStream, error) {
	s.calls, s.ctx = append(s.calls, method), ctx
	return &stream{s: s}, nil
}

type stream struct {
	grpc.ClientStream
	s *listing
}

func (x *stream) SendMsg(m any) error { x.s.request = m.(*tfplugin.ListResource_Request); return nil }
func (x *stream) CloseSend() error    { return nil }

func (x *stream) RecvMsg(m any) error {
	if err := x.s.ctx.Err(); err != nil {
		return status.FromContextError(err).Err()
	}
	e, err := x.s.event(x.s.sent)
	if err != nil {
		return err
	}
	x.s.sent++
	return proto.Unmarshal(raw(e), m.(proto.Message))
}

// TestList is a table of streams: a type with the identity {name}, and what becomes of its events.
func TestList(t *testing.T) {
	t.Parallel()
	block := &tfplugin6.Schema{Block: &tfplugin6.Schema_Block{Attributes: []*tfplugin6.Schema_Attribute{{Name: "name", Type: []byte(`"string"`), Optional: true}}}}
	identity := func(json string) *tfplugin.ResourceIdentityData {
		return &tfplugin.ResourceIdentityData{IdentityData: &tfplugin.DynamicValue{Json: []byte(json)}}
	}
	object := func(i int) *tfplugin.ListResource_Event {
		return &tfplugin.ListResource_Event{DisplayName: fmt.Sprint("thing ", i), Identity: identity(fmt.Sprintf(`{"name":"n%d"}`, i)),
			ResourceObject: &tfplugin.DynamicValue{Json: fmt.Appendf(nil, `{"name":"n%d"}`, i)}}
	}
	warning := &tfplugin.ListResource_Event{Diagnostic: []*tfplugin.Diagnostic{{Severity: tfplugin.Diagnostic_WARNING, Summary: "Careful"}}}
	for name, tc := range map[string]struct {
		event func(i int) (*tfplugin.ListResource_Event, error)
		limit int
		want  string // names, then errors
		sent  int
	}{
		"an end": {func(i int) (*tfplugin.ListResource_Event, error) {
			if i == 2 {
				return nil, io.EOF
			}
			return object(i), nil
		}, 10, "n0 n1", 2},
		"endless":            {func(i int) (*tfplugin.ListResource_Event, error) { return object(i), nil }, 3, "n0 n1 n2", 3},
		"nothing, endlessly": {func(int) (*tfplugin.ListResource_Event, error) { return warning, nil }, 1e9, "Provider lists nothing", 1000},
		"too large": {func(i int) (*tfplugin.ListResource_Event, error) {
			return nil, status.Error(codes.ResourceExhausted, "grpc: received message larger than max")
		}, 3, "larger than max", 0},
		"no identity of the type": {func(i int) (*tfplugin.ListResource_Event, error) {
			return &tfplugin.ListResource_Event{Identity: identity(`{"nope":1}`)}, nil
		}, 3, "identity", 1},
		"no object of the type": {func(i int) (*tfplugin.ListResource_Event, error) {
			e := object(i)
			e.ResourceObject.Json = []byte(`{"name":{}}`)
			return e, nil
		}, 3, "object", 1},
		"an error with an object": {func(i int) (*tfplugin.ListResource_Event, error) {
			if i == 1 {
				return nil, io.EOF
			}
			e := object(i)
			e.Diagnostic = []*tfplugin.Diagnostic{{Severity: tfplugin.Diagnostic_ERROR, Summary: "No right to look"}}
			return e, nil
		}, 3, "No right to look", 1},
	} {
		s := &listing{wire: wire{answers: map[string]any{
			"GetProviderSchema": &tfplugin.GetProviderSchema_Response{
				ResourceSchemas: map[string][]byte{"t_x": raw(block)}, ListResourceSchemas: map[string][]byte{"t_x": raw(block)},
			},
			"GetResourceIdentitySchemas": &tfplugin.GetResourceIdentitySchemas_Response{IdentitySchemas: map[string][]byte{"t_x": raw(&tfplugin.ResourceIdentitySchema{
				IdentityAttributes: []*tfplugin.ResourceIdentitySchema_IdentityAttribute{{Name: "name", Type: []byte(`"string"`), RequiredForImport: true}},
			})}},
		}}, event: tc.event}
		c := tfplugin.New(tfplugin.Config{Protocol: tfplugin6.Protocol, Name: "t", Conn: s})
		var got []string
		config := cty.ObjectVal(map[string]cty.Value{"name": cty.NullVal(cty.String)})
		ds := c.List(t.Context(), provider.ListRequest{TypeName: "t_x", Config: config, Objects: true, Limit: int64(tc.limit)}, func(x provider.Listed) bool {
			for _, d := range x.Diagnostics {
				if d.Summary != "Careful" {
					got = append(got, d.Summary)
				}
			}
			if x.Identity != cty.NilVal {
				got = append(got, x.Identity.GetAttr("name").AsString())
			}
			return len(got) < tc.limit
		})
		if ds.HasErrors() {
			got = append(got, ds.Error())
		}
		if text := strings.Join(got, " "); text != tc.want && !(ds.HasErrors() && strings.Contains(text, tc.want)) {
			t.Errorf("%s: %q, want %q", name, text, tc.want)
		}
		if s.sent != tc.sent || s.ctx.Err() == nil {
			t.Errorf("%s: %d events were read, want %d; the stream has ended: %v", name, s.sent, tc.sent, s.ctx.Err())
		}
		if s.request == nil || s.request.TypeName != "t_x" || s.request.Limit != int64(tc.limit) || !s.request.IncludeResourceObject {
			t.Errorf("%s: request %v", name, s.request)
		}
	}
}
