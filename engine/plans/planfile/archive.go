package planfile

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// format is the version of the file's format. It changes with any change of the contents, because
// nothing tries to read old plans.
const format = 8

// The names of the archive's members.
const (
	headerName     = "lockstep.json"
	planName       = "plan"
	prevStateName  = "state-prev"
	priorStateName = "state-prior"
	lockName       = "lock.hcl"
	modulesName    = "modules.json"
	manifestName   = "manifest.json"
	configDir      = "config/"
)

const zipMagic = "PK\x03\x04"

// header is the first member of the archive.
type header struct {
	Format int    `json:"format"`
	Engine string `json:"engine"`
}

// An archive writes the members of a plan file. It keeps the first error for close.
type archive struct {
	zip *zip.Writer
	err error
}

func newArchive(w io.Writer) *archive {
	z := zip.NewWriter(w)
	// Plans are large and short-lived, and somebody is waiting. Members are written one after the other, so
	// they can share one compressor, which needs a megabyte.
	var shared *flate.Writer
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		if shared != nil {
			shared.Reset(w)
			return shared, nil
		}
		var err error
		shared, err = flate.NewWriter(w, flate.BestSpeed)
		return shared, err
	})
	return &archive{zip: z}
}

func (a *archive) add(name string, data []byte) {
	if a.err != nil {
		return
	}
	// No timestamp, so that equal plans give equal files.
	w, err := a.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
	if err == nil {
		_, err = w.Write(data)
	}
	a.err = err
}

func (a *archive) header(engine string) {
	b, err := json.Marshal(header{format, engine})
	if err != nil {
		panic("planfile: " + err.Error())
	}
	a.add(headerName, b)
}

func (a *archive) modules(sums map[string]string) {
	if sums == nil {
		return
	}
	b, err := json.Marshal(sums)
	if err != nil {
		panic("planfile: " + err.Error())
	}
	a.add(modulesName, b)
}

func (a *archive) config(files map[string][]byte) {
	for _, path := range slices.Sorted(maps.Keys(files)) {
		a.add(configDir+escape(path), files[path])
	}
}

func (a *archive) close() error {
	if err := a.zip.Close(); a.err == nil {
		a.err = err
	}
	return a.err
}

// escape makes a path a safe name within an archive: never absolute, without "..".
func escape(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		switch p {
		case "":
			parts[i] = "%"
		case ".", "..":
			parts[i] = strings.ReplaceAll(p, ".", "%2E")
		default:
			parts[i] = url.PathEscape(p)
		}
	}
	return strings.Join(parts, "/")
}

// unescape undoes escape.
func unescape(name string) (string, error) {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		if p == "%" {
			parts[i] = ""
			continue
		}
		var err error
		if parts[i], err = url.PathUnescape(p); err != nil {
			return "", err
		}
	}
	return strings.Join(parts, "/"), nil
}

// members are the contents of a plan file.
type members struct {
	files  map[string][]byte
	config map[string][]byte
	engine string // version of Lockstep that wrote the plan
}

// openArchive reads all members of a plan file. It fails if the options do not accept the version that wrote
// the file.
func openArchive(src []byte, o Options) (*members, error) {
	if !IsPlan(src) {
		return nil, fmt.Errorf("%w: make one with `lockstep plan -out=FILE`", errNotPlan)
	}
	r, err := zip.NewReader(bytes.NewReader(src), int64(len(src)))
	if err != nil {
		return nil, fmt.Errorf("the file is cut off or damaged (%w): plan again", err)
	}
	index := slices.IndexFunc(r.File, func(f *zip.File) bool { return f.Name == headerName })
	if index < 0 {
		if slices.ContainsFunc(r.File, func(f *zip.File) bool { return f.Name == "tfplan" }) {
			return nil, fmt.Errorf("%w, but of Terraform or OpenTofu: make one with `lockstep plan -out=FILE`", errNotPlan)
		}
		return nil, fmt.Errorf("%w, but some other zip archive: make one with `lockstep plan -out=FILE`", errNotPlan)
	}
	engine, err := checkHeader(r.File[index], o)
	if err != nil {
		return nil, err
	}
	m := &members{engine: engine, files: map[string][]byte{}, config: map[string][]byte{}}
	for _, f := range r.File {
		data, err := contents(f)
		if err != nil {
			return nil, fmt.Errorf("the saved plan is damaged (%s: %w): plan again", f.Name, err)
		}
		path, isConfig := strings.CutPrefix(f.Name, configDir)
		if !isConfig {
			m.files[f.Name] = data
			continue
		}
		if path, err = unescape(path); err != nil {
			return nil, fmt.Errorf("the saved plan is damaged (%w): plan again", err)
		}
		m.config[path] = data
	}
	return m, nil
}

// checkHeader returns the version that wrote the plan, or an error if the options do not accept the version.
func checkHeader(f *zip.File, o Options) (engine string, err error) {
	data, err := contents(f)
	var h header
	if err == nil {
		err = json.Unmarshal(data, &h)
	}
	if err != nil {
		return "", fmt.Errorf("the saved plan is damaged (%s: %w): plan again", headerName, err)
	}
	if h.Format != format || h.Engine != o.Engine && !o.AnyEngine {
		return "", &VersionError{Engine: h.Engine, Want: o.Engine, format: h.Format}
	}
	return h.Engine, nil
}

// contents reads one member and verifies its checksum.
func contents(f *zip.File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	// Do not allocate the size that the archive claims: a damaged archive may claim any size.
	var b bytes.Buffer
	if size := f.UncompressedSize64; size < 64<<20 {
		b.Grow(int(size) + bytes.MinRead)
	}
	if _, err := b.ReadFrom(r); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
