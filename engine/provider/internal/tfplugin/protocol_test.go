package tfplugin_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/lockstep-iac/lockstep/engine/provider/internal/tfplugin"
	"github.com/lockstep-iac/lockstep/engine/provider/internal/tfplugin5"
	"github.com/lockstep-iac/lockstep/engine/provider/internal/tfplugin6"
)

// unused are the calls and messages of the protocols that the client does without, with the reason. A name stands for everything that
// begins with it.
var unused = map[string]string{
	"GetMetadata":                                    "the schema says as much, and is kept between runs",
	"GetFunctions":                                   "the schema has the functions",
	"GetProviderSchema.Response.state_store":         "states are kept by backends of Lockstep's own",
	"ProvisionResource":                              "provisioners are built in",
	"ValidateProvisionerConfig":                      "provisioners are built in",
	"GetProvisionerSchema":                           "provisioners are built in",
	"PrepareProviderConfig.Response.prepared_config": "Terraform does not use it either",
	"Schema.Object.min_items":                        "deprecated, and never set",
	"Schema.Object.max_items":                        "deprecated, and never set",
	"ConfigureStateStore":                            stores, "ValidateStateStoreConfig": stores, "ReadStateBytes": stores, "WriteStateBytes": stores, "LockState": stores,
	"UnlockState": stores, "GetStates": stores, "DeleteState": stores, "StateStore": stores, "StateByteRange": stores, "RequestChunkMeta": stores,
}

const stores = "states are kept by backends of Lockstep's own"

// renamed are messages that the client has once for several of the protocols.
var renamed = strings.NewReplacer(
	"ValidateResourceTypeConfig.", "ValidateConfig.", "ValidateDataSourceConfig.", "ValidateConfig.", "PrepareProviderConfig.", "ValidateProviderConfig.",
	"ValidateResourceConfig.", "ValidateConfig.", "ValidateDataResourceConfig.", "ValidateConfig.", "ValidateEphemeralResourceConfig.", "ValidateConfig.",
	"Configure.", "ConfigureProvider.", "ConfigureProvider.", "ConfigureProvider.", "StopProvider.", "StopProvider.", "Stop.", "StopProvider.",
	"GetSchema.", "GetProviderSchema.",
	"ValidateActionConfig.Request.action_type", "ValidateConfig.Request.type_name", "ValidateActionConfig.", "ValidateConfig.",
)

// TestProtocol compares the client with the protocols as they are today: it makes each call, and has each field, or unused has the reason.
// After an update of the protocol, write testdata anew from the declarations that it names.
func TestProtocol(t *testing.T) {
	t.Parallel()
	for version, own := range map[int]protoreflect.FileDescriptor{
		5: tfplugin5.File_engine_provider_internal_tfplugin5_tfplugin5_proto, 6: tfplugin6.File_engine_provider_internal_tfplugin6_tfplugin6_proto,
	} {
		calls := ""
		for _, name := range []string{"protocol.go", fmt.Sprintf("../tfplugin%d/protocol.go", version)} {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			calls += string(text)
		}
		has := map[string]bool{}
		fields(has, "", own.Messages())
		fields(has, "", tfplugin.File_engine_provider_internal_tfplugin_tfplugin_proto.Messages())
		list, err := os.ReadFile(fmt.Sprintf("testdata/protocol%d.txt", version))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(list)) {
			line = strings.TrimSpace(line)
			call, isCall := strings.CutPrefix(line, "rpc ")
			switch {
			case strings.HasPrefix(line, "#") || reasonFor(call) != "":
			case isCall && !strings.Contains(calls, `"`+call+`"`):
				t.Errorf("protocol %d: the client does not call %s, and unused has no reason", version, call)
			case !isCall && !has[strings.ToLower(line)] && !has[strings.ToLower(renamed.Replace(line))]:
				t.Errorf("protocol %d: the client does not have %s, and unused has no reason", version, line)
			}
		}
	}
}

func reasonFor(name string) string {
	for begin, reason := range unused {
		if strings.HasPrefix(name, begin) {
			return reason
		}
	}
	return ""
}

// fields notes "message.field number", in lower case, for the fields of messages, and of those within.
func fields(has map[string]bool, within string, list protoreflect.MessageDescriptors) {
	for i := range list.Len() {
		m := list.Get(i)
		name := within + string(m.Name())
		for j := range m.Fields().Len() {
			f := m.Fields().Get(j)
			has[strings.ToLower(fmt.Sprintf("%s.%s %d", name, f.Name(), f.Number()))] = true
		}
		fields(has, name+".", m.Messages())
	}
}

// TestUnused: each reason is for something that the protocols have.
func TestUnused(t *testing.T) {
	t.Parallel()
	var all []string
	for _, version := range []int{5, 6} {
		list, err := os.ReadFile(fmt.Sprintf("testdata/protocol%d.txt", version))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(list)) {
			all = append(all, strings.TrimPrefix(line, "rpc "))
		}
	}
	for name := range unused {
		if !slices.ContainsFunc(all, func(line string) bool { return strings.HasPrefix(line, name) }) {
			t.Errorf("neither protocol has %s", name)
		}
	}
}
