package encryption

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// RunProgram runs a program with an input, and returns its standard output. command is the program with its
// arguments; no shell reads it.
type RunProgram func(ctx context.Context, command []string, input []byte) ([]byte, error)

// External is a [Source] whose keys a program returns.
//
// Source: https://opentofu.org/docs/language/state/encryption/#external-experimental
type External struct {
	Command []string
	Run     RunProgram
}

// Check returns an error if the settings are not complete. The error says what to do.
func (x External) Check() error {
	if len(x.Command) == 0 || x.Command[0] == "" {
		return errors.New("it names no program: set command = [\"PROGRAM\", \"ARGUMENT\"]")
	}
	return nil
}

// externalMagic and externalVersion identify a program that speaks this protocol.
const (
	externalMagic   = "OpenTofu-External-Key-Provider"
	externalVersion = 1
)

// externalMeta is the JSON of the metadata, in files and for programs.
type externalMeta struct {
	Data json.RawMessage `json:"external_data"`
}

// externalKeys is the answer of a program, after its first line.
type externalKeys struct {
	Keys struct {
		Encryption []byte `json:"encryption_key"`
		Decryption []byte `json:"decryption_key"`
	} `json:"keys"`
	Meta externalMeta `json:"meta"`
}

// Generate implements Source: the program gets null, and returns a key and its metadata.
func (x External) Generate(ctx context.Context, _ []byte) (key, meta []byte, err error) {
	answer, err := x.ask(ctx, []byte("null"))
	if err != nil {
		return nil, nil, err
	}
	if len(answer.Keys.Encryption) == 0 {
		return nil, nil, x.errorf("returned no encryption_key. It must return one in base64, in any case")
	}
	meta, err = json.Marshal(answer.Meta)
	return answer.Keys.Encryption, meta, err
}

// Restore implements Source: the program gets the metadata, and returns the key.
func (x External) Restore(ctx context.Context, _, meta []byte) ([]byte, error) {
	var m externalMeta
	if err := json.Unmarshal(meta, &m); err != nil {
		return nil, errors.New("its metadata in the file are not valid JSON: the file was edited")
	}
	input, err := json.Marshal(m) // Encoding the struct drops everything else that somebody has added to the metadata.
	if err != nil {
		return nil, err
	}
	answer, err := x.ask(ctx, input)
	if err != nil {
		return nil, err
	}
	if len(answer.Keys.Decryption) == 0 {
		return nil, x.errorf("returned no decryption_key for the metadata of the file. It must return one in base64 if it gets metadata")
	}
	return answer.Keys.Decryption, nil
}

// ask runs the program.
func (x External) ask(ctx context.Context, input []byte) (k externalKeys, err error) {
	output, err := x.Run(ctx, x.Command, input)
	if err != nil {
		return k, fmt.Errorf("the program %q failed: %w", x.Command[0], err)
	}
	var header struct {
		Magic   string
		Version int
	}
	line, rest, _ := bytes.Cut(output, []byte("\n"))
	if json.Unmarshal(line, &header) != nil || header.Magic != externalMagic {
		return k, x.errorf("is no key provider: the first line of its output is not {\"magic\":%q,\"version\":%d}", externalMagic, externalVersion)
	}
	if header.Version != externalVersion {
		return k, x.errorf("speaks version %d of the protocol, and Lockstep speaks version %d. Use another version of the program", header.Version, externalVersion)
	}
	d := json.NewDecoder(bytes.NewReader(rest))
	d.DisallowUnknownFields()
	if d.Decode(&k) != nil { // the error might show a part of a key
		return k, x.errorf("returned no valid answer. After the first line, it must write {\"keys\": {\"encryption_key\": ...}, \"meta\": {\"external_data\": {}}}, with keys in base64")
	}
	return k, nil
}

func (x External) errorf(text string, args ...any) error {
	return fmt.Errorf("the program %q %s", x.Command[0], fmt.Sprintf(text, args...))
}
