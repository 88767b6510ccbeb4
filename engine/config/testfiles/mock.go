package testfiles

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// A Mock makes up the results of a provider for a test.
type Mock struct {
	// Objects has the values that the test gives for objects of a type. All other values are made up.
	Objects   map[ObjectType]*MockObject
	Overrides []*Override
	// Source is a directory of further mock files, relative to the root module's directory; "" means none.
	// [Load] has read these files.
	Source string
	During During // the value for all mocks and overrides that do not set it themselves
}

// An ObjectType is a type of resource or a type of data source.
type ObjectType struct {
	Mode addrs.ResourceMode
	Type string
}

// A MockObject has the values for all mocked objects of a type.
type MockObject struct {
	Defaults cty.Value // cty.NilVal if there are none
	During   During
	Range    hcl.Range
	// Shared reports that the mock is in a mock file, which several providers may use.
	Shared bool

	block string // its type
	named hcl.Range
}

func newMock() *Mock { return &Mock{Objects: map[ObjectType]*MockObject{}} }

var mockBlocks = []hcl.BlockHeaderSchema{
	{Type: "mock_resource", LabelNames: []string{"type"}},
	{Type: "mock_data", LabelNames: []string{"type"}},
	{Type: overrideResource}, {Type: overrideData},
}

var (
	mockSchema = &hcl.BodySchema{
		Attributes: []hcl.AttributeSchema{{Name: "alias"}, {Name: "for_each"}, {Name: "source"}, {Name: "override_during"}},
		Blocks:     mockBlocks,
	}
	mockFileSchema   = &hcl.BodySchema{Blocks: mockBlocks}
	mockObjectSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "defaults"}, {Name: "override_during"}}}
)

// mockProvider reads a mock_provider block.
func (r *reader) mockProvider(b *hcl.Block) *Provider {
	content := r.content(b.Body, mockSchema)
	p := &Provider{Addr: addrs.LocalProviderConfig{LocalName: b.Labels[0]}, Mock: newMock(), Range: b.DefRange}
	r.alias(p, content.Attributes["alias"])
	if a := content.Attributes["for_each"]; a != nil {
		p.ForEach = a.Expr
	}
	r.literal(content.Attributes["source"], &p.Mock.Source)
	p.Mock.During = r.during(content.Attributes["override_during"])
	r.mocks(p.Mock, content.Blocks)
	return p
}

// decodeMockFile reads a mock file.
func decodeMockFile(body hcl.Body) (*Mock, hcl.Diagnostics) {
	r, m := &reader{}, newMock()
	r.mocks(m, r.content(body, mockFileSchema).Blocks)
	return m, r.diags
}

// mocks reads the blocks of a mock_provider block or of a mock file.
func (r *reader) mocks(m *Mock, blocks hcl.Blocks) {
	seen := overridden{}
	for _, b := range blocks {
		key := ObjectType{Mode: addrs.Managed}
		switch b.Type {
		case "mock_data":
			key.Mode = addrs.Data
		case overrideResource, overrideData:
			if o := r.override(b); seen.first(r, o, b) {
				m.Overrides = append(m.Overrides, o)
			}
			continue
		}
		key.Type = b.Labels[0]
		x := r.mockObject(b)
		if old := m.Objects[key]; old != nil {
			r.errorf(&x.named, "Duplicate "+b.Type+" block", "%s has a mock at %s already.", key.Type, old.Range)
			continue
		}
		m.Objects[key] = x
	}
}

func (r *reader) mockObject(b *hcl.Block) *MockObject {
	content := r.content(b.Body, mockObjectSchema)
	x := &MockObject{During: r.during(content.Attributes["override_during"]), Range: b.DefRange, block: b.Type, named: b.LabelRanges[0]}
	if a := content.Attributes["defaults"]; a != nil {
		v, ds := a.Expr.Value(mockContext())
		if r.add(ds); !ds.HasErrors() {
			x.Defaults = v
		}
	}
	return x
}

// merge adds the mocks of another mock file. Two files must not have a mock for the same type.
func (m *Mock) merge(x *Mock) (ds hcl.Diagnostics) {
	for key, o := range x.Objects {
		if old := m.Objects[key]; old != nil {
			ds = append(ds, diags.HCLError(&o.named, "Duplicate mock resource block", "Another file of the same directory has a %s %q block, at %s.", o.block, key.Type, old.Range))
			continue
		}
		m.Objects[key] = o
	}
	m.Overrides = append(m.Overrides, x.Overrides...)
	return ds
}

// addShared adds the mocks of mock files to the mocks of the block that names these files. If both have a
// mock for the same type or object, the block's mock is used.
func (m *Mock) addShared(files *Mock) {
	for key, o := range files.Objects {
		if m.Objects[key] == nil {
			o.Shared = true
			m.Objects[key] = o
		}
	}
	taken := map[string]bool{}
	for _, o := range m.Overrides {
		taken[o.Target.String()] = true
	}
	for _, o := range files.Overrides {
		if !taken[o.Target.String()] {
			o.shared = true
			m.Overrides = append(m.Overrides, o)
		}
	}
}
