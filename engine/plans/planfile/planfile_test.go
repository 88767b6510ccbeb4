package planfile

import (
	"archive/zip"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/jsonvalues"
	"github.com/lockstep-iac/lockstep/engine/language"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// samePlan compares everything that a plan says.
var samePlan = cmp.Options{
	cmp.Comparer(func(a, b cty.Value) bool {
		return a == cty.NilVal && b == cty.NilVal || a != cty.NilVal && b != cty.NilVal && a.RawEquals(b)
	}),
	cmp.Comparer(func(a, b cty.Path) bool { return a.Equals(b) || states.PathKey(a) == states.PathKey(b) }),
	cmp.Comparer(func(a, b *schema.Schema) bool { return a == b }),
	cmp.Comparer(func(a, b *states.Dependencies) bool { return slices.Equal(a.All(), b.All()) }),
	cmp.Comparer(func(a, b *states.State) bool {
		return a == b || a != nil && b != nil && a.SameContent(b) && a.Lineage == b.Lineage && a.Serial == b.Serial && a.TerraformVersion == b.TerraformVersion
	}),
	cmp.Comparer(func(a, b addrs.AbsResourceInstance) bool { return a == b }),
	cmp.Comparer(func(a, b addrs.AbsResource) bool { return a == b }),
	cmp.Comparer(func(a, b addrs.ConfigResource) bool { return a == b }),
	cmp.Comparer(func(a, b addrs.InstanceKey) bool { return a == b }),
	cmp.Comparer(func(a, b addrs.ModuleInstance) bool { return a == b }),
	cmp.Comparer(func(a, b addrs.Module) bool { return a == b }),
}

func encode(t testing.TB, f *File) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Encode(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func decode(t testing.TB, src []byte, o Options) *File {
	t.Helper()
	f, err := Decode(src, o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestWhatIsSavedIsWhatIsRead(t *testing.T) {
	for seed := range uint64(100) {
		m := newMaker(seed)
		f := &File{
			Engine:    "0.1.0",
			Language:  []language.Version{language.Newest, language.V1_11}[seed%2],
			Plan:      m.plan(),
			Config:    map[string][]byte{"main.tf": []byte("# hello\n"), "../modules/a b/x.tf": nil, "/abs//x%/..": []byte("y"), "": []byte("z")},
			Modules:   map[string]string{"net": "0123", "net.x": "4567"},
			Manifest:  []byte(`{"Modules":[]}`),
			Lock:      []byte("provider {}\n"),
			Providers: map[addrs.Provider]Selection{addrs.DefaultProvider("t"): {Version: "1.2.3", Hashes: []string{"h1:x", "zh:y"}}},
		}
		src := encode(t, f)
		got := decode(t, src, Options{Engine: "0.1.0", Schema: m.schema})
		for i, c := range got.Plan.Changes { // where the type was gone, it is known again here
			if f.Plan.Changes[i].Schema == nil {
				c.Schema = nil
			}
		}
		for i, c := range got.Plan.Drift {
			if f.Plan.Drift[i].Schema == nil {
				c.Schema = nil
			}
		}
		got.Config["../modules/a b/x.tf"] = nil
		if diff := cmp.Diff(f, got, samePlan); diff != "" {
			t.Fatalf("seed %d (-saved +read):\n%s", seed, diff)
		}
		if (f.Plan.PrevRunState == f.Plan.PriorState) != (got.Plan.PrevRunState == got.Plan.PriorState) {
			t.Errorf("seed %d: the states are not shared as they were", seed)
		}
		if !bytes.Equal(src, encode(t, f)) {
			t.Errorf("seed %d: saved again, it differs", seed)
		}
		checkObjects(t, seed, got.Plan.PriorState, m)
	}
}

// checkObjects checks that decoded values agree with the attributes.
func checkObjects(t *testing.T, seed uint64, s *states.State, m *maker) {
	t.Helper()
	for a, r := range s.Resources() {
		for _, in := range r.Instances {
			o := in.Current
			if o == nil || o.Value == cty.NilVal {
				continue
			}
			v, err := jsonvalues.Parse(o.AttrsJSON, m.schemas[a.Resource.Type].Block.ImpliedType())
			if err != nil {
				t.Fatal(err)
			}
			if want := marks.At(v, marks.Sensitive, o.Sensitive); !o.Value.RawEquals(want) {
				t.Errorf("seed %d: the object of %s has the value\n%#v\nbut attributes\n%#v", seed, a, o.Value, want)
			}
		}
	}
}

// Every field of a plan has to go through the file. Whoever adds one adds it to the
// codec, to random_test.go, and here.
func TestNoFieldIsForgotten(t *testing.T) {
	for _, c := range []struct {
		of   any
		want string
	}{
		{plans.Plan{}, "Mode Errored Applyable Complete Changes Invocations Drift Outputs Checks Relevant Variables EphemeralVariables Targets Excludes ForceReplace Invoke Waiting Instances PrevRunState PriorState Affected Timestamp Backend"},
		{plans.ResourceChange{}, "Addr PrevAddr Provider Change Unchanged Reason Private RequiredReplace CreateBeforeDestroy KeepsOld Schema ConfigDeps StoredDeps"},
		{plans.Invocation{}, "Addr Provider Config Schema Caller Event Trigger Index OnFailure Pending"},
		{plans.Change{}, "Action Before After BeforeIdentity AfterIdentity Importing GeneratedConfig"},
		{plans.OutputChange{}, "Name Change Sensitive"},
		{plans.Importing{}, "ID Identity Unknown"},
		{plans.Instances{}, "Calls Resources"},
		{plans.CallInstance{}, "Module Call"},
		{plans.Backend{}, "Type Config Workspace"},
		{plans.RelevantAttribute{}, "Resource Attribute"},
		{addrs.Target{}, "Module Resource Key"},
		{addrs.ResourceInstanceObject{}, "Instance Deposed"},
		{addrs.AbsProviderConfig{}, "Module Provider Alias Key"},
		{states.CheckResult{}, "Kind ConfigAddr Status Objects"},
		{states.CheckObject{}, "Addr Status Failures"},
	} {
		ty := reflect.TypeOf(c.of)
		var got []string
		for i := range ty.NumField() {
			got = append(got, ty.Field(i).Name)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s has the fields\n%s\nand the codec knows\n%s", ty, strings.Join(got, " "), c.want)
		}
	}
}

func smallFile() *File {
	m := newMaker(7)
	return &File{Engine: "0.1.0", Plan: m.plan(), Config: map[string][]byte{"main.tf": []byte("# x")}}
}

func TestAPlanOfNothing(t *testing.T) {
	f := &File{Engine: "0.1.0", Plan: &plans.Plan{Mode: plans.NormalMode, Timestamp: time.Unix(0, 0).UTC()}}
	got := decode(t, encode(t, f), Options{Engine: "0.1.0"})
	got.Plan.Instances, got.Config, got.Providers = plans.Instances{}, nil, nil
	if diff := cmp.Diff(f, got, samePlan); diff != "" {
		t.Errorf("-saved +read:\n%s", diff)
	}
}

func TestWriteMakesAPrivateFileAtOnce(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "tfplan")
	if err := os.WriteFile(path, []byte("what was there before"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, smallFile(), nil); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Decode(src, Options{Engine: "0.1.0"})
	if err != nil || f.Plan.Mode != plans.RefreshOnlyMode || string(f.Config["main.tf"]) != "# x" {
		t.Errorf("%+v, %v", f, err)
	}
	if !IsPlan(src) || IsPlan([]byte("{}")) {
		t.Error("IsPlan is wrong")
	}
	checkAlone(t, dir)
}

// A link is followed, and a device is written to: neither is replaced by a file.
func TestWriteGoesThroughWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	link, real := filepath.Join(dir, "link"), filepath.Join(t.TempDir(), "tfplan")
	if err := os.WriteFile(real, []byte("what was there before"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	if err := Write(link, smallFile(), nil); err != nil {
		t.Fatal(err)
	}
	if src, _ := os.ReadFile(real); !IsPlan(src) {
		t.Error("the plan is not where the link leads")
	}
	checkAlone(t, dir)

	null := filepath.Join(t.TempDir(), "null")
	if err := os.Symlink(os.DevNull, null); err != nil {
		t.Fatal(err)
	}
	if err := Write(null, smallFile(), nil); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(null); err != nil || info.Mode().IsRegular() {
		t.Errorf("the device became %v, %v", info, err)
	}
}

// checkAlone checks that no temporary file is left.
func checkAlone(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("left over: %v, %v", entries, err)
	}
}

func TestAFailedWriteLeavesWhatWasThere(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "tfplan")
	if err := os.WriteFile(path, []byte("what was there before"), 0o644); err != nil {
		t.Fatal(err)
	}
	f := smallFile()
	f.Plan.PriorState = nil
	e := f.Plan.PrevRunState.Edit()
	e.SetOutput("bad", states.Output{Value: cty.DynamicVal})
	f.Plan.PrevRunState = e.State()
	if err := Write(path, f, nil); err == nil || !strings.Contains(err.Error(), "save plan "+path+": encode plan: previous run state: ") {
		t.Errorf("got %v", err)
	}
	if src, _ := os.ReadFile(path); string(src) != "what was there before" {
		t.Errorf("now there is %q", src)
	}
	checkAlone(t, dir)
	if err := Write(filepath.Join(dir, "missing", "tfplan"), smallFile(), nil); err == nil || !strings.Contains(err.Error(), "save plan ") {
		t.Errorf("into a directory that is not there: %v", err)
	}
}

// fullDisk takes so many bytes and no more.
type fullDisk int

func (d *fullDisk) Write(p []byte) (int, error) {
	if len(p) > int(*d) {
		return 0, errors.New("no space left on device")
	}
	*d -= fullDisk(len(p))
	return len(p), nil
}

func TestAFullDiskIsNoticed(t *testing.T) {
	f := smallFile() // another call makes a file of another length
	whole := len(encode(t, f))
	for n := 0; n < whole; n += 97 {
		disk := fullDisk(n)
		if err := Encode(&disk, f); err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Fatalf("with space for %d of %d bytes: %v", n, whole, err)
		}
	}
}

func TestOtherFilesAreRefusedWithARemedy(t *testing.T) {
	archiveOf := func(names ...string) []byte {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		for _, n := range names {
			if _, err := w.Create(n); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	good := encode(t, smallFile())
	older := bytes.Clone(encode(t, &File{Engine: "0.0.9", Plan: &plans.Plan{}}))
	for _, c := range []struct {
		name    string
		src     []byte
		want    string
		foreign bool
	}{
		{"nothing", nil, "not a saved plan of Lockstep: make one with `lockstep plan -out=FILE`", true},
		{"a state", []byte(`{"version": 4}`), "not a saved plan of Lockstep: make one", true},
		{"stock", archiveOf("tfplan", "tfstate", "tfconfig/modules.json"), "but of Terraform or OpenTofu: make one", true},
		{"a zip archive", archiveOf("x"), "but some other zip archive: make one", true},
		{"cut off", good[:len(good)-1], "cut off or damaged", false},
		{"cut off early", good[:40], "cut off or damaged", false},
		{"an empty header", archiveOf(headerName), "the saved plan is damaged (lockstep.json: ", false},
		{"damaged", damaged(t, good), "the saved plan is damaged", false},
		{"another version", older, "created by a different version of Lockstep, 0.0.9, and this is 0.1.0: apply it with that version, or plan again", false},
	} {
		f, err := Decode(c.src, Options{Engine: "0.1.0"})
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, errNotPlan) != c.foreign {
			t.Errorf("%s: got %v, %v, want %q", c.name, f, err, c.want)
		}
	}
	var version *VersionError
	if _, err := Decode(older, Options{Engine: "0.1.0"}); !errors.As(err, &version) || version.Engine != "0.0.9" {
		t.Errorf("another version: %#v", version)
	}
	if f, err := Decode(older, Options{Engine: "0.1.0", AnyEngine: true}); err != nil || f.Engine != "0.0.9" {
		t.Errorf("a plan of another version, to be compared: %v, %v", f, err)
	}
	same := &VersionError{Engine: "0.1.0", Want: "0.1.0", format: 9}
	if got := same.Error(); !strings.Contains(got, "0.1.0 (format 9), and this is 0.1.0 (format 8)") {
		t.Errorf("another format: %s", got)
	}
}

// damaged flips a bit in the contents of the member "plan".
func damaged(t *testing.T, src []byte) []byte {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(src), int64(len(src)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.File {
		if f.Name == planName {
			at, err := f.DataOffset()
			if err != nil {
				t.Fatal(err)
			}
			out := bytes.Clone(src)
			out[at+int64(f.CompressedSize64)/2] ^= 16
			return out
		}
	}
	t.Fatal("no plan in it")
	return nil
}

func TestEphemeralValuesAreNeverSaved(t *testing.T) {
	f := smallFile()
	f.Plan.Variables["v"] = cty.ObjectVal(map[string]cty.Value{"token": cty.StringVal("x").Mark(marks.Ephemeral)})
	defer func() {
		if p := recover(); p == nil || strings.Contains(p.(string), "token") {
			t.Errorf("got %v", p)
		}
	}()
	t.Errorf("saved: %v", Encode(&bytes.Buffer{}, f))
}

func FuzzPlan(f *testing.F) {
	for seed := range uint64(5) {
		m := newMaker(seed)
		data, _, err := encodePlan(&File{Plan: m.plan()})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	m := newMaker(1)
	_, files, err := encodePlan(&File{Plan: m.plan()})
	if err != nil {
		f.Fatal(err)
	}
	all := map[string][]byte{}
	for _, s := range files {
		all[s.name] = s.src
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		all := map[string][]byte{planName: data, prevStateName: all[prevStateName], priorStateName: all[priorStateName]}
		_, _ = decodePlan(&members{files: all}, Options{Schema: m.schema}) // whatever it says, it does not panic
	})
}
