package addrs

// ObjectKind is the kind of a configuration object.
type ObjectKind byte

const (
	KindVariable ObjectKind = 'v'
	KindLocal    ObjectKind = 'l'
	KindOutput   ObjectKind = 'o'
	KindCall     ObjectKind = 'm' // a module call: its expansion and arguments
	KindResource ObjectKind = 'r' // managed, data and ephemeral
	KindProvider ObjectKind = 'p' // a provider block
	KindCheck    ObjectKind = 'c' // a check block
	KindAction   ObjectKind = 'a' // an action block; no expression can have its value
	KindInside   ObjectKind = 'i' // everything inside the module that a call makes
)

// Object is the static address of anything in a configuration that has references or can be referred to. A
// block has one address, even with count or for_each.
type Object struct {
	Module Module
	Kind   ObjectKind
	Name   string   // of a variable, local, output, call or check; "aws.west" of a provider
	Res    Resource // of a resource or an action
}

// String returns the address as diagnostics print it.
func (o Object) String() string {
	s := o.Name
	switch o.Kind {
	case KindVariable:
		s = "var." + s
	case KindLocal:
		s = "local." + s
	case KindOutput:
		s = "output." + s
	case KindCall, KindInside:
		s = "module." + s
	case KindProvider:
		s = "provider." + s
	case KindCheck:
		s = "check." + s
	case KindResource, KindAction:
		s = o.Res.String()
	}
	if o.Module.IsRoot() {
		return s
	}
	return o.Module.String() + "." + s
}

// Object returns the address of the block as an [Object].
func (r ConfigResource) Object() Object {
	return Object{Module: r.Module, Kind: KindResource, Res: r.Resource}
}

// ConfigResource returns the address of the block, for an object of [KindResource].
func (o Object) ConfigResource() ConfigResource { return ConfigResource{o.Module, o.Res} }

// AbsOutput is an output value of one module instance.
type AbsOutput struct {
	Module ModuleInstance
	Name   string
}

// String returns `module.net.output.name`.
func (o AbsOutput) String() string {
	if o.Module.IsRoot() {
		return "output." + o.Name
	}
	return o.Module.String() + ".output." + o.Name
}
